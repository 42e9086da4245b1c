package store_test

import (
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"gatherkit/internal/feedback"
	"gatherkit/internal/readers"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
)

// readerScans are the plans that walk over a whole table, or over all rows or readers of an account.
var readerScans = regexp.MustCompile(`^SCAN (requests|votes|comments|readers|status_links|r|m|c)\b|\(account_id=\?( AND reader>\?)?\)$`)

// busy is an installation in which a third of all requests and votes are of one reader, and the others of
// readers with a few. There are more than a million requests, votes, comments, readers and links.
type busy struct {
	*storetest.Big
	most, some, few readers.Person // with a third of all, with as many as a call looks at, and with three
	request         feedback.ID
	token           string // of a link to the request
}

func newBusy(t *testing.T, at storetest.Place) *busy {
	t.Helper()
	b := &busy{Big: storetest.NewBig(t, at)}
	app := b.AcmeApps[0]
	b.most = readers.Person{App: app, Reader: feedback.ReaderOfPerson(app.ID, "most")}
	b.some = readers.Person{App: app, Reader: feedback.ReaderOfPerson(app.ID, "some")}
	b.few = readers.Person{App: app, Reader: feedback.ReaderOfPerson(app.ID, "few")}
	b.request = b.Fill(app, 1).ID
	own := map[string]string{"sqlite": "id", "postgres": "uuid_send(id)"}[at.Name]
	b.WithoutIndexes("requests", "votes", func() {
		b.Exec("UPDATE requests SET reader = CASE WHEN app_id = $1 THEN $2 ELSE "+own+" END,"+
			" box = CASE WHEN app_id = $1 THEN 'live' ELSE box END", app.ID, b.most.Reader)
		b.Exec(`INSERT INTO votes (account_id, request_id, person, verified, source, created_at, reader)
			SELECT account_id, id, 'e:' || n, submitter_verified, 'widget', 0, CASE WHEN app_id = $1 AND n = 1 THEN $2 ELSE `+own+` END
			FROM requests CROSS JOIN (SELECT 1 AS n UNION ALL SELECT 2) AS people`, app.ID, b.most.Reader)
	})
	b.WithoutIndexes("comments", "status_links", func() {
		b.Exec("INSERT INTO comments (account_id, request_id, id, author_id, visibility, body, created_at, updated_at)" +
			" SELECT account_id, id, id, id, 'public', 'B', 0, 0 FROM requests")
		b.Exec("INSERT INTO status_links (account_id, token_hash, app_id, reader, created_at, token)"+
			" SELECT DISTINCT account_id, reader, app_id, reader, 0, '' FROM requests WHERE reader <> $1 AND status <> 'opened'", b.most.Reader)
		b.Exec("INSERT INTO status_links (account_id, token_hash, app_id, request_id, created_at)" +
			" SELECT account_id, " + own + ", app_id, id, 0 FROM requests WHERE status = 'opened'")
		b.Exec("INSERT INTO readers (account_id, app_id, reader, seen_at) SELECT DISTINCT account_id, app_id, reader, 0 FROM requests")
	})
	b.Analyze() // for the updates, and again after them
	for _, part := range []struct {
		w readers.Person
		n int
	}{{b.some, 200}, {b.few, 3}} {
		for _, table := range []struct{ name, id string }{{"votes", "request_id"}, {"requests", "id"}} {
			b.Exec(fmt.Sprintf("UPDATE %s SET reader = $1 WHERE account_id = $3 AND reader = $2 AND %s IN (SELECT id FROM requests"+
				" WHERE account_id = $3 AND reader = $2 AND id <> $4 ORDER BY id DESC LIMIT %d)", table.name, table.id, part.n),
				part.w.Reader, b.most.Reader, b.Acme.ID, b.request)
		}
	}
	var err error
	if b.token, err = b.StatusLink(ctx, b.Acme.ID, b.request, b.Acme.ID); err != nil {
		t.Fatal(err)
	}
	b.Analyze()
	return b
}

func (b *busy) list(w readers.Person, before feedback.ID) func(s *store.Store) error {
	return func(s *store.Store) error {
		now := feedback.At(b.Clock.Now())
		_, err := s.Readers.List(ctx, w, before, readers.MaxPage, &now)
		return err
	}
}

// forget lets a link be forgotten.
func (b *busy) forget(s *store.Store) error {
	b.Exec("UPDATE status_links SET created_at = 1, seen_at = NULL WHERE account_id = $1 AND token_hash ="+
		" (SELECT token_hash FROM status_links WHERE account_id = $1 AND reader IS NOT NULL LIMIT 1)", b.Acme.ID)
	return sweep(s)
}

func (b *busy) link(s *store.Store) error {
	if _, err := s.Readers.Link(ctx, b.most, false); err != nil {
		return err
	}
	_, err := s.StatusLink(ctx, b.Acme.ID, b.request, b.Acme.ID)
	return err
}

func (b *busy) reply(s *store.Store) error {
	_, err := s.Reply(ctx, b.most, b.request, "B")
	return storetest.Except(err, feedback.ErrReplyNotAllowed)
}

func (b *busy) holder(s *store.Store) error {
	w, err := s.Readers.Holder(ctx, b.token)
	if err != nil {
		return err
	}
	return b.list(w, feedback.ID{})(s)
}

func (b *busy) open(s *store.Store) error {
	token, err := s.Readers.Link(ctx, b.most, false)
	if err != nil {
		return err
	}
	w, err := s.Readers.Holder(ctx, token)
	if err != nil {
		return err
	}
	return s.Readers.Use(ctx, w)
}

// vote is a vote of somebody whose browser has asked and voted for much.
func (b *busy) vote(remove bool) func(*store.Store) error {
	return func(s *store.Store) error {
		email := "busy@example.com"
		_, err := s.Vote(ctx, b.Acme.ID, feedback.Command(), store.Ballot{
			RequestID: b.request, Person: feedback.Person{Email: &email}, Source: "widget", Reader: b.most.Reader, Remove: remove,
		})
		return err
	}
}

func (b *busy) audience(s *store.Store) error {
	r, err := s.Request(ctx, b.Acme.ID, b.request)
	if err == nil {
		_, err = s.Audience(ctx, b.Acme.ID, r)
	}
	return err
}

// TestReaderPlans: what people outside ask for, and who is told of a change, reads the rows of these people
// and requests, and walks over nothing. It measures, so it runs alone.
func TestReaderPlans(t *testing.T) {
	storetest.EachInTurn(t, func(t *testing.T, at storetest.Place) {
		b := newBusy(t, at)
		primary := primaryKeys(at)
		requests, links := primary("requests"), primary("status_links")
		seen, asked := "PRIMARY KEY", requests
		if at.Name == "postgres" {
			seen, asked = primary("readers"), "requests_reader"
		}
		first, next := b.list(b.most, feedback.ID{}), b.list(b.most, *b.Deep())
		const deleted = "DELETE FROM status_links WHERE account_id = $1 AND "
		end := func(s *store.Store) error {
			_, err := s.EndStatusLinks(ctx, b.Acme.ID, b.request)
			return err
		}
		for _, c := range []struct {
			name, part, table string
			indexes           []string
			call              func(s *store.Store) error
		}{
			{"what somebody asked for", "WHERE r.account_id = $1 AND r.reader = $2", "requests", []string{"requests_reader", requests}, first},
			{"its next page", "WHERE r.account_id = $1 AND r.reader = $2", "requests", []string{"requests_reader", requests}, next},
			{"what somebody voted for", "FROM votes WHERE", "votes", []string{"votes_reader"}, first},
			{"its next page", "FROM votes WHERE", "votes", []string{"votes_reader"}, next},
			{"the requests of votes", "FROM votes WHERE", "requests", []string{requests}, first},
			{"texts", "SELECT id, title, description, votes", "requests", []string{requests}, first},
			{"comments", "OFFSET", "comments", []string{"comments_told"}, first},
			{"what somebody has seen", "SELECT seen_at", "readers", []string{seen}, first},
			{"the holder of a link", "FROM status_links", "status_links", []string{links}, b.holder},
			{"the request of a link", "AND r.id = $2", "requests", []string{requests}, b.holder},
			{"what the holder has seen", "UPDATE status_links", "status_links", []string{links}, b.holder},
			{"the link of a reader", "UPDATE status_links", "status_links", []string{"status_links_reader", links}, b.link},
			{"the link of a request", "SELECT token FROM status_links", "status_links", []string{"status_links_request"}, b.link},
			{"who asked", "SELECT COUNT(*) FROM requests", "requests", []string{asked}, b.reply},
			{"the latest comments", "c.visibility = 'public'", "comments", []string{"comments_told"}, b.reply},
			{"the askers", "COUNT(DISTINCT asker)", "requests", []string{requests, "requests_merged"}, b.audience},
			{"who voted with it", "INSERT INTO votes", "votes", []string{"votes_reader", "votes_person", primary("votes")}, b.vote(false)},
			{"who asked with it", "INSERT INTO votes", "requests", []string{"requests_merged", "requests_reader", requests}, b.vote(false)},
			{"who votes still", "DELETE FROM votes", "votes", []string{"votes_reader", "votes_person", primary("votes")}, b.vote(true)},
			{"who asked, too", "DELETE FROM votes", "requests", []string{"requests_merged", "requests_reader", requests}, b.vote(true)},
			{"the links", "COUNT(DISTINCT asker)", "status_links", []string{"status_links_request"}, b.audience},
			{"whether a reader asked", "WHERE r.account_id = $1 AND r.reader = $2", "requests", []string{"requests_reader", requests}, b.link},
			{"what makes a link stay", "SET seen_at", "status_links", []string{links}, b.open},
			{"who has links that nobody opened", "DISTINCT account_id FROM status_links", "status_links", []string{"status_links_unused"}, sweep},
			{"links that nobody opened", "DELETE FROM status_links", "status_links", []string{"status_links_unused", links}, b.forget},
			{"all links of a request", "DELETE FROM status_links", "status_links", []string{"status_links_request"}, end},
		} {
			b.checkReaders(c.name, c.part, b.During(c.call), c.table, c.indexes...)
		}
		b.checkWork()
		b.checkComments()
		b.Drop(b.AcmeApps[3])
		sent := b.During(purgeAll)
		b.checkReaders("links of purged requests", deleted+"request_id", sent, "status_links", "status_links_request")
		b.checkReaders("readers of a deleted app", "DELETE FROM readers", sent, "readers", seen)
		b.checkReaders("links of a deleted app", deleted+"app_id", sent, "status_links", "status_links_reader", links)
	})
}

// purgeAll purges until nothing is left.
func purgeAll(s *store.Store) error {
	for {
		if more, err := s.Purge(ctx); err != nil || !more {
			return err
		}
	}
}

// checkReaders checks the statement that has a part.
func (b *busy) checkReaders(name, part string, sent []storetest.Statement, table string, indexes ...string) {
	b.T.Helper()
	i := slices.IndexFunc(sent, func(s storetest.Statement) bool { return strings.Contains(s.Query, part) && ours(b.Big, s) })
	if i < 0 {
		b.T.Errorf("%s: no statement has %q", name, part)
		return
	}
	b.CheckPlan(name, sent[i], table, indexes...)
	plan := b.Plan(sent[i])
	uses := func(n storetest.Node) bool {
		return n.Index == indexes[0] || strings.Contains(n.Kind+" ", indexes[0]+" ")
	}
	if !slices.ContainsFunc(plan, uses) {
		b.T.Errorf("%s: the plan does not use %s: %v", name, indexes[0], plan)
	}
	for _, n := range plan {
		if b.At.Name == "sqlite" && readerScans.MatchString(n.Kind) {
			b.T.Errorf("%s: the plan has %s", name, n.Kind)
		}
	}
}

// checkWork checks that what a call costs does not grow with the number of requests and votes of a stranger,
// who can have any number.
func (b *busy) checkWork() {
	b.T.Helper()
	n := b.Count("requests WHERE account_id = $1 AND reader = $2", b.Acme.ID, b.most.Reader)
	if m := b.Count("votes WHERE account_id = $1 AND reader = $2", b.Acme.ID, b.most.Reader); n < b.Size/4 || m < b.Size/4 {
		b.T.Fatalf("the reader has only %d requests and %d votes", n, m)
	}
	for name, call := range map[string]func(w readers.Person) func(s *store.Store) error{
		"news": func(w readers.Person) func(s *store.Store) error {
			return func(s *store.Store) error {
				_, err := s.Readers.News(ctx, w)
				return err
			}
		},
		"first page": func(w readers.Person) func(s *store.Store) error { return b.list(w, feedback.ID{}) },
	} {
		few, some, most := b.work(call(b.few)), b.work(call(b.some)), b.work(call(b.most))
		b.T.Logf("%s: %v for 3, %v for 200, %v for %d requests and votes", name, few, some, most, n)
		if most > 3*some {
			b.T.Errorf("%s: %v for 200 requests and votes, and %v for %d", name, some, most, n)
		}
	}
}

// checkComments checks that what a call costs does not grow with the comments that the person does not see: internal
// ones, and those of visitors of the portal.
func (b *busy) checkComments() {
	b.T.Helper()
	call := b.list(b.few, feedback.ID{})
	before := b.work(call)
	b.Exec(`INSERT INTO comments (account_id, request_id, id, author_id, visibility, person, body, created_at, updated_at)
		SELECT $1, r.id, o.id, o.id, CASE WHEN o.status = 'opened' THEN 'internal' ELSE 'public' END,
			CASE WHEN o.status = 'opened' THEN NULL ELSE 'e:visitor@example.com' END, 'B', 0, 0
		FROM requests r CROSS JOIN (SELECT id, status FROM requests WHERE account_id = $1 AND reader = $2 ORDER BY id LIMIT 10000) AS o
		WHERE r.account_id = $1 AND r.reader = $3`, b.Acme.ID, b.most.Reader, b.few.Reader)
	b.Analyze()
	if after := b.work(call); after > 3*before {
		b.T.Errorf("a page costs %v without comments that the person does not see, and %v with them", before, after)
	}
}

// work returns what a call takes: the blocks that PostgreSQL reads, or the median of its processor time with SQLite. One
// measurement can be far too low, as Linux may count what another thread did only later.
func (b *busy) work(call func(s *store.Store) error) float64 {
	b.T.Helper()
	sent := b.During(call)
	if b.At.Name == "sqlite" {
		var times []time.Duration
		for range 21 {
			runtime.GC()
			before := storetest.ProcessorTime()
			b.During(call)
			times = append(times, storetest.ProcessorTime()-before)
		}
		slices.Sort(times)
		return times[len(times)/2].Seconds()
	}
	blocks := 0.0
	for _, s := range sent {
		if strings.HasPrefix(s.Query, "SELECT") {
			blocks += b.Blocks(s)
		}
	}
	return blocks
}
