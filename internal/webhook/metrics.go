package webhook

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"gatherkit/internal/deadline"
)

// metrics are those of the deliveries of this process, and of the endpoints in the database.
type metrics struct {
	attempts *prometheus.CounterVec
	seconds  prometheus.Histogram
}

func newMetrics(registry prometheus.Registerer, w *Webhooks) metrics {
	m := metrics{
		attempts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "gatherkit_webhook_attempts_total", Help: "Attempts to deliver to webhooks, by format and outcome.",
		}, []string{"format", "outcome"}),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "gatherkit_webhook_seconds", Help: "Duration of the calls of webhooks.",
			Buckets: []float64{.01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 15},
		}),
	}
	for _, format := range []Format{Events, Slack, Discord, Teams} {
		for _, o := range []outcome{delivered, refused, failed, gone} {
			m.attempts.WithLabelValues(string(format), string(o))
		}
	}
	if registry != nil {
		registry.MustRegister(m.attempts, m.seconds, collector{w})
	}
	return m
}

func (m metrics) observe(format Format, a answer) {
	m.attempts.WithLabelValues(string(format), string(a.outcome())).Inc()
	m.seconds.Observe(a.took.Seconds())
}

// collector collects what the database knows of all endpoints. While it does not answer, there are no values.
type collector struct{ *Webhooks }

var (
	endpointsDesc = prometheus.NewDesc("gatherkit_webhook_endpoints", "Webhooks, by state.", []string{"state"}, nil)
	behindDesc    = prometheus.NewDesc("gatherkit_webhook_behind", "Log entries after the positions of the webhooks that are on.", nil, nil)
	oldestDesc    = prometheus.NewDesc("gatherkit_webhook_oldest_seconds", "Age of the oldest log entry that waits for a webhook that is on.",
		nil, nil)
	asideDesc   = prometheus.NewDesc("gatherkit_webhook_set_aside", "Events that webhooks refused, and that are sent again.", nil, nil)
	failingDesc = prometheus.NewDesc("gatherkit_webhook_accounts_failing", "Accounts of which all webhooks that are on fail.", nil, nil)
)

// Describe implements prometheus.Collector.
func (collector) Describe(descriptions chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{endpointsDesc, behindDesc, oldestDesc, asideDesc, failingDesc} {
		descriptions <- d
	}
}

// Collect implements prometheus.Collector. It takes at most about a second.
func (c collector) Collect(collected chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), deadline.Of(time.Second))
	defer cancel()
	var on, paused, disabled, behind, aside int64
	var oldest *int64
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		collected <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	err := c.db.Reader().QueryRowContext(ctx, `SELECT COALESCE(SUM(CASE w.state WHEN 'on' THEN 1 ELSE 0 END), 0),
			COALESCE(SUM(CASE w.state WHEN 'paused' THEN 1 ELSE 0 END), 0), COALESCE(SUM(CASE w.state WHEN 'disabled' THEN 1 ELSE 0 END), 0),
			CAST(COALESCE(SUM(CASE w.state WHEN 'on' THEN s.last - w.position ELSE 0 END), 0) AS BIGINT),
			MIN(CASE w.state WHEN 'on' THEN c.at END)
		FROM webhooks w JOIN account_seq s ON s.account_id = w.account_id
		JOIN accounts a ON a.account_id = w.account_id AND a.suspended_at IS NULL
		LEFT JOIN changes c ON c.account_id = w.account_id AND c.seq = w.position + 1`).Scan(&on, &paused, &disabled, &behind, &oldest)
	if err != nil {
		return
	}
	gauge(endpointsDesc, float64(on), string(On))
	gauge(endpointsDesc, float64(paused), string(Paused))
	gauge(endpointsDesc, float64(disabled), string(Disabled))
	gauge(behindDesc, float64(behind))
	age := 0.0
	if oldest != nil {
		age = c.now().Sub(time.UnixMicro(*oldest)).Seconds()
	}
	gauge(oldestDesc, age)
	if err := c.db.Reader().QueryRowContext(ctx, "SELECT COUNT(*) FROM webhook_retries").Scan(&aside); err == nil {
		gauge(asideDesc, float64(aside))
	}
	var failing int64
	if err := c.db.Reader().QueryRowContext(ctx, `SELECT COUNT(*) FROM
		(SELECT w.account_id FROM webhooks w JOIN accounts a ON a.account_id = w.account_id AND a.suspended_at IS NULL
			WHERE w.state = 'on' GROUP BY w.account_id HAVING MIN(w.failures) > 0) AS f`).Scan(&failing); err == nil {
		gauge(failingDesc, float64(failing))
	}
}
