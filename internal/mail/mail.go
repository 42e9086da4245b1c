// Package mail tells people by e-mail what becomes of what they asked for, and sends the team its digests,
// invitations and recovery links. It follows the log of changes: it compares what somebody was told with
// what is so now, so a change that was undone sends nothing. Mails wait in a table until the mail server has
// taken them, so each is sent at least once, and always with the same bytes.
package mail

import (
	"crypto/sha256"
	"log/slog"
	"time"

	"gatherkit/internal/aside"
	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
	"gatherkit/internal/quota"
	"gatherkit/internal/readers"
	"gatherkit/internal/usage"
)

// KeyName is the name of the secret that signs the links in mails. These never expire, so it never changes.
const KeyName = "mail links"

// addressBytes is the length of the hash of an e-mail address.
const addressBytes = 16

// State is what somebody has decided about e-mail of an app.
type State string

// The states of people. Mail goes only to those who have confirmed; asked, they get mails to confirm.
const (
	Asked     State = "asked"
	Confirmed State = "confirmed"
	Stopped   State = "stopped"
	Bounced   State = "bounced" // the mail server or the team says that the address takes no mail
)

// Pace is how often somebody gets mail.
type Pace string

// Soon is some minutes after a change, and Daily at most once in 24 hours.
const (
	Soon  Pace = "soon"
	Daily Pace = "daily"
)

// kind is what a mail is.
type kind string

const (
	confirmMail kind = "confirm"
	updateMail  kind = "update"
	digestMail  kind = "digest"
	linkMail    kind = "link" // an invitation or a recovery link
)

// Mail is the people, the mails and the digests in a database.
type Mail struct {
	db      *database.DB
	log     *slog.Logger
	now     func() time.Time
	ids     *feedback.IDs
	readers *readers.Readers
	app     readers.AppOf
	aside   *aside.List
	usage   *usage.Usage
	quotas  *quota.Quotas

	changed chan struct{} // has a value after a commit
}

// New returns the mail in a database.
func New(
	db *database.DB, log *slog.Logger, now func() time.Time, ids *feedback.IDs, people *readers.Readers, app readers.AppOf,
	list *aside.List, used *usage.Usage, quotas *quota.Quotas,
) *Mail {
	m := &Mail{
		db: db, log: log, now: now, ids: ids, readers: people, app: app, aside: list, usage: used, quotas: quotas,
		changed: make(chan struct{}, 1),
	}
	db.OnCommit(m.nudge)
	return m
}

// nudge makes the sender of this process look for mails.
func (m *Mail) nudge() {
	select {
	case m.changed <- struct{}{}:
	default: // it will see this change, too
	}
}

// addressOf returns the hash by which an e-mail address is known.
func addressOf(email string) []byte {
	sum := sha256.Sum256([]byte(feedback.FoldEmail(email)))
	return sum[:addressBytes]
}

// ServerState says how the mail server does.
type ServerState string

// The states of the mail server: it cannot be reached, or refuses the login or the sender.
const (
	OK      ServerState = "ok"
	Away    ServerState = "away"
	Refused ServerState = "refused"
)
