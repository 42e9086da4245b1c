package api

import (
	"net/http"
	"net/netip"
	"strings"
	"time"
)

const (
	cookieName = "gatherkit_refresh"
	cookieLife = 30 * 24 * time.Hour
)

func bearerToken(r *http.Request) string {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// clientOf is who is at the other end of the connection.
func (a *API) clientOf(r *http.Request) *client {
	peer, _ := netip.ParseAddrPort(r.RemoteAddr) // the zero address counts as one client
	forwarded := r.Header.Values("X-Forwarded-For")
	if (len(forwarded) > 0 || r.Header.Get("Forwarded") != "" || r.Header.Get("X-Real-IP") != "") && !within(peer.Addr().Unmap(), a.TrustedProxies) {
		a.warned.Do(func() {
			a.Log.Warn("forwarding headers from a peer that is not a trusted proxy are ignored; if it is your proxy, name it in --trusted-proxies", "peer", peer.Addr().String())
		})
	}
	return &client{
		from:   subjectOf(addressOf(peer.Addr(), forwarded, a.TrustedProxies)),
		origin: r.Header.Get("Origin"),
		agent:  agentOf(r),
		cookie: r.Header.Get("X-Token-Transport") == "cookie",
	}
}

// agentOf is the beginning of what the program calls itself, as the databases take it.
func agentOf(r *http.Request) string {
	const most = 200
	name := []rune(strings.ToValidUTF8(r.UserAgent(), "\uFFFD"))
	return string(name[:min(len(name), most)])
}

// isPreflight reports whether a browser asks whether it may make a call.
func isPreflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != ""
}

// refreshCookie carries a refresh token to the one operation that takes it; an
// empty one removes the cookie.
func (a *API) refreshCookie(token string) *http.Cookie {
	path, secure := "", true
	if a.PublicURL != nil {
		path, secure = strings.TrimSuffix(a.PublicURL.Path, "/"), a.PublicURL.Scheme != "http"
	}
	cookie := &http.Cookie{ //nolint:gosec // Secure unless the operator says that the service is reached by plain http
		Name: cookieName, Value: token, Path: path + "/api/auth-refresh", MaxAge: int(cookieLife.Seconds()),
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: secure,
	}
	if token == "" {
		cookie.MaxAge = -1
	}
	return cookie
}
