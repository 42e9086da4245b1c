package api

import (
	"errors"
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

// record adds a call to the metrics and the log.
func (a *API) record(c *call, name string, status int, code string) {
	took := time.Since(c.began)
	a.metrics.Observe(name, code, took)
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
