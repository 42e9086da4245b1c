package config

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
)

// Database is a postgres:// URL, or empty for SQLite. It may hold a password:
// convert it to a plain string only to connect.
type Database string

// validate leaves the URL itself out of its messages.
func (d Database) validate() error {
	if d == "" {
		return nil
	}
	u, err := url.Parse(string(d))
	switch {
	case err != nil:
		return errors.New("--database is not a valid URL; write every character of the password that is not a letter or digit as % and two hexadecimal digits, such as %23 for #")
	case u.Scheme != "postgres" && u.Scheme != "postgresql":
		return errors.New("--database must begin with postgres://; leave it out to use SQLite in the folder that --data names")
	}
	return nil
}

// String is the URL without anything that could be a secret: the password, and the
// query, which may hold one.
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

// MarshalText is String: what logs and JSON show.
func (d Database) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// PublicURL is the address under which browsers reach the service: scheme, host and
// perhaps a path, without a slash at its end. The URL is nil when none is set.
type PublicURL struct{ URL *url.URL }

// String is the address, "" when none is set.
func (p PublicURL) String() string {
	if p.URL == nil {
		return ""
	}
	return p.URL.String()
}

// publicPath is what can stand in a cookie's path and in links as it is.
var publicPath = regexp.MustCompile(`^(/[\w~-][\w.~-]*)*/*$`)

// UnmarshalText refuses what is no plain http or https address.
func (p *PublicURL) UnmarshalText(text []byte) error {
	p.URL = nil
	if len(text) == 0 {
		return nil
	}
	u, err := url.Parse(string(text))
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return errors.New("must be a whole address, such as https://feedback.example.com")
	case u.User != nil || strings.ContainsAny(string(text), "?#"):
		return errors.New("must be an address without a user, query or fragment, such as https://feedback.example.com")
	case !publicPath.MatchString(u.EscapedPath()):
		return errors.New("must have a path of letters, digits, dashes and dots only, such as https://example.com/feedback")
	}
	u.Path = strings.TrimRight(u.Path, "/")
	p.URL = u
	return nil
}

// Networks are ranges of addresses.
type Networks []netip.Prefix

// UnmarshalText reads ranges and single addresses with commas between them.
func (n *Networks) UnmarshalText(text []byte) error {
	*n = nil
	for part := range strings.SplitSeq(string(text), ",") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		prefix, err := parseNetwork(part)
		if err != nil {
			return fmt.Errorf("must be addresses or ranges with commas between them, such as 10.0.0.0/8,127.0.0.1, not %q", part)
		}
		*n = append(*n, prefix.Masked())
	}
	return nil
}

func parseNetwork(s string) (netip.Prefix, error) {
	if !strings.Contains(s, "/") {
		address, err := netip.ParseAddr(s)
		address = address.Unmap().WithZone("")
		return netip.PrefixFrom(address, address.BitLen()), err
	}
	prefix, err := netip.ParsePrefix(s)
	// A range of mapped addresses, ::ffff:10.0.0.0/104, would match nothing: a peer's
	// address is compared as the IPv4 address that it is.
	const mapped = 96
	if address := prefix.Addr(); address.Is4In6() && prefix.Bits() >= mapped {
		prefix = netip.PrefixFrom(address.Unmap(), prefix.Bits()-mapped)
	}
	return prefix, err
}

// Uploads is where attached files are kept: a folder, or an s3:// address.
type Uploads string

// UnmarshalText refuses what can be neither.
func (u *Uploads) UnmarshalText(text []byte) error {
	place := string(text)
	scheme, _, found := strings.Cut(place, "://")
	switch {
	case found && scheme != "s3":
		return errors.New("must be a folder, or begin with s3://")
	case found && strings.HasPrefix(place, "s3:///") || place == "s3://":
		return errors.New("must name a bucket, such as s3://name?region=eu-central-1")
	}
	*u = Uploads(place)
	return nil
}
