package mail

import (
	"context"
	"database/sql"
	"time"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
	"gatherkit/internal/sweep"
)

const (
	// forgetAsked is when an address is forgotten whose owner has not confirmed, and forgetOthers when one is
	// forgotten that takes no mail or whose owner has stopped it. Afterwards it can be asked again.
	forgetAsked  = 30 * 24 * time.Hour
	forgetOthers = 365 * 24 * time.Hour
	// forgetMails is when a mail is deleted that still waits, because no mail server is set any more.
	forgetMails = 7 * 24 * time.Hour
)

// Sweep deletes what has expired: addresses that were not confirmed or get no mail any more, mails that wait although
// nobody sends them, and the counts of former days.
func (s *Sender) Sweep(ctx context.Context) error {
	accounts, err := database.All(ctx, s.db.Reader(), database.One[feedback.ID], "SELECT account_id FROM mail_positions")
	if err != nil {
		return err
	}
	var failed sweep.Errors
	for state, life := range map[State]time.Duration{Asked: forgetAsked, Stopped: forgetOthers, Bounced: forgetOthers} {
		before := feedback.At(s.now().Add(-life))
		failed.Add(sweep.Rows{Table: "mail_people", Where: "state = $1 AND state_at < $2"}.Each(ctx, s.db, accounts,
			[]any{string(state), before}, func(accountID feedback.ID) error { return s.forget(ctx, accountID, state, before) }))
	}
	unsent := feedback.FirstIDAt(s.now().Add(-forgetMails))
	failed.Add(sweep.Rows{Table: "mails", Key: "id", Where: "id < $1"}.Delete(ctx, s.db, accounts, unsent))
	failed.Add(sweep.Rows{Table: "mail_days", Key: "day", Where: "day < $1"}.Delete(ctx, s.db, accounts, feedback.DayOf(s.now())))
	return failed.Err()
}

// forget deletes the people of an account who have been in a state since before a time.
func (s *Sender) forget(ctx context.Context, accountID feedback.ID, state State, before feedback.Time) error {
	for {
		var found []person
		err := s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) (err error) {
			found, err = database.All(ctx, tx, func(r database.Row) (p person, err error) {
				p.accountID = accountID
				return p, r.Scan(&p.appID, &p.address)
			}, "SELECT app_id, address FROM mail_people WHERE account_id = $1 AND state = $2 AND state_at < $3 LIMIT $4",
				accountID, string(state), before, sweep.Chunk/10)
			for _, p := range found {
				if err == nil {
					err = unfollow(ctx, tx, p, "")
				}
				if err == nil {
					_, err = tx.ExecContext(ctx, "DELETE FROM mail_people"+ofPerson, p.key()...)
				}
			}
			return err
		})
		if err != nil || len(found) == 0 {
			return err
		}
	}
}
