package pages

import (
	"context"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"gatherkit/internal/calls"
	"gatherkit/internal/deadline"
	"gatherkit/internal/feedback"
	"gatherkit/internal/visitors"
)

// notOfPortals are the paths that a host with a portal serves as every other host does.
var notOfPortals = []string{"/portal/", "/attachments/", "/livez", "/readyz"}

// Hosts serves portals at hosts of their own, and everything else with next.
func (p *Pages) Hosts(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := hostOf(r)
		own := p.Calls.PublicURL != nil && strings.EqualFold(p.Calls.PublicURL.Hostname(), host)
		isPrefix := func(prefix string) bool { return strings.HasPrefix(r.URL.Path, prefix) }
		if own || !feedback.ValidPortalHost(host) || slices.ContainsFunc(notOfPortals, isPrefix) {
			next.ServeHTTP(w, r)
			return
		}
		has, err := p.hasPortal(r.Context(), host)
		if err != nil || !has {
			next.ServeHTTP(w, r)
			return
		}
		p.Serve(p.Calls.Begin(w, r), visitors.At{Host: host}, strings.TrimPrefix(r.URL.Path, "/"))
	})
}

// hostTime is how long a call waits for what is at its host. While the database is away, the dashboard still loads.
var hostTime = deadline.Of(2 * time.Second)

// hostOf returns the host of a call, without its port.
func hostOf(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		host = r.Host
	}
	return strings.ToLower(host)
}

// CheckHost tells a proxy whether to get a certificate for a host: only if a portal is there. Caddy asks like this
// (on_demand_tls, ask).
func (p *Pages) CheckHost(c *calls.Call) (err error) {
	defer calls.PanicToError(&err)
	if err := c.RequireGET(); err != nil {
		return err
	}
	c.SetClient()
	if err := p.Rates.Keyed.Allow(c.Client.From, 1, p.Now()); err != nil {
		return err
	}
	has, err := p.hasPortal(c.R.Context(), strings.ToLower(c.R.URL.Query().Get("domain")))
	if err == nil && !has {
		err = feedback.ErrPortalNotFound
	}
	return err
}

// hasPortal reports whether a portal is at a host, and on.
func (p *Pages) hasPortal(ctx context.Context, host string) (bool, error) {
	if !feedback.ValidPortalHost(host) {
		return false, nil
	}
	ctx, cancel := context.WithTimeout(ctx, hostTime)
	defer cancel()
	return p.Store.Board.HasHost(ctx, host)
}
