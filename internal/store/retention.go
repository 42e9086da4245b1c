package store

import (
	"context"
	"database/sql"
	"time"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
	"gatherkit/internal/sweep"
)

// Retention is how long what people outside have given is kept. 0 is for ever.
type Retention struct {
	Metadata time.Duration // of requests
	People   time.Duration // who submitted, voted and commented
}

// walkEvery is how often all accounts are searched for what is too old.
const walkEvery = 24 * time.Hour

// walk is a search through all accounts, as far as it has come.
type walk struct {
	accounts []feedback.ID // those that are left
	at       PersonPlace   // where the next part of the first one begins
	due      time.Time     // when the next walk begins
}

// retain does a part of a walk, and reports whether there is more to do. What fails does not keep the rest from being
// searched; the next walk tries it again.
func (s *Store) retain(ctx context.Context, w *walk) (more bool, err error) {
	if len(w.accounts) == 0 {
		if s.retention == (Retention{}) || s.now().Before(w.due) {
			return false, nil
		}
		if w.accounts, err = s.accountIDs(ctx); err != nil {
			return false, err
		}
		w.at, w.due = PersonPlace{}, s.now().Add(walkEvery)
	}
	if len(w.accounts) == 0 {
		return false, nil
	}
	began, arrived := time.Now(), s.arrived.Load()
	next, err := s.expire(ctx, w.accounts[0], w.at)
	switch {
	case sweep.GivesUp(ctx, s.db, err):
		return false, err
	case next == nil:
		w.accounts, w.at = w.accounts[1:], PersonPlace{}
	default:
		w.at = *next
	}
	if s.arrived.Load() != arrived {
		giveWay(ctx, began, usualPause)
	}
	return true, err
}

// expire erases what is too old in a part of an account. It returns where the next part begins, even if this one could
// not be changed.
func (s *Store) expire(ctx context.Context, accountID feedback.ID, at PersonPlace) (*PersonPlace, error) {
	until := func(kept time.Duration) feedback.Time { // 0 if nothing is too old
		if kept == 0 {
			return 0
		}
		return feedback.At(s.now().Add(-kept))
	}
	people, metadata := until(s.retention.People), until(s.retention.Metadata)
	var old []trace
	var noted []feedback.ID // requests with old metadata
	rest := true            // whether something in the rest of the table can be too old
	next, err := s.readTraces(ctx, accountID, at, func(t trace) bool {
		id := t.requestID()
		switch {
		case id == (feedback.ID{}), // a session or a block
			id.Time() > max(people, metadata), // as in the following rows: ids, by which the tables are ordered, have a time
			people == 0 && t.request == nil:
			rest = false
			return false
		}
		if t.given() <= people && t.person.Known() && (t.comment == nil || t.comment.Person != nil) {
			old = append(old, t)
		}
		if t.request != nil && id.Time() <= metadata && len(t.request.Metadata) > 0 {
			noted = append(noted, id)
		}
		return len(old) < matchesAtOnce
	})
	if err != nil {
		return nil, err
	}
	if !rest {
		next = &PersonPlace{Table: next.Table + 1}
	}
	if len(old) == 0 && len(noted) == 0 {
		return next, nil
	}
	salt := s.ids.New()
	c := personChange{
		s: s, accountID: accountID, by: feedback.Service(), is: feedback.Person.Known, ofRequest: feedback.RequestErased, erase: true,
		until: people, to: func(p feedback.Person) feedback.Person { return p.Erased(salt) },
	}
	return next, s.db.WritePart(ctx, accountID, func(ctx context.Context, tx *sql.Tx) error {
		c.begin()
		if err := c.apply(ctx, tx, old); err != nil || len(noted) == 0 {
			return err
		}
		p := database.Parameters{accountID}
		_, err := tx.ExecContext(ctx, "UPDATE requests SET metadata = '{}' WHERE account_id = $1 AND id IN ("+database.List(&p, noted)+")", p...)
		return err
	})
}

// given is when the person gave what the trace is of.
func (t trace) given() feedback.Time {
	switch {
	case t.request != nil:
		return t.request.CreatedAt
	case t.vote != nil:
		return t.vote.CreatedAt
	case t.comment != nil:
		return t.comment.CreatedAt
	default:
		return t.held.CreatedAt
	}
}
