package machine

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// How the model verifies identity tokens.

// identity is an identity token: claims and the secret that signs them.
type identity struct {
	secret string
	claims object
}

const identityName = "{identity}" // stands for the token in a call

func (m *model) identitySecret(w who, in, got object) (string, object) {
	a := m.app(w.account, in["id"])
	if a == nil {
		return "apps.not_found", nil
	}
	if a.secret == "" || in["rotate"] == true {
		kind := "app.identity_secret_created"
		if a.secret != "" {
			kind = "app.identity_secret_rotated"
			a.before, a.beforeUntil = a.secret, m.now().Add(24*time.Hour)
		}
		a.secret = m.fresh(got, "secret", "secret")
		m.record(a.account, kind, "user", w.id, a.id, "")
	}
	result := object{"secret": a.secret, "previous_valid_until": nil}
	if m.now().Before(a.beforeUntil) {
		result["previous_valid_until"] = a.beforeUntil.Format(timeForm)
	}
	return "ok", result
}

// identified returns the person of the identity token, or nil if no token was sent.
func (m *model) identified(w who, in object) (person object, refusal string) {
	const invalid = "widget.invalid_identity_token"
	switch in["identity_token"] {
	case nil, "":
		return nil, ""
	case identityName:
	default:
		return nil, invalid
	}
	signed, claims := w.identity.secret, w.identity.claims
	if signed == "" || signed != w.app.secret && (signed != w.app.before || !m.now().Before(w.app.beforeUntil)) {
		return nil, invalid
	}
	expires, ends := claims["exp"].(int64)
	sub, isText := claims["sub"].(string)
	sub = strings.TrimSpace(sub)
	email, _ := claims["email"].(string)
	audience, meant := claims["aud"]
	if !ends || !isText || sub == "" || email != "" && !strings.Contains(email, "@") || meant && audience != w.app.id {
		return nil, invalid
	}
	if !m.now().Before(time.Unix(expires, 0).Add(30 * time.Second)) {
		return nil, "widget.identity_expired"
	}
	person = personOf(claims)
	person["verified"], person["external_id"] = true, sub
	return person, ""
}

// origins has the origins to draw from, each with its normal form.
var origins = map[string]string{
	"https://A.example:443": "https://a.example", "https://a.example": "https://a.example", "http://b.example:8080": "http://b.example:8080",
}

// allows reports whether a page of this origin may call the app's operations.
func (a *app) allows(origin string) bool {
	allowed := a.settings["allowed_origins"].([]any)
	return origin == "" || len(allowed) == 0 || slices.Contains(allowed, any(origins[origin]))
}

// identity draws an identity token that is mostly valid.
func (m *machine) identity(c aCall) *identity {
	a := find(m.apps, func(a *app) bool { return a.key == c.who })
	if a == nil {
		a = m.apps[0]
	}
	now := m.now().Unix()
	claims := object{}
	for _, claim := range []struct {
		name      string
		good, odd []any
	}{
		{"sub", []any{"42", "7", " 42"}, []any{"", 42, nil, "  "}},
		{"email", []any{nil, "a@example.com", "A@Example.com"}, []any{"junk"}},
		{"name", []any{nil, "Ann"}, []any{""}},
		{"aud", []any{nil, a.id}, []any{"junk", m.anyOf("{id")}},
		{"exp", []any{now + 3600, now - 29}, []any{now - 31, now - 32, nil}},
	} {
		if v := m.either(claim.name, claim.good, claim.odd); v != nil {
			claims[claim.name] = v
		}
	}
	return &identity{draw(m, "signed with", a.secret, a.secret, a.secret, cmp.Or(a.before, a.secret), m.anyOf("{secret")), claims}
}
