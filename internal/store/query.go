package store

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

// maxLed is how many requests the rarest word of a query may lead to.
var maxLed int64 = 20_000

// match is what the index knows of a query's words.
type match struct {
	words  []string // the last one is a beginning
	leader int      // the rarest
	n      int64    // how often the index has that; 0 when nothing matches
	leads  bool     // whether that one leads to the requests
}

// look looks a query up for some apps.
func look(ctx context.Context, q database.Queryer, accountID feedback.ID, query string, apps []feedback.ID) (match, error) {
	m := match{words: search.Query(query)}
	for i := range m.words {
		p := database.Parameters{accountID}
		var n, words int64
		err := q.QueryRowContext(ctx, "SELECT CAST(COALESCE(SUM(n), 0) AS BIGINT), COUNT(*) FROM (SELECT n FROM word_counts WHERE account_id = $1 AND app_id IN ("+
			database.List(&p, padded(apps))+")"+m.is(i, &p)+" LIMIT CAST("+p.Add(maxLed+1)+" AS BIGINT)) AS part", p...).Scan(&n, &words)
		if err != nil {
			return m, err
		}
		if words > maxLed { // how much more often than this nobody has counted
			n = math.MaxInt64
		}
		if i == 0 || n < m.n {
			m.leader, m.n = i, n
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

// led is where the requests come from to which the rarest word leads.
func (m *match) led(p *database.Parameters, apps []feedback.ID) string {
	return "(SELECT DISTINCT id AS request_id FROM request_words" +
		" WHERE account_id = $1 AND app_id IN (" + database.List(p, padded(apps)) + ")" + m.is(m.leader, p) + ") AS found"
}

// all is the condition that a request has every word. It is a number to PostgreSQL,
// which might read the words of all requests to join them otherwise.
func (m *match) all(p *database.Parameters) string {
	if m.leads && len(m.words) == 1 {
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
func countWords(ctx context.Context, q database.Queryer, accountID feedback.ID, m *match, within reach) (total Total, err error) {
	p := database.Parameters{accountID}
	most, read := max(maxLed, postingsPerRequest*within.n), int64(0)
	err = q.QueryRowContext(ctx, "SELECT COUNT(*), CAST(COALESCE(SUM(n), 0) AS BIGINT) FROM (SELECT id, COUNT(*) AS n FROM ("+
		"SELECT id FROM request_words WHERE account_id = $1 AND app_id IN ("+database.List(&p, padded(within.live))+")"+m.is(m.leader, &p)+
		" LIMIT CAST("+p.Add(most+1)+" AS BIGINT)) AS part GROUP BY id) AS found", p...).Scan(&total.N, &read)
	total.Exact = read <= most
	return total, err
}

// reach is what of an account a filter reaches.
type reach struct {
	live, dead []feedback.ID // apps that are among the filter's, and deleted ones with rows
	n          int64         // requests in those that are live, by the counters
	match      *match        // nil without a query
}

// reachOf reads what a filter reaches. It refuses with ErrAppNotFound when the filter
// names an app that the account does not have.
func reachOf(ctx context.Context, q database.Queryer, accountID feedback.ID, f Filter) (reach, error) {
	r, err := reachBeforeQuery(ctx, q, accountID, f)
	if err != nil || f.Query == "" || r.n == 0 {
		return r, err
	}
	m, err := look(ctx, q, accountID, f.Query, r.live)
	return r.by(f, m), err
}

// reachBeforeQuery is reachOf for the filter without its query.
func reachBeforeQuery(ctx context.Context, q database.Queryer, accountID feedback.ID, f Filter) (r reach, err error) {
	apps, err := tally(ctx, q, accountID, f)
	if err != nil {
		return r, err
	}
	for _, app := range apps {
		if app.deleted {
			r.dead = append(r.dead, app.id)
		} else {
			r.live = append(r.live, app.id)
			r.n += app.n
		}
	}
	if f.AppID != nil && len(r.live) == 0 {
		return r, feedback.ErrAppNotFound
	}
	return r, nil
}

// by is what remains of a reach with what is known of the filter's query.
func (r reach) by(f Filter, m match) reach {
	m.leads = !f.narrow() && (m.n <= maxLed || len(m.words) > 1 && m.n <= r.n/8)
	if m.n == 0 {
		r.n = 0
	}
	r.match = &m
	return r
}
