// Package config declares the settings of the program: the flag, environment variable,
// default and help text of each.
package config

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"strconv"
)

// Store holds the settings of every command that opens the store.
type Store struct {
	Data     string   `help:"Folder of the SQLite database." default:"./data" env:"GATHERKIT_DATA" complete:"folder"`
	Database Database `help:"PostgreSQL database to use instead of SQLite, such as postgres://user:password@host:5432/name." env:"GATHERKIT_DATABASE" placeholder:"URL"`
}

// Validate checks the settings; kong calls it. Settings are checked here and not one by
// one, because kong does that only for those from the command line, and its messages repeat
// invalid values from the environment, even secrets.
func (s *Store) Validate() error {
	if s.Database == "" && s.Data == "" {
		return errors.New("--data must be a folder, such as ./data")
	}
	return s.Database.validate()
}

// Storage holds the settings of every command that opens the store and the attached files.
type Storage struct {
	Store   `embed:""`
	Uploads Uploads `help:"Where attached files are stored: a folder, or an S3 bucket such as s3://name?region=eu-central-1. The default is the folder uploads in --data. With PostgreSQL there is no default, and files are off." env:"GATHERKIT_UPLOADS" placeholder:"PLACE" complete:"folder"`
}

// Place returns where attached files are stored, or "" if files are off. With PostgreSQL there is no
// default, because replicas do not see each other's folders.
func (s *Storage) Place() string {
	if s.Uploads == "" && s.Database == "" {
		return filepath.Join(s.Data, "uploads")
	}
	return string(s.Uploads)
}

// Serve holds the settings of the service. No setting may be named PORT, because
// Kubernetes sets GATHERKIT_PORT for a Service with the name gatherkit.
type Serve struct {
	Storage        `embed:""`
	Listen         string    `help:"Address to listen on. The default accepts connections only from this machine; :8080 accepts them from everywhere." default:"127.0.0.1:8080" env:"GATHERKIT_LISTEN"`
	PublicURL      PublicURL `name:"public-url" help:"URL that browsers use for the service, such as https://feedback.example.com." env:"GATHERKIT_PUBLIC_URL" placeholder:"URL"`
	TrustedProxies Networks  `help:"Reverse proxies whose X-Forwarded-For header is trusted, such as 10.0.0.0/8,127.0.0.1." env:"GATHERKIT_TRUSTED_PROXIES" placeholder:"CIDR,…"`
	SubmitRate     int       `help:"Submissions and announced files that one address may make per minute. Other limits follow from it: as many votes, searches for similar requests, calls that read changelogs and boards, and calls about what somebody asked for per minute, five times as many calls with an API key per minute, and this number × 10 MiB of files per day. 0 turns all of them off." default:"600" env:"GATHERKIT_SUBMIT_RATE"`
	WebhookAllow   Networks  `name:"webhook-allow" help:"Networks of your own that webhooks may call, also with http, such as 10.1.0.0/16. By default, webhooks call only public addresses, with https." env:"GATHERKIT_WEBHOOK_ALLOW" placeholder:"CIDR,…"`
	SMTP           string    `name:"smtp" help:"Mail server, such as smtps://user:password@smtp.example.com?from=feedback@example.com, or smtp:// for STARTTLS. Needs --public-url. Without it, the service sends no mail." env:"GATHERKIT_SMTP" placeholder:"URL"`
	Quotas         Quotas    `help:"Quotas of the accounts for which account quota sets no others: requests that people outside send in a month (UTC), bytes of files, members, apps, webhooks, mails to people outside on a day (UTC), and people on a day who get mail without confirming because an identity token verifies them. Such as requests=1000,files=10GB,mails=none. Without it: apps=1000,webhooks=20,mails=5000,verified=100." env:"GATHERKIT_QUOTAS" placeholder:"QUOTA=MOST,…"`
	MetadataDays   int       `help:"Days after which the metadata of a request is deleted. 0 keeps it for ever." default:"0" env:"GATHERKIT_METADATA_DAYS"`
	PeopleDays     int       `help:"Days after which names, addresses and ids of people outside are deleted from what they submitted, voted for and wrote. 0 keeps them for ever." default:"0" env:"GATHERKIT_PEOPLE_DAYS"`
	MetricsListen  string    `help:"Address to serve Prometheus metrics on, such as 127.0.0.1:9090. Off by default." env:"GATHERKIT_METRICS_LISTEN" placeholder:"ADDR"`
	LogLevel       string    `help:"Minimum level to log: ${enum}. Calls have the level info." enum:"debug,info,warn,error" default:"info" env:"GATHERKIT_LOG_LEVEL"`
	LogCalls       string    `help:"Calls to log: ${enum}. failed are those that fail because of the service." enum:"all,failed" default:"all" env:"GATHERKIT_LOG_CALLS"`
	LogFormat      string    `help:"Format of the log: ${enum}." enum:"json,text" default:"json" env:"GATHERKIT_LOG_FORMAT"`
}

// Level returns the minimum level to log.
func (s *Serve) Level() (level slog.Level) {
	_ = level.UnmarshalText([]byte(s.LogLevel)) // kong accepts only levels that slog knows
	return level
}

// Log returns a logger that writes to w in the format that is set.
func (s *Serve) Log(w io.Writer, level slog.Leveler) *slog.Logger {
	return NewLog(w, s.LogFormat, level)
}

// NewLog returns a logger that writes to w in a format, json or text. Its times are in UTC.
func NewLog(w io.Writer, format string, level slog.Leveler) *slog.Logger {
	options := &slog.HandlerOptions{Level: level, ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey && len(groups) == 0 {
			a.Value = slog.TimeValue(a.Value.Time().UTC())
		}
		return a
	}}
	if format == "text" {
		return slog.New(slog.NewTextHandler(w, options))
	}
	return slog.New(slog.NewJSONHandler(w, options))
}

// Validate checks the settings; kong calls it.
func (s *Serve) Validate() error {
	if err := s.Storage.Validate(); err != nil {
		return err
	}
	if err := CheckListen("--listen", s.Listen); err != nil {
		return err
	}
	if s.MetricsListen != "" {
		if err := CheckListen("--metrics-listen", s.MetricsListen); err != nil {
			return err
		}
	}
	if s.SMTP != "" && s.PublicURL.URL == nil {
		return errors.New("--smtp needs --public-url, which mails link to")
	}
	if s.SubmitRate < 0 {
		return fmt.Errorf("--submit-rate must be 0 (no limit) or greater, not %d", s.SubmitRate)
	}
	if err := keptDays("--metadata-days", s.MetadataDays); err != nil {
		return err
	}
	return keptDays("--people-days", s.PeopleDays)
}

func keptDays(flag string, days int) error {
	const longest = 100 * 365
	if days < 0 || days > longest {
		return fmt.Errorf("%s must be a number of days from 0 (for ever) to %d, not %d", flag, longest, days)
	}
	return nil
}

// CheckListen returns an error that names the flag if an address to listen on is invalid.
func CheckListen(flag, address string) error {
	_, port, err := net.SplitHostPort(address)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return fmt.Errorf("%s must be an address with a port number, such as :8080 or 127.0.0.1:8080, not %q", flag, address)
	}
	return nil
}
