package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"

	"gatherkit/internal/feedback"
	"gatherkit/internal/store"
)

// storedKey is the form in which the store knows an idempotency key. The API key is public,
// so a page of a stranger could take predictable keys of the app's backend. Keys of pages
// are therefore kept apart from all others: with the prefix they are longer than any key
// that can be sent. Random UUIDs, which the widget uses, cannot be guessed and stay as they
// are, so that versions before find them, too.
func storedKey(origin, key string) string {
	id, err := feedback.ParseID(key)
	if key == "" || origin == "" || err == nil && id[6]>>4 == 4 {
		return key
	}
	sum := sha256.Sum256([]byte(key))
	return "page:" + hex.EncodeToString(sum[:])
}

// submittedBefore looks for the submission that the key of sub, which was sent as key, has
// stored. It returns false when there is none, and ErrIdempotencyMismatch when its content
// was another.
func (a *API) submittedBefore(ctx context.Context, sub store.Submission, key string) (feedback.Request, bool, error) {
	first, found, err := a.Store.Submitted(ctx, sub)
	if err != nil || found || sub.IdempotencyKey == key {
		return first, found, err
	}
	// Versions before stored the keys of pages as they were sent. A key with other content
	// may be somebody else's.
	sub.IdempotencyKey = key
	if first, found, err = a.Store.Submitted(ctx, sub); errors.Is(err, feedback.ErrIdempotencyMismatch) {
		return first, false, nil
	}
	return first, found, err
}
