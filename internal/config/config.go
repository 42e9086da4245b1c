// Package config declares every setting of the program once: its flag, its
// environment variable, its default and its help.
package config

import (
	"errors"
	"fmt"
	"net"
	"strconv"
)

// Store says where the data is. Every command that opens the store takes it.
type Store struct {
	Data     string   `help:"Folder of the SQLite database, created when it is missing." default:"./data" env:"GATHERKIT_DATA"`
	Database Database `help:"PostgreSQL to use instead of SQLite: postgres://user:password@host:5432/name." env:"GATHERKIT_DATABASE" secret:"" placeholder:"URL"`
}

// Validate is called by kong. It checks what kong itself would not: kong validates
// single settings only where they come from the command line, and repeats a value
// from the environment that it cannot read, even if it is a secret.
func (s *Store) Validate() error {
	if s.Database == "" && s.Data == "" {
		return errors.New("--data must name a folder, such as ./data")
	}
	return s.Database.validate()
}

// Serve is what the service itself needs. No setting may ever be named PORT:
// Kubernetes sets GATHERKIT_PORT for a Service that is named gatherkit.
type Serve struct {
	Store          `embed:""`
	Listen         string    `help:"Address to listen on. The default accepts calls from this machine only; :8080 accepts them from everywhere." default:"127.0.0.1:8080" env:"GATHERKIT_LISTEN"`
	PublicURL      PublicURL `name:"public-url" help:"Where browsers reach the service, such as https://feedback.example.com." env:"GATHERKIT_PUBLIC_URL" placeholder:"URL"`
	TrustedProxies Networks  `help:"Reverse proxies whose X-Forwarded-For is believed, such as 10.0.0.0/8,127.0.0.1." env:"GATHERKIT_TRUSTED_PROXIES" placeholder:"CIDR,…"`
	SubmitRate     int       `help:"Submissions that one address may make in a minute, as many votes and searches for similar requests, and five times as many calls of all kinds with an API key. The files that it may send in a day are as many of the largest size, 10 MiB. 0 turns these limits off." default:"600" env:"GATHERKIT_SUBMIT_RATE"`
	Uploads        Uploads   `help:"Where attached files are kept: a folder, or a bucket of S3 such as s3://name?region=eu-central-1. Without it, the folder uploads beside the SQLite database; with PostgreSQL, nowhere." env:"GATHERKIT_UPLOADS" placeholder:"PLACE"`
	MetricsListen  string    `help:"Address to serve Prometheus metrics on; none without it." env:"GATHERKIT_METRICS_LISTEN" placeholder:"ADDR"`
}

// Validate is called by kong.
func (s *Serve) Validate() error {
	if err := s.Store.Validate(); err != nil {
		return err
	}
	if err := validListen("--listen", s.Listen); err != nil {
		return err
	}
	if s.MetricsListen != "" {
		if err := validListen("--metrics-listen", s.MetricsListen); err != nil {
			return err
		}
	}
	if s.SubmitRate < 0 {
		return fmt.Errorf("--submit-rate must be 0, for no limit, or more, not %d", s.SubmitRate)
	}
	return nil
}

func validListen(flag, address string) error {
	_, port, err := net.SplitHostPort(address)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return fmt.Errorf("%s must be an address with a port, such as :8080 or 127.0.0.1:8080, not %q", flag, address)
	}
	return nil
}
