package team_test

import (
	"errors"
	"testing"
	"time"

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
			m, link, err := r.Team.Invite(ctx, account.ID, feedback.ByUserID(*r.UserOf(account)), team.NewUser{
				Email: email, Name: "I", Role: feedback.RoleMember,
			})
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
		if _, err := r.Team.AddUser(ctx, acme.ID, ada); !errors.Is(err, feedback.ErrEmailTaken) {
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
		again, _, err := r.Team.Recover(ctx, globex.ID, feedback.ByUserID(*r.UserOf(globex)), two)
		if err != nil {
			t.Fatal(err)
		}
		if err := accept(again); err != nil {
			t.Errorf("another password: %v", err)
		}
		if err := r.RemoveUser(ctx, globex.ID, feedback.ByUserID(*r.UserOf(globex)), two); err != nil {
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
			_, link, err := r.Team.Invite(ctx, account.ID, feedback.ByUserID(*r.UserOf(account)), team.NewUser{
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
	m, link, err := r.Team.Invite(ctx, account.ID, feedback.ByUserID(*r.UserOf(account)), team.NewUser{
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

// TestOperatorInvites: a link of the operator lets an invited owner choose a password, although no user has made it.
func TestOperatorInvites(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		account := r.NewAccount("Acme")
		invited, link, err := r.Team.Invite(ctx, account.ID, feedback.Command(), team.NewUser{
			Email: "ada@example.com", Name: "Ada", Role: feedback.RoleOwner,
		})
		if err != nil {
			t.Fatal(err)
		}
		if i, err := r.Team.Invitee(ctx, link.Token); err != nil || i.ID != invited.ID || i.Role != feedback.RoleOwner {
			t.Errorf("%+v, %v", i, err)
		}
		r.Clock.Move(7*24*time.Hour + time.Second)
		if _, err := r.Team.Invitee(ctx, link.Token); !errors.Is(err, feedback.ErrJoinLinkNotFound) {
			t.Errorf("after a week: %v", err)
		}
		again, _, err := r.Team.Recover(ctx, account.ID, feedback.Command(), invited.ID)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Team.Invitee(ctx, again.Token); err != nil {
			t.Errorf("another link: %v", err)
		}
		r.Exec("UPDATE join_links SET made_by = $1", feedback.ID{7})
		if _, err := r.Team.Invitee(ctx, again.Token); !errors.Is(err, feedback.ErrJoinLinkNotFound) {
			t.Errorf("its maker is gone: %v", err)
		}
	})
}

// TestOperatorManages: the operator changes roles and removes users as an owner may, but leaves an owner. The log names
// the operator, also for the requests that are unassigned.
func TestOperatorManages(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		account := r.NewAccount("Acme")
		owner := *r.UserOf(account)
		other := joined(r, account, owner, "Bob", feedback.RoleOwner)
		request := feedback.NewRequest("T", "")
		request.AppID, request.AssigneeID = r.NewApp(account).ID, &other
		if _, err := r.AddRequest(ctx, account.ID, feedback.Command(), request); err != nil {
			t.Fatal(err)
		}
		member := feedback.RoleMember
		if _, err := r.Team.Change(ctx, account.ID, feedback.Command(), owner, nil, &member); err != nil {
			t.Error(err)
		}
		if err := r.RemoveUser(ctx, account.ID, feedback.Command(), other); !errors.Is(err, feedback.ErrLastOwner) {
			t.Errorf("the last owner: %v", err)
		}
		role := feedback.RoleOwner
		if _, err := r.Team.Change(ctx, account.ID, feedback.Command(), owner, nil, &role); err != nil {
			t.Error(err)
		}
		if err := r.RemoveUser(ctx, account.ID, feedback.Command(), other); err != nil {
			t.Error(err)
		}
		for _, kind := range []feedback.ChangeKind{feedback.UserUpdated, feedback.UserRemoved, feedback.RequestUpdated} {
			if n := r.Count("changes WHERE kind = $1 AND actor_kind = 'command' AND actor_id IS NULL", string(kind)); n == 0 {
				t.Errorf("%s is not the operator's", kind)
			}
		}
	})
}

// TestAccountsOfOneName: earlier versions let two accounts have one name. The operator names such an account by its
// id, and no other account can get the name.
func TestAccountsOfOneName(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		acme, other := r.NewAccount("Acme"), r.NewAccount("Other")
		r.Exec("UPDATE accounts SET name = 'Acme' WHERE account_id = $1", other.ID)
		if _, err := r.Team.Find(ctx, "Acme"); !errors.Is(err, team.ErrSeveralAccounts) {
			t.Errorf("by name: %v", err)
		}
		if found, err := r.Team.Find(ctx, acme.ID.String()); err != nil || found != acme {
			t.Errorf("by id: %+v, %v", found, err)
		}
		if _, err := r.Team.Find(ctx, "acme"); !errors.Is(err, team.ErrNoAccount) {
			t.Errorf("in lower case: %v", err)
		}
		third := r.NewAccount("Third")
		if err := r.Team.Rename(ctx, third.ID, "Acme"); !errors.Is(err, team.ErrAccountExists) {
			t.Errorf("a third account of the name: %v", err)
		}
		if err := r.Team.Rename(ctx, other.ID, "Globex"); err != nil {
			t.Error(err)
		}
		if found, err := r.Team.Find(ctx, "Acme"); err != nil || found != acme {
			t.Errorf("after one was renamed: %+v, %v", found, err)
		}
	})
}
