package api

import (
	"database/sql"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"gatherkit/internal/feedback"
	"gatherkit/internal/store/storetest"
)

// TestTeamSecretsAreNotLogged: the database, including the log of changes, contains no links and
// passwords as plain text.
func TestTeamSecretsAreNotLogged(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s := newService(t, at)
		const secret = "a password of nobody else"
		invited := s.must("users-invite", "owner", `{"email":"grace@example.com","name":"Grace","role":"admin"}`)
		_, token, _ := strings.Cut(invited["link"].(string), "#")
		s.must("auth-accept-invite", "", `{"token":"`+token+`","password":"`+secret+`"}`)
		again := s.must("users-recover", "owner", `{"id":"`+invited["user"].(map[string]any)["id"].(string)+`"}`)
		_, other, _ := strings.Cut(again["link"].(string), "#")
		db := at.Raw(t)
		for _, table := range []string{"changes", "join_links", "users"} {
			n, text := everything(t, db, table)
			if n == 0 {
				t.Errorf("%s is empty", table)
			}
			for _, secret := range []string{secret, token, other} {
				if strings.Contains(text, secret) {
					t.Errorf("%s holds a secret", table)
				}
			}
		}
	})
}

// everything returns the content of a table and its number of rows.
func everything(t *testing.T, db *sql.DB, table string) (n int, text string) {
	t.Helper()
	rows, err := db.Query("SELECT * FROM " + table)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err has what matters
	names, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	values, into := make([]any, len(names)), make([]any, len(names))
	for i := range values {
		into[i] = &values[i]
	}
	for ; rows.Next(); n++ {
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		for _, v := range values {
			if bytes, isBytes := v.([]byte); isBytes {
				v = string(bytes)
			}
			text += fmt.Sprintln(v)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return n, text
}

// TestLinksWithoutPublicURL: links do not depend on the Host header.
func TestLinksWithoutPublicURL(t *testing.T) {
	s := newService(t, storetest.SQLite(t), func(o *Options) { o.PublicURL = nil })
	r := s.request("users-invite", "owner", `{"email":"grace@example.com","name":"Grace","role":"admin"}`)
	r.Host = "evil.example.com"
	if got := serve(s.api, r); got.status != http.StatusOK || !strings.Contains(string(got.body), `"link":"/join#gjt_`) {
		t.Errorf("%s", got.body)
	}
}

// TestSetUpByCookie: the set-up can return the refresh token as a cookie, like the login.
func TestSetUpByCookie(t *testing.T) {
	s := newFreshService(t, storetest.SQLite(t))
	r := s.request("setup-create-owner", "", s.filled(sample(t, "setup-create-owner")))
	r.Header.Set("X-Token-Transport", "cookie")
	got := serve(s.api, r)
	if got.status != http.StatusOK || !strings.HasPrefix(got.header.Get("Set-Cookie"), cookieName+"=grt_") ||
		strings.Contains(string(got.body), "grt_") {
		t.Errorf("%d %s %s", got.status, got.header.Get("Set-Cookie"), got.body)
	}
}

// TestRemovedUsersAreOut: the tokens and links of a removed user stop working, and their e-mail
// can be used again.
func TestRemovedUsersAreOut(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s := newService(t, at)
		export := s.must("requests-export", "member", `{"format":"csv"}`)["url"].(string)
		s.must("users-remove", "admin", `{"id":"`+s.user("member")+`"}`)
		for _, c := range []struct{ operation, who, body, want string }{
			{"requests-list", "member", `{}`, "auth.invalid_token"},
			{"auth-refresh", "member_refresh", `{}`, "auth.invalid_refresh_token"},
			{"auth-login", "", `{"email":"member@example.com","password":"` + testPassword + `"}`, "auth.invalid_credentials"},
			{"users-invite", "admin", `{"email":"member@example.com","name":"M","role":"` + string(feedback.RoleViewer) + `"}`, "ok"},
		} {
			if got := s.call(c.operation, c.who, c.body); got.code(t) != c.want {
				t.Errorf("%s: %s", c.operation, got.body)
			}
		}
		if got := s.get(strings.TrimPrefix(export, serviceURL)); got.status != http.StatusNotFound {
			t.Errorf("the export: %d %s", got.status, got.body)
		}
	})
}
