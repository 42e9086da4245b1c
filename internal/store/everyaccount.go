package store

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"gatherkit/internal/aside"
	"gatherkit/internal/database"
	"gatherkit/internal/deadline"
	"gatherkit/internal/feedback"
	"gatherkit/internal/sweep"
)

// With Citus, accounts are on several machines. While one is away, every statement over all accounts
// fails, and so do those on the machine's own accounts. Background work then asks for one account
// after the other, so that it continues for the others.

const (
	// accountsApart is for how many accounts a step of the background work asks one by one, which
	// are others each time. accountsAtOnce are asked at the same time, because an account whose machine is
	// away may take long to fail.
	accountsApart  = 500
	accountsAtOnce = 8
)

// apartTime is how long such a step may take.
var apartTime = deadline.Of(10 * time.Second)

// accountList is the ids of all accounts, as they were when they could last be read.
type accountList struct {
	mu  sync.Mutex
	ids []feedback.ID
}

// accountIDs returns the ids of all accounts. While they cannot be read, it returns the last ones, if
// there are any.
func (s *Store) accountIDs(ctx context.Context) ([]feedback.ID, error) {
	ids, err := database.All(ctx, s.db.Reader(), database.One[feedback.ID], "SELECT account_id FROM accounts ORDER BY account_id")
	s.accounts.mu.Lock()
	defer s.accounts.mu.Unlock()
	switch {
	case err == nil:
		s.accounts.ids = ids
	case database.Answered(err) && s.accounts.ids != nil:
		return s.accounts.ids, nil
	}
	return ids, err
}

// someAccounts returns up to accountsApart accounts, others each time.
func (s *Store) someAccounts() []feedback.ID {
	s.accounts.mu.Lock()
	defer s.accounts.mu.Unlock()
	ids := s.accounts.ids
	if len(ids) <= accountsApart {
		return ids
	}
	at := rand.IntN(len(ids)) //nolint:gosec // not a secret
	return slices.Concat(ids[at:], ids[:at])[:accountsApart]
}

// ofAll runs a query over all accounts, in which %s is the place of a condition. If the server says
// that it failed, ofAll runs it for each of some accounts, and also returns the error.
func ofAll[T any](ctx context.Context, s *Store, scan func(database.Row) (T, error), query string, args ...any) ([]T, error) {
	found, err := database.All(ctx, s.db.Reader(), scan, fmt.Sprintf(query, ""), args...)
	if !database.Answered(err) {
		return found, err
	}
	var mu sync.Mutex
	ofOne := fmt.Sprintf(query, fmt.Sprintf("WHERE account_id = $%d", len(args)+1))
	s.apart(ctx, func(ctx context.Context, accountID feedback.ID) {
		part, failed := database.All(ctx, s.db.Reader(), scan, ofOne, append(slices.Clip(args), accountID)...)
		if failed == nil {
			mu.Lock()
			defer mu.Unlock()
			found = append(found, part...)
		}
	})
	return found, err
}

// apart calls fn for some accounts, accountsAtOnce at the same time, until apartTime is over.
func (s *Store) apart(ctx context.Context, fn func(context.Context, feedback.ID)) {
	ctx, cancel := context.WithTimeout(ctx, apartTime)
	defer cancel()
	var all errgroup.Group
	all.SetLimit(accountsAtOnce)
	for _, accountID := range s.someAccounts() {
		all.Go(func() error {
			if ctx.Err() == nil {
				fn(ctx, accountID)
			}
			return nil
		})
	}
	_ = all.Wait() // fn returns no error
}

// work is work in the background.
type work interface{ Item() aside.Item }

// forSome calls do for the first results of a query, as ofAll runs it, and reports whether any succeeded. What
// fails is set aside, so that it does not stay among the first.
func forSome[W work](
	ctx context.Context, s *Store, kind aside.Kind, most int, do func(W) error,
	scan func(database.Row) (W, error), query string, args ...any,
) (more bool, _ error) {
	waiting, err := s.SetAside.Waiting(ctx, kind)
	failed := sweep.Errors{}
	failed.Add(err)
	found, err := ofAll(ctx, s, scan, fmt.Sprintf("%s LIMIT %d", query, most+len(waiting)), args...)
	failed.Add(err)
	for _, one := range found {
		if item := one.Item(); !waiting[item] {
			again, err := s.SetAside.Try(ctx, item, func() error { return do(one) })
			failed.Add(err)
			more = more || err == nil && again == 0
		}
	}
	return more, failed.Err()
}
