package index

import (
	"cmp"
	"context"
	"database/sql"
	"math"
	"slices"
	"strings"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
	"gatherkit/internal/search"
)

// maxCompletions is how many words the last word of a query may be the beginning of.
const maxCompletions = 32

// completionLikeness is how much a word counts that the last word of a query begins, and
// personLikeness a word of the submitter's name or e-mail address.
const (
	completionLikeness = 0.9
	personLikeness     = 0.9
)

// leastRelevance is the minimum score of a result. It is less than that of similar requests,
// which nobody has searched for.
const leastRelevance = 0.15

// Ranked is a request and how well it matches a query.
type Ranked struct {
	feedback.Request
	Score int64 // in thousandths
}

// Ranked returns a page of the requests that match a query best and the filter's other
// conditions, and how many these are. The total is not exact if there are more candidates
// than are compared. It refuses with ErrAppNotFound.
func (x *Index) Ranked(ctx context.Context, accountID feedback.ID, f Filter, page Page) (rows []Ranked, total Total, err error) {
	q := search.NewQuestion(search.WithoutTopDomains(f.Query))
	apps, err := appsOf(ctx, x.db.Reader(), accountID, f)
	if err != nil || len(q.Terms) == 0 {
		return []Ranked{}, Total{Exact: true}, err
	}
	variants := map[feedback.ID][][]search.Variant{}
	for _, id := range apps {
		if variants[id], err = x.meanings(ctx, accountID, id, q); err != nil {
			return nil, total, err
		}
	}
	if err := x.counting.Acquire(ctx, accountID, 1); err != nil {
		return nil, total, err
	}
	defer x.counting.Release(accountID, 1)
	err = x.db.Read(ctx, func(tx *sql.Tx) error {
		rows, total, err = ranked(ctx, tx, accountID, apps, f, q, variants, page)
		return err
	})
	return rows, total, err
}

// meanings returns the words that each term of a query also matches: similar ones and, for
// the last term, which may still be typed, those that it begins.
func (x *Index) meanings(ctx context.Context, accountID, appID feedback.ID, q search.Question) ([][]search.Variant, error) {
	vocabulary, err := x.vocabulary(ctx, accountID, appID)
	if err != nil {
		return nil, err
	}
	variants, err := vocabulary.Variants(ctx, q, maxVariants)
	if err != nil {
		return nil, err
	}
	last := len(q.Terms) - 1
	for _, word := range vocabulary.Completions(q.Terms[last], maxCompletions) {
		variants[last] = append(variants[last], search.Variant{Word: word, Likeness: completionLikeness})
	}
	for i, term := range q.Terms {
		for _, variant := range append(slices.Clone(variants[i]), search.Variant{Word: term, Likeness: 1}) {
			variants[i] = append(variants[i], search.Variant{Word: personMark + variant.Word, Likeness: personLikeness * variant.Likeness})
		}
	}
	return variants, nil
}

func ranked(
	ctx context.Context, q database.Queryer, accountID feedback.ID, apps []feedback.ID, f Filter, question search.Question,
	variants map[feedback.ID][][]search.Variant, page Page,
) ([]Ranked, Total, error) {
	f.Query, f.Box = "", feedback.Live
	total := Total{Exact: true}
	var best []Ranked
	whole, err := open(ctx, q, accountID, apps, true)
	if err != nil {
		return nil, total, err
	}
	for _, appID := range apps {
		r := whole.of(appID)
		others, err := r.find(ctx, q, f)
		if err != nil {
			return nil, total, err
		}
		wanted, weights, err := r.wantedWords(ctx, q, appID, question, variants[appID])
		if err != nil {
			return nil, total, err
		}
		candidates, all, err := r.candidates(ctx, q, appID, wanted, weights, others)
		if err != nil {
			return nil, total, err
		}
		if err := r.identify(ctx, q, appID, candidates); err != nil {
			return nil, total, err
		}
		total.Exact = total.Exact && all && r.tailRead
		found, err := score(ctx, q, accountID, question, weights, candidates)
		if err != nil {
			return nil, total, err
		}
		best = append(best, found...)
	}
	slices.SortFunc(best, compareRanked)
	total.N = int64(len(best))
	if page.After != nil {
		after := Ranked{Request: feedback.Request{ID: page.After.ID}, Score: page.After.Score}
		best = slices.DeleteFunc(best, func(r Ranked) bool { return compareRanked(r, after) <= 0 })
	}
	best = best[:min(len(best), page.Limit)]
	ids := make([]feedback.ID, 0, len(best))
	scores := map[feedback.ID]int64{}
	for _, r := range best {
		ids, scores[r.ID] = append(ids, r.ID), r.Score
	}
	rows, err := Scope{accountID: accountID}.rows(ctx, q, ids, Page{Sort: Newest, Limit: len(ids)})
	list := make([]Ranked, 0, len(rows))
	for _, r := range rows {
		list = append(list, Ranked{r, scores[r.ID]})
	}
	slices.SortFunc(list, compareRanked)
	return list, total, err
}

func compareRanked(a, b Ranked) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), b.ID.Compare(a.ID))
}

// score compares the titles of candidates with a question, and returns those that are
// similar enough.
func score(
	ctx context.Context, q database.Queryer, accountID feedback.ID, question search.Question, weights []float64, candidates []candidate,
) (found []Ranked, err error) {
	left := maxTitled
	for chunk := range slices.Chunk(candidates, candidateChunk) {
		ids := make([]feedback.ID, 0, len(chunk))
		for _, c := range chunk {
			ids = append(ids, c.id)
		}
		p := database.Parameters{accountID}
		titles := map[feedback.ID]string{}
		if err := database.Each(ctx, q, func(r database.Row) error {
			var id feedback.ID
			var title string
			err := r.Scan(&id, &title)
			titles[id] = title
			return err
		}, "SELECT id, title FROM requests WHERE account_id = $1 AND id IN ("+database.List(&p, database.Padded(ids))+")", p...); err != nil {
			return nil, err
		}
		for _, c := range chunk {
			if left -= len(titles[c.id]); left < 0 {
				return found, nil
			}
			if s := question.Score(search.NewTitle(titles[c.id]), weights, c.found); s >= leastRelevance {
				found = append(found, Ranked{feedback.Request{ID: c.id}, int64(math.Round(1000 * s))})
			}
		}
	}
	return found, nil
}

// Meant returns a query in which words that no request has are replaced by the most similar
// words that some have, or "" if there are none.
func (x *Index) Meant(ctx context.Context, accountID feedback.ID, f Filter) (string, error) {
	q := search.NewQuestion(search.WithoutTopDomains(f.Query))
	apps, err := appsOf(ctx, x.db.Reader(), accountID, f)
	if err != nil || len(q.Terms) == 0 {
		return "", err
	}
	best := make([]search.Variant, len(q.Terms))
	for _, id := range apps {
		vocabulary, err := x.vocabulary(ctx, accountID, id)
		if err != nil {
			return "", err
		}
		variants, err := vocabulary.Variants(ctx, q, 1)
		if err != nil {
			return "", err
		}
		for i, term := range q.Terms {
			begins := i == len(q.Terms)-1 && len(vocabulary.Completions(term, 1)) > 0
			if vocabulary.Has(term) || begins {
				best[i] = search.Variant{Word: term, Likeness: 1}
			}
			for _, v := range variants[i] {
				if v.Likeness > best[i].Likeness && v.Likeness >= leastMeant {
					best[i] = v
				}
			}
		}
	}
	words, changed := make([]string, 0, len(best)), false
	for i, v := range best {
		if v.Word == "" {
			v.Word = q.Terms[i]
		}
		changed = changed || v.Word != q.Terms[i]
		if !slices.Contains(words, v.Word) { // a compound stands for two terms
			words = append(words, v.Word)
		}
	}
	if !changed {
		return "", nil
	}
	return strings.Join(words, " "), nil
}

// leastMeant is how similar a word must be to be suggested.
const leastMeant = 0.6
