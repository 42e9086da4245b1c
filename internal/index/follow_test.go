package index_test

import (
	"context"
	"database/sql/driver"
	"fmt"
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
			var next feedback.ID
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
					var err error
					if next, _, err = r.Index.Follow(ctx, next, index.Chunk); err != nil {
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
				var next feedback.ID
				for {
					var err error
					if next, _, err = s.Index.Follow(ctx, next, index.Chunk); err != nil {
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
			if _, _, err := slow.Index.Follow(ctx, feedback.ID{}, index.Chunk); err != nil {
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
		if _, more, err := r.Index.Follow(ctx, feedback.ID{}, index.Chunk); err != nil || !more {
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
		for from, more := (feedback.ID{}), true; more; {
			if from, more, err = next.Index.Follow(ctx, from, index.Chunk); err != nil {
				t.Fatal(err)
			}
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
