package api

import (
	"context"

	"gatherkit/internal/feedback"
	"gatherkit/internal/identity"
)

type appsIdentitySecretParams struct {
	ID     feedback.ID `json:"id" format:"uuid" doc:"The app."`
	Rotate bool        `json:"rotate,omitempty" doc:"Create a new secret. The current one stays valid for 24 hours."`
}

// appsIdentitySecret creates the secret at the first call.
func (a *API) appsIdentitySecret(ctx context.Context, c caller, in appsIdentitySecretParams) (feedback.IdentitySecret, error) {
	secret, err := a.Store.MakeIdentitySecret(ctx, c.Account.ID, in.ID, c.actor(), in.Rotate)
	return secret.At(a.Now()), err
}

// identify returns the person that an identity token identifies. It returns
// ErrIdentityExpired or ErrInvalidIdentityToken if the token is not valid.
func (a *API) identify(ctx context.Context, app feedback.App, token string) (*feedback.Person, error) {
	if len(token) > identity.MaxToken {
		return nil, feedback.ErrInvalidIdentityToken.With("The identity token may be at most 4 KiB.")
	}
	secret, err := a.Store.IdentitySecret(ctx, app.AccountID, app.ID)
	if err != nil {
		return nil, err
	}
	now := a.Now()
	person, err := identity.Verify(token, app.ID, secret.Keys(now), now)
	if err != nil {
		return nil, err
	}
	return &person, nil
}
