package mail_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gatherkit/internal/feedback"
	"gatherkit/internal/mail"
	"gatherkit/internal/mail/mailtest"
	"gatherkit/internal/quota"
	"gatherkit/internal/signed"
	"gatherkit/internal/store/storetest"
)

// today checks how much of its quotas the account has used.
func (r *rig) today(mails, verified int64) {
	r.T.Helper()
	got, err := r.Mail.Today(ctx, r.account.ID)
	r.must(err)
	want := mail.Today{Mails: mails, Verified: verified}
	if diff := cmp.Diff(want, got); diff != "" {
		r.T.Errorf("today (-want +got):\n%s", diff)
	}
}

// to is after, for one mail to each of the addresses.
func (r *rig) to(d time.Duration, addresses ...string) {
	r.T.Helper()
	var got []string
	for _, m := range r.after(d) {
		got = append(got, m.To)
	}
	slices.Sort(got)
	if diff := cmp.Diff(addresses, got); diff != "" {
		r.T.Errorf("mails (-want +got):\n%s", diff)
	}
}

// limit sets quotas, such as mails=3.
func (r *rig) limit(quotas ...string) {
	changes, err := quota.Parse(quotas)
	r.must(err)
	r.must(r.Quotas.Set(ctx, r.account.ID, changes))
}

// TestMailsOfADay: mails to people outside that are over the limit wait until the next day, in their order. Those of
// other accounts and links to users do not wait.
func TestMailsOfADay(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := newRig(t, at)
		r.limit("mails=3")
		r.Clock.Move(7 * time.Hour) // the day began before
		other := r.elsewhere("Other")
		var ids []feedback.ID
		for n := range 5 {
			ids = append(ids, r.wants(fmt.Sprintf("p%d@example.com", n), true))
		}
		elsewhere := other.wants("elsewhere@example.com", true)
		r.none(0, "nothing is new")
		for _, id := range ids {
			r.status(r.by, id, "planned")
		}
		other.status(other.by, elsewhere, "planned")
		r.to(settled, "elsewhere@example.com", "p0@example.com", "p1@example.com", "p2@example.com")
		r.today(3, 5)
		if status, err := r.Mail.Status(ctx, r.account.ID); err != nil || status.Waiting != 0 || status.Failing != 0 {
			t.Errorf("%+v; %v", status, err)
		}
		r.must(r.sender.Invite(ctx, r.account.ID, "Acme", "Ada", "new@example.com", "token", feedback.At(r.Clock.Now())))
		r.one(0, "new@example.com") // an invitation
		r.today(3, 5)
		next := r.Clock.Now().UTC().Truncate(24 * time.Hour).Add(24 * time.Hour)
		r.status(r.by, ids[4], "completed") // together with what waits
		r.none(time.Hour, "a change does not make it earlier")
		r.none(next.Sub(r.Clock.Now())-time.Millisecond, "the day has not ended")
		r.to(time.Millisecond, "p3@example.com", "p4@example.com")
		r.today(2, 0)
	})
}

// TestMailsThatFail: a mail counts when it is written, however often it is tried. Mails that ask count, and do not wait.
func TestMailsThatFail(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := newRig(t, at)
		r.limit("mails=1")
		id := r.wants("ada@example.com", true)
		r.none(0, "nothing is new")
		r.status(r.by, id, "planned")
		r.server.Refuse(func(string, string) error { return mailtest.Answer(451, [3]int{4, 3, 0}, "try again") })
		r.none(settled, "the server refuses")
		r.today(1, 1)
		r.server.Refuse(nil)
		r.one(time.Hour, "ada@example.com")
		r.wants("grace@example.com", false)
		r.one(0, "grace@example.com")
		r.today(2, 1)
		if days, err := r.Mail.Today(ctx, feedback.ID{}); err != nil || days.Mails != 0 {
			t.Errorf("another account: %+v, %v", days, err)
		}
	})
}

// TestVerifiedOfADay: further people whom identity tokens verify are asked to confirm, also those who come back after
// they had stopped. Who has confirmed counts once.
func TestVerifiedOfADay(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := newRig(t, at)
		r.limit("verified=2")
		other := r.elsewhere("Other")
		r.wants("ada@example.com", true)
		r.wants("ada@example.com", true)
		r.none(0, "she is verified")
		r.today(0, 1)
		r.wants("grace@example.com", true)
		r.none(0, "she is verified")
		r.today(0, 2)
		r.wants("joan@example.com", true)
		asked := r.one(0, "joan@example.com")
		if state := r.state("joan@example.com"); state != "asked" {
			t.Errorf("she is %s", state)
		}
		r.today(1, 2)
		other.wants("linus@example.com", true)
		r.none(0, "another account has verified nobody")
		r.must(r.Mail.Stop(ctx, r.links(asked, signed.ForStop)[0]))
		r.wants("joan@example.com", true)
		if state := r.state("joan@example.com"); state != "stopped" {
			t.Errorf("before it is noticed, she is %s", state)
		}
		r.none(0, "she was asked today")
		if state := r.state("joan@example.com"); state != "asked" {
			t.Errorf("she is %s", state)
		}
		r.confirm(asked)
		r.wants("joan@example.com", true)
		r.none(0, "she has confirmed")
		r.today(1, 2)
		r.Clock.Move(24 * time.Hour)
		r.wants("mary@example.com", true)
		r.none(0, "a new day")
		r.today(0, 1)
		r.must(r.sender.Sweep(ctx))
		var days int
		r.must(r.Raw.QueryRowContext(ctx, "SELECT COUNT(*) FROM mail_days").Scan(&days))
		if days != 1 {
			t.Errorf("%d days are kept", days)
		}
	})
}

// TestNoMails: with quotas of 0, nobody gets news, and nobody is verified by a token. News is not lost.
func TestNoMails(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := newRig(t, at)
		r.limit("mails=0", "verified=0")
		id := r.wants("ada@example.com", true)
		r.confirm(r.one(0, "ada@example.com"))
		r.status(r.by, id, "planned")
		r.none(48*time.Hour, "it waits")
		r.today(0, 0)
		r.limit("mails=1", "verified=default")
		r.one(24*time.Hour, "ada@example.com")
	})
}
