package api

import (
	"context"

	"gatherkit/internal/calls"
	"gatherkit/internal/fair"
	"gatherkit/internal/limits"
)

// personBytes is the maximum size of a voter, a user or a tag in a page.
const personBytes = 4 << 10

// holdPage waits for the memory for a page, and holds it until the answer is sent. The size
// of a page is known only after reading it, so holdPage acquires the maximum beforehand. This
// limits the memory, and calls that wait hold neither a database connection nor their place to read.
func (a *API) holdPage(ctx context.Context, c caller, rows int, maxRowBytes int64) error {
	return hold(ctx, c.client, a.pages.Of(limits.Holder{Account: c.Account.ID, Session: c.ID}), rows, maxRowBytes)
}

// hold is holdPage for any client, with claims on other memory.
func hold(ctx context.Context, c *client, claims fair.Claims, rows int, maxRowBytes int64) error {
	m := calls.Memory{Claims: claims, Bytes: int64(rows) * maxRowBytes}
	if err := m.Claims.Acquire(ctx, m.Bytes); err != nil {
		return err
	}
	c.Memory = m
	return nil
}
