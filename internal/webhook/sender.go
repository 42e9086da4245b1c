package webhook

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"gatherkit/internal/database"
	"gatherkit/internal/deadline"
	"gatherkit/internal/events"
	"gatherkit/internal/fair"
	"gatherkit/internal/feedback"
	"gatherkit/internal/sweep"
)

const (
	// sends is how many calls of endpoints this process makes at the same time, and how many of them for
	// one account and for one endpoint.
	sends, sendsOfAccount, sendsOfEndpoint = 64, 16, 8
	// turns is how many endpoints it delivers to at the same time, and how many of one account.
	turns, turnsOfAccount = 64, 16
	// slowTime is how long a call of an endpoint takes that is slow. Slow endpoints have half as many places,
	// apart from those of the others, so that they do not delay them.
	slowTime = 2 * time.Second
	// lookEvery is how often it looks for endpoints that another process has left behind, and
	// lookAtMost the shortest pause between two looks.
	lookEvery  = 2 * time.Second
	lookAtMost = 20 * time.Millisecond
	// While more than busy submissions a second arrive, they take precedence: after a turn, this process rests
	// for restFactor times the turn's duration, up to maxRest. So deliveries take at most about a tenth of
	// the time.
	busy       = 50
	restFactor = 9
	maxRest    = time.Second
	// candidates is how many endpoints a look finds at most.
	candidates = 4 * turns
)

// lookTime is how long a look may take.
var lookTime = deadline.Of(5 * time.Second)

// Options are the settings of a Sender.
type Options struct {
	Home    string         // address of the dashboard, without a slash at the end
	Allow   []netip.Prefix // networks of the operator that endpoints may be in
	Metrics prometheus.Registerer
	// Submissions returns how many submissions this process has received. It may be nil.
	Submissions func() int64
}

// Sender delivers to endpoints. Every process has one; an endpoint is served by one process at a time.
type Sender struct {
	*Webhooks
	home    string
	client  *client
	plain   bool         // whether addresses with http are allowed
	arrived func() int64 // submissions
	rests   atomic.Int64 // until when it begins no turns, as UnixNano
	metrics metrics

	quick, slow *places
	mu          sync.Mutex
	served      map[feedback.ID]*places // endpoints that this process delivers to now
	isSlow      map[feedback.ID]bool    // endpoints whose last call was slow
}

// places are those for turns and for calls, by account.
type places struct{ turns, sends *fair.Pool[feedback.ID] }

func newPlaces(share int64) *places {
	return &places{
		turns: fair.New[feedback.ID](turns/share, turnsOfAccount/share), sends: fair.New[feedback.ID](sends/share, sendsOfAccount/share),
	}
}

// NewSender returns a sender for the endpoints in a database.
func NewSender(w *Webhooks, o Options) *Sender {
	if o.Submissions == nil {
		o.Submissions = func() int64 { return 0 }
	}
	return &Sender{
		Webhooks: w, home: strings.TrimSuffix(o.Home, "/"), client: newClient(o.Allow), plain: len(o.Allow) > 0,
		arrived: o.Submissions, metrics: newMetrics(o.Metrics, w), quick: newPlaces(1), slow: newPlaces(2),
		served: map[feedback.ID]*places{}, isSlow: map[feedback.ID]bool{},
	}
}

// Run delivers until ctx ends. It logs failures and retries.
func (s *Sender) Run(ctx context.Context) {
	var serving sync.WaitGroup
	defer serving.Wait()
	for ctx.Err() == nil {
		pause(ctx, time.Until(time.Unix(0, s.rests.Load())))
		began := time.Now()
		if err := s.begin(ctx, &serving); err != nil && ctx.Err() == nil {
			s.log.Warn("cannot look for webhooks to deliver; it will be tried again", "error", err)
		}
		pause(ctx, pauseAfter(time.Since(began)))
		select {
		case <-ctx.Done():
		case <-s.changed:
		case <-time.After(lookEvery):
		}
	}
}

// pauseAfter returns how long to wait after a look, so that looking takes at most a twentieth of the time
// unless the database is very slow.
func pauseAfter(look time.Duration) time.Duration { return min(max(lookAtMost, 20*look), lookEvery) }

// Round delivers once to the endpoints that are due now, and returns when all is stored.
func (s *Sender) Round(ctx context.Context) error {
	var serving sync.WaitGroup
	err := s.begin(ctx, &serving)
	serving.Wait()
	return err
}

// begin begins to deliver to the endpoints that are due.
func (s *Sender) begin(ctx context.Context, serving *sync.WaitGroup) error {
	found, err := s.look(ctx)
	for _, c := range found {
		if s.enter(c) {
			serving.Go(func() {
				defer s.leave(c)
				s.serve(ctx, c)
			})
		}
	}
	return err
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// candidate is an endpoint that may need a delivery.
type candidate struct{ accountID, id feedback.ID }

// look returns the endpoints that are due and not served, of all accounts that are not suspended. Those that were served
// the longest ago come first. It ignores a lease that ends too far in the future, which comes from a wrong clock.
func (s *Sender) look(ctx context.Context) ([]candidate, error) {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	now := s.now()
	return database.All(ctx, s.db.Reader(), func(r database.Row) (c candidate, err error) {
		err = r.Scan(&c.accountID, &c.id)
		return c, err
	}, `SELECT w.account_id, w.id FROM webhooks w JOIN account_seq s ON s.account_id = w.account_id
		JOIN accounts a ON a.account_id = w.account_id AND a.suspended_at IS NULL
		WHERE w.state = 'on' AND w.due_at <= $1 AND (w.lease_until <= $1 OR w.lease_until > $2)
			AND (w.position < s.last OR w.retry_at <= $1)
		ORDER BY w.served_at LIMIT CAST($3 AS BIGINT)`, feedback.At(now), feedback.At(now.Add(2*leaseTime)), candidates)
}

// enter takes a place for a turn. It returns false if there is none, or if this process serves the
// endpoint already.
func (s *Sender) enter(c candidate) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	places := s.quick
	if s.isSlow[c.id] {
		places = s.slow
	}
	if s.served[c.id] != nil || !places.turns.TryAcquire(c.accountID, 1) {
		return false
	}
	s.served[c.id] = places
	return true
}

// noteSpeed notes how long a call of an endpoint took, and reports whether it was slow.
func (s *Sender) noteSpeed(id feedback.ID, took time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if took >= slowTime {
		s.isSlow[id] = true
	} else {
		delete(s.isSlow, id)
	}
	return s.isSlow[id]
}

func (s *Sender) leave(c candidate) {
	s.mu.Lock()
	s.served[c.id].turns.Release(c.accountID, 1)
	delete(s.served, c.id)
	s.mu.Unlock()
	s.nudge() // there may be more, for this endpoint or for one that had no place
}

// serve delivers to an endpoint once.
func (s *Sender) serve(ctx context.Context, c candidate) {
	began, before := time.Now(), s.arrived()
	defer func() { s.rest(time.Since(began), s.arrived()-before) }()
	t, ok, err := s.claim(ctx, c)
	if err == nil && ok {
		err = sweep.Recovered(func() error { return s.deliver(ctx, t) })
		if err != nil && !sweep.GivesUp(ctx, s.db, err) { // others go on, and admins see it
			ours := &delivery{answer: answer{err: errOurs}}
			err = errors.Join(err, s.store(ctx, t, result{position: t.webhook.Health.Position, failed: ours}))
		}
	}
	if err != nil && ctx.Err() == nil {
		s.log.Warn("cannot deliver to a webhook; it will be tried again", "webhook", c.id, "error", err)
		pause(ctx, time.Second) // the endpoint is due again when its lease has ended
	}
}

// rest makes the process rest after a turn during which submissions have arrived.
func (s *Sender) rest(took time.Duration, submissions int64) {
	if float64(submissions) > busy*took.Seconds() {
		s.rests.Store(time.Now().Add(min(restFactor*took, maxRest)).UnixNano())
	}
}

// send makes one attempt to deliver a message. It renders the message, because the bodies of all that wait
// would take much memory.
func (s *Sender) send(ctx context.Context, webhook Webhook, secrets []string, m message) answer {
	body, err := webhook.Format.render(s.home, m)
	if err != nil {
		return answer{err: err}
	}
	now := s.now()
	header := http.Header{"Content-Type": {"application/json"}, "User-Agent": {"Gatherkit-Webhook/1"}}
	if !webhook.Format.chat() {
		signature, err := sign(secrets, m.event().ID, now.Unix(), body)
		if err != nil {
			return answer{err: err}
		}
		// http.Header.Set would write Webhook-Id. Names of fields are case-insensitive, but the standard writes them so.
		header["webhook-id"] = []string{m.event().ID}
		header["webhook-timestamp"] = []string{strconv.FormatInt(now.Unix(), 10)}
		header["webhook-signature"] = []string{signature}
	}
	a := s.client.post(ctx, webhook.URL, header, body)
	a.took = s.now().Sub(now)
	if a.outcome() != delivered {
		a.payload = database.Storable(body, maxPayload)
	}
	if ctx.Err() == nil {
		s.metrics.observe(webhook.Format, a)
	}
	return a
}

// withLinks sets the addresses of the requests of events.
func (s *Sender) withLinks(list []events.FeedEvent) []events.FeedEvent {
	events.SetURLs(list, func(path string) string { return s.home + path })
	return list
}
