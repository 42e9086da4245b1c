package feedback

import "time"

// The kinds of changes of identity secrets in the log.
const (
	IdentityMade    ChangeKind = "app.identity_secret_created"
	IdentityRotated ChangeKind = "app.identity_secret_rotated"
)

// keepPrevious is how long a secret stays valid after it is replaced, so that customers
// can deploy the new one to all of their backends.
const keepPrevious = 24 * time.Hour

// IdentitySecret is the key with which a customer's backend signs the identity tokens of
// an app. It is the zero value if the app has none yet.
type IdentitySecret struct {
	Secret             string `json:"secret" doc:"Begins with gis_; the whole text is the key."`
	PreviousValidUntil *Time  `json:"previous_valid_until" format:"date-time" doc:"Until when the previous secret is valid; null if it is not."`

	// Previous is the previous secret while it is valid, and nil otherwise.
	Previous *string `json:"-"`
}

// At returns the secret without the previous one if that has expired at now.
func (s IdentitySecret) At(now time.Time) IdentitySecret {
	if s.PreviousValidUntil == nil || At(now) >= *s.PreviousValidUntil {
		s.Previous, s.PreviousValidUntil = nil, nil
	}
	return s
}

// Rotated returns the secret after it is replaced by next. The current secret becomes the
// previous one, and the one before that stops being valid at once.
func (s IdentitySecret) Rotated(next string, now time.Time) IdentitySecret {
	if s.Secret == "" {
		return IdentitySecret{Secret: next}
	}
	return IdentitySecret{Secret: next, Previous: &s.Secret, PreviousValidUntil: new(At(now.Add(keepPrevious)))}
}

// Keys returns the secrets that are valid at now, starting with the current one.
func (s IdentitySecret) Keys(now time.Time) []string {
	var keys []string
	if s.Secret != "" {
		keys = append(keys, s.Secret)
	}
	if s = s.At(now); s.Previous != nil {
		keys = append(keys, *s.Previous)
	}
	return keys
}
