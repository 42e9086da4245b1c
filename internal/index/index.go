// Package index finds requests: lists by any filter, their totals, facets and statistics,
// and similar requests. It reads the tables of the store, owns the tables of the index of
// words, and shares Filter with the store.
package index

import (
	"runtime"
	"time"

	"gatherkit/internal/aside"
	"gatherkit/internal/database"
	"gatherkit/internal/fair"
	"gatherkit/internal/feedback"
)

// Index finds requests. Its methods are safe for concurrent use.
type Index struct {
	db     *database.DB
	now    func() time.Time
	words  vocabularies
	memory blockMemory
	aside  *aside.List

	// searches divides half of the processors among the apps in which similar requests are
	// searched, so that other calls are not delayed.
	searches *fair.Pool[feedback.ID]
	// counting does the same for accounts whose requests are counted or searched for words.
	counting *fair.Pool[feedback.ID]
}

// New returns the index of a database.
func New(db *database.DB, now func() time.Time, list *aside.List) *Index {
	half := int64(max(1, runtime.GOMAXPROCS(0)/2))
	return &Index{
		db: db, now: now, memory: newBlockMemory(), aside: list,
		searches: fair.New[feedback.ID](half, half), counting: fair.New[feedback.ID](half, half),
	}
}
