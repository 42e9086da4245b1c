package store_test

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gatherkit/internal/feedback"
	"gatherkit/internal/quota"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
)

// rush is a store that keeps the first two submissions in their transactions, so that all that come after them make one
// group.
type rush struct {
	*storetest.Rig
	s     *store.Store
	runs  atomic.Int64 // transactions of submissions
	kept  atomic.Int64 // which of them is the first that is kept
	began chan struct{}
	goOn  chan struct{}
	wg    sync.WaitGroup
	n     int // submissions that wait

	mu sync.Mutex
	of map[feedback.ID]int // transactions of each account
}

// sent is a submission, and its result once the rush has ended.
type sent struct {
	sub    store.Submission
	stored feedback.Request
	err    error
	done   atomic.Bool
}

func newRush(t *testing.T, at storetest.Place) *rush {
	t.Helper()
	r := &rush{Rig: storetest.NewRig(t, at), of: map[feedback.ID]int{}}
	r.keepNext()
	r.s = r.Watched(func(query string, args []driver.NamedValue) {
		for _, table := range []string{"requests", "request_counts", "account_seq"} {
			if strings.HasPrefix(query, "INSERT INTO "+table+" ") {
				rows := strings.Count(query, "($")
				if !slices.IsSortedFunc(accountsOf(args, len(args)/rows), feedback.ID.Compare) {
					t.Errorf("transactions can deadlock, as they do not lock %s in the same order", table)
				}
			}
		}
		if !strings.HasPrefix(query, "SELECT account_id, most FROM quotas") {
			return
		}
		r.mu.Lock()
		accounts := accountsOf(args[1:], 1)
		slices.SortFunc(accounts, feedback.ID.Compare)
		for _, id := range slices.Compact(accounts) {
			r.of[id]++
		}
		r.mu.Unlock()
		n, kept := r.runs.Add(1), r.kept.Load()
		if n == kept {
			close(r.began)
		}
		if n == kept || n == kept+1 {
			<-r.goOn
		}
	})
	return r
}

// accountsOf returns the accounts of rows, which are in their first columns.
func accountsOf(args []driver.NamedValue, columns int) (accounts []feedback.ID) {
	for row := range slices.Chunk(args, columns) {
		id, ok := row[0].Value.(feedback.ID)
		if !ok {
			_ = id.Scan(row[0].Value)
		}
		accounts = append(accounts, id)
	}
	return accounts
}

// keepNext keeps the next two transactions until end.
func (r *rush) keepNext() {
	r.n, r.began, r.goOn = 0, make(chan struct{}), make(chan struct{})
	r.kept.Store(r.runs.Load() + 1)
}

// begin sends the first submission, which is stored apart because it is alone, and the next one. It returns when others
// have to wait for that one.
func (r *rush) begin(app feedback.App) *sent {
	account := r.NewAccount(fmt.Sprint("Others ", r.runs.Load()))
	r.start(r.NewApp(account), "alone")
	<-r.began
	first := r.start(app, "first")
	for !r.s.Together() || r.s.WaitTogether() > 0 {
		runtime.Gosched()
	}
	return first
}

func (r *rush) start(app feedback.App, title string, change ...func(*store.Submission)) *sent {
	one := &sent{sub: store.Submission{App: app, Request: feedback.NewRequest(title, ""), IdempotencyKey: title}}
	for _, fn := range change {
		fn(&one.sub)
	}
	r.wg.Go(func() {
		one.stored, one.err = r.s.Submit(ctx, one.sub)
		one.done.Store(true)
	})
	return one
}

// send sends a submission that waits for the first one.
func (r *rush) send(app feedback.App, title string, change ...func(*store.Submission)) *sent {
	one := r.start(app, title, change...)
	for r.n++; r.s.WaitTogether() < r.n; {
		runtime.Gosched()
	}
	return one
}

// wantApart waits until a submission is stored, or waits for nobody but its account.
func (r *rush) wantApart(one *sent) {
	r.T.Helper()
	for !one.done.Load() {
		if r.s.Apart(one.sub.App.AccountID) {
			return
		}
		if r.s.WaitTogether() > r.n {
			r.T.Errorf("%s waits for others", one.sub.Request.Title)
			return
		}
	}
}

// end lets the first submission go on, and waits for all.
func (r *rush) end() {
	close(r.goOn)
	r.wg.Wait()
}

// want checks that a submission was stored for its account, or refused with a code.
func (r *rush) want(one *sent, code string) {
	r.T.Helper()
	var refusal *feedback.Error
	switch {
	case code == "" && one.err != nil:
		r.T.Errorf("%s: %v", one.sub.Request.Title, one.err)
	case code != "" && (!errors.As(one.err, &refusal) || refusal.Code != code):
		r.T.Errorf("%s: %v, want %s", one.sub.Request.Title, one.err, code)
	case code != "":
		return
	}
	got, err := r.Request(ctx, one.sub.App.AccountID, one.stored.ID)
	if err != nil || got.AppID != one.sub.App.ID || got.Title != one.sub.Request.Title {
		r.T.Errorf("%s: %+v, %v", one.sub.Request.Title, got, err)
	}
}

// check checks what the transactions of submissions keep for each account.
func (r *rush) check(accounts ...feedback.Account) {
	r.T.Helper()
	if wrong, err := r.Recount(ctx); err != nil || len(wrong) > 0 {
		r.T.Errorf("recount: %v, %v", wrong, err)
	}
	for _, account := range accounts {
		requests := r.Count("requests WHERE account_id = $1", account.ID)
		created := r.Count("changes WHERE account_id = $1 AND kind = 'request.created'", account.ID)
		var last int
		if err := r.Raw.QueryRowContext(ctx, "SELECT last FROM account_seq WHERE account_id = $1", account.ID).Scan(&last); err != nil {
			r.T.Fatal(err)
		}
		if all := r.Count("changes WHERE account_id = $1", account.ID); created != requests || all != last {
			r.T.Errorf("%s: %d requests, %d of %d changes, the last has number %d", account.Name, requests, created, all, last)
		}
	}
}

// TestSubmitTogether: submissions to several accounts that arrive at once share a transaction, whatever becomes of one.
func TestSubmitTogether(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := newRush(t, at)
		acme, globex, initech := r.NewAccount("Acme"), r.NewAccount("Globex"), r.NewAccount("Initech")
		shop, site, other, portal := r.NewApp(acme), r.NewApp(acme), r.NewApp(globex), r.NewApp(initech)
		revoked := other
		revoked.APIKey = feedback.NewAPIKey(strings.NewReader(strings.Repeat("r", 100)))
		elsewhere := other
		elsewhere.APIKey = shop.APIKey // of another account
		first := r.begin(shop)
		good := []*sent{first, r.send(shop, "one"), r.send(other, "two"), r.send(portal, "three"), r.send(site, "one"), r.send(other, "one")}
		again := r.send(shop, "first")
		differs := r.send(shop, "first", func(s *store.Submission) { s.Request.Title = "another" })
		bad := []*sent{r.send(revoked, "four"), r.send(elsewhere, "five")}
		quarantined := r.send(portal, "six", func(s *store.Submission) { s.Request.Box = feedback.Quarantine })
		file := r.start(site, "with a file", func(s *store.Submission) { s.Attachments = []feedback.ID{{1}} })
		r.wantApart(file)
		idea := r.start(portal, "an idea", func(s *store.Submission) { s.Portal = &feedback.Person{} })
		r.wantApart(idea)
		r.end()
		for _, one := range append(good, quarantined) {
			r.want(one, "")
		}
		for _, one := range bad {
			r.want(one, "auth.invalid_api_key")
		}
		r.want(file, "widget.invalid_attachments")
		r.want(idea, "portal.not_found")
		if again.err != nil || again.stored.ID != first.stored.ID {
			t.Errorf("again: %s, %v, want %s", again.stored.ID, again.err, first.stored.ID)
		}
		r.want(differs, "widget.idempotency_mismatch")
		if n := r.runs.Load(); n != 6 { // the one that is alone, the first, all others, those without the bad ones, and two apart
			t.Errorf("%d transactions", n)
		}
		if n := r.Count("requests"); n != len(good)+2 {
			t.Errorf("%d requests, want %d", n, len(good)+2)
		}
		r.check(acme, globex, initech)
	})
}

// TestSubmitTogetherFails: when a row of one submission cannot be stored, those of others are, and each once.
func TestSubmitTogetherFails(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := newRush(t, at)
		acme, globex := r.NewAccount("Acme"), r.NewAccount("Globex")
		shop, other := r.NewApp(acme), r.NewApp(globex)
		if at.Database == "" {
			defer r.Refuses("INSERT", "requests", "NEW.title = 'bad'")()
		} else {
			r.Exec("ALTER TABLE requests ADD CHECK (title <> 'bad')")
		}
		first := r.begin(shop)
		good := []*sent{first, r.send(shop, "one"), r.send(other, "two")}
		bad := r.send(other, "bad")
		r.end()
		for _, one := range good {
			r.want(one, "")
		}
		if bad.err == nil {
			t.Error("a row was stored that the database refuses")
		}
		if n := r.Count("requests"); n != len(good)+1 {
			t.Errorf("%d requests, want %d", n, len(good)+1)
		}
		r.check(acme, globex)
	})
}

// TestSubmitTogetherOverQuota: an account whose quota is used up gets its refusals, and those of others are stored.
func TestSubmitTogetherOverQuota(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := newRush(t, at)
		acme, globex := r.NewAccount("Acme"), r.NewAccount("Globex")
		shop, other := r.NewApp(acme), r.NewApp(globex)
		if err := r.Quotas.Set(ctx, acme.ID, quota.Changes{quota.Requests: new(int64(2))}); err != nil {
			t.Fatal(err)
		}
		first := r.begin(shop)
		one, two := r.send(shop, "one"), r.send(shop, "two")
		again := r.send(shop, "first")
		good := r.send(other, "three")
		r.end()
		for _, one := range []*sent{first, good} {
			r.want(one, "")
		}
		kept, over := one, two
		if one.err != nil { // the two are stored apart, in any order
			kept, over = two, one
		}
		r.want(kept, "")
		r.want(over, "requests.quota_reached")
		if n := r.of[globex.ID]; n != 1 {
			t.Errorf("%d transactions for an account without a quota", n)
		}
		if again.err != nil || again.stored.ID != first.stored.ID {
			t.Errorf("again: %s, %v", again.stored.ID, again.err)
		}
		r.check(acme, globex)
	})
}

// TestSubmitBesideLock: while somebody keeps the lock of an account's app, submissions to others are stored.
func TestSubmitBesideLock(t *testing.T) {
	t.Parallel()
	r := newRush(t, storetest.Place{Name: "postgres", Database: storetest.Postgres(t)})
	acme, globex := r.NewAccount("Acme"), r.NewAccount("Globex")
	shop, other := r.NewApp(acme), r.NewApp(globex)
	lock, err := r.Raw.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lock.ExecContext(ctx, "UPDATE request_counts SET n = n WHERE account_id = $1", acme.ID); err != nil {
		t.Fatal(err)
	}
	first := r.begin(other)
	waits := r.send(shop, "one")
	r.send(other, "two")
	close(r.goOn)
	for apart := (time.Time{}); apart.IsZero() || time.Since(apart) <= store.Delay; {
		if apart.IsZero() && r.s.Apart(acme.ID) {
			apart = time.Now()
			r.start(shop, "four")
		}
		if _, err := r.s.Submit(ctx, store.Submission{App: other, Request: feedback.NewRequest("three", "")}); err != nil {
			t.Fatal(err)
		}
	}
	r.mu.Lock()
	if n := r.of[acme.ID]; n != 2 { // with the others, and then apart
		t.Errorf("%d transactions wait for the lock", n)
	}
	r.mu.Unlock()
	if err := lock.Rollback(); err != nil {
		t.Fatal(err)
	}
	r.wg.Wait()
	r.want(first, "")
	r.want(waits, "")
	r.keepNext()
	r.begin(other)
	r.wantApart(r.start(shop, "later"))
	r.end()
	r.check(acme, globex)
}

// TestAppsByKeyTogether: an app that cannot be read fails no lookup but its own.
func TestAppsByKeyTogether(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		rig := storetest.NewRig(t, at)
		good, damaged := rig.NewApp(rig.NewAccount("Acme")), rig.NewApp(rig.NewAccount("Globex"))
		rig.Exec("UPDATE apps SET settings = '{' WHERE api_key = '" + damaged.APIKey + "'")
		began, goOn, lookups := make(chan struct{}), make(chan struct{}), atomic.Int64{}
		s := rig.Watched(func(query string, _ []driver.NamedValue) {
			if strings.HasPrefix(query, "SELECT key_hash") && lookups.Add(1) == 1 {
				close(began)
				<-goOn
			}
		})
		var wg sync.WaitGroup
		look := func(app feedback.App, works bool) {
			wg.Go(func() {
				if got, err := s.AppByKey(ctx, app.APIKey); (err == nil) != works || got.ID == app.ID != works {
					t.Errorf("%s: %v", app.ID, err)
				}
			})
		}
		look(good, true)
		<-began
		look(good, true)
		look(damaged, false)
		for s.WaitingKeys() < 2 {
			runtime.Gosched()
		}
		close(goOn)
		wg.Wait()
		if n := lookups.Load(); n != 4 { // the first, both, and each of them
			t.Errorf("%d lookups", n)
		}
	})
}

// TestSubmitDistributed: on several machines, a statement is about one account, and needs only the machine of that one.
func TestSubmitDistributed(t *testing.T) {
	t.Parallel()
	at := storetest.Place{Name: "postgres", Database: storetest.Postgres(t)}
	rig := storetest.NewRig(t, at)
	rig.Exec("CREATE TABLE pg_dist_partition (logicalrel regclass)") // stands in for Citus's catalog
	rig.Exec("INSERT INTO pg_dist_partition VALUES ('requests')")
	var mu sync.Mutex
	var of []feedback.ID // the account of each group
	keys := 0
	s := rig.Watched(func(query string, args []driver.NamedValue) {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case strings.HasPrefix(query, "SELECT account_id, most FROM quotas"):
			of = append(of, args[1].Value.(feedback.ID))
			if len(args) > 2 {
				t.Errorf("a statement is about %d accounts", len(args)-1)
			}
		case strings.HasPrefix(query, "SELECT key_hash"):
			keys++
			if len(args) > 1 {
				t.Errorf("a statement is about %d keys", len(args))
			}
		}
	})
	var apps []feedback.App
	for i := range 20 {
		apps = append(apps, rig.NewApp(rig.NewAccount(fmt.Sprint(i))))
	}
	storetest.Crowd(len(apps), func(i int) {
		app, err := s.AppByKey(ctx, apps[i].APIKey)
		if err != nil {
			t.Error(err)
		}
		if _, err := s.Submit(ctx, store.Submission{App: app, Request: feedback.NewRequest("one", "")}); err != nil {
			t.Error(err)
		}
	})
	slices.SortFunc(of, feedback.ID.Compare)
	if len(slices.Compact(of)) != len(apps) || keys < len(apps) {
		t.Errorf("%d groups, %d lookups", len(of), keys)
	}
}
