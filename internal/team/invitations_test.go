package team_test

import (
	"errors"
	"testing"

	"gatherkit/internal/feedback"
	"gatherkit/internal/store/storetest"
	"gatherkit/internal/team"
)

// TestInvitationsClaimNothing: an invitation neither tells whether its e-mail is used in
// another account nor keeps others from using it. The first account whose invitation is accepted has it.
func TestInvitationsClaimNothing(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		acme, globex := r.NewAccount("Acme"), r.NewAccount("Globex")
		invite := func(account feedback.Account, email string) (feedback.ID, team.JoinLink, error) {
			m, link, err := r.Team.Invite(ctx, account.ID, *r.UserOf(account), team.NewUser{Email: email, Name: "I", Role: feedback.RoleMember})
			return m.ID, link, err
		}
		accept := func(link team.JoinLink) error {
			_, _, err := r.Team.Accept(ctx, link.Token, "hash", nil, "")
			return err
		}
		logsIn := func(email string) feedback.ID {
			t.Helper()
			c, err := r.Team.Credentials(ctx, email)
			if err != nil {
				t.Fatal(err)
			}
			return c.UserID
		}
		one, first, err := invite(acme, "Ada@example.com")
		if err != nil {
			t.Fatal(err)
		}
		two, second, err := invite(globex, "ada@Example.com")
		if err != nil {
			t.Fatalf("an invitation elsewhere has reserved the e-mail: %v", err)
		}
		if _, _, err := invite(acme, "ADA@example.com"); !errors.Is(err, feedback.ErrEmailTaken) {
			t.Errorf("twice in one account: %v", err)
		}
		ada := team.NewUser{Email: "ada@example.com", Name: "A", Role: feedback.RoleViewer, PasswordHash: "h"}
		if _, _, err := r.Team.AddUser(ctx, "Acme", ada); !errors.Is(err, feedback.ErrEmailTaken) {
			t.Errorf("from the command line, beside an invitation of the account: %v", err)
		}
		if id := logsIn("ada@example.com"); id != (feedback.ID{}) {
			t.Errorf("%s logs in and has not accepted", id)
		}
		if err := accept(second); err != nil || logsIn("ada@example.com") != two {
			t.Fatalf("%v, %s logs in", err, logsIn("ada@example.com"))
		}
		if err := accept(first); !errors.Is(err, feedback.ErrEmailTaken) || logsIn("ada@example.com") != two {
			t.Errorf("taken elsewhere: %v", err)
		}
		if _, _, err := invite(r.NewAccount("Initech"), "ada@example.com"); err != nil {
			t.Errorf("an invitation tells that somebody logs in: %v", err)
		}
		again, _, err := r.Team.Recover(ctx, globex.ID, *r.UserOf(globex), two)
		if err != nil {
			t.Fatal(err)
		}
		if err := accept(again); err != nil {
			t.Errorf("another password: %v", err)
		}
		if err := r.RemoveUser(ctx, globex.ID, *r.UserOf(globex), two); err != nil {
			t.Fatal(err)
		}
		if err := accept(first); err != nil || logsIn("ada@example.com") != one {
			t.Errorf("the e-mail is free again, and the link worked no more: %v", err)
		}
	})
}

// TestAcceptedAtOnce: of invitations to one e-mail that are accepted at once, one succeeds.
func TestAcceptedAtOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		var accepts []func() error
		for _, name := range []string{"Acme", "Globex", "Initech", "Hooli"} {
			account := r.NewAccount(name)
			_, link, err := r.Team.Invite(ctx, account.ID, *r.UserOf(account), team.NewUser{
				Email: "ada@example.com", Name: "I", Role: feedback.RoleMember,
			})
			if err != nil {
				t.Fatal(err)
			}
			accepts = append(accepts, func() error {
				_, _, err := r.Team.Accept(ctx, link.Token, "hash", nil, "")
				return err
			})
		}
		succeeded := 0
		for _, err := range atOnce(accepts...) {
			if err == nil {
				succeeded++
			} else if !errors.Is(err, feedback.ErrEmailTaken) {
				t.Error(err)
			}
		}
		claimed := r.Count("logins WHERE email = $1", "ada@example.com")
		joined := r.Count("users WHERE email = $1 AND password_hash <> ''", "ada@example.com")
		if succeeded != 1 || claimed != 1 || joined != 1 {
			t.Errorf("%d have accepted, %d e-mails are claimed, %d have a password", succeeded, claimed, joined)
		}
	})
}

// TestReservedByVersionsBefore: an invitation that has its e-mail already can be accepted.
func TestReservedByVersionsBefore(t *testing.T) {
	r := storetest.NewRig(t, storetest.SQLite(t))
	account := r.NewAccount("Acme")
	m, link, err := r.Team.Invite(ctx, account.ID, *r.UserOf(account), team.NewUser{
		Email: "ada@example.com", Name: "I", Role: feedback.RoleMember,
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = r.Raw.ExecContext(ctx, "INSERT INTO logins (email, account_id, user_id) VALUES ($1, $2, $3)",
		"ada@example.com", account.ID, m.ID)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.Team.Accept(ctx, link.Token, "hash", nil, ""); err != nil {
		t.Error(err)
	}
}
