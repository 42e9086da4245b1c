// Package headers reads the headers of calls: who sends them, from where, and with which token.
package headers

import (
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/rs/cors"

	"gatherkit/internal/fair"
	"gatherkit/internal/feedback"
)

// Bearer returns the token of the header Authorization, or "".
func Bearer(r *http.Request) string {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// Proxies find out where a call comes from.
type Proxies struct {
	Trusted []netip.Prefix // whose header X-Forwarded-For counts
	Log     *slog.Logger
	Now     func() time.Time

	warned struct{ loopback, private, others sync.Once } // about proxies that are not trusted

	mu     sync.Mutex
	silent time.Time // when From last warned about a trusted proxy that does not say who calls
}

// silentEvery is how often From warns about such a proxy.
const silentEvery = time.Minute

// From returns the address that a call comes from. It is zero, which counts as one client and is not exempt from
// limits, if nobody can tell: for a call that a trusted proxy forwards without a readable address, and for one that a
// proxy on this machine forwards that is not trusted.
func (p *Proxies) From(r *http.Request) netip.Prefix {
	peer, _ := netip.ParseAddrPort(r.RemoteAddr) // on error, the zero address, which counts as one client
	address := peer.Addr().Unmap().WithZone("")
	forwarded := r.Header.Values("X-Forwarded-For")
	if (len(forwarded) > 0 || r.Header.Get("Forwarded") != "" || r.Header.Get("X-Real-IP") != "") && !fair.Within(address, p.Trusted) {
		p.warn(address)
		if address.IsLoopback() {
			return netip.Prefix{}
		}
	}
	client := fair.Address(address, forwarded, p.Trusted)
	if fair.Within(client, p.Trusted) {
		p.warnSilent(address)
		return netip.Prefix{}
	}
	return fair.Caller(client)
}

// warnSilent logs a warning that a trusted proxy does not say who calls.
func (p *Proxies) warnSilent(peer netip.Addr) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now := p.Now(); now.Sub(p.silent) >= silentEvery {
		p.silent = now
		p.Log.Warn("a trusted proxy forwards calls without the address of the client, so they all count as one address; "+
			"make it set the header X-Forwarded-For", "peer", peer.String())
	}
}

// warn logs a warning that a proxy may be missing in --trusted-proxies, once for each
// kind of address. A client on the internet that sends forwarding headers must not use up
// the warning about the operator's own proxy.
func (p *Proxies) warn(address netip.Addr) {
	once := &p.warned.others
	switch {
	case address.IsLoopback():
		once = &p.warned.loopback
	case address.IsPrivate():
		once = &p.warned.private
	}
	once.Do(func() {
		p.Log.Warn("ignoring forwarding headers from an untrusted peer, so all calls through it count as one address; "+
			"if it is your proxy, start with --trusted-proxies="+address.String(), "peer", address.String())
	})
}

// Agent returns the first characters of the User-Agent header, as text that both databases
// can store.
func Agent(r *http.Request) string {
	return feedback.FirstCharacters(feedback.ToSingleLine(strings.ToValidUTF8(r.UserAgent(), "\uFFFD")), 200)
}

// CORS allows pages of any origin to make calls with an API key.
func CORS() *cors.Cors {
	return cors.New(cors.Options{
		AllowOriginFunc: func(string) bool { return true }, // allowed_origins is enforced on the call, which carries the key
		AllowedMethods:  []string{http.MethodPost, http.MethodPut, http.MethodGet},
		AllowedHeaders:  []string{"Content-Type", "X-API-Key"},
		ExposedHeaders:  []string{"RateLimit", "Retry-After", "X-Request-Id"},
		MaxAge:          24 * 60 * 60,
	})
}

// Preflight reports whether r is a CORS preflight.
func Preflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != ""
}
