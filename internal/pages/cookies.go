package pages

import (
	"crypto/rand"
	"encoding/hex"
	"net/http"
	"time"

	"gatherkit/internal/feedback"
	"gatherkit/internal/signed"
)

// The cookies of a portal. A browser gets none by reading.
const (
	sessionCookie = "gatherkit_session"
	linkCookie    = "gatherkit_link"
	// voterCookie has a secret like those of the widget (feedback.Reader) and the id of the app, with a signature:
	// without it, a program could make up voters that do not count as new ones, or get them from another portal.
	voterCookie = "gatherkit_voter"
	// sentCookie has what the visitor has just sent, so that the next page thanks for it, once. In the address, it would
	// thank all who open that.
	sentCookie = "gatherkit_sent"
)

const (
	voterLife   = 400 * 24 * time.Hour // the longest that browsers keep a cookie
	secretBytes = feedback.MaxReader / 2
	timeBytes   = 6 // with which ids and secrets begin
	sentLife    = time.Minute
)

// What a visitor has sent. It is followed by the id of the idea whose page thanks for it.
const (
	commentSent = "comment-sent-"
	commentHeld = "comment-held-"
	ideaSent    = "idea-sent-"
	ideaHeld    = "idea-held-" // the page of the visitor's ideas thanks for it
)

func (v *visit) readCookies() {
	value := func(name string) string {
		cookie, err := v.R.Cookie(name)
		if err != nil {
			return ""
		}
		return cookie.Value
	}
	v.who.Session, v.who.Link, v.sent = value(sessionCookie), value(linkCookie), value(sentCookie)
	// A secret that the service has not signed counts as none.
	if raw, ok := signed.Payload(v.pages.Key, value(voterCookie)); ok && len(raw) == secretBytes+len(v.who.App) {
		v.who.Secret, v.who.App = hex.EncodeToString(raw[:secretBytes]), feedback.ID(raw[secretBytes:])
	}
}

// newSecret draws a secret for a browser that has none. It begins with the time as those of the widget.
func (v *visit) newSecret() {
	var raw [secretBytes]byte
	_, _ = rand.Read(raw[:]) // never fails
	id := feedback.FirstIDAt(v.pages.Now())
	copy(raw[:timeBytes], id[:])
	v.view.Secret = hex.EncodeToString(raw[:])
	// The page that says why something was refused reads the portal again.
	v.who.Secret, v.who.App = v.view.Secret, v.view.App.ID
}

// keepSecret makes the browser keep the new secret.
func (v *visit) keepSecret() {
	raw, _ := hex.DecodeString(v.who.Secret) // newSecret has encoded it
	v.setCookie(voterCookie, signed.Text(v.pages.Key, append(raw, v.who.App[:]...)), voterLife)
}

// keepThanks makes the browser keep what the visitor has sent.
func (v *visit) keepThanks(what string, id feedback.ID) {
	v.setCookie(sentCookie, what+id.String(), sentLife)
}

// thanks reports whether the page thanks for something that the visitor has just sent. No other page does it again.
func (v *visit) thanks(what string, id feedback.ID) bool {
	if v.sent != what+id.String() {
		return false
	}
	v.setCookie(sentCookie, "", 0)
	return true
}

// setCookie sets a cookie for the pages of this portal. They are also sent when a link of another site leads here,
// because people are signed in by such links, and in frames, where the settings allow these.
func (v *visit) setCookie(name, value string, life time.Duration) {
	cookie := &http.Cookie{ //nolint:gosec // Secure unless the operator's public URL is plain http
		Name: name, Value: value, Path: v.home, MaxAge: int(life.Seconds()), HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: v.Secure(),
	}
	if value == "" {
		cookie.MaxAge = -1
	}
	if v.Secure() && v.view != nil && len(v.view.App.Settings.Portal.FrameAncestors) > 0 {
		cookie.SameSite, cookie.Partitioned = http.SameSiteNoneMode, true
	}
	http.SetCookie(v.W, cookie)
}
