package api

import (
	"errors"
	"regexp"
	"strings"
	"time"

	"gatherkit/internal/fair"
	"gatherkit/internal/feedback"
	"gatherkit/internal/password"
)

// note adds names and values to the lines of the log about a call. Nothing in them is secret, and
// ids stand for people.
func (c *call) note(pairs ...any) { c.notes = append(c.notes, pairs...) }

// setClient sets the sender of a call, and notes its network: that says where calls come from, and
// not who sends them.
func (a *API) setClient(c *call) {
	c.client = a.clientOf(c.r)
	c.note("network", fair.Network(c.client.from).String())
}

// logged returns names and values, followed by those of the call.
func (c *call) logged(pairs ...any) []any { return append(pairs, c.notes...) }

// traceParent is the header by which a proxy or a caller names the trace that a call is part of
// (W3C Trace Context, 3.2).
var traceParent = regexp.MustCompile(`^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}(-|$)`)

// traceID returns the id of the trace in a traceparent header, or "".
func traceID(header string) string {
	if header == "" || len(header) > 128 {
		return ""
	}
	match := traceParent.FindStringSubmatch(header)
	if len(match) < 2 || strings.Trim(match[1], "0") == "" {
		return ""
	}
	return match[1]
}

// record adds a call to the metrics and the log.
func (a *API) record(c *call, name string, status int, code string) {
	took := time.Since(c.began)
	a.metrics.observe(name, code, took)
	a.Log.Info("call", c.logged("operation", name, "status", status, "code", code, "ms", float64(took.Microseconds())/1000)...)
}

// publicError returns the error that the client receives for err, and logs err if it is a
// fault of the service.
func (a *API) publicError(c *call, err error) *feedback.Error {
	var shown *feedback.Error
	switch {
	case a.Store.Unavailable(err) || errors.Is(err, password.ErrBusy):
		shown = feedback.ErrUnavailable
		if c.r.Context().Err() == nil { // the client is still connected, so this is not just its canceled call
			a.Log.Warn("unavailable", c.logged("error", err)...)
		}
	case errors.As(err, &shown):
	default:
		shown = feedback.ErrInternal
		a.Log.Error("failed", c.logged("error", err)...)
	}
	return shown
}
