package machine

import (
	"strings"
	"time"

	"gatherkit/internal/feedback"
)

// What the model answers to the set-up, to logins, and to calls about the caller's own account.

func (m *model) setUp(_ who, in, got object) (string, object) {
	switch {
	case len(m.users) > 0:
		return "setup.already_done", nil
	case in["token"] != setupToken:
		return "setup.invalid_token", nil
	case !strings.Contains(in["email"].(string), "@"):
		return "setup.invalid_email", nil
	case len(in["password"].(string)) < 10:
		return "setup.invalid_password", nil
	}
	u := m.userAdded(m.fresh(got, "id", "account", "id"), in["account_name"].(string), "user", user{
		id: m.fresh(got, "id", "user", "id"), email: in["email"].(string), name: in["name"].(string),
		role: feedback.RoleOwner, password: in["password"].(string),
	})
	return m.opened(u, got)
}

// opened opens a session and returns the answer to a login.
func (m *model) opened(u *user, got object) (string, object) {
	s := &session{user: u, opened: m.now()}
	access, refresh := m.fresh(got, "access", "access_token"), m.fresh(got, "refresh", "refresh_token")
	m.issue(s, access, refresh)
	return "ok", object{"user": u.shown(), "account": u.account.shown(), "access_token": access, "refresh_token": refresh}
}

func (m *model) logIn(_ who, in, got object) (string, object) {
	u, refusal := m.checkPassword(in["email"].(string), in["password"].(string))
	if u == nil {
		return refusal, nil
	}
	m.endSurplus(u)
	return m.opened(u, got)
}

func (m *model) refresh(w who, in, got object) (string, object) {
	presented, _ := in["refresh_token"].(string)
	if presented == "" {
		presented = w.bearer
	}
	const refused = "auth.invalid_refresh_token"
	t := m.token(presented)
	if t == nil || !t.refreshes() || !t.valid(m.now()) {
		return refused, nil
	}
	if t.next == "" {
		t.spent, t.next = m.now(), m.fresh(got, "refresh", "refresh_token")
		m.issue(t.session, t.next)
	} else if next := m.token(t.next); next.next != "" && !next.swept {
		t.ended = true
		return refused, nil
	} else if next.swept || m.now().Sub(t.spent) > 20*time.Second {
		return refused, nil
	}
	access := m.fresh(got, "access", "access_token")
	m.issue(t.session, access)
	return "ok", object{"access_token": access, "refresh_token": t.next}
}

func (m *model) logOut(w who, _, _ object) (string, object) {
	w.ended = true
	return "ok", object{"logged_out": true}
}

func (m *model) me(w who, _, _ object) (string, object) {
	return "ok", object{"user": w.shown(), "account": w.account.shown(), "role": w.role, "mail": false}
}

func (m *model) changePassword(w who, in, _ object) (string, object) {
	if n := len(in["new_password"].(string)); n < 10 || n > 1024 {
		return "auth.invalid_new_password", nil
	}
	if _, refusal := m.checkPassword(w.email, in["current_password"].(string)); refusal != "" {
		return refusal, nil
	}
	w.password = in["new_password"].(string)
	m.endLinks(w.user)
	for _, t := range m.tokens {
		t.ended = t.ended || t.user == w.user && t.session != w.session
	}
	m.record(w.account, "user.password_changed", "user", w.id, "", "")
	return "ok", object{"changed": true}
}

// failed counts a failed login.
func (m *model) failed(email string) {
	for _, subject := range []string{"", email} {
		f := m.failures[subject]
		if f == nil || !m.now().Before(f.resets) {
			f = &countdown{resets: m.now().Add(15 * time.Minute)}
			m.failures[subject] = f
		}
		f.n++
	}
}

// blocked reports whether too many logins have failed.
func (m *model) blocked(email string) bool {
	full := func(subject string, limit int) bool {
		f := m.failures[subject]
		return f != nil && f.n >= limit && m.now().Before(f.resets)
	}
	return full("", 100) || full(email, 10)
}

// userOf returns the user who logs in with an e-mail.
func (m *model) userOf(email string) *user {
	return find(m.users, func(u *user) bool { return strings.EqualFold(u.email, email) && !u.gone && u.password != "" })
}

// checkPassword returns the user, or the error code.
func (m *model) checkPassword(email, password string) (*user, string) {
	email = strings.ToLower(email)
	if m.blocked(email) {
		return nil, "auth.too_many_attempts"
	}
	u := m.userOf(email)
	if u == nil || u.password != password {
		m.failed(email)
		return nil, "auth.invalid_credentials"
	}
	return u, ""
}

// issue adds tokens that the service has just created to a session.
func (m *model) issue(s *session, texts ...string) {
	s.used = m.now()
	for _, text := range texts {
		t := &token{session: s, text: text, expires: m.now().Add(15 * time.Minute)}
		if t.refreshes() {
			t.expires = m.now().Add(30 * 24 * time.Hour)
			if last := s.opened.Add(90 * 24 * time.Hour); t.expires.After(last) {
				t.expires = last
			}
		}
		m.tokens = append(m.tokens, t)
	}
}
