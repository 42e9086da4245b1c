package calls

import (
	"errors"
	"log/slog"
	"time"

	"gatherkit/internal/feedback"
	"gatherkit/internal/password"
)

// Note adds names and values to the lines of the log about a call. Nothing in them is secret, and
// ids stand for people.
func (c *Call) Note(pairs ...any) { c.notes = append(c.notes, pairs...) }

// Logged returns names and values, followed by the account and the notes of the call.
func (c *Call) Logged(pairs ...any) []any {
	if c.hasAccount() {
		pairs = append(pairs, "account", c.Client.Account)
	}
	return append(pairs, c.notes...)
}

func (c *Call) hasAccount() bool { return c.Client != nil && c.Client.Account != (feedback.ID{}) }

// Observe adds a call to the metrics and to the usage of its account. It returns how long the call took.
func (c *Call) Observe(code string) time.Duration {
	took := time.Since(c.Began)
	c.Metrics.Observe(c.Name, code, took)
	if c.hasAccount() {
		c.Used(c.Client.Account, took-c.Client.Idle)
	}
	return took
}

// Record adds a call to the metrics, the usage of its account and the log. If the call has failed because of the
// service, the line has the cause and a higher level, and is also written if calls are not logged.
func (c *Call) Record(status int, code string) {
	took := c.Observe(code)
	line := []any{"operation", c.Name, "status", status, "code", code, "ms", float64(took.Microseconds()) / 1000}
	switch {
	case c.fault != nil:
		c.Log.Log(c.R.Context(), c.level, "call", c.Logged(append(line, "error", c.fault)...)...)
	case !c.Quiet:
		c.Log.Info("call", c.Logged(line...)...)
	}
}

// PublicError returns the error that the client receives for err. If it is a fault of the service, Record logs err.
func (c *Call) PublicError(err error) *feedback.Error {
	var shown *feedback.Error
	switch {
	case c.Unavailable(err) || errors.Is(err, password.ErrBusy):
		shown = feedback.ErrUnavailable
		if c.R.Context().Err() == nil { // the client is still connected, so this is not just its canceled call
			c.fault, c.level = err, slog.LevelWarn
		}
	case errors.As(err, &shown):
	default:
		shown = feedback.ErrInternal
		c.fault, c.level = err, slog.LevelError
	}
	return shown
}
