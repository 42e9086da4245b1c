package feedback

import "time"

// What the log knows of identity secrets.
const (
	IdentityMade    ChangeKind = "app.identity_secret_created"
	IdentityRotated ChangeKind = "app.identity_secret_rotated"
)

// keepPrevious is how long a secret is good for after it was rotated: time to put the
// new one into every backend.
const keepPrevious = 24 * time.Hour

// IdentitySecret is what an app's customer signs identity tokens with, in its own
// backend. The zero one is that of an app that has none yet.
type IdentitySecret struct {
	Secret             string `json:"secret" doc:"Begins with gis_; the whole text is the key."`
	PreviousValidUntil *Time  `json:"previous_valid_until" format:"date-time" doc:"Until when tokens are good that were signed with the secret before; null when none is."`

	// Previous is the secret before, as long as it is good.
	Previous *string `json:"-"`
}

// At is the secret as it is at a time: the one before is forgotten when its time is over.
func (s IdentitySecret) At(now time.Time) IdentitySecret {
	if s.PreviousValidUntil == nil || At(now) >= *s.PreviousValidUntil {
		s.Previous, s.PreviousValidUntil = nil, nil
	}
	return s
}

// Rotated is the secret after another one has taken its place. There is one secret
// before: when that is still good, it ends now.
func (s IdentitySecret) Rotated(next string, now time.Time) IdentitySecret {
	if s.Secret == "" {
		return IdentitySecret{Secret: next}
	}
	return IdentitySecret{Secret: next, Previous: &s.Secret, PreviousValidUntil: new(At(now.Add(keepPrevious)))}
}

// Keys are the secrets that are good at a time, the present one first.
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
