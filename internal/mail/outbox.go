package mail

import (
	"bytes"
	"context"
	"database/sql"
	netmail "net/mail"
	"net/url"
	"time"

	gomail "github.com/wneessen/go-mail"

	"gatherkit/internal/feedback"
	"gatherkit/internal/portal"
	"gatherkit/internal/signed"
)

// letter is a mail before it is stored.
type letter struct {
	kind      kind
	name      string // of the sender, as the recipient reads it
	recipient string
	message   portal.Message
	stop      string       // address that ends mails like this, or ""
	about     *feedback.ID // the one request that it is about, if any
}

// add stores a mail, which is sent as soon as possible. For somebody outside, p says who.
func (s *Sender) add(ctx context.Context, tx *sql.Tx, accountID feedback.ID, p *person, l letter) error {
	id := s.ids.New()
	body, err := s.body(id, l)
	if err != nil {
		return err
	}
	due := feedback.At(s.now())
	if l.kind == linkMail {
		due = 0 // before all others: somebody waits for it
	}
	var appID *feedback.ID
	var address []byte
	if p != nil {
		appID, address = &p.appID, p.address
		if err := s.countMail(ctx, tx, accountID); err != nil {
			return err
		}
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO mails (account_id, id, kind, app_id, address, recipient, body, attempts, due_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, 0, $8)`, accountID, id, string(l.kind), appID, address, l.recipient, body, due)
	return err
}

// body returns a mail as it is sent, each time with the same bytes and the same Message-ID: a server that gets
// it twice can tell.
func (s *Sender) body(id feedback.ID, l letter) ([]byte, error) {
	m := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	m.FromMailAddress(&netmail.Address{Name: l.name, Address: s.server.Load().From})
	m.ToMailAddress(&netmail.Address{Address: feedback.EmailWithDNSName(l.recipient)})
	m.Subject(l.message.Subject)
	m.SetDateWithValue(s.now().UTC())
	m.SetMessageIDWithValue(id.String() + "@" + s.home.Hostname())
	m.SetGenHeader("Auto-Submitted", "auto-generated") // RFC 3834: no automatic answers
	if l.stop != "" {
		m.SetGenHeader(gomail.HeaderListUnsubscribe, "<"+l.stop+">")
		m.SetGenHeader(gomail.HeaderListUnsubscribePost, "List-Unsubscribe=One-Click") // RFC 8058
	}
	if l.about != nil { // programs for mail show all mails about a request as one conversation (RFC 5322, section 3.6.4)
		conversation := "<" + l.about.String() + "@" + s.home.Hostname() + ">"
		m.SetGenHeader(gomail.HeaderInReplyTo, conversation)
		m.SetGenHeader(gomail.HeaderReferences, conversation)
	}
	m.SetBodyString(gomail.TypeTextPlain, l.message.Text)
	m.AddAlternativeString(gomail.TypeTextHTML, l.message.HTML)
	var body bytes.Buffer
	_, err := m.WriteTo(&body)
	return body.Bytes(), err
}

// link returns the address of a page of a mail.
func (s *Sender) link(page string, l signed.MailLink) string {
	return s.home.JoinPath("mail", page).String() + "?" + url.Values{"t": {l.Text(s.key)}}.Encode()
}

func (p person) mailLink(purpose signed.Purpose, requestID feedback.ID) signed.MailLink {
	return signed.MailLink{
		Purpose: purpose, AccountID: p.accountID, AppID: p.appID, Address: [addressBytes]byte(p.address), RequestID: requestID,
	}
}

// stopLink returns the address that ends mail about a request, or about all if the id is zero.
func (s *Sender) stopLink(p person, requestID feedback.ID) string {
	return s.link("stop", p.mailLink(signed.ForStop, requestID))
}

// addConfirmMail asks somebody whether they want mail.
func (s *Sender) addConfirmMail(ctx context.Context, tx *sql.Tx, app feedback.App, p person) error {
	stop := s.stopLink(p, feedback.ID{})
	message, err := portal.ConfirmMail{
		App: app.PublicName(), Color: app.Settings.Widget.PrimaryColor,
		Confirm: s.link("confirm", p.mailLink(signed.ForConfirm, feedback.ID{})), Stop: stop,
	}.Render(p.locale)
	if err != nil {
		return err
	}
	return s.add(ctx, tx, p.accountID, &p, letter{kind: confirmMail, name: app.PublicName(), recipient: p.email, message: message, stop: stop})
}

// addUpdateMail tells somebody news of requests. about is the request if there is only one.
func (s *Sender) addUpdateMail(
	ctx context.Context, tx *sql.Tx, app feedback.App, p person, updates []portal.Update, about *feedback.ID,
) error {
	stop := s.stopLink(p, feedback.ID{})
	message, err := portal.UpdateMail{
		App: app.PublicName(), Color: app.Settings.Widget.PrimaryColor, Requests: updates, Stop: stop,
	}.Render(p.locale)
	if err != nil {
		return err
	}
	return s.add(ctx, tx, p.accountID, &p, letter{
		kind: updateMail, name: app.PublicName(), recipient: p.email, message: message, stop: stop, about: about,
	})
}

// Invite sends a link with which somebody joins a team. by is the name of the user who invites.
func (s *Sender) Invite(ctx context.Context, accountID feedback.ID, team, by, email, token string, until feedback.Time) error {
	message, err := portal.InviteMail{Team: team, By: by, Link: s.joinLink(token), Until: until}.Render()
	return s.sendLink(ctx, accountID, email, message, err)
}

// Recover sends a link with which a user chooses a new password.
func (s *Sender) Recover(ctx context.Context, accountID feedback.ID, by, email, token string, until feedback.Time) error {
	message, err := portal.RecoveryMail{By: by, Link: s.joinLink(token), Until: until}.Render()
	return s.sendLink(ctx, accountID, email, message, err)
}

func (s *Sender) joinLink(token string) string { return s.home.JoinPath("join").String() + "#" + token }

func (s *Sender) sendLink(ctx context.Context, accountID feedback.ID, email string, message portal.Message, err error) error {
	if err != nil {
		return err
	}
	return s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		return s.add(ctx, tx, accountID, nil, letter{kind: linkMail, name: "Gatherkit", recipient: email, message: message})
	})
}

// claimTime is how long a process may take to send a mail before another sends it.
const claimTime = 10 * time.Minute

// backOff is how long a mail waits after the first refusal, the second, and so on: together a day. Then it is
// given up.
var backOff = []time.Duration{
	time.Minute, 5 * time.Minute, 15 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour, 4 * time.Hour, 4 * time.Hour, 4 * time.Hour,
	4 * time.Hour, 4 * time.Hour,
}
