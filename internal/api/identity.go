package api

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/golang-jwt/jwt/v5"

	"gatherkit/internal/feedback"
	"gatherkit/internal/params"
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

const (
	maxIdentityToken = 4 << 10 // bytes
	identityLeeway   = 30 * time.Second
	maxIdentityLife  = 24 * time.Hour
	maxExternalID    = 200 // characters, as in parameters that are sent without a token
	maxPersonName    = 200
	maxPersonEmail   = 254
)

// identify returns the person that an identity token identifies. It returns
// ErrIdentityExpired or ErrInvalidIdentityToken if the token is not valid.
func (a *API) identify(ctx context.Context, app feedback.App, token string) (*feedback.Person, error) {
	if len(token) > maxIdentityToken {
		return nil, feedback.ErrInvalidIdentityToken.With("The identity token may be at most 4 KiB.")
	}
	secret, err := a.Store.IdentitySecret(ctx, app.AccountID, app.ID)
	if err != nil {
		return nil, err
	}
	now := a.Now()
	person, err := verifyIdentity(token, app.ID, secret.Keys(now), now)
	if err != nil {
		return nil, err
	}
	return &person, nil
}

// verifyIdentity verifies a token that must be signed with one of the secrets.
func verifyIdentity(token string, appID feedback.ID, secrets []string, now time.Time) (feedback.Person, error) {
	claims := jwt.MapClaims{} // decoding into a struct would accept "SUB" as "sub"
	parser := jwt.NewParser(
		jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}), jwt.WithStrictDecoding(),
		jwt.WithExpirationRequired(), jwt.WithLeeway(identityLeeway), jwt.WithTimeFunc(func() time.Time { return now }),
	)
	_, err := parser.ParseWithClaims(token, claims, func(t *jwt.Token) (any, error) {
		if _, ok := t.Header["crit"]; ok { // an extension that must be understood (RFC 7515, 4.1.11)
			return nil, feedback.ErrInvalidIdentityToken
		}
		var keys jwt.VerificationKeySet
		for _, secret := range secrets {
			keys.Keys = append(keys.Keys, []byte(secret))
		}
		return keys, nil
	})
	// Expiry is reported only if everything else about the token is valid, because clients
	// then request a new token.
	invalid := feedback.ErrInvalidIdentityToken
	switch {
	case errors.Is(err, jwt.ErrTokenNotValidYet):
		return feedback.Person{}, invalid.With("The identity token is not valid yet according to its claim nbf; check the clock of your backend.")
	case errors.Is(err, jwt.ErrTokenRequiredClaimMissing):
		return feedback.Person{}, invalid.With("The identity token needs the claim exp, the time when it expires in seconds since 1970.")
	case err != nil && !errors.Is(err, jwt.ErrTokenExpired):
		return feedback.Person{}, invalid
	}
	// Of two claims with the same name, another parser could use the other one.
	for _, segment := range strings.Split(token, ".")[:2] {
		text, err := parser.DecodeSegment(segment)
		if err != nil {
			return feedback.Person{}, invalid
		}
		if !params.IsStrictJSON(text) {
			return feedback.Person{}, invalid.With("The identity token's header and claims must be JSON objects in UTF-8 without duplicate names.")
		}
	}
	latest := now.Add(maxIdentityLife + identityLeeway)
	if expires, _ := claims["exp"].(float64); expires > float64(latest.Unix()) {
		return feedback.Person{}, invalid.With("The identity token's claim exp must be at most a day ahead, in seconds since 1970.")
	}
	person, e := personFromClaims(claims, appID)
	switch {
	case e != nil:
		return feedback.Person{}, e
	case err != nil:
		return feedback.Person{}, feedback.ErrIdentityExpired
	}
	return person, nil
}

// personFromClaims returns the person that the claims of a token describe.
func personFromClaims(claims jwt.MapClaims, appID feedback.ID) (feedback.Person, *feedback.Error) {
	invalid := feedback.ErrInvalidIdentityToken
	if _, ok := claims["aud"]; ok {
		if audience, err := claims.GetAudience(); err != nil || !slices.Contains(audience, appID.String()) {
			return feedback.Person{}, invalid.With("The identity token is for another app: its claim aud must include the app's id, or be omitted.")
		}
	}
	p := feedback.Person{Verified: true}
	for _, claim := range []struct {
		name string
		most int
		into **string
	}{{"sub", maxExternalID, &p.ExternalID}, {"name", maxPersonName, &p.Name}, {"email", maxPersonEmail, &p.Email}} {
		value := claims[claim.name]
		text, isText := value.(string)
		if claim.into == &p.Name { // not refused, because the submitter cannot correct it
			text = strings.TrimSpace(feedback.ToSingleLine(text))
		}
		if !feedback.SingleLine(text) {
			return p, invalid.With("The identity token's claim %s must be a single line "+
				"without control characters or characters that change the direction of text.", claim.name)
		}
		text, ok := params.CleanText(text, false)
		if !ok || value != nil && !isText || utf8.RuneCountInString(text) > claim.most {
			return p, invalid.With("The identity token's claim %s must be text of at most %d characters.", claim.name, claim.most)
		}
		*claim.into = orNil(text)
	}
	switch {
	case p.ExternalID == nil:
		return p, invalid.With("The identity token needs the claim sub, the person's id in your product, as text.")
	case p.Email != nil && !feedback.ValidEmail(*p.Email):
		return p, invalid.With("The identity token's claim email must be an e-mail address such as ada@example.com.")
	}
	return p, nil
}
