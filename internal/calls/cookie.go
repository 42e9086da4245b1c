package calls

import (
	"net/http"
	"strings"
	"time"
)

// Cookie returns a cookie that browsers send only to a path of the service, and not with calls from pages of
// other sites. They keep it until they are closed if life is 0. If value is empty, the cookie is removed.
func (s *Server) Cookie(name, path, value string, life time.Duration) *http.Cookie {
	maxAge := int(life.Seconds())
	if value == "" {
		maxAge = -1
	}
	return &http.Cookie{ //nolint:gosec // Secure unless the operator's public URL is plain http
		Name: name, Value: value, Path: s.PublicPath() + path, MaxAge: maxAge, HttpOnly: true, SameSite: http.SameSiteStrictMode,
		Secure: s.Secure(),
	}
}

// PublicPath is the path of the service for browsers, without a slash at its end: a proxy may serve it below
// a path.
func (s *Server) PublicPath() string {
	if s.PublicURL == nil {
		return ""
	}
	return strings.TrimSuffix(s.PublicURL.Path, "/")
}

// Secure reports whether browsers reach the service by HTTPS. Without a public URL, only browsers on this
// machine reach it by HTTP, and these send secure cookies to it as well.
func (s *Server) Secure() bool { return s.PublicURL == nil || s.PublicURL.Scheme != "http" }

// AddressOf returns the address of a host that a portal has of its own, with a slash at its end.
func (s *Server) AddressOf(host string) string {
	if s.Secure() {
		return "https://" + host + "/"
	}
	return "http://" + host + "/"
}
