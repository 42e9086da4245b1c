package e2e_test

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"gatherkit/e2e/program"
	"gatherkit/internal/store/storetest"
)

// replicas starts two services on one PostgreSQL database.
func replicas(t *testing.T) (database storetest.Place, one, two *program.Process) {
	t.Helper()
	database = storetest.Place{Name: "postgres", Database: storetest.Postgres(t)}
	return database, program.Start(t, program.At(database)...), program.Start(t, program.At(database)...)
}

// TestReplicasAreOneService tests that the next call to one replica sees what was changed on the
// other.
func TestReplicasAreOneService(t *testing.T) {
	database, first, second := replicas(t)
	program.AddOwner(t, database)
	one, two := program.NewClient(t, first), program.NewClient(t, second)
	login := one.Want(t, "ok", "auth-login", "", program.Params{"email": program.Email, "password": program.Password})
	token := login.AccessToken
	created := two.AddApp(t, token)

	for i := range 5 {
		one.Submit(t, created.APIKey, "wish "+strconv.Itoa(i))
	}
	page := one.Want(t, "ok", "requests-list", token, program.Params{"limit": 2})
	titles := titlesOf(page.Requests)
	for other := two; page.NextCursor != ""; {
		page = other.Want(t, "ok", "requests-list", token, program.Params{"cursor": page.NextCursor, "limit": 2})
		titles = append(titles, titlesOf(page.Requests)...)
	}
	if want := []string{"wish 4", "wish 3", "wish 2", "wish 1", "wish 0"}; !slices.Equal(titles, want) {
		t.Errorf("pages from both replicas: %q, want %q", titles, want)
	}

	regenerated := one.Want(t, "ok", "apps-regenerate-key", token, program.Params{"id": created.ID}).App
	wish := program.Params{"title": "another", "description": ""}
	two.Want(t, "auth.invalid_api_key", "widget-submit-request", created.APIKey, wish)
	two.Want(t, "ok", "widget-submit-request", regenerated.APIKey, wish)

	one.Want(t, "ok", "apps-delete", token, program.Params{"id": created.ID})
	two.Want(t, "auth.invalid_api_key", "widget-submit-request", regenerated.APIKey, wish)
	two.Want(t, "apps.not_found", "apps-get", token, program.Params{"id": created.ID})

	pair := two.Want(t, "ok", "auth-refresh", "", program.Params{"refresh_token": login.RefreshToken})
	one.Want(t, "ok", "auth-me", pair.AccessToken, program.Params{})
	one.Want(t, "ok", "auth-logout", pair.AccessToken, program.Params{})
	two.Want(t, "auth.invalid_token", "auth-me", pair.AccessToken, program.Params{})
	two.Want(t, "auth.invalid_refresh_token", "auth-refresh", "", program.Params{"refresh_token": pair.RefreshToken})
}

func titlesOf(requests []program.Request) []string {
	var titles []string
	for _, r := range requests {
		titles = append(titles, r.Title)
	}
	return titles
}

// TestReplicasLetOneOwnerBeCreated starts two replicas on an empty database. Both print a set-up
// token. Of two concurrent calls, one with each token, exactly one succeeds.
func TestReplicasLetOneOwnerBeCreated(t *testing.T) {
	database, first, second := replicas(t)
	owner := func(p *program.Process) program.Params {
		var token string
		program.Eventually(t, "the set-up token is printed", func() bool {
			token = setupToken.FindString(p.Stdout.String())
			return token != ""
		})
		return program.Params{"token": token, "account_name": "Acme", "name": "Ada", "email": program.Email, "password": program.Password}
	}
	// Each token works on the other replica, too.
	calls := map[*program.Process]program.Params{first: owner(second), second: owner(first)}
	codes := make(chan string, len(calls))
	var all sync.WaitGroup
	for p, in := range calls {
		c := program.NewClient(t, p)
		all.Go(func() {
			got, err := c.Call("setup-create-owner", "", in)
			if err != nil {
				t.Error(err)
			}
			codes <- got.Code
		})
	}
	all.Wait()
	got := []string{<-codes, <-codes}
	slices.Sort(got)
	if want := []string{"ok", "setup.already_done"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for p := range calls {
		program.NewClient(t, p).Login(t)
	}
	late := program.Start(t, program.At(database)...)
	program.Eventually(t, "the start is complete", func() bool { return strings.Contains(late.Stderr.String(), `"msg":"serving"`) })
	if token := setupToken.FindString(late.Stdout.String()); token != "" {
		t.Error("a set-up token is printed although there is a user")
	}
}
