package mail_test

import (
	"strings"
	"testing"
	"time"

	"gatherkit/internal/feedback"
	"gatherkit/internal/mail"
	"gatherkit/internal/store/storetest"
	"gatherkit/internal/team"
)

// TestDigest: a user gets what came in and what moved since the last digest, each morning or on Mondays, and
// no mail if nothing did.
func TestDigest(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := newRig(t, at) // it is Thursday, midnight
		owner := *r.by.ID
		before := r.wants("a@example.com", true, titled("Before"))
		set := func(every mail.Every) {
			t.Helper()
			r.must(r.Mail.SetDigest(ctx, r.account.ID, owner, every))
			if got, err := r.Mail.Digest(ctx, r.account.ID, owner); got != every || err != nil {
				t.Errorf("%s, %v, want %s", got, err, every)
			}
		}
		if got, err := r.Mail.Digest(ctx, r.account.ID, owner); got != mail.Never || err != nil {
			t.Errorf("%s, %v", got, err)
		}
		set(mail.EachDay)
		r.none(7*time.Hour, "nothing came in since")
		r.status(r.quietly(), before, "planned")
		r.status(r.quietly(), before, "completed")
		undone := r.wants("b@example.com", true, titled("Undone"))
		r.status(r.quietly(), undone, "planned")
		r.status(r.quietly(), undone, feedback.Opened)
		for range 12 {
			r.wants("c@example.com", true, titled("Maps"))
		}
		spam := r.wants("d@example.com", true, titled("Spam"))
		r.box(spam, feedback.Bin)
		r.none(23*time.Hour, "it is not seven yet")
		m := r.one(time.Hour, "acme@example.com")
		for text, want := range map[string]int{
			"Before": 1, "Undone": 0, "Maps": 10, "Spam": 0, "Open → Completed": 1, "13 new requests, 1 moved": 1, "And 3 more.": 1,
		} {
			if got := strings.Count(m.text, text); got != want {
				t.Errorf("%q is there %d times, want %d", text, got, want)
			}
		}
		if m.header.Get("List-Unsubscribe") != "" || !strings.Contains(m.text, "https://feedback.example.com/ideas/?request="+before.String()) {
			t.Error(m.Body)
		}
		r.none(48*time.Hour, "nothing came in since")
		set(mail.EachWeek) // it is Sunday, seven
		r.wants("e@example.com", true, titled("Week"))
		r.none(23*time.Hour, "it is not Monday yet")
		if m := r.one(time.Hour, "acme@example.com"); !strings.Contains(m.text, "Week") || strings.Contains(m.text, "Maps") {
			t.Error(m.text)
		}
		r.wants("f@example.com", true)
		r.none(6*24*time.Hour, "it is not Monday yet")
		r.one(24*time.Hour, "acme@example.com")
		r.wants("g@example.com", true)
		set(mail.Never)
		r.none(14*24*time.Hour, "it is off")
	})
}

// TestDigestOfRemoved: a user who is removed gets none.
func TestDigestOfRemoved(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := newRig(t, at)
		m, _, err := r.Team.Invite(ctx, r.account.ID, r.by, team.NewUser{Email: "new@example.com", Name: "New", Role: feedback.RoleMember})
		r.must(err)
		r.must(r.Mail.SetDigest(ctx, r.account.ID, m.ID, mail.EachDay))
		r.wants("a@example.com", true)
		r.must(r.RemoveUser(ctx, r.account.ID, r.by, m.ID))
		r.none(48*time.Hour, "the user is gone")
		if n := r.Count("mail_digests"); n != 0 {
			t.Errorf("%d rows", n)
		}
	})
}
