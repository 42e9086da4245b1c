package main

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"gatherkit/internal/blob"
	"gatherkit/internal/config"
	"gatherkit/internal/deadline"
	"gatherkit/internal/store"
)

// registry holds the program's metrics. They are served on a separate address, so that
// they are not public.
type registry struct {
	*prometheus.Registry
	groups, writes prometheus.Histogram
	inFlight       prometheus.Gauge
}

func newRegistry() *registry {
	r := &registry{
		Registry: prometheus.NewRegistry(),
		groups: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "gatherkit_submit_group_size", Help: "Number of submissions that shared a transaction.",
			Buckets: []float64{1, 2, 4, 8, 16, 32, 64, 128, 256},
		}),
		writes: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "gatherkit_write_seconds", Help: "Duration of the transactions that write.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 20},
		}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{Name: "gatherkit_calls_in_flight", Help: "Calls that are not answered yet."}),
	}
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "gatherkit_build_info", Help: "1, with the version of the program and of its database schema.",
		ConstLabels: prometheus.Labels{"version": programVersion(), "schema": strconv.Itoa(store.Schema())},
	})
	info.Set(1)
	r.MustRegister(r.groups, r.writes, r.inFlight, info,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return r
}

func (r *registry) observeGroup(size int) { r.groups.Observe(float64(size)) }

func (r *registry) observeWrite(took time.Duration) { r.writes.Observe(took.Seconds()) }

// count returns a handler that counts the calls in flight.
func (r *registry) count(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, call *http.Request) {
		r.inFlight.Inc()
		defer r.inFlight.Dec()
		next.ServeHTTP(w, call)
	})
}

func (r *registry) gauge(name, help string, value func() float64) {
	r.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value))
}

func (r *registry) counter(name, help string, value func() float64) {
	r.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, value))
}

// watchConnections adds the metrics of the service's connections.
func (r *registry) watchConnections(l *limitedListener) {
	r.gauge("gatherkit_connections", "Open connections of callers.", func() float64 { return float64(l.opened()) })
	r.gauge("gatherkit_connections_limit", "Connections of callers that can be open.", func() float64 { return float64(l.limit) })
}

// diskCollector collects the space on the disks of folders. It leaves out those that do not exist.
type diskCollector struct{ folders map[string]string } // by their names in the metrics

var (
	diskBytes = prometheus.NewDesc("gatherkit_disk_bytes", "Size of the disk of a folder.", []string{"folder"}, nil)
	diskFree  = prometheus.NewDesc("gatherkit_disk_free_bytes", "Free space on the disk of a folder.", []string{"folder"}, nil)
)

// Describe implements prometheus.Collector.
func (diskCollector) Describe(descriptions chan<- *prometheus.Desc) {
	descriptions <- diskBytes
	descriptions <- diskFree
}

// Collect implements prometheus.Collector.
func (c diskCollector) Collect(collected chan<- prometheus.Metric) {
	for name, folder := range c.folders {
		if all, free, err := space(folder); err == nil {
			collected <- prometheus.MustNewConstMetric(diskBytes, prometheus.GaugeValue, float64(all), name)
			collected <- prometheus.MustNewConstMetric(diskFree, prometheus.GaugeValue, float64(free), name)
		}
	}
}

// watchDisks adds the space that the service's own folders have.
func (r *registry) watchDisks(c config.Serve) {
	folders := map[string]string{}
	if c.Database == "" {
		folders["data"] = c.Data
	}
	if place := c.Place(); place != "" && !blob.Direct(place) {
		folders["uploads"] = place
	}
	r.MustRegister(diskCollector{folders})
}

// watch adds the metrics of the store.
func (r *registry) watch(s *store.Store) {
	r.gauge("gatherkit_write_queue", "Writes waiting for a transaction.", func() float64 { return float64(s.Stats().Queued) })
	r.counter("gatherkit_write_retries_total", "Transactions that were repeated because of another one.",
		func() float64 { return float64(s.Stats().Retried) })
	r.gauge("gatherkit_database_connections", "Open connections to the database.", func() float64 { return float64(s.Stats().Conns) })
	r.gauge("gatherkit_database_connections_busy", "Database connections in use.", func() float64 { return float64(s.Stats().InUse) })
	r.counter("gatherkit_database_waits_total", "Number of times a call waited for a database connection.",
		func() float64 { return float64(s.Stats().Waited) })
	for _, work := range store.Kinds() {
		r.countFailures(work, s.WorkFailures)
	}
	r.MustRegister(storeCollector{s})
}

// countFailures adds how often a kind of background work has failed.
func (r *registry) countFailures(work string, failures func(work string) int64) {
	r.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "gatherkit_worker_failures_total", Help: "Failures of background work, by its kind.",
		ConstLabels: prometheus.Labels{"work": work},
	}, func() float64 { return float64(failures(work)) }))
}

// storeCollector collects what may have no value: what a database that does not answer cannot tell,
// and when background work succeeded that this process has not done.
type storeCollector struct{ *store.Store }

var (
	databaseUp    = prometheus.NewDesc("gatherkit_database_up", "1 if the database answers, 0 if not.", nil, nil)
	databaseBytes = prometheus.NewDesc("gatherkit_database_bytes", "Size of the database.", nil, nil)
	walBytes      = prometheus.NewDesc("gatherkit_database_wal_bytes", "Size of SQLite's write-ahead log.", nil, nil)
	purgeBacklog  = prometheus.NewDesc("gatherkit_purge_backlog", "Deleted apps whose requests are still being removed.", nil, nil)
	indexBacklog  = prometheus.NewDesc("gatherkit_index_backlog", "Changes that the search index has not processed yet.", nil, nil)
	setAside      = prometheus.NewDesc("gatherkit_set_aside", "Background work that failed and is tried again later.", []string{"work"}, nil)
	accountCalls  = prometheus.NewDesc("gatherkit_account_calls_total", "Calls of the accounts that keep this process busiest.",
		[]string{"account"}, nil)
	accountSeconds = prometheus.NewDesc("gatherkit_account_call_seconds_total",
		"Duration of the calls of the accounts that keep this process busiest.", []string{"account"}, nil)
	workSucceeded = prometheus.NewDesc("gatherkit_worker_success_timestamp_seconds",
		"When this process last succeeded at a kind of background work.", []string{"work"}, nil)
)

// busiest is how many accounts have metrics.
const busiest = 10

// Describe implements prometheus.Collector.
func (storeCollector) Describe(descriptions chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		databaseUp, databaseBytes, walBytes, purgeBacklog, indexBacklog, setAside, accountCalls, accountSeconds, workSucceeded,
	} {
		descriptions <- d
	}
}

// Collect implements prometheus.Collector. It takes at most about a second.
func (c storeCollector) Collect(collected chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), deadline.Of(time.Second))
	defer cancel()
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		collected <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	for _, work := range store.Kinds() {
		if at, ever := c.WorkSucceeded(work); ever {
			gauge(workSucceeded, float64(at.UnixMilli())/1000, work)
		}
	}
	for _, top := range c.Usage.Top(busiest) {
		account := top.AccountID.String()
		collected <- prometheus.MustNewConstMetric(accountCalls, prometheus.CounterValue, float64(top.Calls), account)
		collected <- prometheus.MustNewConstMetric(accountSeconds, prometheus.CounterValue, top.Busy.Seconds(), account)
	}
	if err := c.Ping(ctx); err != nil {
		gauge(databaseUp, 0)
		return
	}
	gauge(databaseUp, 1)
	if all, log, err := c.Size(ctx); err == nil {
		gauge(databaseBytes, float64(all))
		gauge(walBytes, float64(log))
	}
	for d, count := range map[*prometheus.Desc]func(context.Context) (int64, error){
		purgeBacklog: c.PurgeBacklog, indexBacklog: c.Index.Backlog,
	} {
		if n, err := count(ctx); err == nil {
			gauge(d, float64(n))
		}
	}
	if counts, err := c.SetAside.Counts(ctx); err == nil {
		for work, n := range counts {
			gauge(setAside, float64(n), string(work))
		}
	}
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
