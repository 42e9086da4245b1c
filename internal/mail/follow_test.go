package mail_test

import (
	"testing"
	"time"

	"gatherkit/internal/feedback"
	"gatherkit/internal/store/storetest"
)

// TestLongLogs: mail reads a log to its end, however many new entries it has, before it rests.
func TestLongLogs(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := newRig(t, at)
		r.wants("ada@example.com", true)
		r.InsertRequests(r.app, make([]feedback.Request, 2500))
		r.must(r.sender.Round(ctx))
		if n := r.Count("account_seq s JOIN mail_positions p ON p.account_id = s.account_id WHERE p.position < s.last"); n != 0 {
			t.Errorf("the log of %d accounts was not read to its end", n)
		}
	})
}

// TestMailsThatWait: a mail that nobody sends is deleted after seven days.
func TestMailsThatWait(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := newRig(t, at)
		r.must(r.sender.Round(ctx)) // mail has begun
		r.Exec("INSERT INTO mails (account_id, id, kind, recipient, body, attempts, due_at) VALUES ($1, $2, 'news', 'ada@example.com', $3, 0, 0)",
			r.account.ID, feedback.FirstIDAt(r.Clock.Now()), []byte("body"))
		for _, left := range []int{1, 0} {
			r.Clock.Move(7*24*time.Hour - time.Minute)
			r.must(r.sender.Sweep(ctx))
			if n := r.Count("mails"); n != left {
				t.Errorf("%d mails wait, want %d", n, left)
			}
		}
	})
}
