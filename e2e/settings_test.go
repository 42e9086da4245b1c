package e2e_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gatherkit/internal/store/storetest"
)

func TestVariables(t *testing.T) {
	place := storetest.SQLite(t)
	addOwner(t, place)
	if got := execute(t, []string{"GATHERKIT_DATA=" + place.Folder}, "", "user", "list"); got.code != 0 || !strings.Contains(got.stdout, email) {
		t.Errorf("user list with GATHERKIT_DATA: %+v", got)
	}
	// startOn gives no flags but --listen.
	c := newClient(t, startOn(t, freeAddress(t), []string{"GATHERKIT_DATA=" + place.Folder, "GATHERKIT_PUBLIC_URL=https://feedback.example.com"}))
	c.login(t)
	in := strings.NewReader(`{"email": "` + email + `", "password": "` + password + `"}`)
	r, err := http.NewRequest(http.MethodPost, c.url+"/api/auth-login", in)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Token-Transport", "cookie")
	response, err := c.http.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := readReply(response); err != nil {
		t.Fatal(err)
	}
	if cookie := response.Header.Get("Set-Cookie"); !strings.Contains(cookie, "; Secure") {
		t.Errorf("with an https GATHERKIT_PUBLIC_URL the cookie is %q", cookie)
	}

	got := fail(t, []string{"GATHERKIT_LISTEN=" + strings.TrimPrefix(c.url, "http://"), "GATHERKIT_DATA=" + t.TempDir()}, "", "serve")
	if want := regexp.MustCompile(`^cannot listen on 127\.0\.0\.1:\d+: .*address already in use; choose another address with --listen$`); !want.MatchString(got) {
		t.Errorf("serve on a port in use: %q", got)
	}
}

func TestDatabaseFile(t *testing.T) {
	database := storetest.Place{Database: storetest.Postgres(t)}
	addOwner(t, database)
	file := filepath.Join(t.TempDir(), "database")
	if err := os.WriteFile(file, []byte(database.Database+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := execute(t, []string{"GATHERKIT_DATABASE_FILE=" + file}, "", "user", "list"); got.code != 0 || !strings.Contains(got.stdout, email) {
		t.Errorf("user list with GATHERKIT_DATABASE_FILE: %+v", got)
	}
	got := execute(t, []string{"GATHERKIT_DATABASE_FILE=" + file + "x"}, "", "user", "list")
	if got.code == 0 || !strings.Contains(got.stderr, "cannot read the file that GATHERKIT_DATABASE_FILE names") {
		t.Errorf("user list with a missing file: %+v", got)
	}
}

func TestUnknownVariables(t *testing.T) {
	got := execute(t, []string{
		"GATHERKIT_LISTN=:1", "GATHERKIT_SERVICE_HOST=10.0.0.1", "GATHERKIT_SERVICE_PORT=80", "GATHERKIT_PORT=tcp://10.0.0.1:80",
		"GATHERKIT_PORT_8080_TCP=tcp://10.0.0.1:80", "GATHERKIT_PORT_8080_TCP_ADDR=10.0.0.1",
	}, "", "version")
	if want := "gatherkit: warning: GATHERKIT_LISTN is not a setting; did you mean GATHERKIT_LISTEN?\n"; got.code != 0 || got.stderr != want {
		t.Errorf("exit %d, stderr %q; want %q", got.code, got.stderr, want)
	}
}

// TestPasswordOfDatabaseStaysSecret gives URLs that do not work, as a flag, as a
// variable and in a file.
func TestPasswordOfDatabaseStaysSecret(t *testing.T) {
	const secret = "hunter2"
	good := storetest.Postgres(t)
	for name, test := range map[string]struct{ url, want string }{
		"scheme":  {"mysql://ada:hunter2@127.0.0.1/db", "must begin with postgres://"},
		"escapes": {"postgres://ada:hunter2%zz@127.0.0.1/db", "is not a valid URL"},
		"port":    {"postgres://ada:hunter2@127.0.0.1:99999/db", "the database URL cannot be read"},
		"option":  {"postgres://ada:hunter2@127.0.0.1:1/db?sslmode=what", "the database URL cannot be read"},
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
			for _, got := range []outcome{
				execute(t, nil, "", "serve", "--database="+test.url),
				execute(t, []string{"GATHERKIT_DATABASE=" + test.url}, "", "serve"),
				execute(t, []string{"GATHERKIT_DATABASE_FILE=" + file}, "", "user", "list"),
			} {
				first, rest, _ := strings.Cut(got.stderr, "\n")
				if !strings.Contains(first, test.want) || rest != "" && rest != "Run gatherkit --help to see what it takes.\n" || got.code == 0 {
					t.Errorf("exit %d, stderr %q; want %q in one line", got.code, got.stderr, test.want)
				}
				if strings.Contains(got.stdout+got.stderr, secret) {
					t.Errorf("the password is told: %q %q", got.stdout, got.stderr)
				}
			}
		})
	}
}

// TestLogHoldsNoSecrets looks for everything secret in the log after a session with
// all kinds of calls.
func TestLogHoldsNoSecrets(t *testing.T) {
	storetest.Each(t, func(t *testing.T, place storetest.Place) {
		place.Database = strings.Replace(place.Database, "postgres@", "postgres:hunter2@", 1)
		p := start(t, at(place)...)
		token, key := p.setUp(t)
		c := newClient(t, p)
		const wrong, changed = "this-password-is-wrong", "this-password-is-new"
		login := c.want(t, "ok", "auth-login", "", params{"email": email, "password": "correct horse"})
		pair := c.want(t, "ok", "auth-refresh", "", params{"refresh_token": login.RefreshToken})
		c.want(t, "auth.invalid_credentials", "auth-login", "", params{"email": email, "password": wrong})
		c.want(t, "auth.invalid_token", "auth-me", pair.AccessToken+"x", params{})
		c.want(t, "auth.invalid_api_key", "widget-submit-request", key+"x", params{})
		c.want(t, "api.unknown_operation", "no-such-operation?token="+pair.AccessToken, "", params{})
		c.want(t, "api.unknown_operation", key, "", params{})
		c.want(t, "auth.invalid_password", "auth-login", "", params{"email": email})
		c.want(t, "api.unknown_parameter", "auth-login", "", params{"email": email, "password": wrong, changed: wrong})
		c.want(t, "ok", "auth-change-password", pair.AccessToken, params{"current_password": "correct horse", "new_password": changed})
		id := c.submit(t, key, "A-secret-wish")
		c.want(t, "ok", "requests-update", pair.AccessToken, params{"id": id, "status": "planned"})
		created := c.want(t, "ok", "apps-list", pair.AccessToken, params{}).Apps[0]
		regenerated := c.want(t, "ok", "apps-regenerate-key", pair.AccessToken, params{"id": created.ID}).App.APIKey
		c.want(t, "ok", "auth-logout", pair.AccessToken, params{})
		setup := setupToken.FindString(p.stdout.String())
		p.stop(t)

		log := p.stderr.String()
		secrets := map[string]string{
			"first access token": token, "access token": login.AccessToken, "refresh token": login.RefreshToken,
			"second access token": pair.AccessToken, "second refresh token": pair.RefreshToken, "set-up token": setup,
			"API key": key, "new API key": regenerated, "password": "correct horse", "wrong password": wrong, "new password": changed,
			"database's password": "hunter2", "e-mail": email, "request": "A-secret-wish",
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
				t.Errorf("the log has a line that is no JSON: %q", line)
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
	succeed(t, "migrate", "--data="+folder)
	info, err := os.Stat(folder)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o700 {
		t.Errorf("the data folder has mode %v, want 0700", info.Mode())
	}
}
