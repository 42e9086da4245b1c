package store

import (
	"context"
	"time"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
)

// A request is answered when a user of the account first gives it a status, a merge
// included, or says something about it in public. It stays so whatever comes later.

// answers reports whether a change of a request is an answer.
func answers(by feedback.Actor, old, r feedback.Request) bool {
	return by.Kind == feedback.ByUser && r.Status != old.Status && r.Status != feedback.Opened
}

// answered sets how long the answer took, unless there was one before. The parameter is
// answerAt.
func answered(parameter string) string {
	parameter = "CAST(" + parameter + " AS BIGINT)" // which a comparison with 0 would make a small one
	return "answered_after = CASE WHEN " + parameter + " > 0 THEN COALESCE(answered_after, " + parameter + " - created_at) ELSE answered_after END"
}

// answerAt is when the answer was given, 0 for none.
func answerAt(answers bool, now feedback.Time) feedback.Time {
	if !answers {
		return 0
	}
	return now
}

// The times within which answers are counted.
var answerTimes = []struct {
	name   string
	within time.Duration
}{{"hour", time.Hour}, {"day", day}, {"week", 7 * day}, {"month", 30 * day}, {"longer", 0}}

// countAnswers counts by the time that the first answer took. Hidden, the app does not
// make the databases look each request up.
func (s *Store) countAnswers(ctx context.Context, r *statRange, stats *feedback.Stats) error {
	from, to := r.bounds()
	p := database.Parameters{r.accountID, string(feedback.Live), from, to}
	query, least := "SELECT ", int64(-1<<62)
	counts, into := make([]int64, len(answerTimes)), make([]any, len(answerTimes))
	for i, t := range answerTimes {
		query += "COUNT(CASE WHEN r.answered_after >= " + p.Add(least)
		if t.within > 0 {
			least = t.within.Microseconds()
			query += " AND r.answered_after < " + p.Add(least)
		}
		query += " THEN 1 END), "
		into[i] = &counts[i]
	}
	query = query[:len(query)-2] + " FROM requests r WHERE r.account_id = $1 AND r.box = $2 AND r.id >= $3 AND r.id < $4 AND r.answered_after IS NOT NULL"
	if r.appID != nil {
		query += " AND COALESCE(r.app_id, r.app_id) = " + p.Add(*r.appID)
	} else {
		query += r.apps(&p)
	}
	if err := s.db.Reader().QueryRowContext(ctx, query, p...).Scan(into...); err != nil {
		return err
	}
	rest := stats.Total
	for i, t := range answerTimes {
		n := min(counts[i], rest) // what has come since the total was counted is left out
		stats.ByAnswer = append(stats.ByAnswer, feedback.AnswerCount{Within: t.name, Requests: n})
		rest -= n
	}
	stats.ByAnswer = append(stats.ByAnswer, feedback.AnswerCount{Within: "not_yet", Requests: rest})
	return nil
}
