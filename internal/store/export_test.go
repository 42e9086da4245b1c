package store

import (
	"context"
	"errors"

	"gatherkit/internal/feedback"
	"gatherkit/internal/index"
	"gatherkit/internal/lease"
	"gatherkit/internal/sweep"
	"gatherkit/internal/uploads"
)

// What the tests outside this package need from inside.

// PurgeChunk is how many requests one Purge removes.
const PurgeChunk = purgeChunk

// SweepChunk and UploadChunk are how many rows and files one transaction of a sweep
// removes.
const (
	SweepChunk  = sweep.Chunk
	UploadChunk = uploads.SweepChunk
)

// RecountChunk is for how many requests Recount counts in one transaction.
const RecountChunk = recountChunk

// CountAhead has all votes counted before the transactions that need their numbers.
func (s *Store) CountAhead() { s.countedAtOnce = -1 }

// MatchesAtOnce is how many records of a person a part changes.
const MatchesAtOnce = matchesAtOnce

// PersonTables is how many tables are searched for people.
var PersonTables = len(personTables)

// SmallParts makes parts of searches for people that read n rows at most.
func (s *Store) SmallParts(n int) { s.tracesAtOnce = n }

// CountedAtOnce is how many votes a transaction counts itself, and MaxTallied how often votes are counted ahead for one.
const (
	CountedAtOnce = countedAtOnce
	MaxTallied    = maxTallied
)

// LeaseFor is how long a worker that has stopped keeps others from working.
const LeaseFor = lease.For

// Worker is what one process runs in the background, step by step.
type Worker struct {
	lease *lease.Lease
	steps []lease.Step
}

// NewWorker is the worker of a process.
func (s *Store) NewWorker() *Worker {
	return &Worker{lease.New(s.db, s.now, workerLease, s.ids.New()), s.workerSteps(context.Background())}
}

// Step does one piece of each kind of work and reports whether there is more.
func (w *Worker) Step(ctx context.Context) (more bool, err error) {
	more = w.lease.Round(ctx, w.steps, func(_ string, failed error) { err = errors.Join(err, failed) })
	return more, err
}

// FollowStep does one step of the indexer.
func (s *Store) FollowStep(ctx context.Context) error {
	_, err := s.FollowSteps(ctx, 1)
	return err
}

// FollowSteps does some steps of the indexer, and returns how many entries the next one would follow.
func (s *Store) FollowSteps(ctx context.Context, n int) (chunk int, err error) {
	f := follower{Follower: s.Index.Follower(), chunk: index.Chunk, lanes: 1}
	for range n {
		if _, err := s.follow(ctx, &f); err != nil {
			return 0, err
		}
	}
	return f.chunk, nil
}

// Arrived counts a submission as one that this process has received.
func Arrived(s *Store) { s.arrived.Add(1) }

// Pace is how the index follows the log beside submissions.
func Pace(lag int64) (chunk, pause int) { return pace(lag) }

// CountTags is Tags where the index is far behind.
func (s *Store) CountTags(ctx context.Context, accountID feedback.ID, after string, limit int) ([]feedback.Tag, int64, error) {
	return s.countTags(ctx, accountID, after, limit)
}

// Retain does a whole walk with other settings, as the worker does.
func (s *Store) Retain(ctx context.Context, r Retention) (err error) {
	s.retention = r
	var w walk
	for more := true; more; {
		var failed error
		more, failed = s.retain(ctx, &w)
		err = errors.Join(err, failed)
	}
	return err
}

// Expire erases what is too old in a part of an account.
func (s *Store) Expire(ctx context.Context, accountID feedback.ID, r Retention, at PersonPlace) (*PersonPlace, error) {
	s.retention = r
	return s.expire(ctx, accountID, at)
}

// RestoredTables are the tables whose rows are restored, and whether that is also if the account still exists.
func RestoredTables() map[string]bool {
	tables := map[string]bool{}
	for name, at := range restored {
		tables[name] = at&ifGone == 0
	}
	return tables
}

// SubmitTogether stores submissions to several accounts as a group.
func (s *Store) SubmitTogether(ctx context.Context, subs []Submission) error {
	_, err := s.submitTogether(ctx, struct{}{}, subs)
	return err
}

// Apart reports whether submissions of an account wait apart from those of others.
func (s *Store) Apart(accountID feedback.ID) bool { return s.ofAccount.Busy(accountID) }

// Together reports whether a group with submissions to several accounts is stored.
func (s *Store) Together() bool { return s.submits.Busy(struct{}{}) }

// WaitTogether is how many submissions wait for a group with those of others.
func (s *Store) WaitTogether() int { return s.submits.Queued() }

// Delay is how long a submission waits for a lock before the next ones of its account are stored apart.
const Delay = delay

// WaitingKeys is how many lookups of API keys wait for others.
func (s *Store) WaitingKeys() int { return s.keys.Queued() }

// AppsByKey looks up several API keys as a group.
func (s *Store) AppsByKey(ctx context.Context, keys []string) ([]*feedback.App, error) {
	return s.appsByKey(ctx, "", keys)
}
