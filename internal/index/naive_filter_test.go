package index_test

import (
	"slices"
	"strings"
	"unicode/utf8"

	"pgregory.net/rapid"

	"gatherkit/internal/feedback"
	"gatherkit/internal/index"
	"gatherkit/internal/search"
)

// matches reports whether a request matches a filter.
func (r naiveRow) matches(f index.Filter) bool {
	return r.Box == f.Box &&
		(f.AppID == nil || r.AppID == *f.AppID) &&
		(len(f.Statuses) == 0 || slices.Contains(f.Statuses, r.Status)) &&
		(f.Tag == "" || slices.ContainsFunc(r.Tags, func(tag string) bool { return feedback.Fold(tag) == f.Tag })) &&
		(f.AssigneeID == nil || r.AssigneeID != nil && *r.AssigneeID == *f.AssigneeID) &&
		(!f.Unassigned || r.AssigneeID == nil) &&
		(f.Person == "" || slices.Contains(r.people, f.Person)) &&
		(f.Hidden == nil || r.Hidden == *f.Hidden) &&
		(f.Source == "" || r.Source == f.Source) &&
		(f.CreatedAfter == nil || r.CreatedAt >= *f.CreatedAfter) &&
		(f.CreatedBefore == nil || r.CreatedAt < *f.CreatedBefore) &&
		(f.Query == "" || r.Box == feedback.Live && r.found(f.Query, f.Public))
}

// found reports whether a request or its submitter has all words of a query, the last one
// as the beginning of one; of a submitter's word, three letters are needed, and none counts if public is true.
func (r naiveRow) found(query string, public bool) bool {
	words := search.Query(query)
	for i, word := range words {
		has := func(least int) func(string) bool {
			return func(other string) bool {
				return other == word || i == len(words)-1 && utf8.RuneCountInString(word) >= least && strings.HasPrefix(other, word)
			}
		}
		if !slices.ContainsFunc(r.words, has(0)) && (public || !slices.ContainsFunc(r.person, has(3))) {
			return false
		}
	}
	return len(words) > 0
}

// filter draws a filter with any of its fields, usually one that a certain request matches.
func (w *world) filter(t *rapid.T, of *tenant, n naive) index.Filter {
	var like *naiveRow
	if len(n.rows) > 0 && rapid.IntRange(0, 4).Draw(t, "any") > 0 {
		like = &n.rows[rapid.IntRange(0, len(n.rows)-1).Draw(t, "like")]
	}
	f := index.Filter{Box: rapid.SampledFrom([]feedback.Box{feedback.Live, feedback.Live, feedback.Quarantine, feedback.Bin}).Draw(t, "box")}
	if like != nil {
		f.Box = like.Box
	}
	few := rapid.SampledFrom([]int{0, 1, 1, 1, 2, 2, 3, 5, 8}).Draw(t, "fields")
	for range few {
		w.condition(t, of, n, like, &f)
	}
	if f.Query != "" && rapid.IntRange(0, 9).Draw(t, "outside of live ones") > 0 {
		f.Box = feedback.Live
	}
	return f
}

// condition draws a condition of a filter.
func (w *world) condition(t *rapid.T, of *tenant, n naive, like *naiveRow, f *index.Filter) {
	switch rapid.IntRange(0, 10).Draw(t, "field") {
	case 0:
		f.AppID = w.appID(t, of, like)
	case 1:
		f.Statuses = rapid.SliceOfNDistinct(rapid.SampledFrom(feedback.Statuses()), 1, 3, rapid.ID[feedback.Status]).Draw(t, "statuses")
		if like != nil && !slices.Contains(f.Statuses, like.Status) {
			f.Statuses[0] = like.Status
		}
	case 2:
		f.Tag = feedback.Fold(rapid.SampledFrom(append(naiveTags, "new", "unused")).Draw(t, "tag"))
		if like != nil && len(like.Tags) > 0 {
			f.Tag = feedback.Fold(like.Tags[0])
		}
	case 3:
		f.Unassigned, f.AssigneeID = false, w.user(t, of)
		if like != nil {
			f.AssigneeID = like.AssigneeID
		}
		f.Unassigned = f.AssigneeID == nil
	case 4:
		f.Source = rapid.SampledFrom(naiveSources).Draw(t, "source")
		if like != nil {
			f.Source = like.Source
		}
	case 5:
		f.CreatedAfter = new(w.moment(t, n))
		if like != nil && rapid.Bool().Draw(t, "then") {
			f.CreatedAfter = &like.CreatedAt
		}
	case 6:
		f.CreatedBefore = new(w.moment(t, n))
		if like != nil && rapid.Bool().Draw(t, "until then") {
			f.CreatedBefore = new(like.CreatedAt + 1000)
		}
	case 7:
		f.Person = "e:" + rapid.SampledFrom(naivePeople).Draw(t, "person")
		if like != nil {
			f.Person = rapid.SampledFrom(like.people).Draw(t, "one of its people")
		}
	case 8:
		f.Hidden = new(rapid.Bool().Draw(t, "hidden"))
		if like != nil {
			f.Hidden = &like.Hidden
		}
	default: // twice as often as the others
		f.Query, f.Public = query(t, like), rapid.Bool().Draw(t, "public")
	}
}

// query draws up to three words, the last of which may be the beginning of one.
func query(t *rapid.T, like *naiveRow) string {
	from := append(slices.Clone(naiveWords), "nothing", "word", "%", "_", "…")
	if like != nil && len(like.words) > 0 {
		from = like.words
	}
	some := rapid.SliceOfN(rapid.SampledFrom(from), 1, 3).Draw(t, "query")
	last := []rune(some[len(some)-1])
	if rapid.Bool().Draw(t, "a prefix") {
		some[len(some)-1] = string(last[:rapid.IntRange(1, len(last)).Draw(t, "letters")])
	}
	return strings.Join(some, " ")
}
