package mail

import (
	"hash/maphash"
	"strings"
	"time"

	"gatherkit/internal/feedback"
	"gatherkit/internal/rate"
)

// asks limits the mails that ask people to confirm, in this process. Strangers can enter any address, from many
// addresses of their own and in many apps. It counts by hashes, which are shorter than what they stand for.
type asks struct {
	seed              maphash.Seed
	mailbox, app, all *rate.Limit[uint64]
}

const (
	asksPerMailbox = 5     // a day, for addresses that differ only by what follows a plus sign
	asksPerApp     = 300   // an hour
	asksInAll      = 1_000 // an hour; further ones wait
)

func newAsks() asks {
	most := func(n int64, window time.Duration) *rate.Limit[uint64] {
		return &rate.Limit[uint64]{
			Most: n, Window: window, Exempt: func(uint64) bool { return false },
			Coarser: func(hash uint64, _ int) uint64 { return hash >> 48 }, // few of very many share a counter
		}
	}
	return asks{maphash.MakeSeed(), most(asksPerMailbox, 24*time.Hour), most(asksPerApp, time.Hour), most(asksInAll, time.Hour)}
}

// allow counts a person who is asked. It returns ErrRateLimited if their mailbox or the app had too many of these mails.
func (a asks) allow(p person, now time.Time) error {
	if err := a.mailbox.Allow(maphash.String(a.seed, mailbox(p.email)), 1, now); err != nil {
		return err
	}
	return a.app.Allow(maphash.Comparable(a.seed, p.appID), 1, now)
}

// allowMail counts a mail. It returns ErrRateLimited if the installation has sent too many.
func (a asks) allowMail(now time.Time) error { return a.all.Allow(0, 1, now) }

// mailbox returns an address without what follows a plus sign: providers deliver both to the same mailbox.
func mailbox(email string) string {
	email = feedback.FoldEmail(email)
	at := strings.LastIndexByte(email, '@')
	if at < 0 {
		return email
	}
	name, _, _ := strings.Cut(email[:at], "+")
	return name + email[at:]
}
