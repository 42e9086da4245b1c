package api

import (
	"context"
	"time"

	"gatherkit/internal/feedback"
	"gatherkit/internal/sessions"
)

// The cookie with the refresh token.
const (
	cookiePath = "/api/auth-refresh"
	cookieName = "gatherkit_refresh"
	cookieLife = 30 * 24 * time.Hour
)

// TokenPair are the tokens of a session. The refresh token is empty if the client wants it
// as a cookie.
type TokenPair struct {
	AccessToken  string `json:"access_token" doc:"Bearer token, valid for 15 minutes."`
	RefreshToken string `json:"refresh_token,omitempty" doc:"Valid for 30 days, at most 90 from the login; omitted if sent as a cookie."`
}

// deliver returns the tokens for the answer. It sets the cookie if the client wants one.
func (c *client) deliver(tokens sessions.Tokens) TokenPair {
	if c.cookie {
		c.setCookie = &tokens.Refresh
		return TokenPair{AccessToken: tokens.Access}
	}
	return TokenPair{AccessToken: tokens.Access, RefreshToken: tokens.Refresh}
}

type authLoginParams struct {
	Email    string `json:"email" maxLength:"254" doc:"Case does not matter."`
	Password string `json:"password" verbatim:"true" maxLength:"1024"`
}

type loginResult struct {
	User    feedback.User    `json:"user"`
	Account feedback.Account `json:"account"`
	TokenPair
}

func (a *API) authLogin(ctx context.Context, c *client, in authLoginParams) (loginResult, error) {
	try := c.attempt(in.Email)
	credentials, err := a.checkPassword(ctx, try, in.Password)
	if err != nil {
		return loginResult{}, err
	}
	session, tokens, err := a.Store.Sessions.Open(ctx, credentials, try.subjects, c.Agent)
	if err != nil {
		return loginResult{}, err
	}
	return loginResult{User: session.User, Account: session.Account, TokenPair: c.deliver(tokens)}, nil
}

type authRefreshParams struct {
	RefreshToken string `json:"refresh_token,omitempty" verbatim:"true" doc:"Or send it in Authorization: Bearer or in the cookie."`
}

func (a *API) authRefresh(ctx context.Context, c *client, in authRefreshParams) (TokenPair, error) {
	presented := in.RefreshToken
	if presented == "" {
		presented = c.refresh
	}
	if presented == "" {
		return TokenPair{}, feedback.ErrInvalidRefreshToken.With(
			"Send the refresh token as refresh_token, in the header Authorization: Bearer, or in the cookie.")
	}
	tokens, err := a.Store.Sessions.Refresh(ctx, presented)
	if err != nil {
		return TokenPair{}, err
	}
	return c.deliver(tokens), nil
}

type authLogoutResult struct {
	LoggedOut bool `json:"logged_out"`
}

func (a *API) authLogout(ctx context.Context, c caller, _ none) (authLogoutResult, error) {
	if err := a.Store.Sessions.Close(ctx, c.Account.ID, c.ID); err != nil {
		return authLogoutResult{}, err
	}
	c.setCookie = new("")
	return authLogoutResult{LoggedOut: true}, nil
}

type authMeResult struct {
	User    feedback.User    `json:"user"`
	Account feedback.Account `json:"account"`
	Role    feedback.Role    `json:"role" enum:"viewer,member,admin,owner"`
	Mail    bool             `json:"mail" doc:"Whether the service sends mail."`
}

type authMeParams struct{}

// within allows tokens that are limited to one app to ask who they are.
func (in authMeParams) within(context.Context, onlyApp) (any, error) { return in, nil }

func (a *API) authMe(_ context.Context, c caller, _ authMeParams) (authMeResult, error) {
	return authMeResult{User: c.User, Account: c.Account, Role: c.Role, Mail: a.Mail != nil}, nil
}

type authChangePasswordParams struct {
	CurrentPassword string `json:"current_password" verbatim:"true" maxLength:"1024"`
	NewPassword     string `json:"new_password" verbatim:"true" maxLength:"1024" doc:"10 to 1,024 bytes."`
}

type authChangePasswordResult struct {
	Changed bool `json:"changed"`
}

func (a *API) authChangePassword(ctx context.Context, c caller, in authChangePasswordParams) (authChangePasswordResult, error) {
	if fault := feedback.PasswordFault(in.NewPassword); fault != "" {
		return authChangePasswordResult{}, feedback.Invalid("auth", "new_password", "new_password "+fault+".")
	}
	// The limits of logins apply, so that a stolen access token does not allow guessing the password.
	try := c.attempt(c.User.Email)
	credentials, err := a.checkPassword(ctx, try, in.CurrentPassword)
	if err != nil {
		return authChangePasswordResult{}, err
	}
	hash, err := a.Passwords.Hash(ctx, try.asker, in.NewPassword)
	if err != nil {
		return authChangePasswordResult{}, err
	}
	if err := a.Store.Team.SetPassword(ctx, credentials, hash, c.actor(), c.ID); err != nil {
		return authChangePasswordResult{}, err
	}
	return authChangePasswordResult{Changed: true}, nil
}
