package team_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gatherkit/internal/feedback"
	"gatherkit/internal/sessions"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
	"gatherkit/internal/team"
)

var ctx = context.Background()

// joined adds a user who has accepted an invitation.
func joined(r *storetest.Rig, account feedback.Account, by feedback.ID, name string, role feedback.Role) feedback.ID {
	r.T.Helper()
	m, link, err := r.Team.Invite(ctx, account.ID, feedback.ByUserID(by), team.NewUser{
		Email: strings.ToLower(name) + "@example.com", Name: name, Role: role,
	})
	if err != nil {
		r.T.Fatal(err)
	}
	if _, _, err := r.Team.Accept(ctx, link.Token, "hash", nil, ""); err != nil {
		r.T.Fatal(err)
	}
	return m.ID
}

// atOnce calls functions at the same time and returns their errors.
func atOnce(fns ...func() error) []error {
	failed := make([]error, len(fns))
	var wg sync.WaitGroup
	for i, fn := range fns {
		wg.Go(func() { failed[i] = fn() })
	}
	wg.Wait()
	return failed
}

// TestLastOwner: whatever owners do to one another or to themselves at once, one is left.
func TestLastOwner(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		member := feedback.RoleMember
		for i := range 24 {
			account := r.NewAccount(fmt.Sprint("Acme", i))
			one := *r.UserOf(account)
			two := joined(r, account, one, fmt.Sprint("Two", i), feedback.RoleOwner)
			demote := func(by, id feedback.ID) func() error {
				return func() error {
					_, err := r.Team.Change(ctx, account.ID, feedback.ByUserID(by), id, nil, &member)
					return err
				}
			}
			remove := func(by, id feedback.ID) func() error {
				return func() error { return r.RemoveUser(ctx, account.ID, feedback.ByUserID(by), id) }
			}
			both := [][2]func() error{
				{demote(one, two), demote(two, one)},
				{demote(one, one), demote(two, two)},
				{remove(one, two), remove(two, one)},
				{remove(one, one), demote(two, two)},
			}[i%4]
			succeeded := 0
			for _, err := range atOnce(both[0], both[1]) {
				switch {
				case err == nil:
					succeeded++
				case !errors.Is(err, feedback.ErrLastOwner) && !errors.Is(err, feedback.ErrForbidden) && !errors.Is(err, feedback.ErrInvalidToken):
					t.Error(err)
				}
			}
			if owners := r.Count("users WHERE account_id = $1 AND role = 'owner'", account.ID); succeeded != 1 || owners != 1 {
				t.Fatalf("%d of both went through, %d owners are left", succeeded, owners)
			}
		}
		// Somebody who has not accepted yet is none who could log in.
		account := r.NewAccount("Globex")
		owner := *r.UserOf(account)
		invited, _, err := r.Team.Invite(ctx, account.ID, feedback.ByUserID(owner), team.NewUser{
			Email: "i@example.com", Name: "I", Role: feedback.RoleOwner,
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.RemoveUser(ctx, account.ID, feedback.ByUserID(owner), owner); !errors.Is(err, feedback.ErrLastOwner) {
			t.Error(err)
		}
		if err := r.RemoveUser(ctx, account.ID, feedback.ByUserID(owner), invited.ID); err != nil {
			t.Error(err)
		}
	})
}

// TestJoinLinkWorksOnce: of all who use a link at once one gets there, and a link ends when
// its maker could not make it any more.
func TestJoinLinkWorksOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		account := r.NewAccount("Acme")
		owner := *r.UserOf(account)
		accept := func(link team.JoinLink) func() error {
			return func() error {
				_, _, err := r.Team.Accept(ctx, link.Token, "hash", nil, "")
				return err
			}
		}
		for i := range 10 {
			_, link, err := r.Team.Invite(ctx, account.ID, feedback.ByUserID(owner), team.NewUser{
				Email: fmt.Sprint(i, "@example.com"), Name: "I", Role: feedback.RoleViewer,
			})
			if err != nil {
				t.Fatal(err)
			}
			succeeded := 0
			for _, err := range atOnce(accept(link), accept(link), accept(link), accept(link)) {
				if err == nil {
					succeeded++
				} else if !errors.Is(err, feedback.ErrJoinLinkNotFound) {
					t.Error(err)
				}
			}
			if succeeded != 1 {
				t.Fatalf("%d got there", succeeded)
			}
		}
		admin := joined(r, account, owner, "Admin", feedback.RoleAdmin)
		member := joined(r, account, owner, "Member", feedback.RoleMember)
		link := func() team.JoinLink {
			t.Helper()
			link, _, err := r.Team.Recover(ctx, account.ID, feedback.ByUserID(admin), member)
			if err != nil {
				t.Fatal(err)
			}
			return link
		}
		role := func(id feedback.ID, role feedback.Role) {
			t.Helper()
			if _, err := r.Team.Change(ctx, account.ID, feedback.ByUserID(owner), id, nil, &role); err != nil {
				t.Fatal(err)
			}
		}
		others := r.Count("sessions WHERE user_id <> $1", member)
		for range 2 {
			if err := accept(link())(); err != nil {
				t.Fatal(err)
			}
		}
		mine, left := r.Count("sessions WHERE user_id = $1", member), r.Count("sessions WHERE user_id <> $1", member)
		if mine != 1 || left != others {
			t.Errorf("after a recovery there are %d sessions of the user, want the new one, and %d of others, want %d", mine, left, others)
		}
		promoted := link()
		role(member, feedback.RoleOwner)
		if err := accept(promoted)(); !errors.Is(err, feedback.ErrJoinLinkNotFound) {
			t.Errorf("an admin takes over an owner: %v", err)
		}
		role(member, feedback.RoleMember)
		older, newer := link(), link()
		if err := accept(older)(); !errors.Is(err, feedback.ErrJoinLinkNotFound) {
			t.Errorf("the link before the last one works: %v", err)
		}
		credentials := sessions.Credentials{AccountID: account.ID, UserID: member, PasswordHash: "hash"}
		if err := r.Team.SetPassword(ctx, credentials, "other", feedback.Command(), feedback.ID{}); err != nil {
			t.Fatal(err)
		}
		if err := accept(newer)(); !errors.Is(err, feedback.ErrJoinLinkNotFound) {
			t.Errorf("a link works after the password was changed: %v", err)
		}
		last := link()
		role(admin, feedback.RoleMember)
		if err := accept(last)(); !errors.Is(err, feedback.ErrJoinLinkNotFound) {
			t.Errorf("the link of a former admin works: %v", err)
		}
		r.Clock.Move(30 * 24 * time.Hour)
		if err := r.Sweep(ctx); err != nil || r.Count("join_links") != 0 {
			t.Errorf("%d links are left, %v", r.Count("join_links"), err)
		}
	})
}

// TestRemovedUserHasNothing: while requests are being assigned to a user who is removed,
// in the end none is theirs, and each that was says so in its history.
func TestRemovedUserHasNothing(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		account := r.NewAccount("Acme")
		owner := *r.UserOf(account)
		user := joined(r, account, owner, "User", feedback.RoleMember)
		apps := []feedback.App{r.NewApp(account), r.NewApp(account), r.NewApp(account)}
		var ids []feedback.ID
		for i := range 60 {
			request := feedback.NewRequest("T", "")
			request.AppID, request.AssigneeID = apps[i%3].ID, &user
			request.Box = []feedback.Box{feedback.Live, feedback.Live, feedback.Bin, feedback.Quarantine}[i%4]
			added, err := r.AddRequest(ctx, account.ID, feedback.Command(), request)
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, added.ID)
		}
		assign := func(first int) func() error {
			return func() error {
				for i := first; i < len(ids); i += 3 {
					_, err := r.ChangeRequest(ctx, account.ID, ids[i], feedback.Command(), func(r *feedback.Request) error {
						r.Title, r.AssigneeID = "U", &user
						return nil
					})
					if err != nil && !strings.Contains(err.Error(), "invalid_assignee_id") {
						return err
					}
				}
				return nil
			}
		}
		add := func() error {
			for range 20 {
				request := feedback.NewRequest("T", "")
				request.AppID, request.AssigneeID = apps[0].ID, &user
				_, err := r.AddRequest(ctx, account.ID, feedback.Command(), request)
				if err != nil && !strings.Contains(err.Error(), "invalid_assignee_id") {
					return err
				}
			}
			return nil
		}
		remove := func() error { return r.RemoveUser(ctx, account.ID, feedback.ByUserID(owner), user) }
		drop := func() error { return r.DeleteApp(ctx, account.ID, apps[2].ID, feedback.Command()) }
		for _, err := range atOnce(assign(0), add, remove, assign(1), drop) {
			if err != nil {
				t.Error(err)
			}
		}
		if n := r.Count("requests WHERE assignee_id IS NOT NULL AND app_id <> $1", apps[2].ID); n != 0 || r.Count("departures") != 0 {
			t.Errorf("%d requests are theirs, %d departures are left", n, r.Count("departures"))
		}
		if n := r.Count("changes WHERE kind = 'request.updated' AND after LIKE '%\"assignee_id\":null%'"); n < 40 {
			t.Errorf("%d entries in histories", n)
		}
		if wrong, err := r.Recount(ctx); err != nil || len(wrong) > 0 {
			t.Errorf("wrong counters: %+v, %v", wrong, err)
		}
	})
}

// TestWorkerEndsDepartures: a removal that broke off is ended by the worker.
func TestWorkerEndsDepartures(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		account := r.NewAccount("Acme")
		owner := *r.UserOf(account)
		request := feedback.NewRequest("T", "")
		request.AppID, request.AssigneeID, request.Box = r.NewApp(account).ID, &owner, feedback.Bin
		if _, err := r.AddRequest(ctx, account.ID, feedback.Command(), request); err != nil {
			t.Fatal(err)
		}
		_, err := r.Raw.ExecContext(ctx, "INSERT INTO departures (account_id, user_id, removed_by) VALUES ($1, $2, $2)",
			account.ID, owner)
		if err != nil {
			t.Fatal(err)
		}
		updated := r.Count("requests WHERE updated_at = created_at")
		for more := true; more; {
			var err error
			if more, err = r.Unassign(ctx); err != nil {
				t.Fatal(err)
			}
		}
		if r.Count("requests WHERE assignee_id IS NULL AND version = 2") != 1 || r.Count("departures") != 0 {
			t.Error("a request is still theirs")
		}
		if r.Count("requests WHERE updated_at = created_at") != updated {
			t.Error("the bin keeps it longer")
		}
	})
}

// TestTeamPlans: what is asked of users, sessions and the audit reads little of large tables.
func TestTeamPlans(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		b := storetest.NewBig(t, at)
		var owner feedback.ID // users of the fixture came before
		if err := b.Raw.QueryRowContext(ctx, "SELECT user_id FROM logins WHERE email = 'acme@example.com'").Scan(&owner); err != nil {
			t.Fatal(err)
		}
		user := joined(b.Rig, b.Acme, owner, "User", feedback.RoleMember)
		b.Exec("UPDATE requests SET assignee_id = (SELECT user_id FROM logins WHERE email = 'user@example.com') WHERE idempotency_key LIKE '%20'")
		b.Analyze()
		audit, triage, byNumber := "changes_audit", "changes_triage", "changes_pkey"
		if at.Name == "sqlite" {
			triage, byNumber = "COVERING INDEX changes_triage", "INDEX sqlite_autoindex_changes_1"
		}
		for _, c := range []struct {
			part, table string
			indexes     []string // of which the first finds the rows
			call        func(s *store.Store) error
		}{
			{"COUNT(*) FROM changes c WHERE c.account_id = $1 AND c.request_id", "changes", []string{audit}, func(s *store.Store) error {
				_, _, err := s.Events.Audit(ctx, b.Acme.ID, 0, 51)
				return err
			}},
			{"c.request_id IS NULL AND c.kind <> 'request.purged' AND c.seq", "changes", []string{audit, byNumber}, func(s *store.Store) error {
				_, _, err := s.Events.Audit(ctx, b.Acme.ID, 500, 51)
				return err
			}},
			{"COUNT(*) FROM changes c WHERE c.account_id = $1 AND c.kind", "changes", []string{triage}, func(s *store.Store) error {
				_, _, err := s.Events.RequestAudit(ctx, b.Acme.ID, 0, 51)
				return err
			}},
			{"page JOIN", "changes", []string{triage, byNumber}, func(s *store.Store) error {
				_, _, err := s.Events.RequestAudit(ctx, b.Acme.ID, 500, 51)
				return err
			}},
			{"FROM sessions s", "sessions", []string{"sessions_user"}, func(s *store.Store) error {
				_, err := s.Sessions.List(ctx, b.Acme.ID, user, 100)
				return err
			}},
			{"OFFSET", "sessions", []string{"sessions_user"}, func(s *store.Store) error {
				_, _, err := s.Sessions.Open(ctx, sessions.Credentials{AccountID: b.Acme.ID, UserID: user, PasswordHash: "hash"}, nil, "")
				return err
			}},
			{"DELETE FROM session_tokens", "session_tokens", []string{"session_tokens_session"}, func(s *store.Store) error {
				credentials := sessions.Credentials{AccountID: b.Acme.ID, UserID: user, PasswordHash: "hash"}
				return s.Team.SetPassword(ctx, credentials, "hash", feedback.Command(), feedback.ID{})
			}},
			{"r.assignee_id = ", "requests", []string{"requests_assignee"}, func(s *store.Store) error {
				return s.RemoveUser(ctx, b.Acme.ID, feedback.ByUserID(owner), user)
			}},
		} {
			found := false
			for _, s := range b.During(c.call) {
				if strings.Contains(s.Query, c.part) {
					b.CheckPlan(c.part, s, c.table, c.indexes...)
					if !slices.ContainsFunc(b.Plan(s), func(n storetest.Node) bool { return strings.Contains(n.Kind+n.Index, c.indexes[0]) }) {
						t.Errorf("%s: the plan does not use %s: %v", c.part, c.indexes[0], b.Plan(s))
					}
					found = true
				}
			}
			if !found {
				t.Errorf("no statement has %q", c.part)
			}
		}
	})
}

// TestManySessionsEndAtOnce: a program that logs in every minute has thousands of sessions,
// which end in as many statements as one does.
func TestManySessionsEndAtOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		account := r.NewAccount("Acme")
		owner := *r.UserOf(account)
		credentials := sessions.Credentials{
			AccountID: account.ID, UserID: joined(r, account, owner, "User", feedback.RoleMember), PasswordHash: "hash",
		}
		ends := func(logins int) (statements int) {
			t.Helper()
			var kept sessions.Session
			for range logins {
				var err error
				if kept, _, err = r.Sessions.Open(ctx, credentials, nil, ""); err != nil {
					t.Fatal(err)
				}
			}
			s := r.Watched(func(query string, _ []driver.NamedValue) { statements++ })
			if err := s.Team.SetPassword(ctx, credentials, "hash", feedback.Command(), kept.ID); err != nil {
				t.Fatal(err)
			}
			if n, tokens := r.Count("sessions WHERE user_id = $1", credentials.UserID), r.Count("session_tokens"); n != 1 || tokens != 2 {
				t.Errorf("%d sessions and %d tokens are left", n, tokens)
			}
			return statements
		}
		if few, many := ends(2), ends(20); few != many {
			t.Errorf("2 sessions end by %d statements, 20 by %d", few, many)
		}
	})
}
