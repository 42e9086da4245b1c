package calls

import (
	"errors"
	"time"

	"gatherkit/internal/feedback"
	"gatherkit/internal/password"
)

// Note adds names and values to the lines of the log about a call. Nothing in them is secret, and
// ids stand for people.
func (c *Call) Note(pairs ...any) { c.notes = append(c.notes, pairs...) }

// Logged returns names and values, followed by those of the call.
func (c *Call) Logged(pairs ...any) []any { return append(pairs, c.notes...) }

// Record adds a call to the metrics and the log.
func (c *Call) Record(status int, code string) {
	took := time.Since(c.Began)
	c.Metrics.Observe(c.Name, code, took)
	c.Log.Info("call", c.Logged("operation", c.Name, "status", status, "code", code, "ms", float64(took.Microseconds())/1000)...)
}

// PublicError returns the error that the client receives for err, and logs err if it is a
// fault of the service.
func (c *Call) PublicError(err error) *feedback.Error {
	var shown *feedback.Error
	switch {
	case c.Unavailable(err) || errors.Is(err, password.ErrBusy):
		shown = feedback.ErrUnavailable
		if c.R.Context().Err() == nil { // the client is still connected, so this is not just its canceled call
			c.Log.Warn("unavailable", c.Logged("error", err)...)
		}
	case errors.As(err, &shown):
	default:
		shown = feedback.ErrInternal
		c.Log.Error("failed", c.Logged("error", err)...)
	}
	return shown
}
