package api

import (
	"context"
	"errors"

	"gatherkit/internal/feedback"
	"gatherkit/internal/store"
)

// findSubmission returns the request that was stored with the idempotency key of sub, and
// whether there is one. key is the key as it was sent. It returns ErrIdempotencyMismatch if
// the request has different content.
func (a *API) findSubmission(ctx context.Context, sub store.Submission, key string) (feedback.Request, bool, error) {
	first, found, err := a.Store.Submitted(ctx, sub)
	if err != nil || found || sub.IdempotencyKey == key {
		return first, found, err
	}
	// Older versions stored the keys of pages unchanged. If the content differs, somebody else
	// may have used the same key.
	sub.IdempotencyKey = key
	if first, found, err = a.Store.Submitted(ctx, sub); errors.Is(err, feedback.ErrIdempotencyMismatch) {
		return first, false, nil
	}
	return first, found, err
}
