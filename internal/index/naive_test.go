package index_test

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
	"gatherkit/internal/index"
	"gatherkit/internal/row"
	"gatherkit/internal/search"
	"gatherkit/internal/store/storetest"
)

// naive answers what Index must answer, from all rows of an account. It has in common with
// Index what a word is and how a request is stored, and nothing else.
type naive struct {
	*storetest.Rig
	accountID feedback.ID
	apps      map[feedback.ID]bool // those that are not deleted
	rows      []naiveRow           // the requests in these apps
}

type naiveRow struct {
	feedback.Request
	words, person []string
	people        []string // the keys of the submitter, "" if anonymous, and of those who voted
	answeredAfter *int64   // microseconds
}

// answeredColumn is a row with one more column after those of a request.
type answeredColumn struct {
	database.Row
	into **int64
}

func (c answeredColumn) Scan(into ...any) error { return c.Row.Scan(append(into, c.into)...) }

func text(of *string) string {
	if of == nil {
		return ""
	}
	return *of
}

// readNaive reads the rows of an account past the store.
func readNaive(r *storetest.Rig, accountID feedback.ID) naive {
	r.T.Helper()
	n := naive{Rig: r, accountID: accountID, apps: map[feedback.ID]bool{}}
	apps, err := database.All(ctx, r.Raw, database.One[feedback.ID],
		"SELECT id FROM apps WHERE account_id = $1 AND deleted_at IS NULL", accountID)
	if err != nil {
		r.T.Fatal(err)
	}
	for _, id := range apps {
		n.apps[id] = true
	}
	rows, err := database.All(ctx, r.Raw, func(from database.Row) (one naiveRow, err error) {
		one.Request, err = row.Scan(answeredColumn{from, &one.answeredAfter})
		one.words = search.Words(one.Title, one.Description)
		one.person = search.Person(text(one.Submitter.Name), text(one.Submitter.Email))
		return one, err
	}, "SELECT "+row.Columns+", answered_after FROM requests WHERE account_id = $1 ORDER BY id", accountID)
	if err != nil {
		r.T.Fatal(err)
	}
	voted := map[feedback.ID][]string{}
	if err := database.Each(ctx, r.Raw, func(from database.Row) error {
		var id feedback.ID
		var person string
		err := from.Scan(&id, &person)
		voted[id] = append(voted[id], person)
		return err
	}, "SELECT request_id, person FROM votes WHERE account_id = $1", accountID); err != nil {
		r.T.Fatal(err)
	}
	for i := range rows {
		submitter, _ := rows[i].Person()
		rows[i].people = slices.Concat(voted[rows[i].ID], []string{submitter.Key()})
	}
	n.rows = slices.DeleteFunc(rows, func(one naiveRow) bool { return !n.apps[one.AppID] })
	return n
}

// has reports whether the account has the app of a filter.
func (n naive) has(appID *feedback.ID) bool { return appID == nil || n.apps[*appID] }

func (n naive) matching(f index.Filter) []naiveRow {
	return slices.DeleteFunc(slices.Clone(n.rows), func(r naiveRow) bool { return !r.matches(f) })
}

// place is the position of a request in a list.
func place(r feedback.Request) *index.Place {
	return &index.Place{ID: r.ID, Votes: r.Votes, Heat: r.Heat, UpdatedAt: r.UpdatedAt}
}

// comparePlaces returns the order of a list.
func comparePlaces(sort index.Sort) func(a, b *index.Place) int {
	newest := func(a, b *index.Place) int { return b.ID.Compare(a.ID) }
	return map[index.Sort]func(a, b *index.Place) int{
		index.Newest: newest,
		index.Oldest: func(a, b *index.Place) int { return newest(b, a) },
		index.MostVoted: func(a, b *index.Place) int {
			return cmp.Or(cmp.Compare(b.Votes, a.Votes), newest(a, b))
		},
		index.Trending: func(a, b *index.Place) int {
			return cmp.Or(cmp.Compare(b.Heat, a.Heat), newest(a, b))
		},
		index.RecentlyUpdated: func(a, b *index.Place) int {
			return cmp.Or(cmp.Compare(b.UpdatedAt, a.UpdatedAt), newest(a, b))
		},
	}[sort]
}

// list returns all requests of a list from the beginning of a page on, whatever its limit.
func (n naive) list(f index.Filter, page index.Page) []feedback.Request {
	compare, list := comparePlaces(page.Sort), []feedback.Request{}
	for _, r := range n.matching(f) {
		if (page.After == nil || compare(page.After, place(r.Request)) < 0) &&
			(page.Unchanged == nil || r.UpdatedAt <= *page.Unchanged) {
			list = append(list, r.Request)
		}
	}
	slices.SortFunc(list, func(a, b feedback.Request) int { return compare(place(a), place(b)) })
	return list
}

// naiveTallies are the numbers of requests by value.
type naiveTallies map[string]int64

// tally counts requests by their values.
func tally(rows []naiveRow, values func(naiveRow) []string) naiveTallies {
	counts := naiveTallies{}
	for _, r := range rows {
		for _, value := range values(r) {
			counts[value]++
		}
	}
	return counts
}

// first returns up to most values, those with the most requests first, and the chosen values,
// which are empty if nothing is chosen.
func (c naiveTallies) first(most int, chosen ...string) []string {
	always := slices.DeleteFunc(chosen, func(value string) bool { return value == "" })
	all := slices.Concat(slices.Collect(maps.Keys(c)), always)
	slices.SortFunc(all, func(a, b string) int { return cmp.Or(cmp.Compare(c[b], c[a]), cmp.Compare(a, b)) })
	all = slices.Compact(all)
	var first []string
	for i, value := range all {
		if i < most && c[value] > 0 || slices.Contains(always, value) {
			first = append(first, value)
		}
	}
	return first
}

func (c naiveTallies) of(value string) feedback.Tally {
	return feedback.Tally{Count: c[value], Exact: true}
}

func textOf(id *feedback.ID) string {
	if id == nil {
		return ""
	}
	return id.String()
}

func appOf(r naiveRow) []string    { return []string{r.AppID.String()} }
func statusOf(r naiveRow) []string { return []string{string(r.Status)} }
func sourceOf(r naiveRow) []string { return []string{r.Source} }

func assigneeOf(r naiveRow) []string {
	if r.AssigneeID == nil {
		return []string{feedback.Nobody}
	}
	return []string{r.AssigneeID.String()}
}

func tagsOf(r naiveRow) (tags []string) {
	for _, tag := range r.Tags {
		tags = append(tags, feedback.Fold(tag))
	}
	return tags
}

// label returns the first spelling of a tag among requests, or the tag if none of them has it.
func label(rows []naiveRow, tag string) string {
	var labels []string
	for _, r := range rows {
		for _, label := range r.Tags {
			if feedback.Fold(label) == tag {
				labels = append(labels, label)
			}
		}
	}
	if len(labels) == 0 {
		return tag
	}
	return slices.Min(labels)
}

// facets counts each part of a filter without the condition on that part.
func (n naive) facets(f index.Filter) feedback.Facets {
	found := feedback.Facets{Apps: []feedback.AppFacet{}, Sources: []feedback.SourceFacet{}, Tags: []feedback.TagFacet{}}
	g := f
	g.AppID = nil
	counts := tally(n.matching(g), appOf)
	for _, value := range counts.first(math.MaxInt, textOf(f.AppID)) {
		id, err := feedback.ParseID(value)
		if err != nil {
			n.T.Fatal(err)
		}
		found.Apps = append(found.Apps, feedback.AppFacet{AppID: id, Tally: counts.of(value)})
	}

	g = f
	g.Statuses = nil
	counts = tally(n.matching(g), statusOf)
	for _, status := range feedback.Statuses() {
		found.Statuses = append(found.Statuses, feedback.StatusFacet{Status: status, Tally: counts.of(string(status))})
	}

	for _, box := range []feedback.Box{feedback.Live, feedback.Quarantine, feedback.Bin} {
		g = f
		g.Box = box
		count := feedback.Tally{Count: int64(len(n.matching(g))), Exact: true}
		found.Boxes = append(found.Boxes, feedback.BoxFacet{Box: box, Tally: count})
	}

	g = f
	g.AssigneeID, g.Unassigned = nil, false
	counts = tally(n.matching(g), assigneeOf)
	for _, value := range counts.first(200, feedback.Nobody, textOf(f.AssigneeID)) {
		found.Assignees = append(found.Assignees, feedback.AssigneeFacet{AssigneeID: value, Tally: counts.of(value)})
	}

	g = f
	g.Source = ""
	counts = tally(n.matching(g), sourceOf)
	for _, value := range counts.first(math.MaxInt, f.Source) {
		found.Sources = append(found.Sources, feedback.SourceFacet{Source: value, Tally: counts.of(value)})
	}

	g = f
	g.Tag = ""
	rows := n.matching(g)
	counts = tally(rows, tagsOf)
	for _, tag := range counts.first(30, f.Tag) {
		found.Tags = append(found.Tags, feedback.TagFacet{Tag: label(rows, tag), Tally: counts.of(tag)})
	}
	return found
}

// stats counts the live requests of an app, or of all, that were created in a range of times.
func (n naive) stats(appID *feedback.ID, from, to feedback.Time) feedback.Stats {
	rows := n.matching(index.Filter{AppID: appID, Box: feedback.Live, CreatedAfter: &from, CreatedBefore: &to})
	stats := feedback.Stats{
		From: from, To: to, Total: int64(len(rows)), Exact: true, ByApp: []feedback.AppCount{}, ByTag: []feedback.Tag{},
	}
	counts := tally(rows, statusOf)
	for _, status := range feedback.Statuses() {
		stats.ByStatus = append(stats.ByStatus, feedback.StatusCount{Status: status, Requests: counts[string(status)]})
	}
	counts = tally(rows, func(r naiveRow) []string { return []string{r.CreatedAt.Std().Format(time.DateOnly)} })
	for at := from.Std().Truncate(day); at.Before(to.Std()); at = at.Add(day) {
		date := at.Format(time.DateOnly)
		stats.ByDay = append(stats.ByDay, feedback.DayCount{Day: date, Requests: counts[date]})
	}
	counts = tally(rows, appOf)
	for _, value := range counts.first(math.MaxInt) {
		id, err := feedback.ParseID(value)
		if err != nil {
			n.T.Fatal(err)
		}
		stats.ByApp = append(stats.ByApp, feedback.AppCount{AppID: id, Requests: counts[value]})
	}
	counts = tally(rows, answerOf)
	for _, within := range []string{"hour", "day", "week", "month", "longer", "not_yet"} {
		stats.ByAnswer = append(stats.ByAnswer, feedback.AnswerCount{Within: within, Requests: counts[within]})
	}
	counts = tally(rows, tagsOf)
	for _, tag := range counts.first(100) {
		stats.ByTag = append(stats.ByTag, feedback.Tag{Tag: label(rows, tag), Requests: counts[tag]})
	}
	return stats
}

// answerOf is the class of the time to the first answer.
func answerOf(r naiveRow) []string {
	if r.answeredAfter == nil {
		return []string{"not_yet"}
	}
	switch took := time.Duration(*r.answeredAfter) * time.Microsecond; {
	case took < time.Hour:
		return []string{"hour"}
	case took < day:
		return []string{"day"}
	case took < 7*day:
		return []string{"week"}
	case took < 30*day:
		return []string{"month"}
	}
	return []string{"longer"}
}
