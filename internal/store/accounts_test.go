package store_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gatherkit/internal/feedback"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
	"gatherkit/internal/team"
	"gatherkit/internal/usage"
)

func newAccount(name, app string) store.NewAccount {
	return store.NewAccount{Name: name, Owner: team.NewUser{Email: "owner@" + name + ".example", Name: "Owner"}, App: app}
}

// TestCreateAccounts: the operator creates all accounts or none, and an owner without a password accepts the
// invitation, with which they log in.
func TestCreateAccounts(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		created, err := r.CreateAccounts(ctx, []store.NewAccount{newAccount("Acme", "Website"), newAccount("Globex", "")})
		if err != nil || len(created) != 2 {
			t.Fatalf("%+v, %v", created, err)
		}
		acme := created[0]
		if app, err := r.AppByKey(ctx, acme.App.APIKey); err != nil || app.Name != "Website" || app.AccountID != acme.ID {
			t.Errorf("%+v, %v", app, err)
		}
		if created[1].App.APIKey != "" {
			t.Errorf("an app that nobody asked for: %+v", created[1].App)
		}
		session, _, err := r.Team.Accept(ctx, acme.Invitation.Token, "hash", nil, "")
		if err != nil || session.Account.ID != acme.ID || session.Role != feedback.RoleOwner {
			t.Errorf("%+v, %v", session, err)
		}

		taken := team.NewUser{Email: "OWNER@acme.example", Name: "Owner", PasswordHash: "hash"}
		for name, refused := range map[string]struct {
			account store.NewAccount
			want    error
		}{
			"the name of another account": {newAccount("Globex", ""), team.ErrAccountExists},
			"the name of one of them":     {newAccount("Initech", ""), team.ErrAccountExists},
			"the e-mail of a login":       {store.NewAccount{Name: "Hooli", Owner: taken}, feedback.ErrEmailTaken},
		} {
			before, err := r.CreateAccounts(ctx, []store.NewAccount{newAccount("Initech", "App"), refused.account, newAccount("Last", "")})
			if !errors.Is(err, refused.want) || len(before) != 1 {
				t.Errorf("%s: %d before, %v", name, len(before), err)
			}
		}
		if n := r.Count("accounts"); n != 2 {
			t.Errorf("%d accounts", n)
		}
	})
}

// TestAccountSizes: each account is listed with its own numbers, also if it has nothing.
func TestAccountSizes(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		acme, globex := r.NewAccount("Acme"), r.NewAccount("Globex")
		app := r.NewApp(acme)
		r.Fill(app, 3)
		binned := r.Fill(app, 1)
		_, err := r.ChangeRequest(ctx, acme.ID, binned.ID, feedback.Command(), func(q *feedback.Request) error {
			q.Box = feedback.Bin
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.DeleteApp(ctx, acme.ID, r.NewApp(acme).ID, feedback.Command()); err != nil {
			t.Fatal(err)
		}
		for i, attached := range []any{binned.ID, binned.ID, nil} {
			r.Exec(`INSERT INTO uploads (account_id, id, app_id, request_id, filename, content_type, size, ready)
				VALUES ($1, $2, $3, $4, 'a.txt', 'text/plain', $5, $6)`, acme.ID, feedback.ID{byte(i + 1)}, app.ID, attached, 1000*(i+1), true)
		}
		r.Usage.Count(acme.ID, usage.Use{Calls: 3, Busy: 2500 * time.Millisecond, Mails: 4})
		if err := r.Usage.Add(ctx); err != nil {
			t.Fatal(err)
		}
		sizes, err := r.AccountSizes(ctx)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, a := range sizes {
			got = append(got, fmt.Sprintf("%s: %d users, %d apps, %d requests, %d files, %d bytes, %d calls in %v s, %d mails",
				a.Name, a.Users, a.Apps, a.Requests, a.Files, a.FileBytes, a.Calls, a.Seconds, a.Mails))
			if a.CreatedAt == 0 || a.LastChange < a.CreatedAt {
				t.Errorf("%+v", a)
			}
		}
		want := []string{
			"Acme: 1 users, 1 apps, 4 requests, 2 files, 3000 bytes, 3 calls in 2.5 s, 4 mails",
			"Globex: 1 users, 0 apps, 0 requests, 0 files, 0 bytes, 0 calls in 0 s, 0 mails",
		}
		if fmt.Sprint(got) != fmt.Sprint(want) || sizes[1].ID != globex.ID {
			t.Errorf("%q, want %q", got, want)
		}
		for _, a := range sizes {
			one, err := r.AccountSize(ctx, a.ID)
			if diff := cmp.Diff(a, one); err != nil || diff != "" {
				t.Errorf("alone: %v (-want +got):\n%s", err, diff)
			}
		}
	})
}
