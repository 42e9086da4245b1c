package main

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"gatherkit/internal/store"
)

// registry holds the program's metrics. They are served on a separate address, so that
// they are not public.
type registry struct {
	*prometheus.Registry
	groups prometheus.Histogram
}

func newRegistry() *registry {
	r := &registry{Registry: prometheus.NewRegistry(), groups: prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "gatherkit_submit_group_size", Help: "Number of submissions that shared a transaction.",
		Buckets: []float64{1, 2, 4, 8, 16, 32, 64, 128, 256},
	})}
	r.MustRegister(r.groups, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return r
}

func (r *registry) observeGroup(size int) { r.groups.Observe(float64(size)) }

// watch adds the metrics of the store.
func (r *registry) watch(s *store.Store) {
	gauge := func(name, help string, value func() float64) {
		r.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value))
	}
	gauge("gatherkit_write_queue", "Writes waiting for a transaction.", func() float64 { return float64(s.Stats().Queued) })
	gauge("gatherkit_database_connections", "Open connections to the database.", func() float64 { return float64(s.Stats().Conns) })
	gauge("gatherkit_database_connections_busy", "Database connections in use.", func() float64 { return float64(s.Stats().InUse) })
	r.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "gatherkit_database_waits_total", Help: "Number of times a call waited for a database connection.",
	}, func() float64 { return float64(s.Stats().Waited) }))
	for _, work := range store.Works() {
		r.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "gatherkit_worker_failures_total", Help: "Failures of background work, by its kind.",
			ConstLabels: prometheus.Labels{"work": work},
		}, func() float64 { return float64(s.WorkFailures(work)) }))
	}
	backlog := func(name, help string, count func(context.Context) (int64, error)) {
		gauge(name, help+"; -1 if the database does not answer.", func() float64 {
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			defer cancel()
			n, err := count(ctx)
			if err != nil {
				return -1
			}
			return float64(n)
		})
	}
	backlog("gatherkit_purge_backlog", "Deleted apps whose requests are still being removed", s.PurgeBacklog)
	backlog("gatherkit_index_backlog", "Changes that the search index has not processed yet", s.Index.Backlog)
}

// serve serves the metrics on address until stop is called. It does nothing if address is
// empty.
func (r *registry) serve(ctx context.Context, address string) (stop func(), err error) {
	if address == "" {
		return func() {}, nil
	}
	listener, err := listen(ctx, address, "--metrics-listen")
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(r, promhttp.HandlerOpts{}))
	server := &http.Server{
		Handler: mux, ReadHeaderTimeout: headerTime, ReadTimeout: readTime, WriteTimeout: writeTime, IdleTimeout: idleTime,
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	return func() { _ = errors.Join(server.Close(), <-served) }, nil // both only report that the server was closed
}
