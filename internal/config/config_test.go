package config_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"

	"gatherkit/internal/config"
)

// commandLine embeds the settings in commands, as the program does.
type commandLine struct {
	Serve struct {
		config.Serve `embed:""`
	} `cmd:""`
	Migrate struct {
		config.Store `embed:""`
	} `cmd:""`
}

func newParser(t *testing.T) (*commandLine, *kong.Kong) {
	t.Helper()
	c := &commandLine{}
	parser, err := kong.New(c, append(config.Options(), kong.Name("gatherkit"), kong.Writers(io.Discard, io.Discard))...)
	if err != nil {
		t.Fatal(err)
	}
	return c, parser
}

// parse parses the arguments in an environment with no other GATHERKIT_ variables than the
// given ones.
func parse(t *testing.T, variables map[string]string, args ...string) (*commandLine, error) {
	t.Helper()
	for _, entry := range os.Environ() {
		if name, _, _ := strings.Cut(entry, "="); strings.HasPrefix(name, "GATHERKIT_") {
			t.Setenv(name, "") // restores the variable after the test
			if err := os.Unsetenv(name); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, value := range variables {
		t.Setenv(name, value)
	}
	c, parser := newParser(t)
	_, err := parser.Parse(args)
	if err != nil {
		err = errors.New(config.Explain(parser.Model, args, err))
	}
	return c, err
}

func TestDefaults(t *testing.T) {
	c, err := parse(t, nil, "serve")
	if err != nil {
		t.Fatal(err)
	}
	want := config.Serve{
		Storage: config.Storage{Store: config.Store{Data: "./data"}}, Listen: "127.0.0.1:8080",
		SubmitRate: 600, LogLevel: "info", LogCalls: "all", LogFormat: "json",
	}
	if diff := cmp.Diff(fmt.Sprintf("%+v", want), fmt.Sprintf("%+v", c.Serve.Serve)); diff != "" {
		t.Error(diff)
	}
	if c.Serve.PublicURL.URL != nil || c.Serve.PublicURL.String() != "" {
		t.Errorf("public URL %v, want none", c.Serve.PublicURL)
	}
}

// TestDocumented checks that the table of settings in docs/operating.md has every setting,
// with its variable and its default, in the order of the help.
func TestDocumented(t *testing.T) {
	manual, err := os.ReadFile("../../docs/operating.md")
	if err != nil {
		t.Fatal(err)
	}
	var documented, declared []string
	for line := range strings.Lines(string(manual)) {
		if strings.HasPrefix(line, "| `--") {
			cells := strings.Split(strings.ReplaceAll(line, "`", ""), "|")
			documented = append(documented, strings.Join(strings.Fields(strings.Join(cells[1:4], "")), " "))
		}
	}
	_, parser := newParser(t)
	for _, flag := range parser.Model.Children[0].Flags {
		if flag.Name != "help" {
			declared = append(declared, strings.TrimSpace("--"+flag.Name+" "+strings.Join(flag.Envs, " ")+" "+flag.Default))
		}
	}
	if diff := cmp.Diff(declared, documented); diff != "" {
		t.Errorf("docs/operating.md differs from the settings (-declared +documented):\n%s", diff)
	}
}

// TestSources checks that each setting has the same effect as a flag and as a variable.
func TestSources(t *testing.T) {
	for _, test := range []struct{ setting, value, want string }{
		{"data", "/srv/x", "/srv/x"},
		{"database", "postgres://u@h/db", "postgres://u@h/db"},
		{"database", "postgresql:///db?host=/run/postgresql", "postgresql:///db?host=/run/postgresql"},
		{"database", "postgres://u:p@one:1,two:2/db", "postgres://u:p@one:1,two:2/db"},
		{"listen", "[::1]:0", "[::1]:0"},
		{"metrics-listen", "127.0.0.1:9090", "127.0.0.1:9090"},
		{"submit-rate", "0", "0"},
		{"public-url", "https://Feedback.example.com/", "https://Feedback.example.com"},
		{"public-url", "http://localhost:8080", "http://localhost:8080"},
		{"public-url", "https://Ideen.bücher.example:8443/a", "https://ideen.xn--bcher-kva.example:8443/a"},
		{"public-url", "https://example.com/a.b/~c//", "https://example.com/a.b/~c"},
		{"trusted-proxies", "10.0.0.0/8, 127.0.0.1,::1,", "[10.0.0.0/8 127.0.0.1/32 ::1/128]"},
		{"trusted-proxies", "10.1.2.3/8,fe80::1%eth0", "[10.0.0.0/8 fe80::1/128]"},
		{"trusted-proxies", "::ffff:10.0.0.1,::ffff:10.0.0.0/104", "[10.0.0.1/32 10.0.0.0/8]"},
		{"trusted-proxies", "::ffff:0.0.0.0/96,::ffff:0.0.0.0/95", "[0.0.0.0/0 ::fffe:0:0/95]"},
		{"trusted-proxies", "2001:db8::/112,,2001:db8::1", "[2001:db8::/112 2001:db8::1/128]"},
		{"metadata-days", "90", "90"},
		{"people-days", "36500", "36500"},
		{"log-level", "warn", "warn"},
		{"log-format", "text", "text"},
		{"quotas", " requests=7, files=1KiB,mails=none,", "map[apps:1000 files:1024 mails:9223372036854775807 members:9223372036854775807" +
			" requests:7 verified:100 webhooks:20]"},
		{"uploads", "/srv/files", "/srv/files"},
		{"uploads", "s3://name?region=eu-central-1", "s3://name?region=eu-central-1"},
	} {
		variable := "GATHERKIT_" + strings.ToUpper(strings.ReplaceAll(test.setting, "-", "_"))
		t.Run(test.setting+"="+test.value, func(t *testing.T) {
			c, err := parse(t, nil, "serve", "--"+test.setting+"="+test.value)
			if err != nil {
				t.Fatal(err)
			}
			if got := read(c, test.setting); got != test.want {
				t.Errorf("flag: %q, want %q", got, test.want)
			}
			c, err = parse(t, map[string]string{variable: test.value}, "serve")
			if err != nil {
				t.Fatal(err)
			}
			if got := read(c, test.setting); got != test.want {
				t.Errorf("variable: %q, want %q", got, test.want)
			}
		})
	}
}

func read(c *commandLine, setting string) string {
	s := c.Serve
	return map[string]string{
		"data": s.Data, "database": string(s.Database), "listen": s.Listen, "metrics-listen": s.MetricsListen,
		"submit-rate": fmt.Sprint(s.SubmitRate), "public-url": s.PublicURL.String(), "trusted-proxies": fmt.Sprint(s.TrustedProxies),
		"metadata-days": fmt.Sprint(s.MetadataDays), "people-days": fmt.Sprint(s.PeopleDays),
		"uploads": string(s.Uploads), "quotas": fmt.Sprint(s.Quotas), "log-level": s.LogLevel, "log-calls": s.LogCalls, "log-format": s.LogFormat,
	}[setting]
}

func TestLog(t *testing.T) {
	for level, want := range map[string]string{"debug": "DIWE", "info": "IWE", "warn": "WE", "error": "E"} {
		var out bytes.Buffer
		settings := config.Serve{LogLevel: level, LogFormat: "text"}
		log := settings.Log(&out, settings.Level())
		log.Debug("D", "k", "v w")
		log.Info("I", "k", "v w")
		log.Warn("W", "k", "v w")
		log.Error("E", "k", "v w")
		got := ""
		for line := range strings.Lines(out.String()) {
			_, rest, _ := strings.Cut(line, " msg=")
			got += strings.TrimSuffix(rest, " k=\"v w\"\n")
		}
		if got != want {
			t.Errorf("%s: %s", level, out.String())
		}
	}
	defer func(zone *time.Location) { time.Local = zone }(time.Local)
	time.Local = time.FixedZone("Kolkata", 5*3600+1800)
	var out bytes.Buffer
	(&config.Serve{LogFormat: "json"}).Log(&out, slog.LevelInfo).Info("I", slog.Group("more", "time", 1))
	var line struct {
		Time string
		More struct{ Time int }
	}
	if err := json.Unmarshal(out.Bytes(), &line); err != nil || !strings.HasSuffix(line.Time, "Z") || line.More.Time != 1 {
		t.Errorf("%v: %s", err, out.String())
	}
}

func TestFlagOverridesVariable(t *testing.T) {
	c, err := parse(t, map[string]string{"GATHERKIT_LISTEN": ":1", "GATHERKIT_DATABASE_FILE": "/missing"},
		"serve", "--listen=:2", "--database=postgres://h/db")
	if err != nil {
		t.Fatal(err)
	}
	if c.Serve.Listen != ":2" || c.Serve.Database != "postgres://h/db" {
		t.Errorf("listen %q, database %v: want the flags' values", c.Serve.Listen, c.Serve.Database)
	}
}

// TestInvalid gives each invalid value as a flag and as a variable. Every message names the one that
// was used and says what is accepted, and none contains the password.
func TestInvalid(t *testing.T) {
	for _, test := range []struct{ setting, value, want string }{
		{"data", "", "must be a folder"},
		{"database", "mysql://u:hunter2@h/db", "must begin with postgres://"},
		{"database", "hunter2", "must begin with postgres://"},
		{"database", "postgres://u:hunter2#@h/db", "such as %23 for #"},
		{"database", "postgres://u:hunter2%zz@h/db", "such as %23 for #"},
		{"listen", "", "must be an address with a port number"},
		{"listen", "8080", "must be an address with a port number"},
		{"listen", "localhost:65536", "must be an address with a port number"},
		{"listen", ":http", "must be an address with a port number"},
		{"metrics-listen", "localhost", "must be an address with a port number"},
		{"submit-rate", "-1", "must be 0 (no limit) or greater, not -1"},
		{"submit-rate", "many", "\"many\""},
		{"metadata-days", "-1", "must be a number of days from 0 (for ever) to 36500, not -1"},
		{"people-days", "36501", "must be a number of days from 0 (for ever) to 36500, not 36501"},
		{"people-days", "2y", "\"2y\""},
		{"public-url", "feedback.example.com", "must be a complete URL"},
		{"public-url", "ftp://example.com", "must be a complete URL"},
		{"public-url", "https://", "must be a complete URL"},
		{"public-url", "https://bücher_a.example", "must have a host that DNS can have"},
		{"public-url", "https://exa mple.com", "must be a complete URL"},
		{"public-url", "https://u@example.com", "without a user, query or fragment"},
		{"public-url", "https://example.com?a=b", "without a user, query or fragment"},
		{"public-url", "https://example.com/?", "without a user, query or fragment"},
		{"public-url", "https://example.com/#", "without a user, query or fragment"},
		{"public-url", "https://example.com/a/../b", "must have a path of"},
		{"public-url", "https://example.com/a;b", "must have a path of"},
		{"public-url", "https://example.com/a%2Fb", "must have a path of"},
		{"trusted-proxies", "10.0.0.0/33", `not "10.0.0.0/33"`},
		{"trusted-proxies", "10.0.0.1,proxy", `not "proxy"`},
		{"log-level", "loud", `must be one of "debug","info","warn","error"`},
		{"log-format", "xml", `must be one of "json","text"`},
		{"uploads", "gs://name", "must be a folder or begin with s3://"},
		{"uploads", "s3://", "must name a bucket"},
		{"uploads", "s3:///?region=eu-central-1", "must name a bucket"},
	} {
		variable := "GATHERKIT_" + strings.ToUpper(strings.ReplaceAll(test.setting, "-", "_"))
		t.Run(test.setting+"="+test.value, func(t *testing.T) {
			_, flagErr := parse(t, nil, "serve", "--"+test.setting+"="+test.value)
			_, variableErr := parse(t, map[string]string{variable: test.value}, "serve")
			for source, err := range map[string]error{"--" + test.setting: flagErr, variable: variableErr} {
				if err == nil || !strings.HasPrefix(err.Error(), source) || !strings.Contains(err.Error(), test.want) {
					t.Errorf("error %v, want one that begins with %s and has %q", err, source, test.want)
				} else if text := err.Error(); strings.Contains(text, "hunter2") || strings.Contains(text, "\n") {
					t.Errorf("%s: error %q has the password or more than a line", source, text)
				}
			}
		})
	}
}

// TestExplain: an error names what has set a value, and the flag if nothing has.
func TestExplain(t *testing.T) {
	t.Setenv("GATHERKIT_LISTEN", ":1")
	t.Setenv("GATHERKIT_PUBLIC_URL", "x")
	_, parser := newParser(t)
	const taken = "cannot listen on :1: in use; choose another address with --listen"
	for _, test := range []struct {
		args       []string
		text, want string
	}{
		{[]string{"serve"}, taken, "cannot listen on :1: in use; choose another address with GATHERKIT_LISTEN"},
		{[]string{"serve", "--listen=:1"}, taken, taken},
		{[]string{"serve", "--listen", ":1"}, taken, taken},
		{[]string{"serve", "--listen-on=:1"}, "use --listen", "use GATHERKIT_LISTEN"},
		{[]string{"serve"}, "cannot listen on :1; use --metrics-listen", "cannot listen on :1; use --metrics-listen"},
		{[]string{"serve"}, "no --listener, --listen-on, /srv/--listen, x--listen", "no --listener, --listen-on, /srv/--listen, x--listen"},
		{[]string{"serve"}, "serve: --listen must be an address", "GATHERKIT_LISTEN must be an address"},
		{[]string{"serve"}, `--public-url: must be a URL (from envar GATHERKIT_PUBLIC_URL="x")`, "GATHERKIT_PUBLIC_URL must be a URL"},
		{[]string{"serve"}, "--database: cannot read the file in GATHERKIT_SMTP_FILE: x", "cannot read the file in GATHERKIT_SMTP_FILE: x"},
		{[]string{"user"}, "user add: --role must be one of", "--role must be one of"},
		{[]string{"user"}, `--role must be one of "viewer","owner","" but got "king"`, `--role must be one of "viewer","owner" but got "king"`},
		{[]string{"x"}, "unexpected argument x", "unexpected argument x"},
	} {
		if got := config.Explain(parser.Model, test.args, errors.New(test.text)); got != test.want {
			t.Errorf("%q: %s, want %s", test.args, got, test.want)
		}
	}
}

func TestStoreIsValidatedAlone(t *testing.T) {
	if _, err := parse(t, map[string]string{"GATHERKIT_DATABASE": "mysql://h"}, "migrate"); err == nil {
		t.Error("no error, want one about the scheme")
	}
	// Invalid settings of other commands are ignored.
	if _, err := parse(t, map[string]string{"GATHERKIT_SUBMIT_RATE": "-1"}, "migrate"); err != nil {
		t.Error(err)
	}
}

func TestSecretFile(t *testing.T) {
	write := func(content string) string {
		path := filepath.Join(t.TempDir(), "secret")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, content := range []string{"postgres://u:hunter2@h/db", "postgres://u:hunter2@h/db\n", "postgres://u:hunter2@h/db\r\n"} {
		// Docker Compose sets an empty variable if the value is unset.
		c, err := parse(t, map[string]string{"GATHERKIT_DATABASE_FILE": write(content), "GATHERKIT_DATABASE": ""}, "serve")
		if err != nil {
			t.Fatal(err)
		}
		if c.Serve.Database != "postgres://u:hunter2@h/db" {
			t.Errorf("file %q: database %q", content, string(c.Serve.Database))
		}
	}
	for _, test := range []struct {
		name, file, variable, want string
	}{
		{"both", write("postgres://h/db"), "postgres://u:hunter2@h/db", "set either GATHERKIT_DATABASE or GATHERKIT_DATABASE_FILE, not both"},
		{"missing", "/missing", "", "cannot read the file in GATHERKIT_DATABASE_FILE: open /missing"},
		{"empty", write("\n"), "", "in GATHERKIT_DATABASE_FILE is empty; write the value to it"},
		{"wrong", write("mysql://u:hunter2@h/db"), "", "GATHERKIT_DATABASE_FILE must begin with postgres://"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := parse(t, map[string]string{"GATHERKIT_DATABASE_FILE": test.file, "GATHERKIT_DATABASE": test.variable}, "serve")
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("error %v, want one with %q and without the password", err, test.want)
			}
		})
	}
}

func TestDatabaseIsRedacted(t *testing.T) {
	for value, want := range map[config.Database]string{
		"":                               "",
		"postgres://h:5432/db":           "postgres://h:5432/db",
		"postgres://u:hunter2@h:5432/db": "postgres://u:xxxxx@h:5432/db",
		"postgres://h/db?user=u&password=hunter2#hunter2": "postgres://h/db",
		"postgres://u:hunter2#@h/db":                      "postgres://…",
		"postgres:hunter2":                                "postgres://…",
	} {
		asJSON, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		formatted := []string{value.String(), fmt.Sprintf("%q", value), fmt.Sprintf("%+v", config.Store{Database: value}), string(asJSON)}
		for _, got := range formatted {
			if !strings.Contains(got, want) || strings.Contains(got, "hunter2") {
				t.Errorf("%s, want %q", got, want)
			}
		}
	}
}
