package index

import (
	"context"
	"database/sql"
	"math"
	"time"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
)

const (
	day      = 24 * time.Hour
	statTags = 100 // how many tags statistics have
)

// Stats counts the live requests, of one app or of all, that were created in the time from
// (inclusive) to (exclusive). It refuses with ErrAppNotFound.
func (x *Index) Stats(
	ctx context.Context, accountID feedback.ID, appID *feedback.ID, from, to feedback.Time,
) (stats feedback.Stats, err error) {
	if err := x.counting.Acquire(ctx, accountID, 1); err != nil {
		return stats, err
	}
	defer x.counting.Release(accountID, 1)
	err = x.db.Read(ctx, func(tx *sql.Tx) error {
		apps, err := appsOf(ctx, tx, accountID, Filter{AppID: appID, Box: feedback.Live})
		if err != nil {
			return err
		}
		f, err := find(ctx, tx, accountID, apps, Filter{Box: feedback.Live, CreatedAfter: &from, CreatedBefore: &to})
		if err != nil {
			return err
		}
		stats, err = x.statsOf(ctx, tx, f, from, to)
		return err
	})
	return stats, err
}

// statsOf counts what was found.
func (x *Index) statsOf(ctx context.Context, q database.Queryer, f *found, from, to feedback.Time) (feedback.Stats, error) {
	total := f.total()
	stats := feedback.Stats{From: from, To: to, Total: total.N, Exact: total.Exact}
	n := tallies{byApp: {}, byStatus: {}, byAnswer: {}, byTag: {}}
	if err := f.eachValue(ctx, q, x.memory, f.blocks, func(at int, l list) {
		if part, value := valueOf(l.term); n[part] != nil {
			n[part][value] += int64(l.among(&f.blocks[at].set))
		}
	}); err != nil {
		return stats, err
	}
	days := map[int64]int64{}
	if err := f.eachDay(ctx, q, x.memory, f.blocks, func(at int, runs []run) {
		h := &f.blocks[at]
		n[byApp][h.appID.String()] += int64(h.count())
		for i, r := range runs {
			until := h.n
			if i+1 < len(runs) {
				until = runs[i+1].from
			}
			days[r.day] += int64(h.countIn(r.from, until))
		}
	}); err != nil {
		return stats, err
	}
	for _, d := range f.tail {
		n.add(d, Filter{}, nil) // it matches
		days[dayOf(d.id)]++
	}
	n.fill(&stats)
	for at := from.Std().Truncate(day); at.Before(to.Std()); at = at.Add(day) {
		stats.ByDay = append(stats.ByDay, feedback.DayCount{Day: at.Format(time.DateOnly), Requests: days[dayNumber(at)]})
	}
	return stats, nil
}

// dayOf returns the day, in UTC, on which a request was created.
func dayOf(id feedback.ID) int64 { return dayNumber(id.Time().Std()) }

// dayNumber returns how many days after that of the Unix epoch a time is, in UTC.
func dayNumber(t time.Time) int64 { return t.Unix() / int64(day/time.Second) }

// fill sets all counts but the total and those by day.
func (n tallies) fill(stats *feedback.Stats) {
	for _, status := range feedback.Statuses() {
		stats.ByStatus = append(stats.ByStatus, feedback.StatusCount{Status: status, Requests: n[byStatus][string(status)]})
	}
	stats.ByApp = []feedback.AppCount{}
	for _, value := range n.most(byApp, math.MaxInt) {
		if id, err := feedback.ParseID(value); err == nil {
			stats.ByApp = append(stats.ByApp, feedback.AppCount{AppID: id, Requests: n[byApp][value]})
		}
	}
	notYet := stats.Total
	for _, t := range answerTimes {
		answered := n[byAnswer][t.name]
		stats.ByAnswer = append(stats.ByAnswer, feedback.AnswerCount{Within: t.name, Requests: answered})
		notYet -= answered
	}
	stats.ByAnswer = append(stats.ByAnswer, feedback.AnswerCount{Within: "not_yet", Requests: notYet})
	stats.ByTag = mostUsed(labels(n[byTag]), statTags)
}
