package api

import (
	"context"

	"gatherkit/internal/feedback"
	"gatherkit/internal/sessions"
)

type sessionsListResult struct {
	Sessions []sessionResult `json:"sessions" doc:"The 50 most recently used sessions."`
}

type sessionResult struct {
	feedback.OpenSession
	Current bool `json:"current" doc:"Whether this call uses the session."`
}

func (a *API) sessionsList(ctx context.Context, c caller, _ none) (sessionsListResult, error) {
	list, err := a.Store.Sessions.List(ctx, c.Account.ID, c.User.ID, sessions.Max)
	result := sessionsListResult{make([]sessionResult, 0, len(list))}
	for _, s := range list {
		result.Sessions = append(result.Sessions, sessionResult{s, s.ID == c.ID})
	}
	return result, err
}

type sessionsRevokeParams struct {
	ID feedback.ID `json:"id" format:"uuid" doc:"One of your own sessions."`
}

type revokedResult struct {
	Revoked bool        `json:"revoked"`
	ID      feedback.ID `json:"id" format:"uuid"`
}

func (a *API) sessionsRevoke(ctx context.Context, c caller, in sessionsRevokeParams) (revokedResult, error) {
	if err := a.Store.Sessions.Revoke(ctx, c.Account.ID, c.User.ID, in.ID); err != nil {
		return revokedResult{}, err
	}
	if in.ID == c.ID {
		c.setCookie = new("")
	}
	return revokedResult{true, in.ID}, nil
}
