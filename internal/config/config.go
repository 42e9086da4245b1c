// Package config declares every setting of the program once: its flag, its
// environment variable, its default and its help.
package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"gatherkit/internal/feedback"
)

// Store says where the data is. Every command that opens the store takes it.
type Store struct {
	Data     string   `help:"Folder of the SQLite database, created when it is missing." default:"./data" env:"GATHERKIT_DATA" placeholder:"FOLDER"`
	Database Database `help:"PostgreSQL to use instead of SQLite: postgres://user:password@host:5432/name." env:"GATHERKIT_DATABASE" secret:"" placeholder:"URL"`
}

// Serve is what the service itself needs.
type Serve struct {
	Store          `embed:""`
	Listen         string    `help:"Address to answer on." default:":8080" env:"GATHERKIT_LISTEN" placeholder:"ADDR"`
	PublicURL      PublicURL `name:"public-url" help:"Where browsers reach the service, such as https://feedback.example.com." env:"GATHERKIT_PUBLIC_URL" placeholder:"URL"`
	TrustedProxies Networks  `help:"Reverse proxies whose X-Forwarded-For is believed, such as 10.0.0.0/8,127.0.0.1." env:"GATHERKIT_TRUSTED_PROXIES" placeholder:"CIDR,…"`
	SubmitRate     Rate      `help:"Submissions that one address may make in a minute; 0 turns the limit off." default:"600" env:"GATHERKIT_SUBMIT_RATE" placeholder:"N"`
	MetricsListen  string    `help:"Address to serve Prometheus metrics on; none without it." env:"GATHERKIT_METRICS_LISTEN" placeholder:"ADDR"`
}

// Validate is called by kong.
func (s *Serve) Validate() error {
	for flag, address := range map[string]string{"--listen": s.Listen, "--metrics-listen": s.MetricsListen} {
		if address == "" && flag == "--metrics-listen" {
			continue
		}
		if _, _, err := net.SplitHostPort(address); err != nil {
			return fmt.Errorf("%s must be an address such as :8080 or 127.0.0.1:8080, not %q", flag, address)
		}
	}
	return nil
}

// Database is a postgres:// URL, or empty for SQLite.
type Database string

// UnmarshalText refuses other schemes. The message never holds the password.
func (d *Database) UnmarshalText(text []byte) error {
	if s := string(text); s != "" && !strings.HasPrefix(s, "postgres://") && !strings.HasPrefix(s, "postgresql://") {
		return errors.New("must begin with postgres://; leave it away to use SQLite in the data folder")
	}
	*d = Database(text)
	return nil
}

// String hides everything that could be a secret.
func (d Database) String() string {
	if d == "" {
		return ""
	}
	return "postgres://…"
}

// PublicURL is the address under which browsers reach the service.
type PublicURL struct{ *url.URL }

// UnmarshalText refuses what is no plain http or https address.
func (p *PublicURL) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		return nil
	}
	u, err := url.Parse(strings.TrimSuffix(string(text), "/"))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return errors.New("must be an address such as https://feedback.example.com")
	}
	p.URL = u
	return nil
}

// Networks are address ranges.
type Networks []netip.Prefix

// UnmarshalText reads ranges and single addresses, with commas between them.
func (n *Networks) UnmarshalText(text []byte) error {
	*n = nil
	for part := range strings.SplitSeq(string(text), ",") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		prefix, err := netip.ParsePrefix(part)
		if err != nil {
			address, addressErr := netip.ParseAddr(part)
			if addressErr != nil {
				return fmt.Errorf("must be addresses or ranges such as 10.0.0.0/8, with commas between them, not %q", part)
			}
			prefix = netip.PrefixFrom(address, address.BitLen())
		}
		*n = append(*n, prefix.Masked())
	}
	return nil
}

// Rate is a number a minute; 0 means no limit.
type Rate int

// Validate is called by kong.
func (r Rate) Validate() error {
	if r < 0 {
		return errors.New("must be 0 or more")
	}
	return nil
}

// Options are what kong needs to read the settings: a secret may also come from
// the file that GATHERKIT_…_FILE names.
func Options() []kong.Option {
	return []kong.Option{kong.Resolvers(kong.ResolverFunc(fromFile))}
}

func fromFile(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	if !flag.Tag.Has("secret") {
		return nil, nil
	}
	variable := flag.Envs[0]
	file := os.Getenv(variable + "_FILE")
	switch {
	case file == "":
		return nil, nil
	case os.Getenv(variable) != "":
		return nil, fmt.Errorf("set either %s or %s_FILE, not both", variable, variable)
	}
	text, err := os.ReadFile(file) //nolint:gosec // the operator names it
	if err != nil {
		return nil, fmt.Errorf("%s_FILE: %w", variable, err)
	}
	return strings.TrimRight(string(text), "\r\n"), nil
}

// kubernetes matches the variables that Kubernetes makes for a Service whose name
// begins with gatherkit (the "Docker links" of its documentation on Services).
var kubernetes = regexp.MustCompile(`^GATHERKIT(_[A-Z0-9_]+)?_(SERVICE_HOST|SERVICE_PORT(_[A-Z0-9_]+)?|PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)$`)

// Unknown returns a sentence for each GATHERKIT_ variable that no setting reads.
func Unknown(model *kong.Application, environ []string) []string {
	var known []string
	_ = kong.Visit(model, func(node kong.Visitable, next kong.Next) error { // this visitor never fails
		if flag, ok := node.(*kong.Flag); ok {
			known = append(known, flag.Envs...)
			if flag.Tag.Has("secret") {
				for _, name := range flag.Envs {
					known = append(known, name+"_FILE")
				}
			}
		}
		return next(nil)
	})
	var warnings []string
	for _, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, "GATHERKIT_") || slices.Contains(known, name) || kubernetes.MatchString(name) {
			continue
		}
		warning := name + " is not a setting"
		if near := feedback.Nearest(name, known); near != "" {
			warning += "; did you mean " + near + "?"
		}
		warnings = append(warnings, warning)
	}
	return warnings
}
