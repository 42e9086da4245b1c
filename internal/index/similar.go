package index

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

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
	AppID    feedback.ID
	Text     string
	Except   *feedback.ID      // a request that is left out, with those merged into it
	Statuses []feedback.Status // empty means any
	Limit    int
}

// Similar returns the live requests of an app that are most similar to a text, the best
// first. A merged request is replaced by the one it was merged into.
func (x *Index) Similar(ctx context.Context, accountID feedback.ID, l Likeness) ([]feedback.Similar, error) {
	if err := x.searches.Acquire(ctx, l.AppID, 1); err != nil {
		return nil, err
	}
	defer x.searches.Release(l.AppID, 1)
	q := search.NewQuestion(l.Text)
	wanted, weights, err := x.wantedWords(ctx, accountID, l.AppID, q)
	if err != nil {
		return nil, err
	}
	candidates, err := x.candidates(ctx, accountID, l.AppID, wanted, weights)
	if err != nil {
		return nil, err
	}
	found := map[feedback.ID]feedback.Similar{}
	left := maxTitled
	for chunk := range slices.Chunk(candidates[:min(len(candidates), maxCandidates)], candidateChunk) {
		if left, err = x.compare(ctx, accountID, l, q, weights, chunk, left, found); err != nil {
			return nil, err
		}
		if len(l.Statuses) == 0 || len(found) >= candidateChunk/2 || left <= 0 {
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

// wantedWord is a word to look up, and how well it stands for terms of the question.
type wantedWord struct {
	word  string
	n     int64
	terms map[int]float64
}

// wantedWords returns the words of the index that a question may mean, the most useful
// first, and the weight of each term of the question.
func (x *Index) wantedWords(ctx context.Context, accountID, appID feedback.ID, q search.Question) ([]wantedWord, []float64, error) {
	vocabulary, err := x.vocabulary(ctx, accountID, appID)
	if err != nil || len(q.Terms) == 0 {
		return nil, nil, err
	}
	meant := map[string]map[int]float64{"": {}}
	mean := func(word string, term int, likeness float64) {
		if meant[word] == nil {
			meant[word] = map[int]float64{}
		}
		meant[word][term] = max(meant[word][term], likeness)
	}
	variants, err := vocabulary.Variants(ctx, q, maxVariants)
	if err != nil {
		return nil, nil, err
	}
	for i, term := range q.Terms {
		for _, variant := range variants[i] {
			mean(variant.Word, i, variant.Likeness)
		}
		mean(term, i, 1)
	}
	counts, err := x.wordCounts(ctx, accountID, appID, meant)
	if err != nil {
		return nil, nil, err
	}
	// The weight of a term is that of the word it most probably stands for; of several, the
	// most frequent.
	weights, best := make([]float64, len(q.Terms)), make([]float64, len(q.Terms))
	var wanted []wantedWord
	for word, terms := range meant {
		if counts[word] == 0 || word == "" {
			continue
		}
		wanted = append(wanted, wantedWord{word, counts[word], terms})
		for term, likeness := range terms {
			weight := search.Weight(counts[word], counts[""])
			if likeness > best[term] || likeness == best[term] && weight < weights[term] {
				best[term], weights[term] = likeness, weight
			}
		}
	}
	for i := range weights {
		if best[i] == 0 { // no request has the word or one like it
			weights[i] = search.Weight(counts[""]/100, counts[""])
		}
	}
	worth := func(w wantedWord) (worth float64) {
		for term, likeness := range w.terms {
			worth = max(worth, likeness*likeness*weights[term])
		}
		return worth
	}
	slices.SortFunc(wanted, func(a, b wantedWord) int {
		return cmp.Or(cmp.Compare(worth(b), worth(a)), strings.Compare(a.word, b.word))
	})
	return wanted[:min(len(wanted), maxWanted)], weights, nil
}

// wordCounts returns how many requests of an app have each of the words.
func (x *Index) wordCounts(ctx context.Context, accountID, appID feedback.ID, of map[string]map[int]float64) (map[string]int64, error) {
	words := make([]string, 0, len(of))
	for word := range of {
		words = append(words, word)
	}
	type count struct {
		word string
		n    int64
	}
	p := database.Parameters{accountID, appID}
	counts, err := database.All(ctx, x.db.Reader(), func(r database.Row) (c count, err error) {
		err = r.Scan(&c.word, &c.n)
		return c, err
	}, "SELECT word, n FROM word_counts WHERE account_id = $1 AND app_id = $2 AND word IN ("+database.List(&p, padded(words))+")", p...)
	byWord := make(map[string]int64, len(counts))
	for _, c := range counts {
		byWord[c.word] = c.n
	}
	return byWord, err
}

// candidate is a request that has some of the words, and how well it matches each term.
type candidate struct {
	id    feedback.ID
	found []float64
	worth float64
}

// candidates returns the requests that have some of the words, those with the highest
// weights first.
func (x *Index) candidates(ctx context.Context, accountID, appID feedback.ID, wanted []wantedWord, weights []float64) ([]candidate, error) {
	if len(wanted) == 0 {
		return nil, nil
	}
	query, args := postingsQuery(accountID, appID, wanted)
	at := map[feedback.ID]int{}
	var candidates []candidate
	_, err := database.All(ctx, x.db.Reader(), func(r database.Row) (none struct{}, err error) {
		var word int
		var id feedback.ID
		if err := r.Scan(&word, &id); err != nil {
			return none, err
		}
		i, there := at[id]
		if !there {
			i = len(candidates)
			at[id] = i
			candidates = append(candidates, candidate{id: id, found: make([]float64, len(weights))})
		}
		for term, likeness := range wanted[word].terms {
			candidates[i].found[term] = max(candidates[i].found[term], likeness)
		}
		return none, nil
	}, query, args...)
	for i := range candidates {
		for term, likeness := range candidates[i].found {
			candidates[i].worth += weights[term] * likeness
		}
	}
	slices.SortFunc(candidates, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.worth, a.worth), b.id.Compare(a.id))
	})
	return candidates, err
}

// postingsQuery selects the newest postings of each word: all of the rare words, while
// frequent words share what is left of maxPostings.
func postingsQuery(accountID, appID feedback.ID, wanted []wantedWord) (string, []any) {
	order := make([]int, len(wanted))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(wanted[a].n, wanted[b].n) })
	p := database.Parameters{accountID, appID}
	left := int64(maxPostings)
	var ranges []string
	for i, at := range padded(order) {
		w := wanted[at]
		share := max(leastPostings, left/int64(max(1, len(order)-i)))
		if i >= len(order) { // padding, which reads nothing
			share = 0
		}
		left -= min(share, w.n)
		ranges = append(ranges, "SELECT * FROM (SELECT CAST("+p.Add(at)+" AS INTEGER) AS word, id FROM request_words"+
			" WHERE account_id = $1 AND app_id = $2 AND word = "+
			p.Add(w.word)+" ORDER BY id DESC LIMIT CAST("+p.Add(share)+" AS BIGINT)) AS part")
	}
	return strings.Join(ranges, " UNION ALL "), p
}

// compare reads the titles of candidates and adds their scores to found. It stops after
// left bytes of titles, and returns how many bytes are left.
func (x *Index) compare(
	ctx context.Context, accountID feedback.ID, l Likeness, q search.Question, weights []float64,
	candidates []candidate, left int, found map[feedback.ID]feedback.Similar,
) (int, error) {
	ids := make([]feedback.ID, 0, len(candidates))
	for _, c := range candidates {
		ids = append(ids, c.id)
	}
	read, err := x.titles(ctx, accountID, l.AppID, ids)
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
	roots, err := x.titles(ctx, accountID, l.AppID, missing)
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
		if l.Except != nil && r.ID == *l.Except || len(l.Statuses) > 0 && !slices.Contains(l.Statuses, r.Status) {
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
	mergedInto *feedback.ID
}

// titles returns those of the requests that are live in the app. The statement has no
// condition for that, because PostgreSQL might walk the whole app by another index.
func (x *Index) titles(ctx context.Context, accountID, appID feedback.ID, ids []feedback.ID) (map[feedback.ID]titled, error) {
	byID := make(map[feedback.ID]titled, len(ids))
	if len(ids) == 0 {
		return byID, nil
	}
	p := database.Parameters{accountID}
	rows, err := database.All(ctx, x.db.Reader(), func(r database.Row) (t titled, err error) {
		err = r.Scan(&t.ID, &t.appID, (*string)(&t.box), &t.Title, (*string)(&t.Status), &t.Votes, &t.mergedInto)
		return t, err
	}, "SELECT id, app_id, box, title, status, votes, merged_into_id FROM requests"+
		" WHERE account_id = $1 AND id IN ("+database.List(&p, padded(ids))+")", p...)
	for _, r := range rows {
		if r.appID == appID && r.box == feedback.Live {
			byID[r.ID] = r
		}
	}
	return byID, err
}
