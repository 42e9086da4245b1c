package api

import (
	"context"

	"gatherkit/internal/feedback"
)

// requestsRelease does not change a live request, so that callers can repeat a call.
func (a *API) requestsRelease(ctx context.Context, c caller, in requestParams) (requestResult, error) {
	r, err := a.Store.ChangeRequest(ctx, c.Account.ID, in.ID, c.actor(), func(r *feedback.Request) error {
		if r.Box == feedback.Bin {
			return feedback.ErrRequestNotFound
		}
		r.Box = feedback.Live
		return nil
	})
	return a.requestWithLinks(c, r), err
}

func (a *API) requestsBlock(ctx context.Context, c caller, in requestParams) (deletedResult, error) {
	_, err := a.Store.ChangeRequest(ctx, c.Account.ID, in.ID, c.actor(), func(r *feedback.Request) error {
		switch r.Box {
		case feedback.Bin:
			return feedback.ErrRequestNotFound
		case feedback.Live:
			return feedback.ErrNotQuarantined
		}
		r.Box = feedback.Bin
		return nil
	})
	return deletedResult{err == nil, in.ID}, err
}
