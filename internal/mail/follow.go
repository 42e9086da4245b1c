package mail

import (
	"context"
	"database/sql"
	"slices"
	"time"

	"gatherkit/internal/aside"
	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
	"gatherkit/internal/sweep"
)

const (
	// settleTime is how long after a change its mail is written, so that it can be undone, and settleMost the
	// longest that further changes delay it.
	settleTime = 10 * time.Minute
	settleMost = time.Hour
	// maxAsked is how often somebody is asked to confirm, and askEvery the shortest time between.
	maxAsked = 3
	askEvery = 24 * time.Hour

	// followChunk is how many entries of a log one transaction reads, and followAtOnce how many accounts a step.
	followChunk  = 1000
	followAtOnce = 256
	// lookBack is how many entries of a log are read when mail begins.
	lookBack = 10_000
)

// progress is how far an account's log of changes has been read.
type progress struct {
	accountID      feedback.ID
	position, last int64
}

// follow reads the logs of changes of some accounts, others each time, and reports whether there is more.
func (s *Sender) follow(ctx context.Context) (more bool, err error) {
	var failed sweep.Errors
	failed.Add(s.followAside(ctx))
	over, err := s.rest.Over(ctx, s.db.Reader(), s.now())
	if err != nil || !over {
		failed.Add(err)
		return false, failed.Err()
	}
	found, err := database.All(ctx, s.db.Reader(), func(r database.Row) (p progress, err error) {
		err = r.Scan(&p.accountID, &p.last, &p.position)
		p.position = max(p.position, 0)
		return p, err
	}, `SELECT s.account_id, s.last, COALESCE(p.position, s.last - $1) FROM account_seq s
		LEFT JOIN mail_positions p ON p.account_id = s.account_id
		WHERE s.account_id > $3 AND (p.position IS NULL OR p.position < s.last) ORDER BY s.account_id LIMIT CAST($2 AS BIGINT)`,
		lookBack, followAtOnce, s.next)
	failed.Add(err)
	for _, p := range found {
		again, err := s.followAccount(ctx, p)
		failed.Add(err)
		more = more || again
	}
	if err == nil && len(found) == 0 && s.next == (feedback.ID{}) {
		s.rest.Begin(s.now())
	}
	before := s.next
	if s.next = (feedback.ID{}); len(found) == followAtOnce {
		s.next = found[followAtOnce-1].accountID
	}
	return more || s.next != before, failed.Err()
}

// followAside follows requests that were set aside and must be tried again.
func (s *Sender) followAside(ctx context.Context) error {
	due, err := s.aside.Due(ctx, aside.Follow)
	failed := sweep.Errors{}
	failed.Add(err)
	for _, item := range due {
		id, err := feedback.ParseID(item.Subject)
		failed.Add(err)
		if err == nil {
			failed.Add(s.followOne(ctx, item, id))
		}
	}
	return failed.Err()
}

// entry is an entry of a log of changes, as far as mail needs it.
type entry struct {
	number    int64
	requestID *feedback.ID
}

// followAccount reads a part of an account's log of changes.
func (s *Sender) followAccount(ctx context.Context, p progress) (more bool, err error) {
	entries, err := database.All(ctx, s.db.Reader(), func(r database.Row) (e entry, err error) {
		return e, r.Scan(&e.number, &e.requestID)
	}, "SELECT seq, request_id FROM changes WHERE account_id = $1 AND seq > $2 AND seq <= $3 ORDER BY seq LIMIT CAST($4 AS BIGINT)",
		p.accountID, p.position, p.last, followChunk)
	if err != nil {
		return false, err
	}
	position := p.last // numbers are missing where requests were removed for good
	if len(entries) == followChunk {
		position = entries[followChunk-1].number
	}
	var ids []feedback.ID
	for _, e := range entries {
		if e.requestID != nil {
			ids = append(ids, *e.requestID)
		}
	}
	slices.SortFunc(ids, feedback.ID.Compare)
	ids = slices.Compact(ids)
	err = sweep.Recovered(func() error { return s.read(ctx, p.accountID, ids, position) })
	if err != nil && !sweep.GivesUp(ctx, s.db, err) { // one of them cannot be followed
		for _, id := range ids {
			if err := s.followOne(ctx, aside.Item{AccountID: p.accountID, Kind: aside.Follow, Subject: id.String()}, id); err != nil {
				return false, err
			}
		}
		err = s.read(ctx, p.accountID, nil, position)
	}
	return position < p.last, err
}

// read follows requests, and stores how far the log was read.
func (s *Sender) read(ctx context.Context, accountID feedback.ID, ids []feedback.ID, position int64) error {
	return s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		for _, piece := range database.Pieces(ids) {
			if err := s.notice(ctx, tx, accountID, piece); err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO mail_positions (account_id, position) VALUES ($1, $2)
			ON CONFLICT (account_id) DO UPDATE SET position = excluded.position`, accountID, position)
		return err
	})
}

// followOne follows a request. If it cannot, it tries again later.
func (s *Sender) followOne(ctx context.Context, item aside.Item, id feedback.ID) error {
	_, err := s.aside.Try(ctx, item, func() error {
		return s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
			if err := s.notice(ctx, tx, item.AccountID, []feedback.ID{id}); err != nil {
				return err
			}
			return aside.Done(ctx, tx, item)
		})
	})
	return err
}

// notice makes mail due about requests that have changed.
func (s *Sender) notice(ctx context.Context, tx *sql.Tx, accountID feedback.ID, ids []feedback.ID) error {
	if err := s.begin(ctx, tx, accountID, ids); err != nil {
		return err
	}
	return s.schedule(ctx, tx, accountID, ids)
}

// wish is a request whose submitter wants mail about it.
type wish struct {
	person
	requestID feedback.ID
	verified  bool
}

// begin makes the submitters follow those of the requests about which they want mail. Requests in quarantine
// wait until they are released.
func (s *Sender) begin(ctx context.Context, tx *sql.Tx, accountID feedback.ID, ids []feedback.ID) error {
	p := database.Parameters{accountID, string(feedback.Live)}
	found, err := database.All(ctx, tx, func(r database.Row) (w wish, err error) {
		w.accountID = accountID
		err = r.Scan(&w.requestID, &w.appID, &w.locale, &w.email, &w.verified)
		w.address = addressOf(w.email)
		return w, err
	}, `SELECT id, app_id, notify, submitter_email, submitter_verified FROM requests r
		WHERE r.account_id = $1 AND r.box = $2 AND r.id IN (`+database.List(&p, ids)+`) AND notify IS NOT NULL AND submitter_email IS NOT NULL
			AND NOT EXISTS (SELECT 1 FROM mail_follows f WHERE f.account_id = $1 AND f.request_id = r.id)
		ORDER BY id`, p...)
	if err != nil {
		return err
	}
	for _, w := range found {
		_, err := tx.ExecContext(ctx, `INSERT INTO mail_follows
			(account_id, request_id, app_id, address, told_status, told_merged, told_at) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
			accountID, w.requestID, w.appID, w.address, string(feedback.Opened), false, w.requestID.Time())
		if err == nil {
			err = s.welcome(ctx, tx, w)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// welcome stores that somebody wants mail, and asks those to confirm who are not verified. If the account has verified
// too many people today, it asks the others, too.
func (s *Sender) welcome(ctx context.Context, tx *sql.Tx, w wish) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO mail_people
		(account_id, app_id, address, email, locale, state, state_at, pace, asked, asked_at, mailed_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 0, 0, 0) ON CONFLICT (account_id, app_id, address) DO NOTHING`,
		w.key(w.email, w.locale, string(Asked), feedback.At(s.now()), string(Soon))...)
	if err != nil {
		return err
	}
	p := w.person
	if _, err := p.lock(ctx, tx); err != nil || p.state == Bounced {
		return err
	}
	state := p.state
	if state == Stopped {
		state = Asked
	}
	if w.verified && state == Asked {
		allowed, err := s.allowVerified(ctx, tx, p.accountID)
		if err != nil {
			return err
		}
		if allowed {
			state = Confirmed
		}
	}
	if state != p.state {
		if err := s.enter(ctx, tx, &p, state); err != nil {
			return err
		}
	}
	// The latest e-mail and language count; the e-mail may be spelled differently.
	p.email, p.locale = w.email, w.locale
	_, err = tx.ExecContext(ctx, "UPDATE mail_people SET email = $4, locale = $5"+ofPerson, p.key(p.email, p.locale)...)
	if err != nil || p.state != Asked {
		return err
	}
	return s.ask(ctx, tx, p)
}

// ask asks somebody to confirm, unless they were asked today or too often. Strangers can enter any address.
func (s *Sender) ask(ctx context.Context, tx *sql.Tx, p person) error {
	now := s.now()
	if p.asked >= maxAsked || now.Sub(p.askedAt.Std()) < askEvery || s.asks.allow(p, now) != nil {
		return nil
	}
	_, err := tx.ExecContext(ctx, "UPDATE mail_people SET asked = asked + 1, asked_at = $4"+ofPerson, p.key(feedback.At(now))...)
	if err != nil {
		return err
	}
	app, err := s.app(ctx, tx, p.accountID, p.appID)
	if err != nil {
		return ignoreDeleted(err)
	}
	return s.addConfirmMail(ctx, tx, app, p)
}

// follow is a request that somebody follows, and the times of its news.
type followed struct {
	requestID           feedback.ID
	toldAt, news        feedback.Time
	firstAt, dueAt      *feedback.Time
	own, comments       *feedback.Time
	rootNews, rootTalks *feedback.Time
}

// schedule sets when mails about the requests are due, and about those that are merged into them, as far as
// there is news that their submitters were not told.
func (s *Sender) schedule(ctx context.Context, tx *sql.Tx, accountID feedback.ID, ids []feedback.ID) error {
	p := database.Parameters{accountID}
	in := " IN (" + database.List(&p, ids) + ")"
	const columns = `SELECT f.request_id, f.told_at, f.first_at, f.due_at, r.news_at, r.comment_news_at, m.news_at, m.comment_news_at `
	const root = " LEFT JOIN requests m ON m.account_id = $1 AND m.id = r.merged_into_id "
	found, err := database.All(ctx, tx, func(r database.Row) (f followed, err error) {
		err = r.Scan(&f.requestID, &f.toldAt, &f.firstAt, &f.dueAt, &f.own, &f.comments, &f.rootNews, &f.rootTalks)
		for _, at := range []*feedback.Time{f.own, f.comments, f.rootNews, f.rootTalks} {
			if at != nil {
				f.news = max(f.news, *at)
			}
		}
		return f, err
	}, columns+"FROM mail_follows f JOIN requests r ON r.account_id = $1 AND r.id = f.request_id"+root+
		"WHERE f.account_id = $1 AND f.request_id"+in+" UNION "+
		columns+"FROM requests r JOIN mail_follows f ON f.account_id = $1 AND f.request_id = r.id"+root+
		"WHERE r.account_id = $1 AND r.merged_into_id"+in, p...)
	if err != nil {
		return err
	}
	for _, f := range found {
		first, due := f.times()
		if due == 0 || f.dueAt != nil && *f.dueAt == due {
			continue
		}
		_, err := tx.ExecContext(ctx, "UPDATE mail_follows SET first_at = $3, due_at = $4 WHERE account_id = $1 AND request_id = $2",
			accountID, f.requestID, first, due)
		if err != nil {
			return err
		}
	}
	return nil
}

// times returns when the first news came that the person was not told, and when a mail is due; 0 if there is
// no such news.
func (f followed) times() (first, due feedback.Time) {
	if f.news <= f.toldAt {
		return 0, 0
	}
	first = f.news
	if f.firstAt != nil {
		first = *f.firstAt
	}
	return first, min(after(f.news, settleTime), after(first, settleMost))
}

func after(t feedback.Time, d time.Duration) feedback.Time { return feedback.At(t.Std().Add(d)) }
