package e2e_test

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"gatherkit/internal/store/storetest"
)

// replicas starts two services on one PostgreSQL.
func replicas(t *testing.T) (database storetest.Place, one, two *process) {
	t.Helper()
	database = storetest.Place{Name: "postgres", Database: storetest.Postgres(t)}
	return database, start(t, at(database)...), start(t, at(database)...)
}

// TestReplicasAreOneService changes things on one replica and sees on the other,
// with the next call, what has changed.
func TestReplicasAreOneService(t *testing.T) {
	database, first, second := replicas(t)
	addOwner(t, database)
	one, two := newClient(t, first), newClient(t, second)
	login := one.want(t, "ok", "auth-login", "", params{"email": email, "password": password})
	token := login.AccessToken
	created := two.addApp(t, token)

	for i := range 5 {
		one.submit(t, created.APIKey, "wish "+strconv.Itoa(i))
	}
	page := one.want(t, "ok", "requests-list", token, params{"limit": 2})
	titles := titlesOf(page.Requests)
	for other := two; page.NextCursor != ""; {
		page = other.want(t, "ok", "requests-list", token, params{"cursor": page.NextCursor, "limit": 2})
		titles = append(titles, titlesOf(page.Requests)...)
	}
	if want := []string{"wish 4", "wish 3", "wish 2", "wish 1", "wish 0"}; !slices.Equal(titles, want) {
		t.Errorf("pages from both replicas: %q, want %q", titles, want)
	}

	regenerated := one.want(t, "ok", "apps-regenerate-key", token, params{"id": created.ID}).App
	wish := params{"title": "another", "description": ""}
	two.want(t, "auth.invalid_api_key", "widget-submit-request", created.APIKey, wish)
	two.want(t, "ok", "widget-submit-request", regenerated.APIKey, wish)

	one.want(t, "ok", "apps-delete", token, params{"id": created.ID})
	two.want(t, "auth.invalid_api_key", "widget-submit-request", regenerated.APIKey, wish)
	two.want(t, "apps.not_found", "apps-get", token, params{"id": created.ID})

	pair := two.want(t, "ok", "auth-refresh", "", params{"refresh_token": login.RefreshToken})
	one.want(t, "ok", "auth-me", pair.AccessToken, params{})
	one.want(t, "ok", "auth-logout", pair.AccessToken, params{})
	two.want(t, "auth.invalid_token", "auth-me", pair.AccessToken, params{})
	two.want(t, "auth.invalid_refresh_token", "auth-refresh", "", params{"refresh_token": pair.RefreshToken})
}

func titlesOf(requests []request) []string {
	var titles []string
	for _, r := range requests {
		titles = append(titles, r.Title)
	}
	return titles
}

// TestReplicaGoesOnWithoutTheOther kills one of two replicas while clients submit to
// both: those of the other notice nothing.
func TestReplicaGoesOnWithoutTheOther(t *testing.T) {
	database, first, second := replicas(t)
	addOwner(t, database)
	one, two := newClient(t, first), newClient(t, second)
	token := two.login(t)
	key := two.addApp(t, token).APIKey
	l := newLedger()
	killed := make(chan struct{})
	wait := submitAll(t, func(title string) {
		in := params{"title": title, "description": "", "idempotency_key": title}
		select {
		case <-killed:
		default:
			if got, err := one.call("widget-submit-request", key, in); err == nil && got.code == "ok" {
				l.note(t, got.Request.ID, title)
				return
			}
		}
		got, err := two.call("widget-submit-request", key, in)
		if err != nil || got.code != "ok" {
			t.Errorf("%q on the replica that lives: %s %v", title, got.code, err)
			return
		}
		l.note(t, got.Request.ID, title)
	})
	for range submitters * each / 4 {
		<-l.count
	}
	first.kill(t)
	close(killed)
	wait()
	stored := two.list(t, token)
	l.check(t, stored)
	if len(stored) != submitters*each {
		t.Errorf("%d requests are stored, want %d", len(stored), submitters*each)
	}
}

// TestReplicasLetOneOwnerBeCreated starts two replicas on an empty database. Both
// print a set-up token, and of two calls at once, one with each, one succeeds.
func TestReplicasLetOneOwnerBeCreated(t *testing.T) {
	database, first, second := replicas(t)
	owner := func(p *process) params {
		var token string
		eventually(t, "the set-up token is printed", func() bool {
			token = setupToken.FindString(p.stdout.String())
			return token != ""
		})
		return params{"token": token, "account_name": "Acme", "name": "Ada", "email": email, "password": password}
	}
	// Each token is good on the other replica.
	calls := map[*process]params{first: owner(second), second: owner(first)}
	codes := make(chan string, len(calls))
	var all sync.WaitGroup
	for p, in := range calls {
		c := newClient(t, p)
		all.Go(func() {
			got, err := c.call("setup-create-owner", "", in)
			if err != nil {
				t.Error(err)
			}
			codes <- got.code
		})
	}
	all.Wait()
	got := []string{<-codes, <-codes}
	slices.Sort(got)
	if want := []string{"ok", "setup.already_done"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for p := range calls {
		newClient(t, p).login(t)
	}
	late := start(t, at(database)...)
	eventually(t, "the start is complete", func() bool { return strings.Contains(late.stderr.String(), `"msg":"serving"`) })
	if token := setupToken.FindString(late.stdout.String()); token != "" {
		t.Error("a set-up token is printed although there is a user")
	}
}
