package store_test

import (
	"context"
	"database/sql/driver"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"gatherkit/internal/feedback"
	"gatherkit/internal/index"
	"gatherkit/internal/search"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
)

// lines is what a query of three columns returns, a line a row.
func (r *rig) lines(t fataler, query string) []string {
	rows, err := r.raw.QueryContext(ctx, query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err below has what matters
	found := []string{}
	for rows.Next() {
		values, into := make([]any, 3), make([]any, 3)
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		for i, v := range values {
			if raw, is := v.([]byte); is && len(raw) == 16 {
				values[i] = feedback.ID(raw)
			}
		}
		found = append(found, strings.TrimSpace(fmt.Sprintln(values...)))
	}
	if err := rows.Err(); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	slices.Sort(found)
	return found
}

type fataler interface {
	Fatalf(format string, args ...any)
}

// checkIndex holds the index, which has followed to the end, against the live requests.
func (r *rig) checkIndex(t fataler) {
	type text struct{ id, app, title, description string }
	var postings, words []string
	counts := map[string]int{}
	for _, line := range r.lines(t, `SELECT r.id, r.app_id, r.title || '~' || r.description FROM requests r JOIN apps a ON a.account_id = r.account_id AND a.id = r.app_id
		WHERE r.box = 'live' AND a.deleted_at IS NULL`) {
		fields := strings.SplitN(line, " ", 3)
		title, description, _ := strings.Cut(fields[2], "~")
		of := text{fields[0], fields[1], title, description}
		all := search.Words(of.title, of.description)
		if len(all) == 0 { // nothing to be found by
			continue
		}
		for _, word := range all {
			postings = append(postings, of.app+" "+of.id+" "+word)
			counts[of.app+" "+word]++
		}
		counts[of.app+" "]++
		words = append(words, of.app+" "+of.id+" "+strings.Join(all, " "))
	}
	var counted []string
	for key, n := range counts {
		fields := strings.SplitN(key, " ", 2)
		counted = append(counted, fmt.Sprintf("%s %q %d", fields[0], fields[1], n))
	}
	slices.Sort(counted)
	slices.Sort(postings)
	slices.Sort(words)
	got := r.lines(t, "SELECT app_id, word, n FROM word_counts WHERE n <> 0 OR word <> ''")
	for i, line := range got {
		fields := strings.Split(line, " ")
		got[i] = fmt.Sprintf("%s %q %s", fields[0], strings.Join(fields[1:len(fields)-1], " "), fields[len(fields)-1])
	}
	got = slices.DeleteFunc(got, func(line string) bool { return strings.HasSuffix(line, ` "" 0`) })
	slices.Sort(got)
	for _, c := range []struct {
		name      string
		want, got []string
	}{
		{"request_words", postings, r.lines(t, "SELECT app_id, id, word FROM request_words")},
		{"indexed_requests", words, r.lines(t, "SELECT app_id, request_id, words FROM indexed_requests")},
		{"word_counts", counted, got},
	} {
		if diff := cmp.Diff(c.want, c.got, cmp.Transformer("none", func(l []string) []string { return append([]string{}, l...) })); diff != "" && len(c.want)+len(c.got) > 0 {
			t.Fatalf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// TestIndexFollows: whatever happens to requests, in whatever pieces the index follows
// it, at the end it has the words of the live ones and nothing else.
func TestIndexFollows(t *testing.T) {
	storetest.FewerChecks(t)
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := newRig(t, at)
		account := r.account("Acme")
		texts := rapid.SampledFrom([]string{"dark mode", "dark theme", "検索とメモ", "", "a b a", "Größe"})
		rapid.Check(t, func(rt *rapid.T) {
			apps := []feedback.App{r.app(account), r.app(account)}
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
				if only(err, feedback.ErrRequestNotFound) != nil {
					rt.Fatal(err)
				}
			}
			rt.Repeat(map[string]func(*rapid.T){
				"submit": func(rt *rapid.T) {
					request := feedback.NewRequest(texts.Draw(rt, "title"), texts.Draw(rt, "description"))
					request, err := r.Submit(ctx, store.Submission{App: rapid.SampledFrom(apps).Draw(rt, "app"), Request: request})
					if only(err, feedback.ErrInvalidAPIKey) != nil {
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
					r.clock.Move(31 * 24 * time.Hour)
					if err := r.Sweep(ctx); err != nil {
						rt.Fatal(err)
					}
				},
				"delete an app": func(rt *rapid.T) {
					if rapid.IntRange(0, 5).Draw(rt, "rarely") == 0 {
						if err := only(r.DeleteApp(ctx, account.ID, apps[1].ID, feedback.Command()), feedback.ErrAppNotFound); err != nil {
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
			r.index()
			for more := true; more; {
				var err error
				if more, err = r.Purge(ctx); err != nil {
					rt.Fatal(err)
				}
			}
			r.checkIndex(rt)
			for _, app := range apps {
				if err := only(r.DeleteApp(ctx, account.ID, app.ID, feedback.Command()), feedback.ErrAppNotFound); err != nil {
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
		r := newRig(t, at)
		account := r.account("Acme")
		app, doomed := r.app(account), r.app(account)
		r.fill(doomed, 300)
		r.fill(app, 300)
		ids := r.ids(app)
		stores := []*store.Store{r.Store, at.Open(t, r.clock.Now)}
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
		r.index()
		r.checkIndex(t)
		if n, err := r.Index.Backlog(ctx); err != nil || n != 0 {
			t.Errorf("the backlog is %d, %v", n, err)
		}
	})
}

// TestIndexBesidePurge: a request that goes for good after an indexer has read its words,
// and before that has written them, does not come back with them.
func TestIndexBesidePurge(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := newRig(t, at)
		account := r.account("Acme")
		for name, purge := range map[string]func(feedback.App, feedback.Request){
			"app": func(app feedback.App, _ feedback.Request) { r.drop(app) },
			"request": func(_ feedback.App, one feedback.Request) {
				if _, err := r.ChangeRequest(ctx, account.ID, one.ID, feedback.Command(), func(r *feedback.Request) error {
					r.Box = feedback.Bin
					return nil
				}); err != nil {
					t.Fatal(err)
				}
				r.clock.Move(31 * 24 * time.Hour)
				if err := r.Sweep(ctx); err != nil {
					t.Fatal(err)
				}
			},
		} {
			app := r.app(account)
			r.fill(app, 3)
			r.index()
			one := r.fill(app, 1)
			var purged sync.Once
			slow := r.watched(func(query string, _ []driver.NamedValue) {
				if query == store.Begin {
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
			if _, _, err := slow.Index(ctx, feedback.ID{}); err != nil {
				t.Fatal(err)
			}
			r.index()
			if n := r.count("indexed_requests WHERE request_id = $1", one.ID) + r.count("request_words WHERE id = $1", one.ID); n != 0 {
				t.Errorf("%s: the index has %d rows of a request that is gone", name, n)
			}
			r.checkIndex(t)
		}
	})
}

// ids are those of an app's requests.
func (r *rig) ids(app feedback.App) (ids []feedback.ID) {
	r.t.Helper()
	page := index.Page{Sort: index.Newest, Limit: 200}
	for {
		requests, _, err := r.Index.List(ctx, app.AccountID, index.Filter{AppID: &app.ID, Box: feedback.Live}, page)
		if err != nil {
			r.t.Fatal(err)
		}
		for i := range requests {
			ids = append(ids, requests[i].ID)
		}
		if len(requests) == 0 {
			return ids
		}
		page.After = &index.Place{ID: ids[len(ids)-1]}
	}
}

// TestIndexResumes: what one process has left undone the next one does, and nothing
// twice: it begins where the first one stopped.
func TestIndexResumes(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := newRig(t, at)
		app := r.app(r.account("Acme"))
		r.fill(app, 500)
		before, err := r.Index.Backlog(ctx)
		if err != nil || before < 500 {
			t.Fatalf("the backlog is %d, %v", before, err)
		}
		if _, more, err := r.Index.Follow(ctx, feedback.ID{}, index.Chunk); err != nil || !more {
			t.Fatal(more, err)
		}
		some := r.count("indexed_requests")
		if after, err := r.Index.Backlog(ctx); err != nil || after >= before || some == 0 || some == 500 {
			t.Fatalf("the backlog is %d after %d, with %d indexed, %v", after, before, some, err)
		}
		read := 0
		next := r.watched(func(query string, args []driver.NamedValue) {
			if strings.HasPrefix(query, "INSERT INTO indexed_requests") {
				read += len(args) / 4
			}
		})
		for from, more := (feedback.ID{}), true; more; {
			if from, more, err = next.Index(ctx, from); err != nil {
				t.Fatal(err)
			}
		}
		if read != 500-some {
			t.Errorf("%d were indexed after %d of 500", read, some)
		}
		r.checkIndex(t)
	})
}

// TestWorkIndexes: the worker of a process indexes what comes in, and hands over.
func TestWorkIndexes(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := newRig(t, at)
		app := r.app(r.account("Acme"))
		r.fill(app, 3)
		indexed := make(chan struct{})
		once := sync.OnceFunc(func() { close(indexed) })
		s := r.watched(func(query string, _ []driver.NamedValue) {
			if strings.HasPrefix(query, "INSERT INTO indexed_requests") {
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
		if n := r.count("leases WHERE until > 0"); n != 0 {
			t.Errorf("%d leases are held by nobody", n)
		}
		r.index()
		r.checkIndex(t)
	})
}
