package index_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatherkit/internal/fair"
	"gatherkit/internal/feedback"
	"gatherkit/internal/index"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
)

// TestSimilar: what is shown is live, of the app, of a status that may be seen, and
// itself only once.
func TestSimilar(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		account := r.NewAccount("Acme")
		app, other := r.NewApp(account), r.NewApp(account)
		submit := func(app feedback.App, title string) feedback.Request {
			request, err := r.Submit(ctx, store.Submission{App: app, Request: feedback.NewRequest(title, "")})
			if err != nil {
				t.Fatal(err)
			}
			return request
		}
		root, merged, planned := submit(app, "Dark mode"), submit(app, "Night theme"), submit(app, "Dark theme at night")
		hidden := submit(app, "Fewer emails")
		binned := submit(app, "Dark night")
		submit(other, "Dark mode at night")
		r.IndexAll()
		set := func(id feedback.ID, change func(*feedback.Request)) {
			if _, err := r.ChangeRequest(ctx, account.ID, id, feedback.Command(), func(r *feedback.Request) error {
				change(r)
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}
		// The index does not know yet; what it says is checked.
		set(binned.ID, func(r *feedback.Request) { r.Box = feedback.Bin })
		set(planned.ID, func(r *feedback.Request) { r.Status = "planned" })
		set(hidden.ID, func(r *feedback.Request) { r.Hidden = true })
		if _, err := r.Raw.ExecContext(ctx, "UPDATE requests SET merged_into_id = $1, status = 'duplicate', merged_status = 'opened'"+
			" WHERE account_id = $2 AND id = $3", root.ID, account.ID, merged.ID); err != nil {
			t.Fatal(err)
		}
		for name, c := range map[string]struct {
			like index.Likeness
			want []string
		}{
			"all":     {index.Likeness{Text: "dark night", Limit: 9}, []string{"Dark theme at night", "Dark mode"}},
			"merged":  {index.Likeness{Text: "nihgt theme", Limit: 9}, []string{"Dark mode", "Dark theme at night"}},
			"former":  {index.Likeness{Text: "nihgt theme", Limit: 9, Shared: []feedback.Status{feedback.Opened}}, []string{"Dark mode"}},
			"itself":  {index.Likeness{Text: "dark night", Limit: 9, Except: &root.ID}, []string{"Dark theme at night"}},
			"status":  {index.Likeness{Text: "dark night", Limit: 9, Shared: []feedback.Status{"planned"}}, []string{"Dark theme at night"}},
			"hidden":  {index.Likeness{Text: "fewer emails", Limit: 1}, []string{"Fewer emails"}},
			"shared":  {index.Likeness{Text: "fewer emails", Limit: 9, Shared: []feedback.Status{feedback.Opened}}, []string{}},
			"limit":   {index.Likeness{Text: "dark night", Limit: 1}, []string{"Dark theme at night"}},
			"nothing": {index.Likeness{Text: "?!", Limit: 9}, []string{}},
		} {
			c.like.AppID = app.ID
			similar, err := r.Index.Similar(ctx, account.ID, c.like)
			if err != nil {
				t.Fatal(err)
			}
			got := []string{}
			for _, s := range similar {
				got = append(got, s.Title)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		}
	})
}

// TestSimilarOutside: people outside cannot tell from an answer what is kept from them: it is the same as if the app
// had nothing else. A merged request counts if the app would show it unmerged. This holds for requests that the index
// does not have yet, too.
func TestSimilarOutside(t *testing.T) {
	for name, titles := range map[string]bool{"titles": true, "descriptions": false} {
		t.Run(name, func(t *testing.T) {
			storetest.Each(t, func(t *testing.T, at storetest.Place) {
				p := newPlanted(t, at, titles)
				found := 0
				for range 2 {
					for range 100 {
						question := p.text(4)
						without, with := p.similar(0, question), p.similar(1, question)
						found += len(without)
						if diff := cmp.Diff(without, with); diff != "" {
							t.Fatalf("%q (-without what is not shown +with it):\n%s", question, diff)
						}
					}
					p.IndexAll()
				}
				if found < 200 {
					t.Errorf("found only %d requests", found)
				}
			})
		})
	}
}

// planted has two apps that people outside cannot tell apart. The second one also has what is kept from them.
type planted struct {
	*storetest.Rig
	titles bool
	random *rand.Rand
	apps   [2]feedback.App
}

func newPlanted(t *testing.T, at storetest.Place, titles bool) *planted {
	t.Helper()
	p := &planted{storetest.NewRig(t, at), titles, rand.New(rand.NewPCG(1, 2)), [2]feedback.App{}}
	account := p.NewAccount("Acme")
	for i := range p.apps {
		p.apps[i] = p.NewApp(account)
	}
	for range 40 {
		root := p.plant(kind{status: "planned"})
		p.plant(kind{status: "completed", root: root})
		p.plant(kind{status: "opened", kept: true})
		p.plant(kind{status: "planned", hidden: true, kept: true})
		p.plant(kind{status: "planned", box: feedback.Quarantine, kept: true})
		p.plant(kind{status: "planned", box: feedback.Bin, kept: true})
		p.plant(kind{status: "planned", hidden: true, root: root, kept: true})
		p.plant(kind{status: "opened", root: root, kept: true})
		hidden := p.plant(kind{status: "planned", hidden: true, kept: true})
		p.plant(kind{status: "planned", root: hidden, kept: true})
	}
	return p
}

// kind is what a request is like.
type kind struct {
	status feedback.Status
	hidden bool
	box    feedback.Box
	root   *[2]feedback.ID // that it is merged into
	kept   bool            // from people outside
}

// plant submits a request to both apps or, if it is kept from people outside, to the second one. It returns its ids.
func (p *planted) plant(k kind) *[2]feedback.ID {
	p.T.Helper()
	var ids [2]feedback.ID
	title, description := p.text(3), p.text(6)
	for i := range p.apps {
		if k.kept && i == 0 {
			continue
		}
		request := feedback.NewRequest(title, description)
		if p.titles && i == 0 {
			request.Description = ""
		}
		if request.Status, request.Hidden = k.status, k.hidden; k.box != "" {
			request.Box = k.box
		}
		submitted, err := p.Submit(ctx, store.Submission{App: p.apps[i], Request: request})
		if err != nil {
			p.T.Fatal(err)
		}
		if ids[i] = submitted.ID; k.root != nil {
			if _, err := p.MergeRequest(ctx, p.apps[i].AccountID, ids[i], k.root[i], feedback.Command()); err != nil {
				p.T.Fatal(err)
			}
		}
	}
	return &ids
}

// text returns a text of at most so many words.
func (p *planted) text(most int) string {
	words := strings.Fields("dark night nihgt mode report reports export csv calendar week siemens simens prices")
	var some []string
	for range 1 + p.random.IntN(most) {
		some = append(some, words[p.random.IntN(len(words))])
	}
	return strings.Join(some, " ")
}

// similar returns what people outside find in an app.
func (p *planted) similar(app int, text string) (found []string) {
	p.T.Helper()
	similar, err := p.Index.Similar(ctx, p.apps[app].AccountID, index.Likeness{
		AppID: p.apps[app].ID, Text: text, Shared: []feedback.Status{"planned", "completed"}, Titles: p.titles, Limit: 10,
	})
	if err != nil {
		p.T.Fatal(err)
	}
	for _, s := range similar {
		found = append(found, fmt.Sprint(s.Title, s.Status, s.Score))
	}
	return found
}

// TestFrequentWords: of a word that very many requests have, the newest requests are compared.
// A list that may miss others says so. The words of a submitter count, too.
func TestFrequentWords(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		app := r.NewApp(r.NewAccount("Acme"))
		requests := make([]feedback.Request, 8000) // in two blocks
		for i := range requests {
			if requests[i] = feedback.NewRequest("A frequent word", ""); i < 10 {
				requests[i].Status = "planned"
			}
		}
		r.InsertRequests(app, requests)
		r.Analyze()
		r.IndexAll()
		similar, err := r.Index.Similar(ctx, app.AccountID, index.Likeness{AppID: app.ID, Text: "frequent", Limit: 3})
		if err != nil {
			t.Fatal(err)
		}
		ids := r.IDs(app)
		slices.SortFunc(ids, func(a, b feedback.ID) int { return b.Compare(a) })
		for i, s := range similar {
			if s.ID != ids[i] {
				t.Errorf("similar request %d is %s, want %s", i, s.ID, ids[i])
			}
		}
		f, page := index.Filter{Box: feedback.Live, Query: "frequent"}, index.Page{Sort: index.Relevance, Limit: 20}
		f.Statuses = []feedback.Status{"planned"}
		rows, total, err := r.Index.Ranked(ctx, app.AccountID, f, page)
		if err != nil || len(similar) != 3 || total.Exact && len(rows) != 10 {
			t.Errorf("%d similar requests; %d of 10 planned ones, exact: %v; %v", len(similar), len(rows), total.Exact, err)
		}
		name := "Grace Hopper"
		by := feedback.NewRequest("Something else", "")
		by.Submitter.Name = &name
		if _, err := r.Submit(ctx, store.Submission{App: app, Request: by}); err != nil {
			t.Fatal(err)
		}
		f = index.Filter{Box: feedback.Live, Query: "grace hopper"}
		for _, when := range []string{"in the log's tail", "in the index"} {
			rows, total, err = r.Index.Ranked(ctx, app.AccountID, f, page)
			if err != nil || len(rows) != 1 || rows[0].Title != by.Title || !total.Exact {
				t.Errorf("%s, the words of a submitter find %d requests, exact: %v; %v", when, len(rows), total.Exact, err)
			}
			r.IndexAll()
		}
	})
}

// TestSimilarWaits: a search waits while others have all places, and leaves when its caller
// does.
func TestSimilarWaits(t *testing.T) {
	r := storetest.NewRig(t, storetest.SQLite(t))
	account := r.NewAccount("Acme")
	app, other := r.NewApp(account), r.NewApp(account)
	search := func(ctx context.Context) error {
		_, err := r.Index.Similar(ctx, account.ID, index.Likeness{AppID: app.ID, Text: "dark", Limit: 1})
		return err
	}
	release := r.Index.HoldSearches(other.ID)
	gone := errors.New("gone")
	leaving, leave := context.WithCancelCause(ctx)
	left, stayed := make(chan error, 1), make(chan error, 1)
	go func() { left <- search(leaving) }()
	go func() { stayed <- search(ctx) }()
	leave(gone)
	if err := <-left; !errors.Is(err, gone) {
		t.Errorf("a caller that is gone gets %v", err)
	}
	if len(stayed) > 0 {
		t.Error("a search did not wait for a place")
	}
	release()
	if err := <-stayed; err != nil {
		t.Error(err)
	}
	// Each search gives its place back.
	for range 2 * runtime.GOMAXPROCS(0) {
		if err := search(ctx); err != nil {
			t.Fatal(err)
		}
	}
}

// TestCountsWait: what counts or searches many requests waits for its turn, without its place to read, and gives the
// turn back. A plain list does not wait.
func TestCountsWait(t *testing.T) {
	r := storetest.NewRig(t, storetest.SQLite(t))
	account, other := r.NewAccount("Acme"), r.NewAccount("Other")
	live, words := index.Filter{Box: feedback.Live}, index.Filter{Box: feedback.Live, Query: "dark"}
	page := index.Page{Sort: index.Newest, Limit: 10}
	for name, call := range map[string]func(context.Context) error{
		"facets": func(ctx context.Context) error { _, err := r.Index.Facets(ctx, account.ID, live); return err },
		"tags":   func(ctx context.Context) error { _, _, err := r.Index.Tags(ctx, account.ID); return err },
		"stats":  func(ctx context.Context) error { _, err := r.Index.Stats(ctx, account.ID, nil, 0, 1); return err },
		"a list by words": func(ctx context.Context) error {
			_, _, err := r.Index.List(ctx, account.ID, words, page)
			return err
		},
		"a ranked list": func(ctx context.Context) error { _, _, err := r.Index.Ranked(ctx, account.ID, words, page); return err },
	} {
		pool := fair.New[string](1, 1)
		on, leave, err := fair.Claims{pool.For("caller")}.Enter(ctx)
		if err != nil {
			t.Fatal(err)
		}
		release := r.Index.HoldCounts(other.ID)
		if _, _, err := r.Index.List(ctx, account.ID, live, page); err != nil {
			t.Error(err)
		}
		ended := make(chan error)
		go func() { ended <- call(on) }()
		for r.Index.Counting() == 0 {
			runtime.Gosched()
		}
		patient, cancel := context.WithTimeout(ctx, storetest.Patience) // it may not have given its place back yet
		if err := pool.Acquire(patient, "other", 1); err != nil {
			t.Fatalf("%s waits with its place to read: %v", name, err)
		}
		cancel()
		pool.Release("other", 1)
		release()
		if err := <-ended; err != nil {
			t.Errorf("%s: %v", name, err)
		}
		leave()
		for range 2 * runtime.GOMAXPROCS(0) { // each gives its turn back
			if err := call(ctx); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}
