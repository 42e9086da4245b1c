// Package metrics has what operators see of calls of the API: metrics for Prometheus, and ids of traces.
package metrics

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"gatherkit/internal/blob"
	"gatherkit/internal/feedback"
)

// Metrics are the metrics of calls.
type Metrics struct {
	calls   *prometheus.CounterVec
	seconds *prometheus.HistogramVec
	// fileErrors and MissingFiles are about the storage of attached files.
	fileErrors   *prometheus.CounterVec
	MissingFiles prometheus.Counter
}

// New returns metrics that are registered.
func New(registry prometheus.Registerer) Metrics {
	m := Metrics{
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "gatherkit_calls_total", Help: "Answered calls, by operation and error code (ok for success).",
		}, []string{"operation", "code"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "gatherkit_call_seconds", Help: "Time from a call's headers to its answer.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}, []string{"operation"}),
		fileErrors: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "gatherkit_file_errors_total", Help: "Errors of the storage of attached files, by what was tried.",
		}, []string{"operation"}),
		MissingFiles: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "gatherkit_missing_files_total", Help: "Number of times an attached file was opened and its content was missing.",
		}),
	}
	for _, operation := range []string{"receive", "inspect", "open"} { // so that each is 0 at first
		m.fileErrors.WithLabelValues(operation)
	}
	registry.MustRegister(m.calls, m.seconds, m.fileErrors, m.MissingFiles)
	return m
}

// Expect sets the number of an operation's internal errors to 0. Prometheus would not see the first
// one as an increase if its counter began with it.
func (m Metrics) Expect(operation string) {
	m.calls.WithLabelValues(operation, feedback.ErrInternal.Code)
}

// FileError counts an error of the storage of attached files, and returns it. A refusal of a file
// is none, nor is a caller that has left.
func (m Metrics) FileError(operation string, err error) error {
	var refusal *feedback.Error
	if err != nil && !errors.As(err, &refusal) && !errors.Is(err, blob.ErrNotFound) && !errors.Is(err, context.Canceled) {
		m.fileErrors.WithLabelValues(operation).Inc()
	}
	return err
}

// Observe counts an answered call.
func (m Metrics) Observe(operation, code string, took time.Duration) {
	m.calls.WithLabelValues(operation, code).Inc()
	m.seconds.WithLabelValues(operation).Observe(took.Seconds())
}
