package api

import (
	"net/http"
	"strings"
	"time"

	"gatherkit/internal/headers"
)

// The cookie with the refresh token.
const (
	cookiePath = "/api/auth-refresh"
	cookieName = "gatherkit_refresh"
	cookieLife = 30 * 24 * time.Hour
)

// clientOf returns the client that sent the call.
func (a *API) clientOf(r *http.Request) *client {
	return &client{
		from:   a.proxies.From(r),
		origin: r.Header.Get("Origin"),
		agent:  headers.Agent(r),
		cookie: r.Header.Get("X-Token-Transport") == "cookie",
	}
}

// cookie returns a cookie that browsers send only to a path of the service. They keep it until they are
// closed if life is 0. If value is empty, the cookie is removed.
func (a *API) cookie(name, path, value string, life time.Duration) *http.Cookie {
	prefix, secure, maxAge := "", true, int(life.Seconds())
	if a.PublicURL != nil {
		prefix, secure = strings.TrimSuffix(a.PublicURL.Path, "/"), a.PublicURL.Scheme != "http"
	}
	if value == "" {
		maxAge = -1
	}
	return &http.Cookie{ //nolint:gosec // Secure unless the operator's public URL is plain http
		Name: name, Value: value, Path: prefix + path, MaxAge: maxAge, HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: secure,
	}
}
