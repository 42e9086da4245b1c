package mail_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"gatherkit/internal/feedback"
	"gatherkit/internal/mail"
	"gatherkit/internal/mail/mailtest"
	"gatherkit/internal/signed"
	"gatherkit/internal/store/storetest"
)

var mailtest451 = mailtest.Answer(451, [3]int{4, 3, 0}, "Try again later")

func isGone(err error) bool { return errors.Is(err, feedback.ErrMailLinkNotFound) }

// refuseAt makes the server refuse in a phase.
func (r *rig) refuseAt(where string, err error) {
	r.server.Refuse(func(phase, _ string) error {
		if phase == where {
			return err
		}
		return nil
	})
}

// TestBounce: an address that takes no mail gets none any more, and is not asked again.
func TestBounce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := newRig(t, at)
		id := r.wants("ada@example.com", true)
		r.wants("asked@example.com", false)
		asked := r.one(0, "asked@example.com")
		r.status(r.by, id, "planned")
		r.refuseAt("RCPT", mailtest.Answer(550, [3]int{5, 1, 1}, "No such user"))
		r.none(settled, "it bounces")
		r.wants("asked@example.com", true)
		r.server.Refuse(nil)
		if state := r.state("ada@example.com"); state != "bounced" {
			t.Errorf("the state is %s", state)
		}
		r.status(r.by, id, "completed")
		r.wants("ada@example.com", true, titled("Maps"))
		r.none(48*time.Hour, "it has bounced")
		if n, err := r.Mail.Suppress(ctx, r.account.ID, " ASKED@example.com"); n != 1 || err != nil {
			t.Errorf("%d, %v", n, err)
		}
		if n, err := r.Mail.Suppress(ctx, r.account.ID, "nobody@example.com"); n != 0 || err != nil {
			t.Errorf("%d, %v", n, err)
		}
		link := r.links(asked, signed.ForConfirm)[0]
		if err := r.Mail.Confirm(ctx, link); !isGone(err) {
			t.Error(err)
		}
		if _, err := r.Mail.Visit(ctx, link); !isGone(err) {
			t.Error(err)
		}
		r.must(r.Mail.Stop(ctx, r.links(asked, signed.ForStop)[0]))
		if state := r.state("asked@example.com"); state != "bounced" {
			t.Errorf("the state is %s", state)
		}
	})
}

// TestRetry: a mail that is refused for now is tried again for a day, less and less often. A refusal for a
// policy says nothing about the address.
func TestRetry(t *testing.T) {
	for name, refusal := range map[string]struct {
		phase string
		err   error
	}{
		"for now": {"RCPT", mailtest451}, "policy": {"RCPT", mailtest.Answer(550, [3]int{5, 7, 1}, "Denied")},
		"full": {"RCPT", mailtest.Answer(552, [3]int{5, 2, 2}, "Full")}, "the text, for now": {"DATA", mailtest451},
	} {
		t.Run(name, func(t *testing.T) {
			storetest.Each(t, func(t *testing.T, at storetest.Place) {
				r := newRig(t, at)
				id := r.wants("ada@example.com", true)
				r.status(r.by, id, "planned")
				tries := 0
				r.server.Refuse(func(phase, _ string) error {
					if phase != refusal.phase {
						return nil
					}
					tries++
					return refusal.err
				})
				r.none(settled, "it is refused")
				for range 23 * 12 {
					r.none(5*time.Minute, "it is refused")
				}
				if tries < 8 || tries > 16 {
					t.Errorf("%d tries", tries)
				}
				if n := r.Count("mails"); n != 1 {
					t.Errorf("%d mails wait", n)
				}
				r.none(6*time.Hour, "it is refused")
				if n := r.mailStatus().Waiting; n != 0 {
					t.Errorf("%d mails wait after a day", n)
				}
				if got := r.failing(1); got.RetryAt != nil {
					t.Errorf("%+v", got)
				}
				r.server.Refuse(nil)
				r.none(24*time.Hour, "it was given up")
				r.status(r.by, id, "completed")
				r.one(settled, "ada@example.com")
			})
		})
	}
}

// TestRefusedText: a server that refuses the text of a mail for good gets the next.
func TestRefusedText(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := newRig(t, at)
		id := r.wants("ada@example.com", true)
		other := r.wants("grace@example.com", true)
		r.status(r.by, id, "planned")
		r.status(r.by, other, "planned")
		r.server.Refuse(func(phase, to string) error {
			if phase == "DATA" && to == "ada@example.com" {
				return mailtest.Answer(554, [3]int{5, 6, 0}, "Looks like spam")
			}
			return nil
		})
		r.one(settled, "grace@example.com")
		if got := r.failing(1); got.RetryAt != nil || !strings.Contains(got.Error, "Looks like spam") {
			t.Errorf("%+v", got)
		}
		if n := r.mailStatus().Waiting; n != 0 || r.state("ada@example.com") != "confirmed" {
			t.Errorf("%d mails wait, %s", n, r.state("ada@example.com"))
		}
		if top := r.Usage.Top(2); len(top) != 1 || top[0].Mails != 1 || top[0].Submissions != 2 {
			t.Errorf("usage: %+v", top)
		}
	})
}

// TestInternationalAddress: the domain of an address is sent as DNS has it, which every server takes. A server without
// SMTPUTF8 takes no other letters in front of it; that is no fault of the address.
func TestInternationalAddress(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := newRig(t, at)
		r.server = mailtest.NewASCII(t)
		r.sender = r.newSender(r.server.URL)
		domain, local := r.wants("ada@bücher.example", true), r.wants("rené@bücher.example", true)
		r.status(r.by, local, "planned")
		r.status(r.by, domain, "planned")
		m := r.one(settled, "ada@xn--bcher-kva.example")
		if to := m.header.Get("To"); to != "<ada@xn--bcher-kva.example>" {
			t.Errorf("to %s", to)
		}
		if got := r.failing(1); got.RetryAt != nil || *got.Recipient != "rené@bücher.example" || !strings.Contains(got.Error, "SMTPUTF8") {
			t.Errorf("%+v", got)
		}
		if state := r.state("rené@bücher.example"); state != "confirmed" {
			t.Errorf("the state is %s", state)
		}
		r.must(r.sender.Invite(ctx, r.account.ID, "Acme", "Ada", "new@BÜCHER.example", "gjl_token", feedback.At(r.Clock.Now())))
		r.one(0, "new@xn--bcher-kva.example")

		r.server = mailtest.New(t)
		r.sender = r.newSender(r.server.URL)
		r.status(r.by, local, "completed")
		m = r.one(settled, "rené@xn--bcher-kva.example")
		if to := m.header.Get("To"); to != "<rené@xn--bcher-kva.example>" {
			t.Errorf("to %s", to)
		}
	})
}

// TestServerAway: while the server cannot be reached, or refuses the sender or the login, mails wait, and the
// state says so.
func TestServerAway(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := newRig(t, at)
		id := r.wants("ada@example.com", true)
		check := func(want mail.ServerState, waiting int64, text string) {
			t.Helper()
			s, err := r.Mail.Status(ctx, r.account.ID)
			r.must(err)
			if s.State != want || s.Waiting != waiting || (s.Error != nil) != (want != mail.OK) || (s.Since != nil) != (want != mail.OK) {
				t.Errorf("%+v, want %s and %d", s, want, waiting)
			}
			if s.Error != nil && !strings.Contains(*s.Error, text) {
				t.Errorf("%q does not say %q", *s.Error, text)
			}
		}
		check(mail.OK, 0, "")
		working := r.sender
		gone := mailtest.New(t)
		address := strings.Replace(gone.URL, "smtp://127.0.0.1", "smtps://127.0.0.1", 1) // it speaks no TLS
		r.sender = r.newSender(address)
		r.status(r.by, id, "planned")
		r.none(settled, "the server is away")
		check(mail.Away, 1, "connecting")
		since, err := r.Mail.Status(ctx, r.account.ID)
		r.must(err)
		r.sender = working
		r.none(59*time.Second, "it is too early")
		r.sender = r.newSender(address)
		r.none(time.Second, "the server is still away")
		if s, err := r.Mail.Status(ctx, r.account.ID); err != nil || *s.Since != *since.Since {
			t.Errorf("%+v, %v", s, err)
		}
		if n := r.Count("mails WHERE attempts = 0"); n != 1 {
			t.Error("an attempt counts although the server was away")
		}
		r.sender = working
		r.refuseAt("MAIL", mailtest.Answer(553, [3]int{5, 7, 1}, "Not your address"))
		r.none(time.Minute, "the sender is refused")
		check(mail.Refused, 1, "Not your address")
		r.server.Refuse(nil)
		r.none(5*time.Minute-time.Second, "it is too early")
		r.one(time.Second, "ada@example.com")
		check(mail.OK, 0, "")

		r.status(r.by, id, "completed")
		r.sender = r.newSender(r.server.As("app", "wrong"))
		r.none(settled, "the login is refused")
		check(mail.Refused, 1, "logging in")
		right, err := mail.ParseServer(r.server.As("app", "open%20sesame"))
		if err != nil {
			t.Fatal(err)
		}
		r.sender.SetServer(right)
		r.one(0, "ada@example.com")
		check(mail.OK, 0, "")

		r.status(r.by, id, "planned")
		r.sender = r.newSender(r.server.As("app", "wrong"))
		r.none(settled, "the login is refused again")
		r.sender = r.newSender(r.server.As("app", "open%20sesame"))
		r.Clock.Move(-48 * time.Hour) // the clock was wrong and is corrected
		r.none(0, "the mail is due later")
		r.one(48*time.Hour+5*time.Minute, "ada@example.com")
		check(mail.OK, 0, "")
	})
}

// TestSentTwice: if a process ends after the server has taken a mail and before that is stored, the mail is sent
// again with the same bytes.
func TestSentTwice(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := newRig(t, at)
		id := r.wants("ada@example.com", true)
		r.none(0, "nothing has changed")
		r.status(r.by, id, "planned")
		// The database forgets that the mail was sent.
		r.Exec(map[string]string{
			"sqlite": "CREATE TRIGGER forgets BEFORE DELETE ON mails BEGIN SELECT RAISE(IGNORE); END",
			"postgres": "CREATE FUNCTION forget() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';" +
				" CREATE TRIGGER forgets BEFORE DELETE ON mails FOR EACH ROW EXECUTE FUNCTION forget()",
		}[at.Name])
		first := r.after(settled)
		if len(first) != 1 {
			t.Fatalf("%d mails", len(first))
		}
		r.Exec(map[string]string{"sqlite": "DROP TRIGGER forgets", "postgres": "DROP TRIGGER forgets ON mails"}[at.Name])
		r.none(9*time.Minute, "another process may still be sending it")
		if second := r.one(time.Minute, "ada@example.com"); second.Body != first[0].Body {
			t.Errorf("the mails differ:\n%s\n%s", first[0].Body, second.Body)
		}
		r.none(48*time.Hour, "it was sent")
	})
}

// TestStopping: a program that stops finishes the mail that it sends, and begins no other.
func TestStopping(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := newRig(t, at)
		for range 3 {
			r.must(r.sender.Invite(ctx, r.account.ID, "Acme", "Ada", "new@example.com", "token", feedback.At(r.Clock.Now())))
		}
		ending, end := context.WithCancel(ctx)
		defer end()
		r.server.Refuse(func(phase, _ string) error {
			if phase == "DATA" {
				end()
			}
			return nil
		})
		_ = r.sender.Round(ending)
		r.server.Refuse(nil)
		if sent, left := len(r.taken()), r.Count("mails"); sent != 1 || left != 2 {
			t.Errorf("%d mails were sent, and %d wait", sent, left)
		}
		if list := r.after(0); len(list) != 2 {
			t.Errorf("%d mails afterwards", len(list))
		}
	})
}

// TestAgain: a person who has confirmed and stopped can ask again, any number of times.
func TestAgain(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := newRig(t, at)
		for range 6 {
			r.wants("ada@example.com", false)
			asked := r.one(25*time.Hour, "ada@example.com")
			r.confirm(asked)
			r.must(r.Mail.Stop(ctx, r.links(asked, signed.ForStop)[0]))
		}
	})
}

// TestReplicas: many processes send each mail once.
func TestReplicas(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := newRig(t, at)
		senders := []*mail.Sender{r.sender, r.newSender(r.server.URL), r.senderOf(at.Open(t, r.Clock.Now), r.server.URL)}
		for range 30 {
			r.must(r.sender.Invite(ctx, r.account.ID, "Acme", "Ada", "new@example.com", "token", feedback.At(r.Clock.Now())))
		}
		var all sync.WaitGroup
		for _, s := range senders {
			all.Go(func() {
				if err := s.Round(ctx); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		ids := map[string]bool{}
		list := r.after(0)
		for _, m := range list {
			ids[m.header.Get("Message-Id")] = true
		}
		if len(ids) != 30 || len(list) != 30 {
			t.Errorf("%d mails with %d ids, want 30", len(list), len(ids))
		}
	})
}

// TestLinks: invitations and recovery links go to their recipient, before all other mails.
func TestLinks(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := newRig(t, at)
		r.wants("ada@example.com", false)
		r.refuseAt("MAIL", mailtest.Answer(421, [3]int{4, 3, 0}, "Busy"))
		r.none(0, "the server is busy")
		r.server.Refuse(nil)
		r.Clock.Move(time.Minute)
		r.must(r.sender.Invite(ctx, r.account.ID, "Acme", "Ada", "new@example.com", "gjl_token", feedback.At(r.Clock.Now())))
		r.must(r.sender.Recover(ctx, r.account.ID, "Ada", "old@example.com", "gjl_other", feedback.At(r.Clock.Now())))
		list := r.after(0)
		if len(list) != 3 || list[0].To == "ada@example.com" || list[1].To == "ada@example.com" {
			t.Fatalf("%+v", list)
		}
		for to, link := range map[string]string{
			"new@example.com": "https://feedback.example.com/ideas/join#gjl_token",
			"old@example.com": "https://feedback.example.com/ideas/join#gjl_other",
		} {
			for _, m := range list {
				if (m.To == to) != strings.Contains(m.text, link) || m.To == to && m.header.Get("List-Unsubscribe") != "" {
					t.Errorf("%s: %s", m.To, m.text)
				}
			}
		}
	})
}
