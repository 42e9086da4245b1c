package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"strings"

	"golang.org/x/net/idna"

	"gatherkit/internal/feedback"
	"gatherkit/internal/quota"
)

// Database is a postgres:// URL, or empty for SQLite. It may contain a password: convert
// it to a plain string only to connect.
type Database string

// validate returns an error if the URL is invalid. The error does not contain the URL.
func (d Database) validate() error {
	if d == "" {
		return nil
	}
	u, err := url.Parse(string(d))
	switch {
	case err != nil:
		return errors.New("--database is not a valid URL; in the password, write each character other than letters and digits " +
			"as % and two hexadecimal digits, such as %23 for #")
	case u.Scheme != "postgres" && u.Scheme != "postgresql":
		return errors.New("--database must begin with postgres://; omit it to use SQLite in the --data folder")
	}
	return nil
}

// String returns the URL without the password and the query, which may contain secrets.
func (d Database) String() string {
	if d == "" {
		return ""
	}
	u, err := url.Parse(string(d))
	if err != nil || u.Opaque != "" {
		return "postgres://…"
	}
	u.RawQuery, u.ForceQuery, u.Fragment, u.RawFragment = "", false, "", ""
	return u.Redacted()
}

// MarshalText returns String(), so that logs and JSON contain no secrets.
func (d Database) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// PublicURL is the URL that browsers use for the service: a scheme, a host and an optional
// path, without a trailing slash. The URL is nil if none is set.
type PublicURL struct{ URL *url.URL }

// String returns the URL, or "" if none is set.
func (p PublicURL) String() string {
	if p.URL == nil {
		return ""
	}
	return p.URL.String()
}

// publicPath matches paths that need no escaping in the Path of a cookie and in links.
var publicPath = regexp.MustCompile(`^(/[\w~-][\w.~-]*)*/*$`)

// UnmarshalText parses an http or https URL without user, query and fragment.
func (p *PublicURL) UnmarshalText(text []byte) error {
	p.URL = nil
	if len(text) == 0 {
		return nil
	}
	u, err := url.Parse(string(text))
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return errors.New("must be a complete URL, such as https://feedback.example.com")
	case u.User != nil || strings.ContainsAny(string(text), "?#"):
		return errors.New("must be a URL without a user, query or fragment, such as https://feedback.example.com")
	case !publicPath.MatchString(u.EscapedPath()):
		return errors.New("must have a path of only letters, digits, dashes and dots, such as https://example.com/feedback")
	}
	if port := u.Port(); !feedback.IsASCII(u.Host) { // headers of mails and of HTTP need the name that DNS has
		host, err := idna.Lookup.ToASCII(u.Hostname())
		if err != nil {
			return errors.New("must have a host that DNS can have, such as https://feedback.example.com")
		}
		if u.Host = host; port != "" {
			u.Host = net.JoinHostPort(host, port)
		}
	}
	u.Path = strings.TrimRight(u.Path, "/")
	p.URL = u
	return nil
}

// Networks are ranges of addresses.
type Networks []netip.Prefix

// UnmarshalText parses a comma-separated list of addresses and ranges.
func (n *Networks) UnmarshalText(text []byte) error {
	*n = nil
	for part := range strings.SplitSeq(string(text), ",") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		network, err := parseNetwork(part)
		if err != nil {
			return fmt.Errorf("must be a comma-separated list of addresses or ranges, such as 10.0.0.0/8,127.0.0.1, not %q", part)
		}
		*n = append(*n, network.Masked())
	}
	return nil
}

func parseNetwork(s string) (netip.Prefix, error) {
	if !strings.Contains(s, "/") {
		address, err := netip.ParseAddr(s)
		address = address.Unmap().WithZone("")
		return netip.PrefixFrom(address, address.BitLen()), err
	}
	network, err := netip.ParsePrefix(s)
	// A range of mapped addresses, such as ::ffff:10.0.0.0/104, would match nothing, because
	// mapped addresses of peers are compared as IPv4 addresses.
	const mapped = 96
	if address := network.Addr(); address.Is4In6() && network.Bits() >= mapped {
		network = netip.PrefixFrom(address.Unmap(), network.Bits()-mapped)
	}
	return network, err
}

// Uploads says where attached files are stored: in a folder, or at an s3:// URL.
type Uploads string

// UnmarshalText accepts a folder or an s3:// URL with a bucket.
func (u *Uploads) UnmarshalText(text []byte) error {
	place := string(text)
	scheme, _, found := strings.Cut(place, "://")
	switch {
	case found && scheme != "s3":
		return errors.New("must be a folder or begin with s3://")
	case found && strings.HasPrefix(place, "s3:///") || place == "s3://":
		return errors.New("must name a bucket, such as s3://name?region=eu-central-1")
	}
	*u = Uploads(place)
	return nil
}

// Quotas are the quotas of accounts for which the operator has set no others.
type Quotas quota.Limits

// UnmarshalText parses a comma-separated list of quotas. Those that are not in it are quota.Defaults.
func (q *Quotas) UnmarshalText(text []byte) error {
	var parts []string
	for part := range strings.SplitSeq(string(text), ",") {
		if part = strings.TrimSpace(part); part != "" {
			parts = append(parts, part)
		}
	}
	changes, err := quota.Parse(parts)
	*q = Quotas(quota.Defaults.With(changes))
	return err
}
