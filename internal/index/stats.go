package index

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"strings"
	"time"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
)

// Ids are in the order of time, so a range of times is a range in every index that ends
// with the id. Requests are counted by app, status and day without reading their rows.

const (
	day        = 24 * time.Hour
	daysAtOnce = 32 // in one statement
	statTags   = 100
)

// statRange selects the live requests of an account, or of one app, that were created in a
// range of times.
type statRange struct {
	accountID feedback.ID
	appID     *feedback.ID
	dead      []feedback.ID // deleted apps that may still have rows
	aside     bool          // whether there are other requests than live ones
	days      []statDay     // the whole range
}

// statDay is a day in UTC, or the part of it that is in the range.
type statDay struct {
	date     string
	from, to feedback.ID
	n        int64
}

func newStatRange(accountID feedback.ID, appID *feedback.ID, from, to time.Time) statRange {
	r := statRange{accountID: accountID, appID: appID}
	for from.Before(to) {
		next := from.Truncate(day).Add(day)
		if next.After(to) {
			next = to
		}
		r.days = append(r.days, statDay{date: from.Format(time.DateOnly), from: feedback.FirstIDAt(from), to: feedback.FirstIDAt(next)})
		from = next
	}
	return r
}

// bounds returns the first id of the range and the first one after it.
func (r *statRange) bounds() (from, to feedback.ID) {
	return r.days[0].from, r.days[len(r.days)-1].to
}

// Stats counts the live requests, of one app or of all, that were created in the time from
// (inclusive) to (exclusive). It refuses with ErrAppNotFound.
func (x *Index) Stats(ctx context.Context, accountID feedback.ID, appID *feedback.ID, from, to feedback.Time) (feedback.Stats, error) {
	var stats feedback.Stats
	if err := x.counting.Acquire(ctx, accountID, 1); err != nil {
		return stats, err
	}
	defer x.counting.Release(accountID, 1)
	err := x.db.Read(ctx, func(tx *sql.Tx) (err error) {
		stats, err = statsOf(ctx, tx, accountID, appID, from, to)
		return err
	})
	return stats, err
}

func statsOf(
	ctx context.Context, q database.Queryer, accountID feedback.ID, appID *feedback.ID, from, to feedback.Time,
) (feedback.Stats, error) {
	stats := feedback.Stats{From: from, To: to}
	within, err := resolveApps(ctx, q, accountID, Filter{AppID: appID, Box: feedback.Live})
	if err != nil {
		return stats, err
	}
	r := newStatRange(accountID, appID, from.Std(), to.Std())
	r.dead, r.aside = within.dead, within.rest > 0 || len(within.dead) > 0
	if err := countStatuses(ctx, q, &r, &stats); err != nil {
		return stats, err
	}
	if err := countAnswers(ctx, q, &r, &stats); err != nil {
		return stats, err
	}
	if err := countDays(ctx, q, &r); err != nil {
		return stats, err
	}
	for _, d := range r.days {
		stats.ByDay = append(stats.ByDay, feedback.DayCount{Day: d.date, Requests: d.n})
	}
	stats.ByTag, stats.TagsExact, err = countTags(ctx, q, accountID, within.live, from, to)
	return stats, err
}

// countStatuses counts by app and status. The counters know which combinations exist.
func countStatuses(ctx context.Context, q database.Queryer, r *statRange, stats *feedback.Stats) error {
	from, to := r.bounds()
	p := database.Parameters{r.accountID, string(feedback.Live), from, to}
	query := `SELECT c.app_id, c.status, (SELECT COUNT(*) FROM requests r WHERE r.account_id = $1 AND r.app_id = c.app_id AND r.box = $2
		AND r.status = c.status AND r.id >= $3 AND r.id < $4) FROM request_counts c WHERE c.account_id = $1 AND c.box = $2 AND c.n > 0`
	if r.appID != nil {
		query += " AND c.app_id = " + p.Add(*r.appID)
	}
	type count struct {
		appID  feedback.ID
		status feedback.Status
		n      int64
	}
	counts, err := database.All(ctx, q, func(from database.Row) (c count, err error) {
		err = from.Scan(&c.appID, (*string)(&c.status), &c.n)
		return c, err
	}, query, p...)
	if err != nil {
		return err
	}
	byStatus, byApp := map[feedback.Status]int64{}, map[feedback.ID]int64{}
	for _, c := range counts {
		stats.Total += c.n
		byStatus[c.status] += c.n
		byApp[c.appID] += c.n
	}
	for _, status := range feedback.Statuses() {
		stats.ByStatus = append(stats.ByStatus, feedback.StatusCount{Status: status, Requests: byStatus[status]})
	}
	stats.ByApp = []feedback.AppCount{}
	for id, n := range byApp {
		if n > 0 {
			stats.ByApp = append(stats.ByApp, feedback.AppCount{AppID: id, Requests: n})
		}
	}
	slices.SortFunc(stats.ByApp, func(a, b feedback.AppCount) int {
		return cmp.Or(cmp.Compare(b.Requests, a.Requests), a.AppID.Compare(b.AppID))
	})
	return nil
}

// countDays counts by day, by ranges of ids: GROUP BY created_at would read every row. For all apps, it counts in the
// primary key, and takes off what is not live.
func countDays(ctx context.Context, q database.Queryer, r *statRange) error {
	for days := range slices.Chunk(r.days, daysAtOnce) {
		p := database.Parameters{r.accountID}
		var add, takeOff []string // conditions
		if r.appID != nil {
			add = liveOf(&p, *r.appID)
		} else {
			add, takeOff = []string{""}, liveOf(&p, r.dead...)
			for _, box := range feedback.Boxes() {
				if r.aside && box != feedback.Live {
					takeOff = append(takeOff, notLive+" AND r.box = "+p.Add(string(box)))
				}
			}
		}
		counts, into, parts := make([]int64, daysAtOnce), make([]any, daysAtOnce), make([]string, daysAtOnce)
		from := p.Add(days[0].from)
		for i := range parts {
			// Days after the last one are empty, so that the text is the same for any number.
			to := p.Add(days[min(i, len(days)-1)].to)
			count := func(sign string, conditions []string) (sum string) {
				for _, where := range conditions {
					sum += sign + "(SELECT COUNT(*) FROM requests r WHERE r.account_id = $1" + where +
						" AND r.id >= " + from + " AND r.id < " + to + ")"
				}
				return sum
			}
			parts[i], into[i] = "0"+count(" + ", add)+count(" - ", takeOff), &counts[i]
			from = to
		}
		if err := q.QueryRowContext(ctx, "SELECT "+strings.Join(parts, ", "), p...).Scan(into...); err != nil {
			return err
		}
		for i := range days {
			days[i].n = counts[i]
		}
	}
	return nil
}

// liveOf returns conditions that together select the live requests of apps, each in one index.
func liveOf(p *database.Parameters, apps ...feedback.ID) []string {
	if len(apps) == 0 {
		return nil
	}
	of := " AND r.box = 'live' AND r.app_id IN (" + database.List(p, apps) + ")"
	return []string{of + " AND r.status = 'opened'", of + notOpened}
}

// countTags counts by tag, and reports whether the index knew all requests.
func countTags(
	ctx context.Context, q database.Queryer, accountID feedback.ID, apps []feedback.ID, from, to feedback.Time,
) (tags []feedback.Tag, exact bool, err error) {
	f, err := find(ctx, q, accountID, apps, Filter{Box: feedback.Live, CreatedAfter: &from, CreatedBefore: &to})
	if err != nil {
		return nil, false, err
	}
	n := tallies{byTag: {}}
	err = f.each(ctx, q, f.blocks, isOneOf([]string{tagsTerm}), func(at int, _ string, packed []byte) error {
		return n.addTags(&f.blocks[at].set, packed)
	})
	for _, d := range f.tail {
		for _, term := range d.terms {
			if value, is := strings.CutPrefix(term, string(byTag)); is {
				n[byTag][value]++
			}
		}
	}
	return mostUsed(labels(n[byTag]), statTags), f.tailRead, err
}

// answerTimes are the classes of the time to the first answer.
var answerTimes = []struct {
	name   string
	within time.Duration
}{{"hour", time.Hour}, {"day", day}, {"week", 7 * day}, {"month", 30 * day}, {"longer", 0}}

// countAnswers counts by the time to the first answer. COALESCE around the app keeps the
// databases from looking up each request of the app.
func countAnswers(ctx context.Context, q database.Queryer, r *statRange, stats *feedback.Stats) error {
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
	query = query[:len(query)-2] + " FROM requests r WHERE r.account_id = $1 AND r.box = $2" +
		" AND r.id >= $3 AND r.id < $4 AND r.answered_after IS NOT NULL"
	if r.appID != nil {
		query += " AND COALESCE(r.app_id, r.app_id) = " + p.Add(*r.appID)
	} else if len(r.dead) > 0 {
		query += " AND r.app_id NOT IN (" + database.List(&p, r.dead) + ")"
	}
	if err := q.QueryRowContext(ctx, query, p...).Scan(into...); err != nil {
		return err
	}
	rest := stats.Total
	for i, t := range answerTimes {
		n := min(counts[i], rest) // requests may have come in since the total was counted
		stats.ByAnswer = append(stats.ByAnswer, feedback.AnswerCount{Within: t.name, Requests: n})
		rest -= n
	}
	stats.ByAnswer = append(stats.ByAnswer, feedback.AnswerCount{Within: "not_yet", Requests: rest})
	return nil
}
