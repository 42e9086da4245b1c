package index

import (
	"context"
	"math"
	"strings"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
	"gatherkit/internal/search"
)

// A query matches the requests that have all of its words; the last one may be a prefix.
// When the rarest word has few postings, it drives the query: its posting list is read, and
// each request is checked for the other words. Otherwise the list is read in its own order,
// and each request is checked for all words.

// maxDriven is how many postings the rarest word may have and still drive a query.
var maxDriven int64 = 20_000

// match is what the index knows about the words of a query.
type match struct {
	words  []string // the last one is a prefix
	rarest int      // the word with the fewest postings
	n      int64    // how many postings it has; 0 when nothing matches
	drives bool     // whether its posting list drives the query
}

// lookup reads from the index how often some apps have the words of a query.
func lookup(ctx context.Context, q database.Queryer, accountID feedback.ID, query string, apps []feedback.ID) (match, error) {
	m := match{words: search.Query(query)}
	for i := range m.words {
		p := database.Parameters{accountID}
		var n, words int64
		err := q.QueryRowContext(ctx, "SELECT CAST(COALESCE(SUM(n), 0) AS BIGINT), COUNT(*) FROM"+
			" (SELECT n FROM word_counts WHERE account_id = $1 AND app_id IN ("+database.List(&p, padded(apps))+")"+m.is(i, &p)+
			" LIMIT CAST("+p.Add(maxDriven+1)+" AS BIGINT)) AS part", p...).Scan(&n, &words)
		if err != nil {
			return m, err
		}
		if words > maxDriven { // the prefix has too many words to add up their counts
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

// is is the condition that the column word is the i-th word of the query.
func (m *match) is(i int, p *database.Parameters) string {
	if i < len(m.words)-1 {
		return " AND word = " + p.Add(m.words[i])
	}
	// Every word with this prefix sorts before the prefix and the last character of Unicode.
	return " AND word >= " + p.Add(m.words[i]) + " AND word < " + p.Add(m.words[i]+"\U0010ffff")
}

// candidates selects the ids of the requests that have the rarest word.
func (m *match) candidates(p *database.Parameters, apps []feedback.ID) string {
	return "(SELECT DISTINCT id AS request_id FROM request_words" +
		" WHERE account_id = $1 AND app_id IN (" + database.List(p, padded(apps)) + ")" + m.is(m.rarest, p) + ") AS found"
}

// all is the condition that a request has every word. It compares a count, because
// PostgreSQL might turn EXISTS into a join that reads the words of all requests.
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
		// Words have letters and digits only, so LIKE has nothing to escape.
		b.WriteString(" AND ' ' || i.words || ' ' LIKE " + p.Add("% "+word+end))
	}
	b.WriteString(")")
	return b.String()
}
