package main

import (
	"context"
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"gatherkit/internal/feedback"
)

// filler adds requests of about 24 words to two apps of an account, past the service. They
// are as submissions and a team would leave them: with their entries in the log of changes,
// and with statuses, assignees and tags. Apart from their times, they are the same in each run.
type filler struct {
	rig
	*speech
	account feedback.ID
	apps    [2]feedback.ID
	users   []feedback.ID
	at      time.Time   // when the next request is created
	titles  [2][]string // some of the titles in each app
}

const (
	filledDays = 90
	// filledAtOnce is the number of requests in a transaction, which limits the size of the WAL.
	filledAtOnce = 20_000
)

// filledStatuses contains each status as often as ten requests have it.
var filledStatuses = strings.Fields("opened opened opened opened under_review planned in_progress completed completed declined")

// answerTimes is how long the first answer to requests with another status took, in turn.
var answerTimes = []time.Duration{10 * time.Minute, 5 * time.Hour, 70 * time.Hour, 400 * time.Hour, 2000 * time.Hour}

func newFiller(ctx context.Context, r rig, s *speech, first, second string) (*filler, error) {
	f := &filler{rig: r, speech: s, at: time.Now().AddDate(0, 0, -filledDays)}
	var me struct{ Account struct{ ID feedback.ID } }
	if err := r.call(ctx, "auth-me", "", &me); err != nil {
		return nil, err
	}
	f.account = me.Account.ID
	for i, app := range []string{first, second} {
		if err := f.apps[i].UnmarshalText([]byte(app)); err != nil {
			return nil, err
		}
	}
	for i := range 8 {
		f.users = append(f.users, f.id(f.at))
		if _, err := r.db.ExecContext(ctx, `INSERT INTO users (account_id, id, email, name, role, password_hash, created_at)
			VALUES ($1, $2, $3, 'Grace', 'member', '', 0)`, f.account, f.users[i], fmt.Sprintf("user%d@example.com", i)); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// fillerOfOneApp adds an app, and returns a filler for it alone.
func (r rig) fillerOfOneApp(ctx context.Context) (*filler, error) {
	_, app, err := r.addApp(ctx)
	if err != nil {
		return nil, err
	}
	return newFiller(ctx, r, newSpeech(), app, app)
}

// id returns an id that could have been generated at a time.
func (f *filler) id(at time.Time) feedback.ID {
	id := feedback.FirstIDAt(at)
	binary.BigEndian.PutUint64(id[8:], f.random.Uint64())
	id[8] = id[8]&0x3f | 0x80
	return id
}

// fill adds n requests, created evenly between those that it added before and now. inFirst of
// them, evenly spread, are in the first app.
func (f *filler) fill(ctx context.Context, n, inFirst int) error {
	gap := time.Since(f.at) / time.Duration(n)
	for from := 0; from < n; from += filledAtOnce {
		var requests []filled
		for i := from; i < min(from+filledAtOnce, n); i++ {
			app, every := 1, 1+(n-inFirst)/500
			if (i+1)*inFirst/n > i*inFirst/n {
				app, every = 0, 1+inFirst/500
			}
			r := f.next(f.apps[app], f.at.Add(time.Duration(i)*gap))
			if f.random.IntN(every) == 0 {
				f.titles[app] = append(f.titles[app], r.title)
			}
			requests = append(requests, r)
		}
		if err := f.save(ctx, requests); err != nil {
			return err
		}
	}
	f.at = f.at.Add(time.Duration(n) * gap)
	return nil
}

// filled is a request of a filler.
type filled struct {
	id, app                            feedback.ID
	at                                 feedback.Time
	title, description, status, source string
	email                              *string
	assignee                           *feedback.ID
	tags                               []string
}

func (f *filler) next(app feedback.ID, at time.Time) filled {
	r := filled{
		id: f.id(at), app: app, at: feedback.At(at), title: f.say(3, 8), description: f.say(8, 30),
		status: filledStatuses[f.random.IntN(len(filledStatuses))], source: "widget", tags: f.tags(),
	}
	switch f.random.IntN(10) {
	case 0:
		r.source = "api"
	case 1:
		r.source = "dashboard"
	}
	if f.random.IntN(2) == 0 {
		r.email = new(fmt.Sprintf("person%d@example.org", f.random.IntN(100_000)))
	}
	if f.random.IntN(3) == 0 {
		r.assignee = &f.users[f.random.IntN(len(f.users))]
	}
	return r
}

// save stores requests in a transaction.
func (f *filler) save(ctx context.Context, added []filled) error {
	tx, err := f.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // it does nothing after a commit
	var last int
	if err := tx.QueryRowContext(ctx, "UPDATE account_seq SET last = last + $1 WHERE account_id = $2 RETURNING last",
		len(added), f.account).Scan(&last); err != nil {
		return err
	}
	type counter struct {
		app    feedback.ID
		status string
	}
	counts := map[counter]int{}
	var requests, changes, tagged, counted [][]any
	for i, r := range added {
		labels, err := json.Marshal(r.tags)
		if err != nil {
			return err
		}
		var answered *int64
		if r.status != "opened" {
			answered = new(answerTimes[i%len(answerTimes)].Microseconds())
		}
		requests = append(requests, []any{
			f.account, r.id, r.app, "live", r.status, r.title, r.description, r.email, false, string(labels), 1, 0, r.assignee, "{}",
			r.source, 1, r.at, r.at, answered,
		})
		changes = append(changes, []any{f.account, last - len(added) + i + 1, r.at, "request.created", "api_key", r.app, r.app, r.id})
		for _, label := range r.tags {
			tagged = append(tagged, []any{f.account, feedback.Fold(label), r.id, label})
		}
		counts[counter{r.app, r.status}]++
	}
	for c, n := range counts {
		counted = append(counted, []any{f.account, c.app, "live", c.status, n})
	}
	return f.insertAll(ctx, tx, requests, changes, tagged, counted)
}

func (f *filler) insertAll(ctx context.Context, tx *sql.Tx, requests, changes, tagged, counted [][]any) error {
	numbered := f.driver == "pgx"
	for _, table := range []struct {
		into   string
		values [][]any
	}{
		{`requests (account_id, id, app_id, box, status, title, description, submitter_email, submitter_verified, tags, votes,
			comments, assignee_id, metadata, source, version, created_at, updated_at, answered_after)`, requests},
		{"changes (account_id, seq, at, kind, actor_kind, actor_id, app_id, request_id)", changes},
		{"request_tags (account_id, tag, request_id, label)", tagged},
	} {
		if err := insert(ctx, tx, table.into, numbered, table.values); err != nil {
			return err
		}
	}
	counters := "INSERT INTO request_counts (account_id, app_id, box, status, n) VALUES " + rows(len(counted), 5, numbered) +
		" ON CONFLICT (account_id, app_id, box, status) DO UPDATE SET n = request_counts.n + excluded.n"
	if _, err := tx.ExecContext(ctx, counters, slices.Concat(counted...)...); err != nil {
		return err
	}
	return tx.Commit()
}
