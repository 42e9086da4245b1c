package api

import (
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/rs/cors"

	"gatherkit/internal/fair"
	"gatherkit/internal/feedback"
)

// The cookie with the refresh token.
const (
	cookiePath = "/api/auth-refresh"
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

// clientOf returns the client that sent the call.
func (a *API) clientOf(r *http.Request) *client {
	peer, _ := netip.ParseAddrPort(r.RemoteAddr) // on error, the zero address, which counts as one client
	address := peer.Addr().Unmap().WithZone("")
	forwarded := r.Header.Values("X-Forwarded-For")
	from := fair.Caller(fair.Address(address, forwarded, a.TrustedProxies))
	if (len(forwarded) > 0 || r.Header.Get("Forwarded") != "" || r.Header.Get("X-Real-IP") != "") && !fair.Within(address, a.TrustedProxies) {
		a.warnOfProxy(address)
		if address.IsLoopback() {
			from = netip.Prefix{} // the forwarded client may not be on this machine, so it is not exempt
		}
	}
	return &client{
		from:   from,
		origin: r.Header.Get("Origin"),
		agent:  agentOf(r),
		cookie: r.Header.Get("X-Token-Transport") == "cookie",
	}
}

// warnOfProxy logs a warning that a proxy may be missing in --trusted-proxies, once for each
// kind of address. A client on the internet that sends forwarding headers must not use up
// the warning about the operator's own proxy.
func (a *API) warnOfProxy(address netip.Addr) {
	once := &a.warned.others
	switch {
	case address.IsLoopback():
		once = &a.warned.loopback
	case address.IsPrivate():
		once = &a.warned.private
	}
	once.Do(func() {
		a.Log.Warn("ignoring forwarding headers from an untrusted peer, so all calls through it count as one address; "+
			"if it is your proxy, start with --trusted-proxies="+address.String(), "peer", address.String())
	})
}

// agentOf returns the first characters of the User-Agent header, as text that both databases
// can store.
func agentOf(r *http.Request) string {
	const most = 200
	name := []rune(feedback.ToSingleLine(strings.ToValidUTF8(r.UserAgent(), "\uFFFD")))
	return string(name[:min(len(name), most)])
}

// newCORS allows pages of any origin to make calls with an API key.
func newCORS() *cors.Cors {
	return cors.New(cors.Options{
		AllowOriginFunc: func(string) bool { return true }, // allowed_origins is enforced on the call, which carries the key
		AllowedMethods:  []string{http.MethodPost, http.MethodPut, http.MethodGet},
		AllowedHeaders:  []string{"Content-Type", "X-API-Key"},
		ExposedHeaders:  []string{"Retry-After", "X-Request-Id"},
		MaxAge:          24 * 60 * 60,
	})
}

// isPreflight reports whether r is a CORS preflight.
func isPreflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != ""
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
