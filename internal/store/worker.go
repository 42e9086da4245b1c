package store

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"time"

	"gatherkit/internal/aside"
	"gatherkit/internal/database"
	"gatherkit/internal/entries"
	"gatherkit/internal/feedback"
	"gatherkit/internal/index"
	"gatherkit/internal/lease"
	"gatherkit/internal/mail"
	"gatherkit/internal/readers"
	"gatherkit/internal/visitors"
)

// The background work consists of two loops: the worker, which cleans up, and the indexer,
// which updates the word index and must not wait for the worker. Every process runs both
// loops, and a lease for each loop lets only one process work at a time. Progress is in the
// database, so another process can continue from there.
const (
	workerLease, indexLease = "worker", "index"

	sweepEvery = 10 * time.Minute
	// pruneEvery is shorter, because a webhook can log a thousand attempts a second.
	pruneEvery = time.Minute
	// publishEvery is how late an entry that is due is published at most, unless there is much other work.
	publishEvery = 5 * time.Second
	purgeChunk   = 1000
	// A step works on so many entries, deleted apps and removed users.
	entriesAtOnce, appsAtOnce, usersAtOnce = 32, 4, 4
	// renewEvery is after how many steps the indexer reads anew which accounts have changes, while submissions arrive. With
	// thousands of accounts, that takes about as long as a step.
	renewEvery = 4
	// usualPause is for how many times as long as a step has taken the worker pauses where submissions arrive.
	usualPause = 15
)

// Work runs the worker and the indexer until ctx ends. It logs failures and retries.
func (s *Store) Work(ctx context.Context) {
	var wg sync.WaitGroup
	wg.Go(func() {
		lease.New(s.db, s.now, workerLease, s.ids.New()).Run(ctx, s.log, &s.outcomes, s.workerSteps(ctx)...)
	})
	wg.Go(func() {
		f := follower{Follower: s.Index.Follower(), chunk: index.Chunk, lanes: 1}
		lease.New(s.db, s.now, indexLease, s.ids.New()).Run(ctx, s.log, &s.outcomes, lease.Step{Work: "index", Do: func() (bool, error) {
			return s.follow(ctx, &f)
		}})
	})
	wg.Wait()
}

// workerSteps returns what the worker does.
func (s *Store) workerSteps(ctx context.Context) []lease.Step {
	var w walk
	return []lease.Step{
		{Work: "purge", Do: func() (bool, error) { return s.Purge(ctx) }},
		{Work: "unassign", Do: func() (bool, error) { return s.Unassign(ctx) }},
		{Work: "entries", Every: publishEvery, Do: func() (bool, error) { return s.PublishDue(ctx) }},
		{Work: "analyze", Every: lease.PollInterval, Do: func() (bool, error) { return false, s.db.Analyze(ctx) }},
		{Work: "webhooks", Every: pruneEvery, Do: func() (bool, error) { return false, s.Webhooks.Prune(ctx) }},
		{Work: "sweep", Every: sweepEvery, Do: func() (bool, error) { return false, s.Sweep(ctx) }},
		{Work: "retain", Do: func() (bool, error) { return s.retain(ctx, &w) }},
	}
}

// Kinds returns the kinds of background work. Lease is to take the lease.
func Kinds() []string {
	return []string{"purge", "unassign", "entries", "analyze", "webhooks", "sweep", "retain", "index", "lease"}
}

// WorkFailures returns how often this process has failed at a kind of background work.
func (s *Store) WorkFailures(work string) int64 {
	return s.outcomes.Failures(work)
}

// WorkSucceeded returns when this process last succeeded at a kind of background work, and false
// if it has not yet: another process may hold the lease.
func (s *Store) WorkSucceeded(work string) (at time.Time, ever bool) {
	return s.outcomes.Succeeded(work)
}

// follower is the state of the indexer between steps.
type follower struct {
	*index.Follower
	chunk int // the number of log entries per transaction
	lanes int // the number of transactions per step
	gave  int // how many steps have given way to submissions
}

// follow does one step of the indexer and reports whether there is more to do. If this process received a submission
// during the step, submissions take precedence: follow gives way, unless the index is far behind.
func (s *Store) follow(ctx context.Context, f *follower) (more bool, err error) {
	began, arrived := time.Now(), s.arrived.Load()
	more, err = f.Step(ctx, f.chunk, f.lanes)
	if errors.Is(err, index.ErrNoOverview) && database.Answered(err) {
		s.apart(ctx, func(ctx context.Context, accountID feedback.ID) { _ = s.Index.FollowAccount(ctx, accountID, f.chunk) })
	}
	if s.arrived.Load() == arrived {
		f.chunk, f.lanes = min(2*f.chunk, index.MaxChunk), s.db.WriteLanes()
		return more, err
	}
	chunk, pause := pace(f.Lag())
	f.chunk, f.lanes = chunk, 1
	f.gave++
	if f.gave%renewEvery == 0 {
		f.Renew()
	}
	if more {
		giveWay(ctx, began, pause)
	}
	return more, err
}

// pace returns how many log entries the index follows at once while submissions arrive, and for how many times as long
// as that took it then pauses, when it lags behind by so many entries. Until the lag is index.MaxTail, searches
// find everything and count exactly, so there is no hurry.
func pace(lag int64) (chunk, pause int) {
	switch {
	case lag < index.MaxTail:
		return index.Chunk, usualPause
	case lag < 16*index.MaxTail:
		return index.MaxChunk, 4
	}
	return index.MaxChunk, 1
}

// giveWay pauses for so many times as long as a step of background work has taken, up to lease.PollInterval, because
// submissions arrived meanwhile.
func giveWay(ctx context.Context, began time.Time, times int) {
	select {
	case <-ctx.Done():
	case <-time.After(min(time.Duration(times)*time.Since(began), lease.PollInterval)):
	}
}

// PublishDue publishes the entries of changelogs whose time has come, and reports whether there may be more.
func (s *Store) PublishDue(ctx context.Context) (more bool, err error) {
	return forSome(ctx, s, aside.Entry, entriesAtOnce, func(d entries.Due) error { return s.Entries.PublishDue(ctx, d) },
		entries.ScanDue, entries.SelectDue, feedback.At(s.now()))
}

// purge is a deleted app that still has rows.
type purge struct{ accountID, appID feedback.ID }

// Item is the work of removing the app.
func (p purge) Item() aside.Item {
	return aside.Item{AccountID: p.accountID, Kind: aside.Purge, Subject: p.appID.String()}
}

// Purge deletes a chunk of the rows of each of a few deleted apps, the people on their portals and their words in the
// index first, and reports whether there may be more. Other writes can run between the chunks.
func (s *Store) Purge(ctx context.Context) (more bool, err error) {
	return forSome(ctx, s, aside.Purge, appsAtOnce, func(p purge) error {
		return s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
			if err := aside.Done(ctx, tx, p.Item()); err != nil {
				return err
			}
			if more, err := visitors.PurgeApp(ctx, tx, p.accountID, p.appID, purgeChunk); err != nil || more {
				return err
			}
			if more, err := index.PurgeApp(ctx, tx, p.accountID, p.appID); err != nil || more {
				return err
			}
			return purgeRows(ctx, tx, p)
		})
	}, func(r database.Row) (p purge, err error) {
		err = r.Scan(&p.accountID, &p.appID)
		return p, err
	}, "SELECT account_id, app_id FROM purges %s ORDER BY deleted_at")
}

// purgeRows deletes a chunk of the app's requests with their history, or the app itself if
// it has no more requests.
func purgeRows(ctx context.Context, tx *sql.Tx, p purge) error {
	ids, err := database.All(ctx, tx, database.One[feedback.ID], "SELECT id FROM requests"+
		" WHERE account_id = $1 AND app_id = $2 ORDER BY box, status, id ASC NULLS FIRST LIMIT $3", p.accountID, p.appID, purgeChunk)
	if err != nil {
		return err
	}
	if len(ids) > 0 {
		if err := index.Forget(ctx, tx, p.accountID, ids); err != nil {
			return err
		}
		if err := removeChildren(ctx, tx, p.accountID, ids); err != nil {
			return err
		}
		args := database.Parameters{p.accountID}
		_, err := tx.ExecContext(ctx, "DELETE FROM requests WHERE account_id = $1 AND id IN ("+database.List(&args, ids)+")", args...)
		return err
	}
	for _, purge := range []func(context.Context, *sql.Tx, feedback.ID, feedback.ID, int) (bool, error){
		readers.PurgeApp, mail.PurgeApp, entries.PurgeApp,
	} {
		if more, err := purge(ctx, tx, p.accountID, p.appID, purgeChunk); err != nil || more {
			return err
		}
	}
	for _, statement := range []string{
		"DELETE FROM request_counts WHERE account_id = $1 AND app_id = $2",
		"DELETE FROM app_secrets WHERE account_id = $1 AND app_id = $2",
		"DELETE FROM apps WHERE account_id = $1 AND id = $2",
		"DELETE FROM purges WHERE account_id = $1 AND app_id = $2",
	} {
		if _, err := tx.ExecContext(ctx, statement, p.accountID, p.appID); err != nil {
			return err
		}
	}
	return nil
}

// PurgeBacklog returns the number of deleted apps that still have rows.
func (s *Store) PurgeBacklog(ctx context.Context) (n int64, err error) {
	err = s.db.Reader().QueryRowContext(ctx, "SELECT COUNT(*) FROM purges").Scan(&n)
	return n, err
}
