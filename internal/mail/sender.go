package mail

import (
	"context"
	"database/sql"
	"errors"
	"math"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/wneessen/go-mail/smtp"

	"gatherkit/internal/changelog"
	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
	"gatherkit/internal/lease"
	"gatherkit/internal/portal"
	"gatherkit/internal/sweep"
	"gatherkit/internal/usage"
)

const (
	// leaseName is of the lease of the process that writes mails. Every process sends them.
	leaseName = "mail"
	// sendsAtOnce is how many mails a round sends on one connection.
	sendsAtOnce = 20
	// lookEvery is how often a process looks for mails, unless it has changed something itself.
	lookEvery  = 2 * time.Second
	sweepEvery = time.Hour
	// awayFor and refusedFor are how long nothing is sent after the server could not be reached, and after it
	// has refused the login or the sender.
	awayFor    = time.Minute
	refusedFor = 5 * time.Minute
)

// Sender writes and sends mails. Every process has one if a mail server is set.
type Sender struct {
	*Mail
	Outcomes lease.Outcomes // of Works

	server atomic.Pointer[Server]
	again  atomic.Bool // whether the server has changed since it failed
	home   *url.URL
	key    []byte
	next   feedback.ID // the account after which follow continues
	rest   changelog.Rest

	news, digests, letters turns
	asks                   asks
}

// NewSender returns a sender. home is the address of the service for people, and key the secret KeyName.
func NewSender(m *Mail, server Server, home *url.URL, key []byte) *Sender {
	s := &Sender{
		Mail: m, home: home, key: key,
		news: turns{table: "mail_follows"}, digests: turns{table: "mail_digests"}, letters: turns{table: "mails"}, asks: newAsks(),
	}
	s.server.Store(&server)
	return s
}

// SetServer sends all further mails with another server. If the one before has failed, the other one is tried at once.
func (s *Sender) SetServer(server Server) {
	s.server.Store(&server)
	s.again.Store(true)
}

// Kinds returns the kinds of work that Outcomes counts.
func Kinds() []string {
	return []string{"mail follow", "mail compose", "mail digest", "mail sweep", "mail send"}
}

// Run writes and sends mails until ctx ends. It logs failures and retries. On a nil Sender, it does nothing.
func (s *Sender) Run(ctx context.Context) {
	if s == nil {
		return
	}
	written := make(chan struct{})
	go func() {
		defer close(written)
		lease.New(s.db, s.now, leaseName, s.ids.New()).Run(ctx, s.log, &s.Outcomes, s.steps(ctx)...)
	}()
	defer func() { <-written }()
	for ctx.Err() == nil {
		more, err := s.send(ctx)
		if ctx.Err() != nil {
			return
		}
		s.Outcomes.Add("mail send", s.now(), err)
		if err != nil {
			s.log.Warn("cannot send mail; it will be tried again", "error", err)
		}
		if more && err == nil {
			continue
		}
		select { // a look costs little, but every commit asks for one
		case <-ctx.Done():
		case <-time.After(lookEvery / 10):
		}
		select {
		case <-ctx.Done():
		case <-s.changed:
		case <-time.After(lookEvery):
		}
	}
}

func (s *Sender) steps(ctx context.Context) []lease.Step {
	return []lease.Step{
		{Work: "mail follow", Do: func() (bool, error) { return s.follow(ctx) }},
		{Work: "mail compose", Do: func() (bool, error) { return s.compose(ctx) }},
		{Work: "mail digest", Do: func() (bool, error) { return s.digest(ctx) }},
		{Work: "mail sweep", Every: sweepEvery, Do: func() (bool, error) { return false, s.Sweep(ctx) }},
	}
}

// Round does all that is due now, once, and returns when it is stored.
func (s *Sender) Round(ctx context.Context) error {
	var failed []error
	for _, step := range []func(context.Context) (bool, error){s.follow, s.compose, s.digest, s.send} {
		for {
			more, err := step(ctx)
			failed = append(failed, err)
			if !more || err != nil {
				break
			}
		}
	}
	return errors.Join(failed...)
}

// waiting is a mail that waits.
type waiting struct {
	accountID, id feedback.ID
	kind          kind
	appID         *feedback.ID
	address       []byte
	recipient     string
	body          []byte
	attempts      int
}

// send sends some of the mails that are due, and reports whether there may be more.
func (s *Sender) send(ctx context.Context) (more bool, err error) {
	now := feedback.At(s.now())
	server, err := s.Mail.server(ctx)
	if err != nil || server.state != OK && server.retryAt > now && server.retryAt <= after(now, refusedFor) && !s.again.Swap(false) {
		return false, err
	}
	found, more, err := s.toSend(ctx)
	failed := sweep.Errors{}
	failed.Add(err)
	c := connection{server: *s.server.Load(), helo: s.home.Hostname()}
	defer c.quit()
	for _, w := range found {
		if ctx.Err() != nil {
			return false, nil
		}
		works, err := s.sendOne(context.WithoutCancel(ctx), &c, &server, w) // what the server has taken is stored, also when the program stops
		failed.Add(err)
		if !works || sweep.GivesUp(ctx, s.db, err) {
			more = false
			break
		}
	}
	return more, failed.Err()
}

// toSend returns some of the mails that are due: links, for which somebody waits, and then those of accounts in turns.
func (s *Sender) toSend(ctx context.Context) (found []waiting, more bool, err error) {
	scan := func(r database.Row) (w waiting, err error) { return w, r.Scan(&w.accountID, &w.id) }
	found, err = database.All(ctx, s.db.Reader(), scan,
		"SELECT m.account_id, m.id FROM mails m"+ofActive+" WHERE m.due_at + 0 = 0 LIMIT CAST($1 AS BIGINT)", sendsAtOnce)
	if err != nil || len(found) == sendsAtOnce {
		return found, true, err
	}
	turns, more, err := s.letters.take(ctx, s.db, s.now(), sendsAtOnce)
	for _, of := range turns {
		if err != nil {
			break
		}
		var some []waiting
		some, err = database.All(ctx, s.db.Reader(), scan, "SELECT account_id, id FROM mails"+
			" WHERE account_id = $1 AND due_at > 0 AND due_at <= $2 ORDER BY due_at LIMIT CAST($3 AS BIGINT)",
			of.accountID, feedback.At(s.now()), of.most)
		found = append(found, some...)
	}
	return found, more, err
}

// connection is a connection with the mail server, once there is something to send.
type connection struct {
	server Server
	helo   string
	client *smtp.Client
}

func (c *connection) deliver(ctx context.Context, w waiting) (err error) {
	if c.client == nil {
		if c.client, err = c.server.dial(ctx, c.helo, nil); err != nil {
			return err
		}
	}
	err = c.server.deliver(c.client, w.recipient, w.body)
	if err != nil && c.client.Reset() != nil {
		_ = c.client.Close()
		c.client = nil
	}
	return err
}

func (c *connection) quit() {
	if c.client != nil {
		_ = c.client.Quit()
	}
}

// sendOne sends a mail, and reports whether the server works.
func (s *Sender) sendOne(ctx context.Context, c *connection, server *serverState, w waiting) (works bool, err error) {
	wanted, err := s.claim(ctx, &w)
	if err != nil || !wanted {
		return true, err
	}
	failed := c.deliver(ctx, w)
	result := judge(failed)
	if works = result != away && result != refused; result == delivered {
		s.usage.Count(w.accountID, usage.Use{Mails: 1})
	}
	err = errors.Join(s.settle(ctx, w, result, failed), s.note(ctx, *server, result, failed))
	if works {
		server.state = OK
	}
	return works, err
}

// claim reads a mail and keeps other processes from sending it. It returns false if another one has it, or if
// nobody wants it any more, and then deletes it.
func (s *Sender) claim(ctx context.Context, w *waiting) (wanted bool, err error) {
	now := feedback.At(s.now())
	err = s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		err := tx.QueryRowContext(ctx, "UPDATE mails SET due_at = $4, attempts = attempts + 1"+
			" WHERE account_id = $1 AND id = $2 AND due_at <= $3"+
			" AND NOT EXISTS (SELECT 1 FROM accounts WHERE account_id = $1 AND suspended_at IS NOT NULL)"+
			" RETURNING kind, app_id, address, recipient, body, attempts", w.accountID, w.id, now, after(now, claimTime)).
			Scan((*string)(&w.kind), &w.appID, &w.address, &w.recipient, &w.body, &w.attempts)
		if wanted = err == nil; errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil || w.appID == nil {
			return err
		}
		p := person{accountID: w.accountID, appID: *w.appID, address: w.address}
		if _, err := p.lock(ctx, tx); err != nil {
			return err
		}
		wants := map[kind]State{confirmMail: Asked, updateMail: Confirmed}
		if wanted = p.state == wants[w.kind]; !wanted {
			return remove(ctx, tx, *w)
		}
		var limited *feedback.Error
		if w.kind == confirmMail && w.attempts == 1 && errors.As(s.asks.allowMail(s.now()), &limited) {
			wanted = false
			_, err = tx.ExecContext(ctx, "UPDATE mails SET due_at = $3, attempts = 0 WHERE account_id = $1 AND id = $2",
				w.accountID, w.id, after(now, limited.RetryAfter))
		}
		return err
	})
	return wanted, err
}

func remove(ctx context.Context, tx *sql.Tx, w waiting) error {
	_, err := tx.ExecContext(ctx, "DELETE FROM mails WHERE account_id = $1 AND id = $2", w.accountID, w.id)
	return err
}

// settle stores the result of an attempt to send a mail.
func (s *Sender) settle(ctx context.Context, w waiting, result verdict, failed error) error {
	now := feedback.At(s.now())
	return s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		switch {
		case result == delivered:
			return remove(ctx, tx, w)
		case result == bounced && w.appID != nil: // somebody outside
			s.log.Warn("an address takes no mail", "account", w.accountID, "kind", w.kind, "mail", w.id, "error", failed)
			p := person{accountID: w.accountID, appID: *w.appID, address: w.address}
			if err := s.enter(ctx, tx, &p, Bounced); err != nil {
				return err
			}
			return remove(ctx, tx, w)
		case (result == away || result == refused) && !during(failed):
			return retry(ctx, tx, w, now, w.attempts-1, failed) // it is no fault of the mail
		case result == bounced || result == dropped || w.attempts > len(backOff):
			s.log.Warn("a mail was given up", "account", w.accountID, "kind", w.kind, "mail", w.id, "error", failed)
			return retry(ctx, tx, w, never, w.attempts, failed)
		}
		return retry(ctx, tx, w, after(now, backOff[w.attempts-1]), w.attempts, failed)
	})
}

// never is when a mail is due that was given up. It is kept for some days, so that its account can see it.
const never feedback.Time = math.MaxInt64

// maxReply is how many bytes of what the server says are stored.
const maxReply = 500

func retry(ctx context.Context, tx *sql.Tx, w waiting, at feedback.Time, attempts int, failed error) error {
	_, err := tx.ExecContext(ctx, "UPDATE mails SET due_at = $3, attempts = $4, error = $5 WHERE account_id = $1 AND id = $2",
		w.accountID, w.id, at, attempts, database.Storable(failed.Error(), maxReply))
	return err
}

// serverState is the state of the mail server.
type serverState struct {
	state          ServerState
	since, retryAt feedback.Time
	error          string
}

func (m *Mail) server(ctx context.Context) (s serverState, err error) {
	var text *string
	err = m.db.Reader().QueryRowContext(ctx, "SELECT state, since, error, retry_at FROM mail_server WHERE id = 1").
		Scan((*string)(&s.state), &s.since, &text, &s.retryAt)
	if errors.Is(err, sql.ErrNoRows) {
		return serverState{state: OK}, nil
	}
	if text != nil {
		s.error = *text
	}
	return s, err
}

// note stores the state of the mail server, if it has changed or if it still does not work.
func (s *Sender) note(ctx context.Context, before serverState, result verdict, failed error) error {
	now := feedback.At(s.now())
	next := serverState{state: OK, since: now, retryAt: now}
	switch result {
	case away:
		next.state, next.retryAt, next.error = Away, after(now, awayFor), database.Storable(failed.Error(), maxReply)
	case refused:
		next.state, next.retryAt, next.error = Refused, after(now, refusedFor), database.Storable(failed.Error(), maxReply)
	}
	if next.state == before.state {
		if next.state == OK {
			return nil
		}
		next.since = before.since
	} else {
		s.logState(ctx, next.state, failed)
	}
	return s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO mail_server (id, state, since, error, retry_at) VALUES (1, $1, $2, $3, $4)
			ON CONFLICT (id) DO UPDATE SET state = excluded.state, since = excluded.since, error = excluded.error, retry_at = excluded.retry_at`,
			string(next.state), next.since, next.error, next.retryAt)
		return err
	})
}

func (s *Sender) logState(ctx context.Context, state ServerState, failed error) {
	switch state {
	case OK:
		s.log.InfoContext(ctx, "the mail server works again")
	case Away:
		s.log.WarnContext(ctx, "the mail server cannot be reached, so mails wait", "error", failed)
	case Refused:
		s.log.WarnContext(ctx, "the mail server refuses the login or the sender, so mails wait", "error", failed)
	}
}

// Test sends a mail to an address, and calls say with each line of the conversation with the server.
func Test(ctx context.Context, server Server, helo, to string, now time.Time, id feedback.ID, say func(line string)) error {
	s := &Sender{Mail: &Mail{now: func() time.Time { return now }}, home: &url.URL{Host: helo}}
	s.server.Store(&server)
	body, err := s.body(id, letter{name: "Gatherkit", recipient: to, message: portal.Message{
		Subject: "Gatherkit can send mail",
		Text:    "This is the test that you asked for. Gatherkit can send mail.\n",
		HTML:    "<p>This is the test that you asked for. Gatherkit can send mail.</p>\n",
	}})
	if err != nil {
		return err
	}
	conn, err := server.dial(ctx, s.home.Hostname(), &transcript{say})
	if err != nil {
		return err
	}
	err = server.deliver(conn, to, body)
	_ = conn.Quit()
	return err
}
