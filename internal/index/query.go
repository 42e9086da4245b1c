package index

import (
	"context"
	"math"
	"strings"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
	"gatherkit/internal/search"
)

// A query picks the requests that have all of its words, the last of which may be the
// beginning of one, by the index of words. Either the rarest word leads to the requests
// and the others are looked up of each; or, when that would lead to too many, a list is
// read in its order and all words are looked up.

// maxDriven is how many requests the rarest word of a query may lead to.
var maxDriven int64 = 20_000

// match is what the index knows of a query's words.
type match struct {
	words  []string // the last one is a beginning
	rarest int      // the rarest
	n      int64    // how often the index has that; 0 when nothing matches
	drives bool     // whether that one leads to the requests
}

// lookup reads from the index how often some apps have the words of a query.
func lookup(ctx context.Context, q database.Queryer, accountID feedback.ID, query string, apps []feedback.ID) (match, error) {
	m := match{words: search.Query(query)}
	for i := range m.words {
		p := database.Parameters{accountID}
		var n, words int64
		err := q.QueryRowContext(ctx, "SELECT CAST(COALESCE(SUM(n), 0) AS BIGINT), COUNT(*) FROM (SELECT n FROM word_counts WHERE account_id = $1 AND app_id IN ("+
			database.List(&p, padded(apps))+")"+m.is(i, &p)+" LIMIT CAST("+p.Add(maxDriven+1)+" AS BIGINT)) AS part", p...).Scan(&n, &words)
		if err != nil {
			return m, err
		}
		if words > maxDriven { // how much more often than this nobody has counted
			n = math.MaxInt64
		}
		if i == 0 || n < m.n {
			m.rarest, m.n = i, n
		}
		if n == 0 {
			break
		}
	}
	return m, nil
}

// is says that a column word is the i-th word of the query.
func (m *match) is(i int, p *database.Parameters) string {
	if i < len(m.words)-1 {
		return " AND word = " + p.Add(m.words[i])
	}
	// No character of a word comes after the last one of Unicode.
	return " AND word >= " + p.Add(m.words[i]) + " AND word < " + p.Add(m.words[i]+"\U0010ffff")
}

// candidates selects the ids of the requests that have the rarest word.
func (m *match) candidates(p *database.Parameters, apps []feedback.ID) string {
	return "(SELECT DISTINCT id AS request_id FROM request_words" +
		" WHERE account_id = $1 AND app_id IN (" + database.List(p, padded(apps)) + ")" + m.is(m.rarest, p) + ") AS found"
}

// all is the condition that a request has every word. It is a number to PostgreSQL,
// which might read the words of all requests to join them otherwise.
func (m *match) all(p *database.Parameters) string {
	if m.drives && len(m.words) == 1 {
		return ""
	}
	var b strings.Builder
	b.WriteString(" AND 1 = (SELECT COUNT(*) FROM indexed_requests i WHERE i.account_id = $1 AND i.request_id = requests.id")
	for i, word := range m.words {
		end := " %"
		if i == len(m.words)-1 {
			end = "%"
		}
		// Words are letters and digits alone, none of which means anything to LIKE.
		b.WriteString(" AND ' ' || i.words || ' ' LIKE " + p.Add("% "+word+end))
	}
	b.WriteString(")")
	return b.String()
}

// postingsPerRequest is how many words with one beginning are read for each request when
// requests are counted: more than people write with the same first letter.
const postingsPerRequest = 8

// countWords is how many requests have the only word of a query, by the index alone. When
// requests have many words with the same beginning it counts some of them only.
func countWords(ctx context.Context, q database.Queryer, s Scope) (total Total, err error) {
	p, m := database.Parameters{s.accountID}, s.match
	most, read := max(maxDriven, postingsPerRequest*s.n), int64(0)
	err = q.QueryRowContext(ctx, "SELECT COUNT(*), CAST(COALESCE(SUM(n), 0) AS BIGINT) FROM (SELECT id, COUNT(*) AS n FROM ("+
		"SELECT id FROM request_words WHERE account_id = $1 AND app_id IN ("+database.List(&p, padded(s.live))+")"+m.is(m.rarest, &p)+
		" LIMIT CAST("+p.Add(most+1)+" AS BIGINT)) AS part GROUP BY id) AS found", p...).Scan(&total.N, &read)
	total.Exact = read <= most
	return total, err
}
