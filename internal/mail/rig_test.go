package mail_test

import (
	"context"
	"crypto/sha256"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	netmail "net/mail"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"gatherkit/internal/feedback"
	"gatherkit/internal/mail"
	"gatherkit/internal/mail/mailtest"
	"gatherkit/internal/quota"
	"gatherkit/internal/signed"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
)

var (
	ctx = context.Background()
	key = []byte("0123456789abcdef0123456789abcdef")
)

// settled is after how long a change is told that no other follows.
const settled = 10 * time.Minute

// rig is a store with an account that has an app, a mail server, and a sender.
type rig struct {
	*storetest.Rig
	server  *mailtest.Server
	sender  *mail.Sender
	account feedback.Account
	app     feedback.App
	by      feedback.Actor
}

func newRig(t *testing.T, at storetest.Place, change ...func(*store.Options)) *rig {
	t.Helper()
	unlimited := quota.Changes{quota.Mails: new(int64(quota.None)), quota.Verified: new(int64(quota.None))}
	change = append(change, func(o *store.Options) {
		o.Quotas = quota.Defaults.With(unlimited)
		clock := o.Now
		o.Now = func() time.Time { return clock().In(time.FixedZone("", 9*60*60)) } // the machine's zone
	})
	r := &rig{Rig: storetest.NewRig(t, at, change...), server: mailtest.New(t)}
	r.account = r.NewAccount("Acme")
	r.app = r.NewApp(r.account)
	r.by = feedback.Actor{Kind: feedback.ByUser, ID: r.UserOf(r.account)}
	r.sender = r.newSender(r.server.URL)
	return r
}

func (r *rig) newSender(address string) *mail.Sender {
	r.T.Helper()
	return r.senderOf(r.Store, address)
}

func (r *rig) senderOf(s *store.Store, address string) *mail.Sender {
	r.T.Helper()
	server, err := mail.ParseServer(address)
	if err != nil {
		r.T.Fatal(err)
	}
	home, err := url.Parse("https://feedback.example.com/ideas")
	if err != nil {
		r.T.Fatal(err)
	}
	return mail.NewSender(s.Mail, server, home, key)
}

func (r *rig) must(err error) {
	r.T.Helper()
	if err != nil {
		r.T.Fatal(err)
	}
}

// wants submits a request about which somebody wants mail.
func (r *rig) wants(email string, verified bool, change ...func(*store.Submission)) feedback.ID {
	r.T.Helper()
	s := store.Submission{App: r.app, Request: feedback.NewRequest("Dark mode", "D"), Notify: "en"}
	s.Request.Submitter.Email = &email
	if verified {
		s.Identity = &feedback.Person{Email: &email, ExternalID: new("u-" + email), Verified: true}
	}
	for _, c := range change {
		c(&s)
	}
	request, err := r.Submit(ctx, s)
	r.must(err)
	return request.ID
}

func titled(title string) func(*store.Submission) {
	return func(s *store.Submission) { s.Request.Title = title }
}

func (r *rig) status(by feedback.Actor, id feedback.ID, status feedback.Status) {
	r.T.Helper()
	r.Clock.Move(time.Millisecond)
	_, err := r.ChangeRequest(ctx, r.account.ID, id, by, func(q *feedback.Request) error {
		q.Status = status
		return nil
	})
	r.must(err)
}

func (r *rig) box(id feedback.ID, box feedback.Box) {
	r.T.Helper()
	_, err := r.ChangeRequest(ctx, r.account.ID, id, r.by, func(q *feedback.Request) error {
		q.Box = box
		return nil
	})
	r.must(err)
}

func (r *rig) comment(by feedback.Actor, id feedback.ID, body string) {
	r.T.Helper()
	r.say(by, id, feedback.Public, body)
}

func (r *rig) say(by feedback.Actor, id feedback.ID, visibility feedback.Visibility, body string) {
	r.T.Helper()
	r.Clock.Move(time.Millisecond)
	author := feedback.Author{ID: r.by.ID}
	_, err := r.AddComment(ctx, r.account.ID, by, feedback.Comment{RequestID: id, Author: author, Visibility: visibility, Body: body})
	r.must(err)
}

func (r *rig) merge(by feedback.Actor, id, into feedback.ID) {
	r.T.Helper()
	r.Clock.Move(time.Millisecond)
	_, err := r.MergeRequest(ctx, r.account.ID, id, into, by)
	r.must(err)
}

func (r *rig) quietly() feedback.Actor {
	by := r.by
	by.Quiet = true
	return by
}

// received is a mail as its recipient reads it.
type received struct {
	mailtest.Letter
	header     netmail.Header
	subject    string
	text, html string
}

// after moves the clock, and returns the mails that come then.
func (r *rig) after(d time.Duration) []received {
	r.T.Helper()
	r.Clock.Move(d)
	r.must(r.sender.Round(ctx))
	return r.taken()
}

func (r *rig) taken() (list []received) {
	r.T.Helper()
	for _, letter := range r.server.Taken() {
		list = append(list, r.read(letter))
	}
	return list
}

// one is after, for exactly one mail to an address.
func (r *rig) one(d time.Duration, to string) received {
	r.T.Helper()
	list := r.after(d)
	if len(list) != 1 || list[0].To != to {
		r.T.Fatalf("%d mails, want one to %s: %+v", len(list), to, list)
	}
	return list[0]
}

// none checks that nobody gets mail.
func (r *rig) none(d time.Duration, why string) {
	r.T.Helper()
	if list := r.after(d); len(list) > 0 {
		r.T.Fatalf("%s: %d mails: %s", why, len(list), list[0].text)
	}
}

func (r *rig) read(letter mailtest.Letter) received {
	r.T.Helper()
	m, err := netmail.ReadMessage(strings.NewReader(letter.Body))
	r.must(err)
	got := received{Letter: letter, header: m.Header}
	got.subject, err = new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject"))
	r.must(err)
	_, parameters, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	r.must(err)
	parts := multipart.NewReader(m.Body, parameters["boundary"])
	for _, text := range []*string{&got.text, &got.html} {
		part, err := parts.NextRawPart()
		r.must(err)
		body, err := io.ReadAll(quotedprintable.NewReader(part))
		r.must(err)
		*text = string(body)
	}
	return got
}

var linkPattern = regexp.MustCompile(`https://feedback\.example\.com/ideas/mail/(confirm|stop)\?t=([\w-]+)`)

// links returns the links of a mail for a purpose.
func (r *rig) links(m received, purpose signed.Purpose) (list []signed.MailLink) {
	r.T.Helper()
	for _, found := range linkPattern.FindAllStringSubmatch(m.text, -1) {
		if l, ok := signed.ParseMailLink(key, purpose, found[2]); ok {
			list = append(list, l)
		}
	}
	return list
}

// confirm presses the button of a mail that asks.
func (r *rig) confirm(m received) {
	r.T.Helper()
	links := r.links(m, signed.ForConfirm)
	if len(links) != 1 {
		r.T.Fatalf("%d links to confirm: %s", len(links), m.text)
	}
	r.must(r.Mail.Confirm(ctx, links[0]))
}

func (r *rig) state(email string) (state string) {
	r.T.Helper()
	hash := sha256.Sum256([]byte(feedback.FoldEmail(email)))
	r.must(r.Raw.QueryRowContext(ctx, "SELECT state FROM mail_people WHERE address = $1", hash[:16]).Scan(&state))
	return state
}
