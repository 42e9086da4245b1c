package index

import (
	"cmp"
	"context"
	"database/sql"
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
	// leastPostings is how many postings of each word are read at least, the newest first,
	// and maxPostings is how many are read for all words together.
	leastPostings = 200
	maxPostings   = 6400
	// maxCandidates is how many titles are compared at most, candidateChunk at a time.
	maxCandidates  = 512
	candidateChunk = 128
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
	Except *feedback.ID      // a request that is left out, with those merged into it
	Shared []feedback.Status // only requests with these statuses, and not hidden ones; nil means any
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
	found := map[feedback.ID]feedback.Similar{}
	left := maxTitled
	for chunk := range slices.Chunk(candidates, candidateChunk) {
		if left, err = compare(ctx, tx, accountID, l, q, weights, chunk, left, found); err != nil {
			return nil, err
		}
		if l.Shared == nil || len(found) >= candidateChunk/2 || left <= 0 {
			break
		}
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
	return similar[:min(len(similar), l.Limit)], nil
}

// compare reads the titles of candidates and adds their scores to found. It stops after
// left bytes of titles, and returns how many bytes are left.
func compare(
	ctx context.Context, tx database.Queryer, accountID feedback.ID, l Likeness, q search.Question, weights []float64,
	candidates []candidate, left int, found map[feedback.ID]feedback.Similar,
) (int, error) {
	ids := make([]feedback.ID, 0, len(candidates))
	for _, c := range candidates {
		ids = append(ids, c.id)
	}
	read, err := titles(ctx, tx, accountID, l.AppID, ids)
	if err != nil {
		return 0, err
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
		return 0, err
	}
	for _, c := range candidates {
		r, live := read[c.id]
		if !live {
			continue
		}
		if left <= 0 {
			break
		}
		left -= len(r.Title)
		score := q.Score(r.Title, weights, c.found)
		if r.mergedInto != nil {
			root := *r.mergedInto
			if r, live = read[root]; !live {
				r, live = roots[root]
			}
			if !live {
				continue
			}
		}
		if l.Except != nil && r.ID == *l.Except || l.Shared != nil && (r.hidden || !slices.Contains(l.Shared, r.Status)) {
			continue
		}
		r.Score = max(score, found[r.ID].Score)
		found[r.ID] = r.Similar
	}
	return left, nil
}

// titled is a request, and the one it was merged into.
type titled struct {
	feedback.Similar
	appID      feedback.ID
	box        feedback.Box
	hidden     bool
	mergedInto *feedback.ID
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
		err = r.Scan(&t.ID, &t.appID, (*string)(&t.box), &t.hidden, &t.Title, (*string)(&t.Status), &t.Votes, &t.mergedInto)
		return t, err
	}, "SELECT id, app_id, box, hidden, title, status, votes, merged_into_id FROM requests"+
		" WHERE account_id = $1 AND id IN ("+database.List(&p, database.Padded(ids))+")", p...)
	for _, r := range rows {
		if r.appID == appID && r.box == feedback.Live {
			byID[r.ID] = r
		}
	}
	return byID, err
}
