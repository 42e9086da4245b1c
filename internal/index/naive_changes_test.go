package index_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"gatherkit/internal/feedback"
	"gatherkit/internal/index"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
	"gatherkit/internal/team"
)

// world is two accounts of an installation. Everything in them changes at random.
type world struct {
	*storetest.Rig
	tenants  []*tenant
	follower *index.Follower
	moments  []time.Time    // the times of changes
	people   int            // how many users were added
	done     map[string]int // how often each change was made
}

type tenant struct {
	feedback.Account
	owner *feedback.ID
	users []*feedback.ID // who still are users; nil is nobody
	apps  []feedback.App // also deleted ones
}

// newWorld adds two accounts.
func newWorld(r *storetest.Rig, done map[string]int) *world {
	r.T.Helper()
	w := &world{Rig: r, follower: r.Index.Follower(), done: done, moments: []time.Time{r.Clock.Now()}}
	for _, name := range []string{"Acme", "Other"} {
		account := r.NewAccount(name + feedback.FirstIDAt(r.Clock.Now()).String())
		one := &tenant{Account: account, owner: r.UserOf(account), users: []*feedback.ID{nil}}
		w.tenants = append(w.tenants, one)
		w.addUser(one)
		w.addUser(one)
		one.apps = []feedback.App{r.NewApp(account), r.NewApp(account)}
	}
	return w
}

// forget hides the accounts from the worker, which goes through all of them.
func (w *world) forget() {
	w.Clock.Move(time.Hour)
	for _, table := range []string{"purges", "apps", "users", "account_seq", "accounts"} {
		w.Exec("DELETE FROM "+table+" WHERE account_id IN ($1, $2)", w.tenants[0].ID, w.tenants[1].ID)
	}
}

func (w *world) addUser(to *tenant) {
	w.T.Helper()
	w.people++
	email := fmt.Sprintf("%d-%s@example.com", w.people, to.ID)
	user, err := w.Team.AddUser(ctx, to.ID, team.NewUser{Email: email, Name: "U", Role: feedback.RoleMember, PasswordHash: "hash"})
	if err != nil {
		w.T.Fatal(err)
	}
	to.users = append(to.users, &user.ID)
}

// changes are the actions of rapid. An account may refuse them.
func (w *world) changes() map[string]func(*rapid.T) {
	actions := map[string]func(*rapid.T){}
	for name, change := range w.all() {
		w.done[name] += 0
		actions[name] = func(t *rapid.T) {
			w.Clock.Move(rapid.SampledFrom([]time.Duration{0, 0, time.Millisecond, time.Hour, day}).Draw(t, "later"))
			w.moments = append(w.moments, w.Clock.Now())
			var refusal *feedback.Error
			switch err := change(t, w.tenants[rapid.IntRange(0, 1).Draw(t, "account")]); {
			case err == nil:
				w.done[name]++
			case !errors.As(err, &refusal):
				t.Fatalf("%s: %v", name, err)
			}
		}
	}
	return actions
}

func (w *world) all() map[string]func(*rapid.T, *tenant) error {
	return map[string]func(*rapid.T, *tenant) error{
		"submit": w.submit, "create": w.create, "update": w.update, "move": w.move, "update many": w.updateMany,
		"change a filter's": w.changeFiltered, "merge": w.merge, "unmerge": w.unmerge, "vote": w.vote, "comment": w.comment,
		"add an app": func(_ *rapid.T, of *tenant) error {
			of.apps = append(of.apps, w.NewApp(of.Account))
			return nil
		},
		"delete an app": func(t *rapid.T, of *tenant) error {
			return w.DeleteApp(ctx, of.ID, w.app(t, of).ID, feedback.Command())
		},
		"purge": func(*rapid.T, *tenant) error {
			_, err := w.Purge(ctx)
			return err
		},
		"empty the bin": func(*rapid.T, *tenant) error {
			w.Clock.Move(31 * day)
			return w.Sweep(ctx)
		},
		"remove a user": func(t *rapid.T, of *tenant) error {
			user := of.users[1]
			of.users = slices.Delete(of.users, 1, 2)
			w.addUser(of)
			return w.RemoveUser(ctx, of.ID, feedback.ByUserID(*of.owner), *user)
		},
		"follow": func(t *rapid.T, _ *tenant) (err error) {
			_, err = w.follower.Step(ctx, rapid.SampledFrom([]int{1, 3, index.Chunk}).Draw(t, "chunk"), 1)
			return err
		},
	}
}

// What requests are made of.
var (
	naiveWords = []string{
		"dark", "Darker", "darkest", "mode", "model", "export", "exports", "CSV", "検索", "検索する", "Größe", "x", "100", "𠮷野家",
		"ordinary", "mode", "dark", strings.Repeat("long", 10),
	}
	naiveTags    = []string{"a", "A", "b", "ä", "Ä", "Über uns"}
	naiveSources = []string{"widget", "widget", "dashboard", "api", "import"}
	naivePeople  = []string{"one@example.com", "two@example.com", "three@example.com"}
)

func words(t *rapid.T, least int) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(naiveWords), least, 3).Draw(t, "words"), " ")
}

func description(t *rapid.T) string {
	if rapid.IntRange(0, 5).Draw(t, "long") == 0 { // only its first words are found
		return strings.Repeat("word ", rapid.IntRange(22, 24).Draw(t, "n")) + "dark mode"
	}
	return words(t, 0)
}

func tags(t *rapid.T) []string {
	return feedback.CleanTags(rapid.SliceOfN(rapid.SampledFrom(naiveTags), 0, 3).Draw(t, "tags"))
}

func status(t *rapid.T) feedback.Status {
	return rapid.SampledFrom(feedback.Settable()).Draw(t, "status")
}

func (w *world) app(t *rapid.T, of *tenant) feedback.App {
	return of.apps[rapid.IntRange(0, len(of.apps)-1).Draw(t, "app")]
}

func (w *world) user(t *rapid.T, of *tenant) *feedback.ID {
	return of.users[rapid.IntRange(0, len(of.users)-1).Draw(t, "user")]
}

// by is who makes a change: a user, whose changes are answers, or nobody in particular.
func (w *world) by(t *rapid.T, of *tenant) feedback.Actor {
	if rapid.Bool().Draw(t, "by a user") {
		return feedback.Actor{Kind: feedback.ByUser, ID: of.owner}
	}
	return feedback.Command()
}

// one is a request of the account.
func (w *world) one(t *rapid.T, of *tenant) (feedback.Request, error) {
	rows := readNaive(w.Rig, of.ID).rows
	if len(rows) == 0 {
		return feedback.Request{}, feedback.ErrRequestNotFound
	}
	return rows[rapid.IntRange(0, len(rows)-1).Draw(t, "request")].Request, nil
}

func (w *world) submit(t *rapid.T, of *tenant) error {
	app := w.app(t, of)
	for range rapid.IntRange(1, 3).Draw(t, "how many") {
		r := feedback.NewRequest(words(t, 1), description(t))
		r.Source = rapid.SampledFrom(naiveSources).Draw(t, "source")
		if rapid.IntRange(0, 3).Draw(t, "suspicious") == 0 {
			r.Box = feedback.Quarantine
		}
		r.Submitter.Email = new(rapid.SampledFrom(naivePeople).Draw(t, "submitter"))
		if _, err := w.Submit(ctx, store.Submission{App: app, Request: r}); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) create(t *rapid.T, of *tenant) error {
	app := w.app(t, of)
	for range rapid.IntRange(1, 3).Draw(t, "how many") {
		r := feedback.NewRequest(words(t, 1), description(t))
		r.AppID, r.Status, r.Tags, r.AssigneeID = app.ID, status(t), tags(t), w.user(t, of)
		r.Source = rapid.SampledFrom(naiveSources).Draw(t, "source")
		if _, err := w.AddRequest(ctx, of.ID, w.by(t, of), r); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) update(t *rapid.T, of *tenant) error {
	r, err := w.one(t, of)
	if err != nil {
		return err
	}
	fields := []func(*feedback.Request){
		func(r *feedback.Request) { r.Title = words(t, 1) },
		func(r *feedback.Request) { r.Description = description(t) },
		func(r *feedback.Request) { r.Tags = tags(t) },
		func(r *feedback.Request) { r.Status = status(t) },
		func(r *feedback.Request) { r.AssigneeID = w.user(t, of) },
		func(r *feedback.Request) { r.Hidden = !r.Hidden },
	}
	for _, field := range rapid.SliceOfN(rapid.IntRange(0, len(fields)-1), 1, 2).Draw(t, "fields") {
		fields[field](&r)
	}
	_, err = w.ChangeRequest(ctx, of.ID, r.ID, w.by(t, of), func(now *feedback.Request) error {
		now.Title, now.Description, now.Tags, now.Status = r.Title, r.Description, r.Tags, r.Status
		now.AssigneeID, now.Hidden = r.AssigneeID, r.Hidden
		return nil
	})
	return err
}

// move moves a request to the bin or into quarantine, or back.
func (w *world) move(t *rapid.T, of *tenant) error {
	r, err := w.one(t, of)
	if err != nil {
		return err
	}
	box := rapid.SampledFrom([]feedback.Box{feedback.Live, feedback.Bin, feedback.Quarantine}).Draw(t, "box")
	_, err = w.ChangeRequest(ctx, of.ID, r.ID, w.by(t, of), func(now *feedback.Request) error {
		now.Box = box
		return nil
	})
	return err
}

// manyChanges draws what a bulk change does to each request.
func (w *world) manyChanges(t *rapid.T, of *tenant) func(*feedback.Request) {
	changes := map[string]func(*feedback.Request){
		"tag":    func(r *feedback.Request) { r.Tags = feedback.CleanTags(append(slices.Clone(r.Tags), "b", "new")) },
		"untag":  func(r *feedback.Request) { r.Tags = []string{} },
		"bin":    func(r *feedback.Request) { r.Box = feedback.Bin },
		"live":   func(r *feedback.Request) { r.Box = feedback.Live },
		"hide":   func(r *feedback.Request) { r.Hidden = true },
		"status": nil, "assign": nil,
	}
	to, user := status(t), w.user(t, of)
	changes["status"] = func(r *feedback.Request) {
		if r.MergedIntoID == nil {
			r.Status = to
		}
	}
	changes["assign"] = func(r *feedback.Request) { r.AssigneeID = user }
	return changes[rapid.SampledFrom(slices.Sorted(maps.Keys(changes))).Draw(t, "change")]
}

func (w *world) updateMany(t *rapid.T, of *tenant) error {
	var ids []feedback.ID
	for range rapid.IntRange(1, 5).Draw(t, "how many") {
		r, err := w.one(t, of)
		if err != nil {
			return err
		}
		ids = append(ids, r.ID)
	}
	slices.SortFunc(ids, feedback.ID.Compare)
	change := w.manyChanges(t, of)
	_, err := w.ChangeRequests(ctx, of.ID, store.Bulk{IDs: slices.Compact(ids)}, w.by(t, of), func(r *feedback.Request) error {
		change(r)
		return nil
	})
	return err
}

// changeFiltered changes the requests that a filter matches, and holds that it was these.
func (w *world) changeFiltered(t *rapid.T, of *tenant) error {
	n := readNaive(w.Rig, of.ID)
	f := w.filter(t, of, n)
	want, got := map[feedback.ID]bool{}, map[feedback.ID]bool{}
	for _, r := range n.matching(f) {
		want[r.ID] = true
	}
	change := w.manyChanges(t, of)
	bulk := store.Bulk{Filter: f, Expected: int64(len(want))}
	_, err := w.ChangeRequests(ctx, of.ID, bulk, w.by(t, of), func(r *feedback.Request) error {
		got[r.ID] = true
		change(r)
		return nil
	})
	if errors.Is(err, feedback.ErrAppNotFound) && !n.has(f.AppID) {
		return err
	}
	if err != nil || !maps.Equal(want, got) {
		t.Fatalf("a bulk change of %s: %v were changed, want %v, %v", shown(f), got, want, err)
	}
	return nil
}

func (w *world) merge(t *rapid.T, of *tenant) error {
	r, err := w.one(t, of)
	if err != nil {
		return err
	}
	into := slices.DeleteFunc(readNaive(w.Rig, of.ID).rows, func(other naiveRow) bool {
		return other.AppID != r.AppID || other.ID == r.ID || other.Box != feedback.Live
	})
	if len(into) == 0 {
		return feedback.ErrRequestNotFound
	}
	_, err = w.MergeRequest(ctx, of.ID, r.ID, into[rapid.IntRange(0, len(into)-1).Draw(t, "into")].ID, w.by(t, of))
	return err
}

// unmerge merges first if nothing is merged, because so few changes would hardly ever do both.
func (w *world) unmerge(t *rapid.T, of *tenant) error {
	read := func() []naiveRow {
		return slices.DeleteFunc(readNaive(w.Rig, of.ID).rows, func(r naiveRow) bool { return r.MergedIntoID == nil })
	}
	merged := read()
	if len(merged) == 0 {
		if err := w.merge(t, of); err != nil {
			return err
		}
		merged = read()
	}
	_, err := w.UnmergeRequest(ctx, of.ID, merged[rapid.IntRange(0, len(merged)-1).Draw(t, "merged")].ID, w.by(t, of))
	return err
}

func (w *world) vote(t *rapid.T, of *tenant) error {
	r, err := w.one(t, of)
	if err != nil {
		return err
	}
	for _, email := range naivePeople[:rapid.IntRange(1, len(naivePeople)).Draw(t, "people")] {
		_, err := w.Vote(ctx, of.ID, w.by(t, of), store.Ballot{
			RequestID: r.ID, Person: feedback.Person{Email: &email}, Source: "dashboard", Remove: rapid.Bool().Draw(t, "remove"),
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// comment adds a comment, which is an answer if it is public.
func (w *world) comment(t *rapid.T, of *tenant) error {
	r, err := w.one(t, of)
	if err != nil {
		return err
	}
	_, err = w.AddComment(ctx, of.ID, feedback.Actor{Kind: feedback.ByUser, ID: of.owner}, feedback.Comment{
		RequestID: r.ID, Author: feedback.Author{ID: of.owner, Kind: feedback.ByTeam}, Body: "Thanks.",
		Visibility: rapid.SampledFrom([]feedback.Visibility{feedback.Public, feedback.Internal}).Draw(t, "visibility"),
	})
	return err
}
