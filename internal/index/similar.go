package index

import (
	"cmp"
	"context"
	"database/sql"
	"maps"
	"math"
	"slices"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
	"gatherkit/internal/search"
)

const (
	// maxVariants is how many similar words a word may also stand for, and maxWanted is how
	// many words are looked up for one question.
	maxVariants = 8
	maxWanted   = 32
	// maxCandidates is how many titles are compared at most, candidateChunk at a time.
	maxCandidates  = 512
	candidateChunk = 128
	// leastWorth is what share of the highest worth the candidates of a chunk need, so that their titles are compared with
	// a question of a user. Behind many requests with the same words, the one that is meant may be in any chunk.
	leastWorth = 0.8
	// maxTitled is how many bytes of titles are compared at most. Usual titles stay below
	// it: only crafted titles have more than 50 bytes on average.
	maxTitled = 25_600
	// leastScore is the minimum score of a result.
	leastScore = 0.25
)

// Likeness says what similar requests are searched for, and among which requests.
type Likeness struct {
	AppID  feedback.ID
	Text   string
	Except *feedback.ID // a request that is left out, with those merged into it
	// Shared are the statuses of the requests that people outside may see, unless they are hidden, or nil if everything
	// may be found. The answer does not tell what other requests say, also not those that are merged into shared ones.
	Shared []feedback.Status
	Titles bool // with Shared: descriptions are not shown, so that the answer must not tell what they say either
	Limit  int
}

// Similar returns the live requests of an app that are most similar to a text, the best
// first. A merged request is replaced by the one it was merged into.
func (x *Index) Similar(ctx context.Context, accountID feedback.ID, l Likeness) (similar []feedback.Similar, err error) {
	if err := x.searches.Acquire(ctx, l.AppID, 1); err != nil {
		return nil, err
	}
	defer x.searches.Release(l.AppID, 1)
	q := search.NewQuestion(l.Text)
	variants, err := x.variants(ctx, accountID, l.AppID, q)
	if err != nil || len(q.Terms) == 0 {
		return []feedback.Similar{}, err
	}
	err = x.db.Read(ctx, func(tx *sql.Tx) error {
		similar, err = similarTo(ctx, tx, accountID, l, q, variants)
		return err
	})
	return similar, err
}

// variants returns the words of an app that each term of a question also matches.
func (x *Index) variants(ctx context.Context, accountID, appID feedback.ID, q search.Question) ([][]search.Variant, error) {
	vocabulary, err := x.vocabulary(ctx, accountID, appID)
	if err != nil || len(q.Terms) == 0 {
		return nil, err
	}
	return vocabulary.Variants(ctx, q, maxVariants)
}

func similarTo(
	ctx context.Context, tx database.Queryer, accountID feedback.ID, l Likeness, q search.Question, variants [][]search.Variant,
) ([]feedback.Similar, error) {
	r, err := open(ctx, tx, accountID, []feedback.ID{l.AppID}, true)
	if err != nil {
		return nil, err
	}
	wanted, weights, err := r.wantedWords(ctx, tx, l.AppID, q, variants)
	if err != nil {
		return nil, err
	}
	candidates, _, err := r.candidates(ctx, tx, l.AppID, wanted, weights, nil)
	if err != nil {
		return nil, err
	}
	var compared []comparison
	shown, left, nowhere := map[feedback.ID]bool{}, maxTitled, make([]float64, len(q.Terms))
	for chunk := range slices.Chunk(candidates, candidateChunk) {
		if l.Shared == nil && chunk[0].worth < leastWorth*candidates[0].worth {
			break
		}
		if err := r.identify(ctx, tx, l.AppID, chunk); err != nil {
			return nil, err
		}
		read, err := readTitles(ctx, tx, accountID, l, chunk)
		if err != nil {
			return nil, err
		}
		for _, c := range read {
			if l.Titles {
				has := func(w wantedWord) bool { return c.title.Has(w.word) }
				if c.found = nowhere; !slices.ContainsFunc(wanted, has) {
					continue
				}
			}
			if left <= 0 {
				break
			}
			left -= c.bytes
			compared, shown[c.shown.ID] = append(compared, c), true
		}
		if l.Shared != nil && len(shown) >= candidateChunk/2 || left <= 0 {
			break
		}
	}
	if l.Shared != nil { // the other weights tell how many requests have a word that are not shared
		weights = weightsAmong(compared, len(q.Terms), wanted)
	}
	return best(q, weights, compared, l.Limit), nil
}

// best returns the requests with the highest scores.
func best(q search.Question, weights []float64, compared []comparison, limit int) []feedback.Similar {
	found := map[feedback.ID]feedback.Similar{}
	for _, c := range compared {
		r := c.shown.Similar
		r.Score = max(q.Score(c.title, weights, c.found), found[r.ID].Score)
		found[r.ID] = r
	}
	similar := make([]feedback.Similar, 0, len(found))
	for _, r := range found {
		if r.Score = math.Round(1000*r.Score) / 1000; r.Score >= leastScore {
			similar = append(similar, r)
		}
	}
	slices.SortFunc(similar, func(a, b feedback.Similar) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), b.ID.Compare(a.ID))
	})
	return similar[:min(len(similar), limit)]
}

// shows reports whether a request may be in the answer.
func (l Likeness) shows(r titled) bool { return (l.Except == nil || r.ID != *l.Except) && l.counts(r) }

// counts reports whether the words of a request count. Those of a merged one do if it would be shared without the merge:
// people outside may know its words already, and find the request that it is merged into.
func (l Likeness) counts(r titled) bool {
	return l.Shared == nil || !r.hidden && slices.Contains(l.Shared, r.status)
}

// comparison is a candidate that is compared with a question.
type comparison struct {
	title search.Title
	bytes int       // of the title
	found []float64 // as in candidate; nothing if only the title counts
	shown *titled   // the request itself or the one it was merged into
}

// has reports whether a request has a word or one that is as similar to the question.
func (c comparison) has(w wantedWord) bool {
	for term, likeness := range w.terms {
		if c.found[term] < likeness {
			return c.title.Has(w.word)
		}
	}
	return true
}

// weightsAmong returns the weights of the terms of a question among requests that have some of its words.
func weightsAmong(compared []comparison, terms int, wanted []wantedWord) []float64 {
	counts := map[string]int64{}
	for _, c := range compared {
		for _, w := range wanted {
			if c.has(w) {
				counts[w.word]++
			}
		}
	}
	return weigh(terms, wanted, counts, int64(len(compared)))
}

// readTitles reads the titles of those candidates that are live, that count and whose answer may be shown, in their
// order.
func readTitles(
	ctx context.Context, tx database.Queryer, accountID feedback.ID, l Likeness, candidates []candidate,
) (compared []comparison, err error) {
	ids := make([]feedback.ID, 0, len(candidates))
	for _, c := range candidates {
		ids = append(ids, c.id)
	}
	read, err := titles(ctx, tx, accountID, l.AppID, ids)
	if err != nil {
		return nil, err
	}
	var missing []feedback.ID
	for _, r := range read {
		if root := r.mergedInto; root != nil {
			if _, there := read[*root]; !there && !slices.Contains(missing, *root) {
				missing = append(missing, *root)
			}
		}
	}
	roots, err := titles(ctx, tx, accountID, l.AppID, missing)
	if err != nil {
		return nil, err
	}
	maps.Copy(roots, read)
	for _, c := range candidates {
		r, live := read[c.id]
		if !live || !l.counts(r) {
			continue
		}
		shown := r
		if r.mergedInto != nil {
			shown, live = roots[*r.mergedInto]
		}
		if live && l.shows(shown) {
			compared = append(compared, comparison{search.NewTitle(r.Title), len(r.Title), c.found, &shown})
		}
	}
	return compared, nil
}

// titled is a request, and the one it was merged into.
type titled struct {
	feedback.Similar
	appID      feedback.ID
	box        feedback.Box
	hidden     bool
	mergedInto *feedback.ID
	status     feedback.Status // its own, before it was merged
}

// titles returns those of the requests that are live in the app. The statement has no
// condition for that, because PostgreSQL might walk the whole app by another index.
func titles(
	ctx context.Context, tx database.Queryer, accountID, appID feedback.ID, ids []feedback.ID,
) (map[feedback.ID]titled, error) {
	byID := make(map[feedback.ID]titled, len(ids))
	if len(ids) == 0 {
		return byID, nil
	}
	p := database.Parameters{accountID}
	rows, err := database.All(ctx, tx, func(r database.Row) (t titled, err error) {
		err = r.Scan(&t.ID, &t.appID, (*string)(&t.box), &t.hidden, &t.Title, (*string)(&t.Status), &t.Votes, &t.mergedInto,
			(*string)(&t.status))
		return t, err
	}, "SELECT id, app_id, box, hidden, title, status, votes, merged_into_id, COALESCE(merged_status, status) FROM requests"+
		" WHERE account_id = $1 AND id IN ("+database.List(&p, database.Padded(ids))+")", p...)
	for _, r := range rows {
		if r.appID == appID && r.box == feedback.Live {
			byID[r.ID] = r
		}
	}
	return byID, err
}
