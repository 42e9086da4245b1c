package api

import (
	"context"
	"errors"

	"gatherkit/internal/feedback"
	"gatherkit/internal/team"
)

type setupStatusParams struct {
	Token string `json:"token,omitempty" verbatim:"true" doc:"A set-up token to check. It stays valid."`
}

type setupStatusResult struct {
	SetUp      bool `json:"set_up" doc:"Whether the service has users."`
	TokenValid bool `json:"token_valid" doc:"Whether setup-create-owner would accept token."`
}

// setupStatus tells no more about a token than setupCreateOwner. Tokens are too long to be guessed.
func (a *API) setupStatus(ctx context.Context, _ *client, in setupStatusParams) (setupStatusResult, error) {
	known, err := a.Store.Team.KnowsSetupToken(ctx, in.Token)
	if errors.Is(err, feedback.ErrSetupDone) {
		return setupStatusResult{SetUp: true}, nil
	}
	return setupStatusResult{TokenValid: known}, err
}

type setupCreateOwnerParams struct {
	Token       string `json:"token" verbatim:"true" doc:"The set-up token that the service prints at its start while it has no users."`
	AccountName string `json:"account_name" minLength:"1" maxLength:"100"`
	Name        string `json:"name" minLength:"1" maxLength:"100"`
	Email       string `json:"email" minLength:"3" maxLength:"254"`
	Password    string `json:"password" verbatim:"true" maxLength:"1024" doc:"10 to 1,024 bytes."`
}

func (a *API) setupCreateOwner(ctx context.Context, c *client, in setupCreateOwnerParams) (loginResult, error) {
	known, err := a.Store.Team.KnowsSetupToken(ctx, in.Token)
	switch {
	case err != nil:
		return loginResult{}, err
	case !known:
		return loginResult{}, feedback.Invalid("setup", "token", "token must be the set-up token that the service printed at its start.")
	case !feedback.ValidEmail(in.Email):
		return loginResult{}, feedback.Invalid("setup", "email", "email must be an e-mail address such as ada@example.com.")
	}
	if fault := feedback.PasswordFault(in.Password); fault != "" {
		return loginResult{}, feedback.Invalid("setup", "password", "password "+fault+".")
	}
	hash, err := a.Passwords.Hash(ctx, c.asker(in.Email), in.Password)
	if err != nil {
		return loginResult{}, err
	}
	owner := team.NewUser{Email: in.Email, Name: in.Name, Role: feedback.RoleOwner, PasswordHash: hash}
	session, tokens, err := a.Store.Team.SetUp(ctx, in.AccountName, owner, c.Agent)
	if err != nil {
		return loginResult{}, err
	}
	return loginResult{User: session.User, Account: session.Account, TokenPair: c.deliver(tokens)}, nil
}
