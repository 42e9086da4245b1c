package mail

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"gatherkit/internal/deadline"
)

// Metrics returns the metrics of the mail server and of the mails that wait for it.
func (s *Sender) Metrics() prometheus.Collector { return collector{s.Mail} }

// collector collects how the mail server does and how much waits for it. While the database does not answer, there
// are no values.
type collector struct{ *Mail }

var (
	upDesc      = prometheus.NewDesc("gatherkit_mail_up", "1 if the mail server takes mail, 0 if not.", nil, nil)
	waitingDesc = prometheus.NewDesc("gatherkit_mails_waiting", "Mails that wait to be sent.", nil, nil)
	oldestDesc  = prometheus.NewDesc("gatherkit_mails_oldest_seconds", "Age of the oldest mail that was never tried.", nil, nil)
	givenUpDesc = prometheus.NewDesc("gatherkit_mails_given_up", "Mails that were given up in the last seven days.", nil, nil)
)

// Describe implements prometheus.Collector.
func (collector) Describe(descriptions chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{upDesc, waitingDesc, oldestDesc, givenUpDesc} {
		descriptions <- d
	}
}

// Collect implements prometheus.Collector. It takes at most about a second.
func (c collector) Collect(collected chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), deadline.Of(time.Second))
	defer cancel()
	q, err := c.Queue(ctx)
	if err != nil {
		return
	}
	up, oldest := 0.0, 0.0
	if q.State == OK {
		up = 1
	}
	if q.Oldest != nil {
		oldest = c.now().Sub(q.Oldest.Std()).Seconds()
	}
	for d, value := range map[*prometheus.Desc]float64{
		upDesc: up, waitingDesc: float64(q.Waiting), oldestDesc: oldest, givenUpDesc: float64(q.GivenUp),
	} {
		collected <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value)
	}
}
