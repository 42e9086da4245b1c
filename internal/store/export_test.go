package store

import (
	"context"
	"time"

	"gatherkit/internal/lease"
)

// What the tests outside this package need from inside.

// PurgeChunk is how many requests one Purge removes.
const PurgeChunk = purgeChunk

// SweepChunk and UploadChunk are how many rows and files one transaction of a sweep
// removes.
const (
	SweepChunk  = sweepChunk
	UploadChunk = uploadChunk
)

// MaxWaitingOfFrom is how many bytes of files from one address to one app wait to be
// attached, and MinWaiting what the smallest file counts as.
const (
	MaxWaitingOfFrom = maxWaitingOfFrom
	MinWaiting       = minWaiting
)

// RecountChunk is for how many requests Recount counts in one transaction.
const RecountChunk = recountChunk

// LeaseFor is how long a worker that has stopped keeps others from working.
const LeaseFor = lease.For

// Worker is what one process runs in the background, step by step.
type Worker struct {
	store *Store
	lease *lease.Lease
	swept time.Time
}

// NewWorker is the worker of a process.
func (s *Store) NewWorker() *Worker {
	return &Worker{store: s, lease: lease.New(s.db, s.now, workerLease, s.ids.New())}
}

// Step does one piece of work and reports whether there is more.
func (w *Worker) Step(ctx context.Context) (more bool, err error) {
	return w.store.work(ctx, w.lease, &w.swept)
}
