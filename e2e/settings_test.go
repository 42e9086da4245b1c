package e2e_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"gatherkit/e2e/program"
	"gatherkit/internal/mail/mailtest"
	"gatherkit/internal/store/storetest"
)

func TestVariables(t *testing.T) {
	place := storetest.SQLite(t)
	program.AddOwner(t, place)
	listed := program.Execute(t, []string{"GATHERKIT_DATA=" + place.Folder}, "", "user", "list")
	if listed.Code != 0 || !strings.Contains(listed.Stdout, program.Email) {
		t.Errorf("user list with GATHERKIT_DATA: %+v", listed)
	}
	// StartOn sets no flag except --listen.
	settings := []string{"GATHERKIT_DATA=" + place.Folder, "GATHERKIT_PUBLIC_URL=https://feedback.example.com"}
	c := program.NewClient(t, program.StartOn(t, program.FreeAddress(t), settings))
	c.Login(t)
	in := strings.NewReader(`{"email": "` + program.Email + `", "password": "` + program.Password + `"}`)
	r, err := http.NewRequest(http.MethodPost, c.URL+"/api/auth-login", in)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Token-Transport", "cookie")
	response, err := c.HTTP.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // the body is read below
	if _, err := program.ReadReply(response); err != nil {
		t.Fatal(err)
	}
	if cookie := response.Header.Get("Set-Cookie"); !strings.Contains(cookie, "; Secure") {
		t.Errorf("with an https GATHERKIT_PUBLIC_URL the cookie is %q", cookie)
	}

	settings = []string{
		"GATHERKIT_LISTEN=" + strings.TrimPrefix(c.URL, "http://"), "GATHERKIT_DATA=" + filepath.Join(t.TempDir(), "data"),
	}
	got := fail(t, settings, "", "serve")
	want := regexp.MustCompile(`^cannot listen on 127\.0\.0\.1:\d+: .*address already in use; choose another address with GATHERKIT_LISTEN$`)
	if !want.MatchString(got) {
		t.Errorf("serve on a port in use: %q", got)
	}
}

func TestDatabaseFile(t *testing.T) {
	database := storetest.Place{Database: storetest.Postgres(t)}
	program.AddOwner(t, database)
	file := filepath.Join(t.TempDir(), "database")
	if err := os.WriteFile(file, []byte(database.Database+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got := program.Execute(t, []string{"GATHERKIT_DATABASE_FILE=" + file}, "", "user", "list")
	if got.Code != 0 || !strings.Contains(got.Stdout, program.Email) {
		t.Errorf("user list with GATHERKIT_DATABASE_FILE: %+v", got)
	}
	got = program.Execute(t, []string{"GATHERKIT_DATABASE_FILE=" + file + "x"}, "", "user", "list")
	if got.Code == 0 || !strings.Contains(got.Stderr, "cannot read the file in GATHERKIT_DATABASE_FILE") {
		t.Errorf("user list with a missing file: %+v", got)
	}
}

// TestReload: at SIGHUP, the service reads the files again that variables name. The log level, the mail server and the
// login of PostgreSQL apply at once, and an invalid value leaves everything as it was.
func TestReload(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		folder := t.TempDir()
		m := &mailing{t: t, server: mailtest.New(t), address: program.FreeAddress(t)}
		program.AddOwner(t, at)
		m.args = append(program.At(at), "--public-url=http://"+m.address)
		write := func(setting, value string) {
			t.Helper()
			if err := os.WriteFile(filepath.Join(folder, setting), []byte(value+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		file := func(setting, value string) {
			t.Helper()
			write(setting, value)
			m.settings = append(m.settings, "GATHERKIT_"+setting+"_FILE="+filepath.Join(folder, setting))
		}
		file("SMTP", m.server.As("app", "wrong"))
		file("LOG_LEVEL", "warn")
		file("SUBMIT_RATE", "600")
		if at.Database != "" {
			m.args = []string{m.args[len(m.args)-1]}
			file("DATABASE", at.Database)
		}
		m.start()
		logged := func(text string) {
			t.Helper()
			program.Eventually(t, "the log has "+text, func() bool { return strings.Contains(m.process.Stderr.String(), text) })
		}
		hangUp := func() {
			t.Helper()
			if err := syscall.Kill(m.process.PID, syscall.SIGHUP); err != nil {
				t.Fatal(err)
			}
		}
		m.token = m.client.Login(t)
		m.app = m.client.AddApp(t, m.token)
		m.wants("ada@example.com", "Dark mode")
		logged("the mail server refuses the login")
		if log := m.process.Stderr.String(); strings.Contains(log, `"level":"INFO"`) {
			t.Errorf("a line below the level: %s", log)
		}

		write("LOG_LEVEL", "loud")
		write("SMTP", m.server.As("app", "open%20sesame"))
		hangUp()
		logged("cannot reload the settings; those from before stay")
		logged("GATHERKIT_LOG_LEVEL_FILE must be one of")

		write("LOG_LEVEL", "info")
		write("SMTP", "smtp://")
		hangUp()
		logged(`"error":"GATHERKIT_SMTP_FILE: it must be`)

		write("SMTP", m.server.As("app", "open%20sesame"))
		hangUp()
		m.next("ada@example.com")
		logged(`"log_level":"info"`)
		if log := m.process.Stderr.String(); strings.Contains(log, "settings have changed") || strings.Contains(log, "sesame") {
			t.Error(log)
		}
		m.wants("ada@example.com", "Maps")
		logged(`"operation":"widget-submit-request"`)

		write("SUBMIT_RATE", "1")
		hangUp()
		logged(`"msg":"settings have changed that apply only after a restart","settings":["GATHERKIT_SUBMIT_RATE_FILE"]`)
		write("LOG_LEVEL", "error")
		hangUp()
		logged(`"level":"ERROR","msg":"reloaded the settings","log_level":"error"`)
		if at.Database == "" {
			return
		}
		raw, name := at.Raw(t), "other_"+strings.ToLower(rand.Text())
		if _, err := raw.ExecContext(t.Context(), "CREATE ROLE "+name+" LOGIN SUPERUSER"); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _, _ = raw.ExecContext(context.Background(), "DROP ROLE "+name) })
		u, err := url.Parse(at.Database)
		if err != nil {
			t.Fatal(err)
		}
		u.User = url.User(name)
		write("DATABASE", u.String())
		hangUp()
		program.Eventually(t, "a connection of the other user", func() bool {
			// What the service has is closed, so that it connects again.
			_, err := raw.ExecContext(t.Context(), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"+
				" WHERE datname = current_database() AND application_name = 'gatherkit' AND usename <> $1", name)
			if err != nil {
				t.Fatal(err)
			}
			var n int
			if err := raw.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM pg_stat_activity WHERE usename = $1", name).Scan(&n); err != nil {
				t.Fatal(err)
			}
			return n > 0 && program.Answers(t, m.process.URL+"/readyz")
		})
		more := u.Query()
		more.Set("connect_timeout", "9")
		u.RawQuery = more.Encode()
		write("DATABASE", u.String())
		hangUp()
		logged(`"settings":["GATHERKIT_DATABASE_FILE","GATHERKIT_SUBMIT_RATE_FILE"]`)
		m.process.Stop(t)
	})
}

func TestUnknownVariables(t *testing.T) {
	got := program.Execute(t, []string{
		"GATHERKIT_LISTN=:1", "GATHERKIT_SERVICE_HOST=10.0.0.1", "GATHERKIT_SERVICE_PORT=80", "GATHERKIT_PORT=tcp://10.0.0.1:80",
		"GATHERKIT_PORT_8080_TCP=tcp://10.0.0.1:80", "GATHERKIT_PORT_8080_TCP_ADDR=10.0.0.1",
	}, "", "version")
	if want := "gatherkit: warning: GATHERKIT_LISTN is not a setting; did you mean GATHERKIT_LISTEN?\n"; got.Code != 0 || got.Stderr != want {
		t.Errorf("exit %d, stderr %q; want %q", got.Code, got.Stderr, want)
	}
}

// TestPasswordOfDatabaseStaysSecret tests that errors about database URLs do not contain the
// password. The URLs are passed as a flag, as a variable and in a file.
func TestPasswordOfDatabaseStaysSecret(t *testing.T) {
	const secret = "hunter2"
	good := storetest.Postgres(t)
	for name, test := range map[string]struct{ url, want string }{
		"scheme":  {"mysql://ada:hunter2@127.0.0.1/db", "must begin with postgres://"},
		"escapes": {"postgres://ada:hunter2%zz@127.0.0.1/db", "is not a valid URL"},
		"port":    {"postgres://ada:hunter2@127.0.0.1:99999/db", "the database URL cannot be read"},
		"option":  {"postgres://ada:hunter2@127.0.0.1:1/db?sslmode=what", "the database URL cannot be read"},
		"file": {
			"postgres://ada:hunter2@127.0.0.1:1/db?sslmode=verify-full&sslrootcert=/no/ca.pem",
			"the database URL names a file that cannot be read: open /no/ca.pem: no such file or directory",
		},
		"refused": {"postgres://ada:hunter2@127.0.0.1:1/db", "connection refused"},
		"host":    {"postgres://ada:hunter2@gatherkit.invalid/db", "gatherkit.invalid"},
		"missing": {strings.Replace(good, "postgres@", "postgres:hunter2@", 1) + "&dbname=missing", `database "missing" does not exist`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "database")
			if err := os.WriteFile(file, []byte(test.url), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, got := range []program.Outcome{
				program.Execute(t, nil, "", "serve", "--database="+test.url),
				program.Execute(t, []string{"GATHERKIT_DATABASE=" + test.url}, "", "serve"),
				program.Execute(t, []string{"GATHERKIT_DATABASE_FILE=" + file}, "", "user", "list"),
			} {
				first, rest, _ := strings.Cut(got.Stderr, "\n")
				if !strings.Contains(first, test.want) || rest != "" && rest != "Run gatherkit --help for usage.\n" || got.Code == 0 {
					t.Errorf("exit %d, stderr %q; want %q in one line", got.Code, got.Stderr, test.want)
				}
				if strings.Contains(got.Stdout+got.Stderr, secret) {
					t.Errorf("the output contains the password: %q %q", got.Stdout, got.Stderr)
				}
			}
		})
	}
}

// TestLogHoldsNoSecrets makes all kinds of calls and searches the log for secrets.
func TestLogHoldsNoSecrets(t *testing.T) {
	storetest.Each(t, func(t *testing.T, place storetest.Place) {
		place.Database = strings.Replace(place.Database, "postgres@", "postgres:hunter2@", 1)
		p := program.Start(t, program.At(place)...)
		token, key := setUp(t, p)
		c := program.NewClient(t, p)
		const wrong, changed = "this-password-is-wrong", "this-password-is-new"
		login := c.Want(t, "ok", "auth-login", "", program.Params{"email": program.Email, "password": "correct horse"})
		pair := c.Want(t, "ok", "auth-refresh", "", program.Params{"refresh_token": login.RefreshToken})
		c.Want(t, "auth.invalid_credentials", "auth-login", "", program.Params{"email": program.Email, "password": wrong})
		c.Want(t, "auth.invalid_token", "auth-me", pair.AccessToken+"x", program.Params{})
		c.Want(t, "auth.invalid_api_key", "widget-submit-request", key+"x", program.Params{})
		c.Want(t, "api.unknown_operation", "no-such-operation?token="+pair.AccessToken, "", program.Params{})
		c.Want(t, "api.unknown_operation", key, "", program.Params{})
		c.Want(t, "auth.invalid_password", "auth-login", "", program.Params{"email": program.Email})
		c.Want(t, "api.unknown_parameter", "auth-login", "", program.Params{"email": program.Email, "password": wrong, changed: wrong})
		c.Want(t, "ok", "auth-change-password", pair.AccessToken, program.Params{"current_password": "correct horse", "new_password": changed})
		id := c.Submit(t, key, "A-secret-wish")
		c.Want(t, "ok", "requests-update", pair.AccessToken, program.Params{"id": id, "status": "planned"})
		created := c.Want(t, "ok", "apps-list", pair.AccessToken, program.Params{}).Apps[0]
		regenerated := c.Want(t, "ok", "apps-regenerate-key", pair.AccessToken, program.Params{"id": created.ID}).App.APIKey
		c.Want(t, "ok", "auth-logout", pair.AccessToken, program.Params{})
		setup := setupToken.FindString(p.Stdout.String())
		p.Stop(t)

		log := p.Stderr.String()
		secrets := map[string]string{
			"first access token": token, "access token": login.AccessToken, "refresh token": login.RefreshToken,
			"second access token": pair.AccessToken, "second refresh token": pair.RefreshToken, "set-up token": setup,
			"API key": key, "new API key": regenerated, "password": "correct horse", "wrong password": wrong, "new password": changed,
			"database's password": "hunter2", "e-mail": program.Email, "request": "A-secret-wish",
		}
		for name, secret := range secrets {
			if secret == "" {
				t.Errorf("the session has no %s", name)
			} else if strings.Contains(log, secret) {
				t.Errorf("the log has the %s:\n%s", name, log)
			}
		}
		calls := 0
		for line := range strings.Lines(log) {
			var entry struct{ Msg, Operation, Code string }
			if err := json.Unmarshal([]byte(line), &entry); err != nil {
				t.Errorf("the log has a line that is not JSON: %q", line)
			}
			if entry.Msg == "call" {
				calls++
			}
		}
		if calls != 17 {
			t.Errorf("the log has %d calls, want 17:\n%s", calls, log)
		}
	})
}

func TestDataFolderIsPrivate(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "new", "data")
	program.Succeed(t, "migrate", "--data="+folder)
	info, err := os.Stat(folder)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o700 {
		t.Errorf("the data folder has mode %v, want 0700", info.Mode())
	}
}
