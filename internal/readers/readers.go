// Package readers shows people without an account the state of their requests and votes. A person is a
// feedback.Reader, or has a link: to everything of a reader, or to one request that the team has linked.
//
// The submitter of a request sees its text, its status and its public comments. A voter sees what the app
// shares: the title, the status and the number of votes. People outside the account see nothing else.
package readers

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"slices"
	"time"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
)

const (
	// MaxUnread is the highest number that News returns.
	MaxUnread = 99
	// recent is how many of the latest requests and votes of a reader a call looks at. It limits what a
	// stranger's call costs, who may have submitted any number.
	recent = 200
)

// Readers are the readers in a database.
type Readers struct {
	db   *database.DB
	now  func() time.Time
	rand io.Reader
	app  AppOf
}

// AppOf returns an app of an account, or ErrAppNotFound.
type AppOf func(ctx context.Context, q database.Queryer, accountID, id feedback.ID) (feedback.App, error)

// New returns the readers in a database.
func New(db *database.DB, now func() time.Time, rand io.Reader, app AppOf) *Readers {
	return &Readers{db, now, rand, app}
}

// Person is a person: a reader of an app, or the holder of a link of the team to a request of the app.
type Person struct {
	App       feedback.App
	Reader    feedback.Reader // nil with a link to a request
	RequestID *feedback.ID    // nil for a reader

	link  feedback.Hash // hash of the token of a link to a request
	seen  feedback.Time // up to when its holder has seen the news
	brief bool          // see Overview
}

// item is something that a person sees in the list: a request that they submitted, or voted for.
type item struct {
	id, appID feedback.ID
	asked     bool
	since     feedback.Time // when they submitted or voted
	own       state
	root      state // of the request that it is merged into; its box is "" if it is not merged
	rootID    feedback.ID
}

// state is what decides what a person sees of a request.
type state struct {
	box                feedback.Box
	status             feedback.Status
	hidden             bool
	newsAt, commentsAt feedback.Time // 0 for never
}

// itemColumns are those that scanItem reads, of requests r and their roots m.
const itemColumns = `r.id, r.app_id, r.box, r.status, r.hidden, r.news_at, r.comment_news_at,
	m.id, m.box, m.status, m.hidden, m.news_at, m.comment_news_at, r.rooted_at`

const withRoot = " LEFT JOIN requests m ON m.account_id = $1 AND m.id = r.merged_into_id"

// asked and voted read the latest of what a reader asked or voted for, before an id. The votes are limited
// before their requests are read.
const (
	asked = "SELECT r.created_at, " + itemColumns + " FROM requests r" + withRoot +
		" WHERE r.account_id = $1 AND r.reader = $2 AND r.id < $3 ORDER BY r.id DESC LIMIT CAST($4 AS BIGINT)"
	voted = "SELECT v.created_at, " + itemColumns + ` FROM
		(SELECT request_id, created_at FROM votes WHERE account_id = $1 AND reader = $2 AND request_id < $3
			ORDER BY request_id DESC LIMIT CAST($4 AS BIGINT)) AS v
		JOIN requests r ON r.account_id = $1 AND r.id = v.request_id` + withRoot + " ORDER BY v.request_id DESC"
	linked = "SELECT r.created_at, " + itemColumns + " FROM requests r" + withRoot + " WHERE r.account_id = $1 AND r.id = $2"
)

func scanItem(row database.Row) (i item, err error) {
	var rootID *feedback.ID
	var box, status *string
	var hidden *bool
	var news, comments, rootNews, rootComments, rooted *feedback.Time
	err = row.Scan(&i.since, &i.id, &i.appID, (*string)(&i.own.box), (*string)(&i.own.status), &i.own.hidden, &news, &comments,
		&rootID, &box, &status, &hidden, &rootNews, &rootComments, &rooted)
	i.own.newsAt, i.own.commentsAt = orZero(news), orZero(comments)
	if rootID != nil {
		i.rootID = *rootID
		i.root = state{feedback.Box(*box), feedback.Status(*status), *hidden, orZero(rootNews), orZero(rootComments)}.after(orZero(rooted))
	}
	return i, err
}

func orZero[T any](v *T) (zero T) {
	if v == nil {
		return zero
	}
	return *v
}

// after returns s without the news that are not later than at.
func (s state) after(at feedback.Time) state {
	if s.newsAt <= at {
		s.newsAt = 0
	}
	if s.commentsAt <= at {
		s.commentsAt = 0
	}
	return s
}

func (i item) merged() bool { return i.root.box != "" }

// counts returns the request whose status and votes count: the one that i is merged into, or i.
func (i item) counts() state {
	if i.merged() {
		return i.root
	}
	return i.own
}

// visible reports whether a person sees the request at all. People do not learn that a request of theirs is
// taken for spam.
func (i item) visible(app feedback.App) bool {
	if i.appID != app.ID || i.own.box == feedback.Bin {
		return false
	}
	if i.asked {
		return !i.merged() || i.root.box != feedback.Bin
	}
	return i.public(app)
}

// public reports whether everybody sees it where the app shares requests.
func (i item) public(app feedback.App) bool {
	now := i.counts()
	return i.own.box == feedback.Live && now.box == feedback.Live && !now.hidden && slices.Contains(app.Settings.Shared(), now.status)
}

// newsAt returns the time of the last news that the person sees, or 0. What was news before they asked or
// voted is none for them.
func (i item) newsAt() feedback.Time {
	if i.own.box == feedback.Quarantine {
		return 0
	}
	at := max(i.own.newsAt, i.root.newsAt)
	if i.asked {
		at = max(at, i.own.commentsAt, i.root.commentsAt)
	}
	if at <= i.since {
		return 0
	}
	return at
}

// items returns the latest of what a person asked or voted for, before an id, newest first. If there may be
// more, it has at least recent of them. A request that they submitted and voted for is there once.
func (r *Readers) items(ctx context.Context, q database.Queryer, w Person, before feedback.ID) ([]item, error) {
	accountID := w.App.AccountID
	if w.RequestID != nil {
		if w.RequestID.Compare(before) >= 0 {
			return nil, nil
		}
		list, err := database.All(ctx, q, scanItem, linked, accountID, *w.RequestID)
		for n := range list {
			list[n].asked = true
		}
		return list, err
	}
	mine, err := database.All(ctx, q, scanItem, asked, accountID, w.Reader, before, recent)
	if err != nil {
		return nil, err
	}
	votes, err := database.All(ctx, q, scanItem, voted, accountID, w.Reader, before, recent)
	if err != nil {
		return nil, err
	}
	for n := range mine {
		mine[n].asked = true
	}
	return join(mine, votes), nil
}

// join merges two lists that are sorted by id, the latest first, without repetitions: a browser can have
// submitted a request and voted for it, also for several people. It ends where a list may be incomplete.
func join(mine, votes []item) []item {
	list := make([]item, 0, len(mine)+len(votes))
	complete := func(rest, whole []item) bool { return len(rest) > 0 || len(whole) < recent }
	m, v := mine, votes
	for len(m)+len(v) > 0 && complete(m, mine) && complete(v, votes) {
		var next item
		if len(v) == 0 || len(m) > 0 && m[0].id.Compare(v[0].id) >= 0 {
			next, m = m[0], m[1:]
		} else {
			next, v = v[0], v[1:]
		}
		if n := len(list); n > 0 && list[n-1].id == next.id {
			list[n-1].since = min(list[n-1].since, next.since)
		} else {
			list = append(list, next)
		}
	}
	return list
}

// last is the id before which all ids are.
var last = feedback.ID{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}

// News returns how many of the latest 200 requests that the person asked or voted for have news, at most
// MaxUnread.
func (r *Readers) News(ctx context.Context, w Person) (int, error) {
	list, err := r.items(ctx, r.db.Reader(), w, last)
	if err != nil || len(list) == 0 {
		return 0, err
	}
	seen, err := r.seenAt(ctx, r.db.Reader(), w)
	return unread(list, w.App, seen), err
}

func unread(list []item, app feedback.App, seen feedback.Time) (n int) {
	for _, i := range list {
		if i.visible(app) && i.newsAt() > seen {
			n++
		}
	}
	return min(n, MaxUnread)
}

func (r *Readers) seenAt(ctx context.Context, q database.Queryer, w Person) (at feedback.Time, err error) {
	if w.RequestID != nil {
		return w.seen, nil
	}
	err = q.QueryRowContext(ctx, "SELECT seen_at FROM readers WHERE account_id = $1 AND app_id = $2 AND reader = $3",
		w.App.AccountID, w.App.ID, w.Reader).Scan(&at)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return at, err
}

// See stores that a person has seen the news up to a time, which is not later than now.
func (r *Readers) See(ctx context.Context, w Person, until feedback.Time) error {
	until = min(until, feedback.At(r.now()))
	return r.db.WriteFor(ctx, w.App.AccountID, func(ctx context.Context, tx *sql.Tx) error {
		if w.RequestID != nil {
			_, err := tx.ExecContext(ctx, "UPDATE status_links SET seen_at = $3 WHERE account_id = $1 AND token_hash = $2"+
				" AND COALESCE(seen_at, 0) < $3", w.App.AccountID, w.link, until)
			return err
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO readers (account_id, app_id, reader, seen_at) VALUES ($1, $2, $3, $4)
			ON CONFLICT (account_id, app_id, reader) DO UPDATE SET seen_at = excluded.seen_at WHERE readers.seen_at < excluded.seen_at`,
			w.App.AccountID, w.App.ID, w.Reader, until)
		return err
	})
}

// PurgeApp deletes up to limit readers of a deleted app and their links, and reports whether there may be
// more. Links to requests go with these.
func PurgeApp(ctx context.Context, tx *sql.Tx, accountID, appID feedback.ID, limit int) (more bool, err error) {
	for _, table := range []struct{ name, key string }{{"readers", "reader"}, {"status_links", "token_hash"}} {
		const of = " WHERE account_id = $1 AND app_id = $2 AND reader IS NOT NULL" // see status_links_reader
		n, err := database.Changed(ctx, tx, "DELETE FROM "+table.name+of+" AND "+table.key+
			" IN (SELECT "+table.key+" FROM "+table.name+of+" LIMIT CAST($3 AS BIGINT))", accountID, appID, limit)
		if err != nil || n > 0 {
			return n > 0, err
		}
	}
	return false, nil
}
