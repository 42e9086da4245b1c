package store_test

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gatherkit/internal/board"
	"gatherkit/internal/feedback"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
	"gatherkit/internal/visitors"
)

// portalScans are the plans that walk over all rows of a table, or over all of an account.
var portalScans = regexp.MustCompile(
	`^SCAN (held_comments|visitor_tokens|blocked_people|portals|portal_hosts|portal_links|votes|comments|h|v|c|r)\b|\(account_id=\?\)$`)

// visited is an installation in which most that visitors do is of other requests, apps and people than those that a call is about:
// there is a vote, a comment, a held comment, a session and a blocked person for each request.
type visited struct {
	*storetest.Big
	app     feedback.App
	id      feedback.ID
	session string
	link    string
}

func newVisited(t *testing.T, at storetest.Place) *visited {
	t.Helper()
	v := &visited{Big: storetest.NewBig(t, at)}
	by := feedback.Actor{Kind: feedback.ByUser, ID: v.UserOf(v.Acme)}
	var err error
	if v.app, err = v.ChangeApp(ctx, v.Acme.ID, v.AcmeApps[1].ID, by, func(a *feedback.App) error {
		a.Settings.Sharing = "all"
		a.Settings.Portal.Access, a.Settings.Portal.Slug, a.Settings.Portal.Host = feedback.AccessLink, "acme", "ideas.example.com"
		a.Settings.Portal.Comments = feedback.FromAnyone
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	v.id = v.Fill(v.app, 1).ID
	key := map[string]string{"sqlite": "'b:' || hex(id)", "postgres": "'b:' || id"}[at.Name]
	hash := map[string]string{"sqlite": "id", "postgres": "uuid_send(id)"}[at.Name]
	v.WithoutIndexes("votes", "comments", func() {
		v.Exec("INSERT INTO votes (account_id, request_id, person, verified, source, created_at) SELECT account_id, id, " + key +
			", submitter_verified, 'portal', 0 FROM requests")
		v.Exec("INSERT INTO comments (account_id, request_id, id, author_id, visibility, body, created_at, updated_at, person, person_verified)" +
			" SELECT account_id, id, id, id, 'public', 'B', 0, 0, " + key + ", submitter_verified FROM requests")
	})
	v.WithoutIndexes("held_comments", "visitor_tokens", func() {
		v.Exec("INSERT INTO held_comments (account_id, id, app_id, request_id, person, verified, body) SELECT account_id, id, id, id, " + key +
			", submitter_verified, 'B' FROM requests")
		v.Exec("INSERT INTO visitor_tokens (account_id, token_hash, app_id, kind, person, external_id, expires_at) SELECT account_id, " + hash +
			", app_id, 'session', " + key + ", 'x', 9000000000000000 + version FROM requests")
	})
	v.WithoutIndexes("blocked_people", "portal_links", func() {
		v.Exec("INSERT INTO blocked_people (account_id, app_id, person, verified, blocked_at, blocked_by) SELECT account_id, id, " + key +
			", submitter_verified, 0, id FROM requests")
		v.Exec("INSERT INTO portals (slug, account_id, app_id) SELECT " + key + ", account_id, id FROM requests")
		v.Exec("INSERT INTO portal_hosts (host, account_id, app_id) SELECT " + key + ", account_id, id FROM requests")
		v.Exec("INSERT INTO portal_links (account_id, app_id, token_hash, created_at) SELECT account_id, id, " + hash + ", 0 FROM requests")
	})
	for i := range 12 { // of the request and the app that calls are about
		p := feedback.Person{BrowserID: &feedback.ID{15: byte(i)}}
		for _, hold := range []bool{true, false} { // some will be published
			if _, err := v.PortalComment(ctx, v.app, v.id, p, "C", hold); err != nil {
				t.Fatal(err)
			}
		}
	}
	if v.link, err = v.RotateLink(ctx, v.Acme.ID, v.app.ID, by); err != nil {
		t.Fatal(err)
	}
	v.Analyze()
	return v
}

func (v *visited) comment(hold bool) func(s *store.Store) error {
	return func(s *store.Store) error {
		p := feedback.Person{BrowserID: &feedback.ID{0: byte(v.Clock.Now().Nanosecond())}}
		_, err := s.PortalComment(ctx, v.app, v.id, p, "B", hold)
		return err
	}
}

func (v *visited) held(appID *feedback.ID) func(s *store.Store) error {
	return func(s *store.Store) error {
		_, _, err := s.Held(ctx, v.Acme.ID, appID, *v.Deep(), 51)
		return err
	}
}

func (v *visited) check(s *store.Store) error {
	_, err := s.Board.Check(ctx, v.app)
	return err
}

// signIn signs in a person, with a browser that has voted.
func (v *visited) signIn(s *store.Store) error {
	ticket, err := s.Visitors.Ticket(ctx, v.app, verified("7"))
	if err != nil {
		return err
	}
	browser := &feedback.ID{15: 1}
	if _, err := s.PortalVote(ctx, v.app, store.Ballot{RequestID: v.id, Person: feedback.Person{BrowserID: browser}}); err != nil {
		return err
	}
	v.session, err = s.SignIn(ctx, v.app, ticket, browser)
	return err
}

// read reads an idea at a place of the portal, as somebody who is signed in and has the link.
func (v *visited) read(at visitors.At) func(s *store.Store) error {
	return func(s *store.Store) error {
		who := board.Credentials{Session: v.session, Link: v.link}
		_, err := s.Board.Read(ctx, at, who, func(ctx context.Context, view *board.View) error {
			if _, err := view.Get(ctx, v.id); err != nil {
				return err
			}
			if _, err := view.Parts(ctx, []feedback.ID{v.id}); err != nil {
				return err
			}
			if _, err := view.Changed(ctx, []feedback.ID{v.id}); err != nil {
				return err
			}
			_, _, err := view.Remarks(ctx, v.id, feedback.ID{}, 20)
			return err
		})
		return err
	}
}

// moderate blocks and unblocks a person, publishes and deletes what is held, and discards votes.
func (v *visited) moderate(s *store.Store) error {
	by := feedback.Actor{Kind: feedback.ByUser, ID: v.UserOf(v.Acme)}
	if err := s.Block(ctx, v.Acme.ID, v.app.ID, by, browser(1)); err != nil {
		return err
	}
	if _, err := s.Visitors.Blocked(ctx, v.Acme.ID, v.app.ID); err != nil {
		return err
	}
	if err := s.Unblock(ctx, v.Acme.ID, v.app.ID, by, browser(1).Key()); err != nil {
		return err
	}
	list, _, err := s.Held(ctx, v.Acme.ID, &v.app.ID, feedback.ID{}, 1)
	if err != nil {
		return err
	}
	if _, err := s.AppOfHeld(ctx, v.Acme.ID, list[0].ID); err != nil {
		return err
	}
	if _, err := s.ReleaseComment(ctx, v.Acme.ID, list[0].ID, by); err != nil {
		return err
	}
	now := feedback.At(v.Clock.Now())
	for _, preview := range []bool{true, false} {
		if _, err := s.DiscardVotes(ctx, v.Acme.ID, v.id, by, 0, now, preview); err != nil {
			return err
		}
	}
	return nil
}

// leave has another portal link, moves the portal, signs out and deletes what has expired.
func (v *visited) leave(s *store.Store) error {
	by := feedback.Actor{Kind: feedback.ByUser, ID: v.UserOf(v.Acme)}
	if _, err := s.RotateLink(ctx, v.Acme.ID, v.app.ID, by); err != nil {
		return err
	}
	if _, err := s.Visitors.LinkMade(ctx, v.Acme.ID, v.app.ID); err != nil {
		return err
	}
	if _, err := s.ChangeApp(ctx, v.Acme.ID, v.app.ID, by, func(a *feedback.App) error {
		a.Settings.Portal.Slug, a.Settings.Portal.Host = "other", "other.example.com"
		return nil
	}); err != nil {
		return err
	}
	if err := s.Visitors.SignOut(ctx, v.session); err != nil {
		return err
	}
	v.Exec("UPDATE visitor_tokens SET expires_at = 1 WHERE account_id = $1 AND token_hash = (SELECT token_hash FROM visitor_tokens"+
		" WHERE account_id = $1 AND app_id <> $2 LIMIT 1)", v.Acme.ID, v.app.ID)
	if err := s.Visitors.Sweep(ctx, []feedback.ID{v.Acme.ID}); err != nil {
		return err
	}
	if err := s.DeleteApp(ctx, v.Acme.ID, v.app.ID, by); err != nil {
		return err
	}
	return purge(s)
}

// TestPortalPlans: what visitors do, and what the team does about it, reads the rows of the request, the app and the person that it is
// about, although there are very many of others.
func TestPortalPlans(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		v := newVisited(t, at)
		key := primaryKeys(at)
		primary := func(table string) []string {
			if at.Name == "sqlite" && table != "votes" && table != "comments" && table != "held_comments" && table != "visitor_tokens" &&
				table != "requests" && table != "blocked_people" {
				return []string{"PRIMARY KEY"} // the table has no row ids
			}
			return []string{key(table)}
		}
		held, votes := primary("held_comments"), primary("votes")
		tokens, blocked := primary("visitor_tokens"), primary("blocked_people")
		byApp, person, onPortal := []string{"held_comments_app"}, []string{"votes_person"}, []string{"comments_on_portal"}
		slug, host := v.read(visitors.At{Slug: "acme"}), v.read(visitors.At{Host: "ideas.example.com"})
		calls := []struct {
			name, part, table string
			indexes           []string
			call              func(s *store.Store) error
		}{
			{"addresses", "THEN 'comment'", "requests", []string{"requests_app_status"}, v.check},
			{"addresses in comments", "THEN 'comment'", "comments", onPortal, v.check},
			{"is it repeated", "SELECT body FROM held_comments", "held_comments", []string{"held_comments_request"}, v.comment(true)},
			{"is a published one repeated", "SELECT body FROM comments", "comments", []string{"comments_person"}, v.comment(false)},
			{"how many are held", "SELECT COUNT(*) FROM held_comments", "held_comments", byApp, v.comment(true)},
			{"is the person blocked", "SELECT COUNT(*) FROM blocked_people", "blocked_people", blocked, v.comment(false)},
			{"a page of an app", "ORDER BY h.id", "held_comments", byApp, v.held(&v.app.ID)},
			{"a page of all apps", "ORDER BY h.id", "held_comments", held, v.held(nil)},
			{"its titles", "ORDER BY h.id", "requests", primary("requests"), v.held(nil)},
			{"a ticket", "DELETE FROM visitor_tokens", "visitor_tokens", tokens, v.signIn},
			{"votes of a browser", "SELECT v.request_id, v.why FROM votes v", "votes", person, v.signIn},
			{"a portal", "FROM portals", "portals", primary("portals"), slug},
			{"a portal at a host", "FROM portal_hosts", "portal_hosts", primary("portal_hosts"), host},
			{"a session", "FROM visitor_tokens", "visitor_tokens", tokens, slug},
			{"what the visitor voted for", "SELECT request_id FROM votes", "votes", append(votes, person...), slug},
			{"what the visitor asked", "SELECT id, TRUE", "requests", append([]string{"requests_merged"}, primary("requests")...), slug},
			{"when the visitor voted", "SELECT id, TRUE", "votes", append([]string{"votes_reader"}, votes...), slug},
			{"what was changed", "SELECT id, news_at", "requests", primary("requests"), slug},
			{"the number of comments", "SELECT r.id, (SELECT COUNT(*)", "comments", onPortal, slug},
			{"comments", "ORDER BY c.id DESC", "comments", onPortal, slug},
			{"the end of sessions", "DELETE FROM visitor_tokens", "visitor_tokens", []string{"visitor_tokens_person"}, v.moderate},
			{"who is blocked", "SELECT person, email", "blocked_people", blocked, v.moderate},
			{"the end of a block", "DELETE FROM blocked_people", "blocked_people", blocked, v.moderate},
			{"the app of what is held", "SELECT app_id FROM held_comments", "held_comments", held, v.moderate},
			{"one that is held", "AND h.id = $2", "held_comments", held, v.moderate},
			{"its removal", "DELETE FROM held_comments", "held_comments", held, v.moderate},
			{"the number of votes to discard", "SELECT COUNT(*) FROM votes", "votes", votes, v.moderate},
			{"votes to discard", "SELECT person FROM votes", "votes", votes, v.moderate},
		}
		for _, c := range calls {
			v.Clock.Move(1)
			v.checkPortal(c.name, c.part, v.During(c.call), c.table, c.indexes...)
		}
		v.session = "" // then the link is read
		v.checkPortal("the link", "FROM portal_links", v.During(slug), "portal_links", primary("portal_links")...)
		if err := v.signIn(v.Store); err != nil {
			t.Fatal(err)
		}
		sent := v.During(v.leave)
		for _, c := range []struct {
			name, part, table string
			indexes           []string
		}{
			{"when the link was made", "SELECT created_at FROM portal_links", "portal_links", primary("portal_links")},
			{"a slug that is left", "DELETE FROM portals", "portals", primary("portals")},
			{"a host that is left", "DELETE FROM portal_hosts", "portal_hosts", primary("portal_hosts")},
			{"a session that ends", "token_hash = $2", "visitor_tokens", tokens},
			{"who has tokens that have expired", "DISTINCT account_id FROM visitor_tokens", "visitor_tokens", []string{"visitor_tokens_expiry"}},
			{"tokens that have expired", "(token_hash) IN", "visitor_tokens", append([]string{"visitor_tokens_expiry"}, tokens...)},
			{"the link of a deleted app", "DELETE FROM portal_links", "portal_links", primary("portal_links")},
			{"who was blocked there", "DELETE FROM blocked_people", "blocked_people", blocked},
			{"who was signed in there", "app_id = $2 AND token_hash IN", "visitor_tokens", append([]string{"visitor_tokens_person"}, tokens...)},
			{"what was held there", "DELETE FROM held_comments", "held_comments", byApp},
		} {
			v.checkPortal(c.name, c.part, sent, c.table, c.indexes...)
		}
	})
}

// checkPortal checks the statement that has a part.
func (v *visited) checkPortal(name, part string, sent []storetest.Statement, table string, indexes ...string) {
	v.T.Helper()
	i := slices.IndexFunc(sent, func(s storetest.Statement) bool { return strings.Contains(s.Query, part) })
	if i < 0 {
		v.T.Errorf("%s: no statement has %q", name, part)
		return
	}
	v.CheckPlan(name, sent[i], table, indexes...)
	for _, n := range v.Plan(sent[i]) {
		if v.At.Name == "sqlite" && portalScans.MatchString(n.Kind) {
			v.T.Errorf("%s: the plan has %s", name, n.Kind)
		}
	}
}
