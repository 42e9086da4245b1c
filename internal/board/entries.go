package board

import (
	"context"

	"gatherkit/internal/entries"
	"gatherkit/internal/feedback"
)

// Entries returns up to limit entries of the changelog, the latest first, before a place, or from the latest on if it
// is nil.
func (v *View) Entries(ctx context.Context, before *entries.Place, limit int) ([]entries.PublicEntry, error) {
	list, err := entries.Published(ctx, v.q, v.App.AccountID, v.App.ID, before, limit)
	if err != nil {
		return nil, err
	}
	return list, entries.AddPublicRequests(ctx, v.q, v.App, list)
}

// Entry returns an entry of the changelog, or ErrEntryNotFound.
func (v *View) Entry(ctx context.Context, id feedback.ID) (entries.PublicEntry, error) {
	e, err := entries.PublishedOne(ctx, v.q, v.App.AccountID, v.App.ID, id)
	if err != nil {
		return e, err
	}
	list := []entries.PublicEntry{e}
	err = entries.AddPublicRequests(ctx, v.q, v.App, list)
	return list[0], err
}

// HasEntries reports whether the changelog has an entry.
func (v *View) HasEntries(ctx context.Context) (bool, error) {
	latest, err := entries.Latest(ctx, v.q, v.App.AccountID, v.App.ID)
	return latest != nil, err
}
