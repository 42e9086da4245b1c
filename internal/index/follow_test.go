package index_test

import (
	"context"
	"database/sql/driver"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"gatherkit/internal/feedback"
	"gatherkit/internal/index"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
)

// TestIndexFollows: whatever happens to requests, in whatever pieces the index follows
// it, at the end it has the words of the live ones and nothing else.
func TestIndexFollows(t *testing.T) {
	storetest.FewerChecks(t)
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		account := r.NewAccount("Acme")
		texts := rapid.SampledFrom([]string{"dark mode", "dark theme", "検索とメモ", "", "a b a", "Größe"})
		rapid.Check(t, func(rt *rapid.T) {
			apps := []feedback.App{r.NewApp(account), r.NewApp(account)}
			var ids []feedback.ID
			follower := r.Index.Follower()
			change := func(change func(*feedback.Request)) {
				if len(ids) == 0 {
					return
				}
				_, err := r.ChangeRequest(ctx, account.ID, rapid.SampledFrom(ids).Draw(rt, "id"), feedback.Command(), func(r *feedback.Request) error {
					change(r)
					return nil
				})
				if storetest.Except(err, feedback.ErrRequestNotFound) != nil {
					rt.Fatal(err)
				}
			}
			rt.Repeat(map[string]func(*rapid.T){
				"submit": func(rt *rapid.T) {
					request := feedback.NewRequest(texts.Draw(rt, "title"), texts.Draw(rt, "description"))
					request, err := r.Submit(ctx, store.Submission{App: rapid.SampledFrom(apps).Draw(rt, "app"), Request: request})
					if storetest.Except(err, feedback.ErrInvalidAPIKey) != nil {
						rt.Fatal(err)
					}
					if err == nil {
						ids = append(ids, request.ID)
					}
				},
				"edit": func(rt *rapid.T) {
					title := texts.Draw(rt, "title")
					change(func(r *feedback.Request) { r.Title = title })
				},
				"move": func(rt *rapid.T) {
					box := rapid.SampledFrom([]feedback.Box{feedback.Live, feedback.Bin, feedback.Quarantine}).Draw(rt, "box")
					change(func(r *feedback.Request) { r.Box = box })
				},
				"index": func(rt *rapid.T) {
					if _, err := follower.Step(ctx, index.Chunk, 1); err != nil {
						rt.Fatal(err)
					}
				},
				"empty the bin": func(rt *rapid.T) {
					r.Clock.Move(31 * 24 * time.Hour)
					if err := r.Sweep(ctx); err != nil {
						rt.Fatal(err)
					}
				},
				"delete an app": func(rt *rapid.T) {
					if rapid.IntRange(0, 5).Draw(rt, "rarely") == 0 {
						if err := storetest.Except(r.DeleteApp(ctx, account.ID, apps[1].ID, feedback.Command()), feedback.ErrAppNotFound); err != nil {
							rt.Fatal(err)
						}
					}
				},
				"purge": func(rt *rapid.T) {
					if _, err := r.Purge(ctx); err != nil {
						rt.Fatal(err)
					}
				},
			})
			r.IndexAll()
			for more := true; more; {
				var err error
				if more, err = r.Purge(ctx); err != nil {
					rt.Fatal(err)
				}
			}
			r.CheckIndex(rt)
			for _, app := range apps {
				if err := storetest.Except(r.DeleteApp(ctx, account.ID, app.ID, feedback.Command()), feedback.ErrAppNotFound); err != nil {
					rt.Fatal(err)
				}
			}
		})
	})
}

// TestIndexersAtOnce: processes that index, edit and purge at the same time leave the
// index as one would.
func TestIndexersAtOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		account := r.NewAccount("Acme")
		app, doomed := r.NewApp(account), r.NewApp(account)
		r.Fill(doomed, 300)
		r.Fill(app, 300)
		ids := r.IDs(app)
		stores := []*store.Store{r.Store, at.Open(t, r.Clock.Now)}
		var indexing, wg sync.WaitGroup
		done := make(chan struct{})
		for _, s := range stores {
			indexing.Go(func() {
				follower := s.Index.Follower()
				for {
					if _, err := follower.Step(ctx, index.Chunk, 1); err != nil {
						t.Error(err)
						return
					}
					select {
					case <-done:
						return
					default:
					}
				}
			})
		}
		for worker := range 4 {
			wg.Go(func() {
				for i := worker; i < len(ids); i += 4 {
					if _, err := stores[i%2].ChangeRequest(ctx, account.ID, ids[i], feedback.Command(), func(r *feedback.Request) error {
						r.Title = fmt.Sprint("other title ", i)
						if i%3 == 0 {
							r.Box = feedback.Bin
						}
						return nil
					}); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Go(func() {
			if err := r.DeleteApp(ctx, account.ID, doomed.ID, feedback.Command()); err != nil {
				t.Error(err)
			}
			for more := true; more; {
				var err error
				if more, err = r.Purge(ctx); err != nil {
					t.Error(err)
					return
				}
			}
		})
		wg.Wait()
		close(done)
		indexing.Wait()
		r.IndexAll()
		r.CheckIndex(t)
		if n, err := r.Index.Backlog(ctx); err != nil || n != 0 {
			t.Errorf("the backlog is %d, %v", n, err)
		}
	})
}

// TestIndexBesidePurge: a request that goes for good after an indexer has read its words,
// and before that has written them, does not come back with them.
func TestIndexBesidePurge(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		account := r.NewAccount("Acme")
		for name, purge := range map[string]func(feedback.App, feedback.Request){
			"app": func(app feedback.App, _ feedback.Request) { r.Drop(app) },
			"request": func(_ feedback.App, one feedback.Request) {
				if _, err := r.ChangeRequest(ctx, account.ID, one.ID, feedback.Command(), func(r *feedback.Request) error {
					r.Box = feedback.Bin
					return nil
				}); err != nil {
					t.Fatal(err)
				}
				r.Clock.Move(31 * 24 * time.Hour)
				if err := r.Sweep(ctx); err != nil {
					t.Fatal(err)
				}
			},
		} {
			app := r.NewApp(account)
			r.Fill(app, 3)
			r.IndexAll()
			one := r.Fill(app, 1)
			var purged sync.Once
			slow := r.Watched(func(query string, _ []driver.NamedValue) {
				if query == storetest.Begin {
					purged.Do(func() {
						purge(app, one)
						for more := true; more; {
							var err error
							if more, err = r.Purge(ctx); err != nil {
								t.Fatal(err)
							}
						}
					})
				}
			})
			if _, err := slow.Index.Follower().Step(ctx, index.Chunk, 1); err != nil {
				t.Fatal(err)
			}
			r.IndexAll()
			if n := r.Count("index_documents WHERE request_id = $1", one.ID); n != 0 {
				t.Errorf("%s: the index has %d rows of a request that is gone", name, n)
			}
			r.CheckIndex(t)
		}
	})
}

// TestIndexResumes: what one process has left undone the next one does, and nothing
// twice: it begins where the first one stopped.
func TestIndexResumes(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		app := r.NewApp(r.NewAccount("Acme"))
		r.Fill(app, 500)
		before, err := r.Index.Backlog(ctx)
		if err != nil || before < 500 {
			t.Fatalf("the backlog is %d, %v", before, err)
		}
		if more, err := r.Index.Follower().Step(ctx, index.Chunk, 1); err != nil || !more {
			t.Fatal(more, err)
		}
		some := r.Count("index_documents")
		if after, err := r.Index.Backlog(ctx); err != nil || after >= before || some == 0 || some == 500 {
			t.Fatalf("the backlog is %d after %d, with %d indexed, %v", after, before, some, err)
		}
		read := 0
		next := r.Watched(func(query string, args []driver.NamedValue) {
			if strings.HasPrefix(query, "INSERT INTO index_documents") {
				read += len(args) / 5
			}
		})
		if err := next.Index.FollowAll(ctx, index.Chunk); err != nil {
			t.Fatal(err)
		}
		if read != 500-some {
			t.Errorf("%d were indexed after %d of 500", read, some)
		}
		r.CheckIndex(t)
	})
}

// TestWorkIndexes: the worker of a process indexes what comes in, and hands over.
func TestWorkIndexes(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		app := r.NewApp(r.NewAccount("Acme"))
		r.Fill(app, 3)
		indexed := make(chan struct{})
		once := sync.OnceFunc(func() { close(indexed) })
		s := r.Watched(func(query string, _ []driver.NamedValue) {
			if strings.HasPrefix(query, "INSERT INTO index_documents") {
				once()
			}
		})
		working, stop := context.WithCancel(ctx)
		defer stop()
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			s.Work(working)
		}()
		select {
		case <-indexed:
		case <-time.After(storetest.Patience):
			t.Error("nothing is indexed")
		}
		stop()
		<-ended
		if n := r.Count("leases WHERE until > 0"); n != 0 {
			t.Errorf("%d leases are held by nobody", n)
		}
		r.IndexAll()
		r.CheckIndex(t)
	})
}

// TestFollowerTurns: accounts with many changes are followed in turn, each before those with few, and these with the most
// changes first.
func TestFollowerTurns(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		fill := func(n int) feedback.ID {
			account := r.NewAccount(fmt.Sprint("Account ", r.Count("accounts")))
			r.Fill(r.NewApp(account), n)
			return account.ID
		}
		accounts := []feedback.ID{fill(5), fill(2 * index.Chunk), fill(3 * index.Chunk), fill(20), fill(2 * index.Chunk)}
		few, some, many := accounts[0], accounts[3], []feedback.ID{accounts[1], accounts[2], accounts[4]}
		follower := r.Index.Follower()
		step := func(chunk int) (followed []feedback.ID) {
			before := make([]int, len(accounts))
			for i, id := range accounts {
				before[i] = r.Count("index_documents WHERE account_id = $1", id)
			}
			backlog, err := r.Index.Backlog(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if more, err := follower.Step(ctx, chunk, 1); err != nil || !more {
				t.Fatal(more, err)
			}
			if lag := follower.Lag(); lag != backlog {
				t.Errorf("the index lags by %d, want %d", lag, backlog)
			}
			follower.Renew()
			for i, id := range accounts {
				if r.Count("index_documents WHERE account_id = $1", id) > before[i] {
					followed = append(followed, id)
				}
			}
			return followed
		}
		for turn := range 2 {
			for i, id := range many {
				if got := step(index.Chunk); !slices.Equal(got, []feedback.ID{id}) {
					t.Errorf("turn %d of account %d: %v were followed", turn, i, got)
				}
			}
		}
		if got := step(index.Chunk); !slices.Equal(got, many[1:2]) {
			t.Errorf("%v were followed, not the only one with many changes", got)
		}
		if got := step(8); !slices.Equal(got, []feedback.ID{some}) {
			t.Errorf("%v were followed, not the one with the most changes", got)
		}
		if got := step(index.Chunk); !slices.Contains(got, few) || !slices.Contains(got, some) {
			t.Errorf("%v were followed, not all that are left", got)
		}
		if more, err := follower.Step(ctx, index.Chunk, 1); err != nil || more || follower.Lag() != 0 {
			t.Error("there is more to follow", err)
		}
		r.CheckIndex(t)
	})
}

// TestFollowsTogether: accounts whose requests come, change and go are followed in one transaction that
// shares statements. What another process has followed meanwhile is not followed again.
func TestFollowsTogether(t *testing.T) {
	const most = 100 // statements; sixteen accounts one after the other need more than 250
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		var apps []feedback.App // two of each account
		for i := range 16 {
			account := r.NewAccount(fmt.Sprint("Account ", i))
			apps = append(apps, r.NewApp(account), r.NewApp(account))
		}
		submit := func(app feedback.App, title string) feedback.Request {
			request := feedback.NewRequest(title, "")
			request.Tags = []string{fmt.Sprint("tag ", len(title))}
			request, err := r.Submit(ctx, store.Submission{App: app, Request: request})
			if err != nil {
				t.Fatal(err)
			}
			return request
		}
		var gone []feedback.ID // requests that have changed in apps that are deleted
		statements, overtake := 0, func() {}
		watched := r.Watched(func(query string, _ []driver.NamedValue) {
			statements++
			if strings.HasPrefix(query, "SELECT id, app_id, submitter_name") {
				overtake()
			}
		})
		step := func() {
			t.Helper()
			statements = 0
			if _, err := watched.Index.Follower().Step(ctx, index.MaxChunk, 1); err != nil {
				t.Fatal(err)
			}
			if statements > most {
				t.Errorf("%d statements, want at most %d", statements, most)
			}
			if n, err := r.Index.Backlog(ctx); n != 0 || err != nil {
				t.Errorf("%d entries are left, %v", n, err)
			}
			for _, id := range gone {
				if n := r.Count("index_documents WHERE request_id = $1", id); n != 0 {
					t.Error("a request of a deleted app is in the index")
				}
			}
			for more := true; more; {
				var err error
				if more, err = r.Purge(ctx); err != nil {
					t.Fatal(err)
				}
			}
			r.CheckIndex(t)
		}
		var first []feedback.Request
		for i, app := range apps {
			first = append(first, submit(app, "Night mode"))
			for n := range i % 5 {
				submit(app, strings.Repeat(fmt.Sprint("word", n, " "), 1+i))
			}
		}
		step()
		for i, app := range apps {
			submit(app, "More night")
			if i%2 == 0 {
				_, err := r.ChangeRequest(ctx, app.AccountID, first[i].ID, feedback.Command(), func(r *feedback.Request) error {
					r.Title, r.Tags, r.Box = "Dark theme", nil, feedback.Bin
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			if i%4 == 2 {
				gone = append(gone, first[i].ID)
				if err := r.DeleteApp(ctx, app.AccountID, app.ID, feedback.Command()); err != nil {
					t.Fatal(err)
				}
			}
		}
		overtaken := false
		overtake = sync.OnceFunc(func() {
			overtaken = true
			submit(apps[0], "Even more")
			if err := r.Index.FollowAccount(ctx, apps[0].AccountID, index.MaxChunk); err != nil {
				t.Error(err)
			}
		})
		step()
		if !overtaken {
			t.Error("no other process has followed an account")
		}
	})
}

// TestFollowsManyTerms: requests with very many terms are followed one by one.
func TestFollowsManyTerms(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		app := r.NewApp(r.NewAccount("Acme"))
		r.IndexAll()
		for range 2 {
			request := feedback.NewRequest("Much", "")
			for i := range 100 {
				request.Tags = append(request.Tags, fmt.Sprint("tag ", i))
			}
			if _, err := r.Submit(ctx, store.Submission{App: app, Request: request}); err != nil {
				t.Fatal(err)
			}
		}
		for want := range 2 {
			if err := r.Index.FollowAccount(ctx, app.AccountID, 2); err != nil {
				t.Fatal(err)
			}
			if n := r.Count("index_documents"); n != want+1 {
				t.Errorf("%d requests were followed, want %d", n, want+1)
			}
		}
	})
}

// TestFollowsApart: a request that cannot be indexed does not keep other accounts from being followed in the same step.
func TestFollowsApart(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		var accounts []feedback.ID
		var broken feedback.Request
		for _, name := range []string{"Acme", "Other", "Third"} {
			account := r.NewAccount(name)
			broken = r.Fill(r.NewApp(account), 3)
			accounts = append(accounts, account.ID)
		}
		defer r.Refuses("INSERT", "index_documents", "new.request_id = "+r.Literal(broken.ID))()
		if _, err := r.Index.Follower().Step(ctx, index.Chunk, 1); err != nil {
			t.Fatal(err)
		}
		for i, id := range accounts[:2] {
			if n := r.Count("index_documents WHERE account_id = $1", id); n != 3 {
				t.Errorf("account %d has %d indexed requests, want 3", i, n)
			}
		}
	})
}
