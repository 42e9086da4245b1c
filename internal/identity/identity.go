// Package identity verifies the tokens with which customers' backends say who a visitor is: JWTs that are
// signed with the app's identity secret (RFC 7519).
package identity

import (
	"errors"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/golang-jwt/jwt/v5"

	"gatherkit/internal/feedback"
	"gatherkit/internal/params"
)

const (
	// MaxToken is how many bytes a token may have.
	MaxToken = 4 << 10

	leeway        = 30 * time.Second
	maxLife       = 24 * time.Hour
	maxExternalID = 200 // characters, as in parameters that are sent without a token
	maxName       = 200
	maxEmail      = 254
)

// Verify returns the person that a token identifies, which must be signed with one of the secrets. It
// returns ErrIdentityExpired or ErrInvalidIdentityToken. Callers check MaxToken before.
func Verify(token string, appID feedback.ID, secrets []string, now time.Time) (feedback.Person, error) {
	claims := jwt.MapClaims{} // decoding into a struct would accept "SUB" as "sub"
	parser := jwt.NewParser(
		jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}), jwt.WithStrictDecoding(),
		jwt.WithExpirationRequired(), jwt.WithLeeway(leeway), jwt.WithTimeFunc(func() time.Time { return now }),
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
	// If two claims have the same name, another parser could use the other one.
	for _, segment := range strings.Split(token, ".")[:2] {
		text, err := parser.DecodeSegment(segment)
		if err != nil {
			return feedback.Person{}, invalid
		}
		if !params.IsStrictJSON(text) {
			return feedback.Person{}, invalid.With("The identity token's header and claims must be JSON objects in UTF-8 without duplicate names.")
		}
	}
	latest := now.Add(maxLife + leeway)
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
	}{{"sub", maxExternalID, &p.ExternalID}, {"name", maxName, &p.Name}, {"email", maxEmail, &p.Email}} {
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
		if text != "" {
			*claim.into = &text
		}
	}
	switch {
	case p.ExternalID == nil:
		return p, invalid.With("The identity token needs the claim sub, the person's id in your product, as text.")
	case p.Email != nil && !feedback.ValidEmail(*p.Email):
		return p, invalid.With("The identity token's claim email must be an e-mail address such as ada@example.com.")
	}
	return p, nil
}
