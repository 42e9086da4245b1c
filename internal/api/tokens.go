package api

import (
	"cmp"
	"context"
	"time"

	"gatherkit/internal/feedback"
	"gatherkit/internal/limits"
	"gatherkit/internal/sessions"
	"gatherkit/internal/tokens"
)

const (
	tokenLife     = 90 * 24 * time.Hour // unless the caller chooses another
	tokenLifeMost = 366 * 24 * time.Hour
)

// programOf returns the caller with a token for programs. It returns ErrForbidden for operations that are
// only for users, or only for those who are logged in.
func (a *API) programOf(ctx context.Context, c *call, secret string) (caller, error) {
	grant, err := a.Store.Tokens.Find(ctx, secret)
	if err != nil {
		return caller{}, err
	}
	c.Client.Account = grant.Account.ID
	c.Note("token", grant.ID)
	if err := a.rates.Tokens.Allow(limits.Holder{Account: grant.Account.ID, Session: grant.ID}, 1, a.Now()); err != nil {
		return caller{}, err
	}
	switch {
	case c.op.callers == onlySessions:
		return caller{}, feedback.ErrForbidden.With("Tokens cannot call this operation; log in.")
	case c.op.callers == onlyUsers && grant.Kind == tokens.Service:
		return caller{}, feedback.ErrForbidden.With("Service tokens cannot call this operation; use a token of a user.")
	case !grant.Role.Allows(c.op.role):
		return caller{}, feedback.ErrForbidden.With(
			"This operation needs the role %s or above; this token has the role %s.", c.op.role, grant.Role)
	}
	if err := a.Store.Tokens.Use(ctx, grant); err != nil {
		a.Log.Warn("cannot store when a token was used", c.Logged("error", err)...)
	}
	user := grant.User
	if grant.Kind == tokens.Service {
		user = feedback.User{ID: grant.ID, Name: grant.Name}
	}
	return caller{
		client: c.client, token: &grant.Token,
		Session: sessions.Session{ID: grant.ID, Account: grant.Account, User: user, Role: grant.Role},
	}, nil
}

type tokensListResult struct {
	Tokens []tokens.Token `json:"tokens" doc:"Those that are not revoked, the newest first: your own, or for admins all of the account."`
}

func (a *API) tokensList(ctx context.Context, c caller, _ none) (tokensListResult, error) {
	user := &c.User.ID
	if c.Role.Allows(feedback.RoleAdmin) {
		user = nil
	}
	list, err := a.Store.Tokens.List(ctx, c.Account.ID, user)
	return tokensListResult{list}, err
}

type tokensCreateParams struct {
	Name      string         `json:"name" minLength:"1" maxLength:"60"`
	Kind      tokens.Kind    `json:"kind,omitempty" enum:"personal,service" doc:"personal by default. Only admins create service tokens."`
	Scope     feedback.Role  `json:"scope" enum:"viewer,member,admin" doc:"Its role, at most your own."`
	AppID     *feedback.ID   `json:"app_id,omitempty" format:"uuid" doc:"Limit it to the requests of this app."`
	ExpiresAt *feedback.Time `json:"expires_at,omitempty" format:"date-time" doc:"In at most a year; in 90 days by default."`
}

type tokensCreateResult struct {
	Token  tokens.Token `json:"token"`
	Secret string       `json:"secret" doc:"Send it as the access token. The service does not show it again."`
}

func (a *API) tokensCreate(ctx context.Context, c caller, in tokensCreateParams) (tokensCreateResult, error) {
	token := tokens.Token{
		Name: in.Name, Kind: cmp.Or(in.Kind, tokens.Personal), Scope: in.Scope, AppID: in.AppID, ExpiresAt: feedback.At(a.Now().Add(tokenLife)),
	}
	if in.ExpiresAt != nil {
		token.ExpiresAt = *in.ExpiresAt
	}
	switch {
	case token.Kind == tokens.Service && !c.Role.Allows(feedback.RoleAdmin):
		return tokensCreateResult{}, feedback.ErrForbidden.With("Only admins create service tokens; your role is %s.", c.Role)
	case !c.Role.Allows(token.Scope):
		return tokensCreateResult{}, feedback.ErrForbidden.With("The scope %s has more rights than your role, %s.", token.Scope, c.Role)
	case token.ExpiresAt <= feedback.At(a.Now()) || token.ExpiresAt > feedback.At(a.Now().Add(tokenLifeMost)):
		return tokensCreateResult{}, feedback.Invalid("tokens", "expires_at", "expires_at must be in the future, and at most a year from now.")
	}
	if token.Kind == tokens.Personal {
		token.User = &tokens.Holder{ID: c.User.ID, Name: c.User.Name}
	}
	if in.AppID != nil {
		if _, err := a.Store.App(ctx, c.Account.ID, *in.AppID); err != nil {
			return tokensCreateResult{}, err
		}
	}
	if err := a.rates.Made.Allow(limits.Holder{Account: c.Account.ID, Session: c.User.ID}, 1, a.Now()); err != nil {
		return tokensCreateResult{}, err
	}
	token, secret, err := a.Store.Tokens.Add(ctx, c.Account.ID, c.User.ID, token)
	return tokensCreateResult{token, secret}, err
}

type tokenParams struct {
	ID feedback.ID `json:"id" format:"uuid" doc:"One of your tokens; for admins, any of the account."`
}

func (a *API) tokensRevoke(ctx context.Context, c caller, in tokenParams) (revokedResult, error) {
	err := a.Store.Tokens.Revoke(ctx, c.Account.ID, c.User.ID, in.ID, func(t tokens.Token) error {
		if !c.Role.Allows(feedback.RoleAdmin) && (t.User == nil || t.User.ID != c.User.ID) {
			return feedback.ErrTokenNotFound
		}
		return nil
	})
	return revokedResult{err == nil, in.ID}, err
}
