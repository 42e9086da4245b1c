package mail

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"gatherkit/internal/aside"
	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
	"gatherkit/internal/portal"
	"gatherkit/internal/sweep"
)

// Every is how often a user gets a digest.
type Every string

// How often a user gets a digest. The digest of a week comes on Monday.
const (
	Never    Every = "never"
	EachDay  Every = "daily"
	EachWeek Every = "weekly"
)

const (
	digestHour    = 7 // UTC
	digestsAtOnce = 20
	digestRows    = 10
	// digestLog is how many of the latest entries of the log of changes a digest looks at.
	digestLog = 50_000
)

// nextDigest returns when the next digest is due after a time.
func nextDigest(now time.Time, every Every) time.Time {
	now = now.UTC()
	at := time.Date(now.Year(), now.Month(), now.Day(), digestHour, 0, 0, 0, time.UTC)
	for !at.After(now) || every == EachWeek && at.Weekday() != time.Monday {
		at = at.AddDate(0, 0, 1)
	}
	return at
}

// Digest returns how often a user gets a digest.
func (m *Mail) Digest(ctx context.Context, accountID, userID feedback.ID) (every Every, err error) {
	err = m.db.Reader().QueryRowContext(ctx, "SELECT every FROM mail_digests WHERE account_id = $1 AND user_id = $2", accountID, userID).
		Scan((*string)(&every))
	if errors.Is(err, sql.ErrNoRows) {
		return Never, nil
	}
	return every, err
}

// SetDigest sets how often a user gets a digest. The first is about what happens from now on.
func (m *Mail) SetDigest(ctx context.Context, accountID, userID feedback.ID, every Every) error {
	return m.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if every == Never {
			return RemoveUser(ctx, tx, accountID, userID)
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO mail_digests (account_id, user_id, every, due_at, position)
			SELECT $1, $2, $3, $4, COALESCE(MAX(last), 0) FROM account_seq WHERE account_id = $1
			ON CONFLICT (account_id, user_id) DO UPDATE SET every = excluded.every, due_at = excluded.due_at`,
			accountID, userID, string(every), feedback.At(nextDigest(m.now(), every)))
		return err
	})
}

// RemoveUser ends the digests of a user.
func RemoveUser(ctx context.Context, tx *sql.Tx, accountID, userID feedback.ID) error {
	_, err := tx.ExecContext(ctx, "DELETE FROM mail_digests WHERE account_id = $1 AND user_id = $2", accountID, userID)
	return err
}

// dueDigest is a digest that is due.
type dueDigest struct {
	accountID, userID feedback.ID
	every             Every
	position          int64
}

// digest writes some of the digests that are due, and reports whether there may be more.
func (s *Sender) digest(ctx context.Context) (more bool, err error) {
	turns, more, err := s.digests.take(ctx, s.db, s.now(), digestsAtOnce)
	failed := sweep.Errors{}
	failed.Add(err)
	for _, of := range turns {
		found, err := database.All(ctx, s.db.Reader(), func(r database.Row) (d dueDigest, err error) {
			d.accountID = of.accountID
			return d, r.Scan(&d.userID, (*string)(&d.every), &d.position)
		}, "SELECT user_id, every, position FROM mail_digests WHERE account_id = $1 AND due_at <= $2 ORDER BY due_at LIMIT CAST($3 AS BIGINT)",
			of.accountID, feedback.At(s.now()), of.most)
		failed.Add(err)
		for _, d := range found {
			failed.Add(s.digestFor(ctx, d))
		}
	}
	return more, failed.Err()
}

// digestFor writes a digest. If it cannot, it tries again later.
func (s *Sender) digestFor(ctx context.Context, d dueDigest) error {
	item := aside.Item{AccountID: d.accountID, Kind: aside.Digest, Subject: d.userID.String()}
	again, err := s.aside.Try(ctx, item, func() error { return s.writeDigest(ctx, d, item) })
	if err != nil || again == 0 {
		return err
	}
	return s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "UPDATE mail_digests SET due_at = $3 WHERE account_id = $1 AND user_id = $2 AND due_at < $3",
			d.accountID, d.userID, again)
		return err
	})
}

func (s *Sender) writeDigest(ctx context.Context, d dueDigest, item aside.Item) error {
	return s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if err := aside.Done(ctx, tx, item); err != nil {
			return err
		}
		m := portal.DigestMail{Home: s.home.String(), Weekly: d.every == EachWeek, Settings: s.home.JoinPath("account").String()}
		var email string
		err := tx.QueryRowContext(ctx, "SELECT email, name FROM users WHERE account_id = $1 AND id = $2", d.accountID, d.userID).
			Scan(&email, &m.Name)
		if errors.Is(err, sql.ErrNoRows) { // removed since
			return nil
		}
		if err != nil {
			return err
		}
		var last int64
		if err := tx.QueryRowContext(ctx, "SELECT last FROM account_seq WHERE account_id = $1", d.accountID).Scan(&last); err != nil {
			return err
		}
		entries := []any{d.accountID, max(d.position, last-digestLog), last, digestLog}
		if err := s.cameIn(ctx, tx, entries, &m); err != nil {
			return err
		}
		if err := s.moved(ctx, tx, entries, &m); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "UPDATE mail_digests SET position = $3, due_at = $4 WHERE account_id = $1 AND user_id = $2",
			d.accountID, d.userID, last, feedback.At(nextDigest(s.now(), d.every)))
		if err != nil || m.New == 0 && len(m.Moved) == 0 {
			return err
		}
		message, err := m.Render()
		if err != nil {
			return err
		}
		return s.add(ctx, tx, d.accountID, nil, letter{kind: digestMail, name: "Gatherkit", recipient: email, message: message})
	})
}

// ofEntries are the live requests r and their apps a of the entries e of the log of changes between $2 and $3
// that have the kind $5. The limit $4 keeps the databases from beginning with all requests of the account.
const ofEntries = ` FROM (SELECT seq, request_id, before FROM changes WHERE account_id = $1 AND seq > $2 AND seq <= $3 AND kind = $5
		ORDER BY seq LIMIT CAST($4 AS BIGINT)) AS e
	JOIN requests r ON r.account_id = $1 AND r.id = e.request_id JOIN apps a ON a.account_id = $1 AND a.id = r.app_id
	WHERE r.box = $6 AND a.deleted_at IS NULL`

// cameIn adds the requests that came in.
func (s *Sender) cameIn(ctx context.Context, tx *sql.Tx, entries []any, m *portal.DigestMail) error {
	args := append(slices.Clip(entries), string(feedback.RequestCreated), string(feedback.Live))
	err := tx.QueryRowContext(ctx, "SELECT COUNT(*)"+ofEntries, args...).Scan(&m.New)
	if err != nil {
		return err
	}
	m.Requests, err = database.All(ctx, tx, func(r database.Row) (q portal.DigestRequest, err error) {
		var id feedback.ID
		err = r.Scan(&id, &q.App, &q.Title, &q.Votes)
		q.Link = s.requestLink(id)
		return q, err
	}, "SELECT r.id, a.name, r.title, r.votes"+ofEntries+" ORDER BY e.seq DESC LIMIT $7", append(args, digestRows)...)
	m.MoreNew = m.New - int64(len(m.Requests))
	return err
}

func (s *Sender) requestLink(id feedback.ID) string {
	return s.home.JoinPath("/").String() + "?request=" + id.String()
}

// step is a change of a request's status.
type step struct {
	move     portal.DigestMove
	id       feedback.ID
	from, to feedback.Status
}

// moved adds the requests whose status differs from that before the entries.
func (s *Sender) moved(ctx context.Context, tx *sql.Tx, entries []any, m *portal.DigestMail) error {
	steps, err := database.All(ctx, tx, func(r database.Row) (p step, err error) {
		var before, settings []byte
		var app feedback.Settings
		var fields struct{ Status feedback.Status }
		err = r.Scan(&p.id, &p.move.App, &p.move.Title, (*string)(&p.to), &before, &settings)
		if err == nil {
			err = errors.Join(json.Unmarshal(before, &fields), json.Unmarshal(settings, &app))
		}
		p.from, p.move.Link = fields.Status, s.requestLink(p.id)
		if p.from != "" {
			p.move.From, p.move.To = app.Statuses.Name(p.from), app.Statuses.Name(p.to)
		}
		return p, err
	}, "SELECT r.id, a.name, r.title, r.status, e.before, a.settings"+ofEntries+` AND e.before LIKE '%"status":%' ORDER BY e.seq`,
		append(slices.Clip(entries), string(feedback.RequestUpdated), string(feedback.Live))...)
	if err != nil {
		return err
	}
	seen := map[feedback.ID]bool{}
	for _, p := range steps { // the first step has the status before all
		if seen[p.id] || p.from == p.to || p.from == "" {
			seen[p.id] = true
			continue
		}
		seen[p.id] = true
		if len(m.Moved) < digestRows {
			m.Moved = append(m.Moved, p.move)
		} else {
			m.MoreMoved++
		}
	}
	return nil
}
