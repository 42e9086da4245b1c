package board

import (
	"context"
	"slices"
	"strings"

	"gatherkit/internal/feedback"
	"gatherkit/internal/index"
	"gatherkit/internal/search"
)

// maxLooked is at how many ideas a search in titles looks.
const maxLooked = 100

// inTitles is List for words on a portal that does not show descriptions: no search may tell what these say. The
// index does not know which words are in titles, so this looks at the first ideas that have the words anywhere.
func (v *View) inTitles(ctx context.Context, scope index.Scope, q Query) (list Ideas, err error) {
	page := index.Page{Sort: q.Sort, Limit: maxLooked, Brief: true}
	requests, err := scope.Page(ctx, v.q, page)
	if err != nil {
		return list, err
	}
	words := search.Query(q.Words)
	requests = slices.DeleteFunc(requests, func(r feedback.Request) bool { return !titled(r.Title, words) })
	list.Total = int64(len(requests))
	page.After = q.After // an idea that is no longer among the first ones has its place still
	requests = slices.DeleteFunc(requests, func(r feedback.Request) bool { return !page.Has(r) })
	list.More = len(requests) > q.Limit
	ids := make([]feedback.ID, min(len(requests), q.Limit))
	for i := range ids {
		ids[i] = requests[i].ID
	}
	shown, err := v.requests(ctx, ids...)
	if err != nil {
		return list, err
	}
	list.Ideas, err = v.ideas(ctx, shown)
	return list, err
}

// titled reports whether a title has all words, the last one as the beginning of one.
func titled(title string, words []string) bool {
	has := search.Words(title, "")
	for i, word := range words {
		begins := func(other string) bool { return other == word || i == len(words)-1 && strings.HasPrefix(other, word) }
		if !slices.ContainsFunc(has, begins) {
			return false
		}
	}
	return len(words) > 0
}
