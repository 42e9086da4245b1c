package machine

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"gatherkit/internal/feedback"
)

// How the machine delivers, and compares what the receiver got with the model.

const receiverName = "{receiver}"

// receiver is where all deliveries of a service arrive. replyTo says what it answers.
type receiver struct {
	*httptest.Server
	mu   sync.Mutex
	down bool
	hits []hit
}

// hit is a call that the receiver got.
type hit struct {
	path   string
	header http.Header
	body   string
	number int // of the event; 0 for a test or a chat
}

func newReceiver(t *testing.T) *receiver {
	r := &receiver{}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

// ServeHTTP implements http.Handler.
func (r *receiver) ServeHTTP(w http.ResponseWriter, call *http.Request) {
	body, err := io.ReadAll(call.Body)
	if err != nil {
		panic(err) // the service fails then, too
	}
	var event struct{ Data *struct{ Number int } }
	_ = json.Unmarshal(body, &event) // receive reads it again
	got := hit{path: call.URL.Path, header: call.Header, body: string(body)}
	if event.Data != nil {
		got.number = event.Data.Number
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hits = append(r.hits, got)
	status, text := http.StatusOK, "Thanks."
	switch {
	case r.down:
		w.Header().Set("Retry-After", strconv.Itoa(int(retryAfter.Seconds())))
		status, text = http.StatusServiceUnavailable, "Later."
	case got.path == "/gone":
		status, text = http.StatusGone, "Gone."
	case got.path == "/moved":
		w.Header().Set("Location", "/all")
		status, text = http.StatusFound, "Moved."
	case got.path == "/picky" && (event.Data == nil || got.number%2 == 0):
		status, text = http.StatusUnprocessableEntity, "No."
	}
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text)
}

// turn makes the receiver answer everything with 503, or ends that.
func (r *receiver) turn(down bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.down = down
}

// took returns the calls that arrived since the last time, by the number of the event.
func (r *receiver) took() []hit {
	r.mu.Lock()
	defer r.mu.Unlock()
	hits := r.hits
	r.hits = nil
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(a.number, b.number) })
	return hits
}

// signers returns the names of the secrets that sign the deliveries to an endpoint; "" for those that the
// model does not know.
func (m *model) signers(e *endpoint) []string {
	if m.now().Before(e.beforeUntil) {
		return []string{e.secret, e.before}
	}
	return []string{e.secret}
}

// signed returns what is wrong with the signatures of a call, or "".
func (h hit) signed(s *service, secrets []string, now time.Time) string {
	id, at := h.header.Get("webhook-id"), h.header.Get("webhook-timestamp")
	signatures := strings.Fields(h.header.Get("webhook-signature"))
	if len(signatures) != len(secrets) || at != fmt.Sprint(now.Unix()) {
		return fmt.Sprintf("%d signatures at %s", len(signatures), at)
	}
	for i, name := range secrets {
		if name == "" {
			continue
		}
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(s.fill(name), "whsec_"))
		if err != nil {
			return err.Error()
		}
		mac := hmac.New(sha256.New, key)
		_, _ = fmt.Fprintf(mac, "%s.%s.%s", id, at, h.body)
		if want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)); signatures[i] != want {
			return "a wrong signature"
		}
	}
	return ""
}

// receive compares what the receiver got with what the model expects. begun has the deliveries of a turn that
// failed: others than the first can have arrived, too.
func (m *machine) receive(after string, begun []*delivery) {
	wants := m.expects
	m.expects = nil
	slices.SortStableFunc(wants, func(a, b expected) int { return cmp.Compare(a.number(), b.number()) })
	said := m.both("received after "+after, func(s *service) string {
		var lines []string
		hits := s.receiver.took()
		if len(begun) > 1 {
			hits = m.firstOf(hits, begun)
		}
		for i, h := range hits {
			wrong := ""
			if i < len(wants) && !wants[i].chat() {
				wrong = h.signed(s, m.signers(wants[i].endpoint), m.now())
			}
			lines = append(lines, s.mask(text([]string{h.path, h.header.Get("webhook-id"), wrong, h.body})))
		}
		return "[" + strings.Join(lines, ",") + "]"
	})
	var got [][]string
	decode(m.t, said, &got)
	if len(got) != len(wants) {
		m.t.Fatalf("received after %s:\n%s\nwant %d calls", after, said, len(wants))
	}
	for i, one := range got {
		path, id, wrong, body := one[0], one[1], one[2], one[3]
		if wrong = cmp.Or(wrong, m.wrong(wants[i], id, body)); wrong != "" || receiverName+path != wants[i].url {
			m.t.Fatalf("received after %s at %s:\n%s\n%s", after, path, body, wrong)
		}
	}
}

// firstOf returns the call with the first of the deliveries that were begun, and checks the others.
func (m *machine) firstOf(hits []hit, begun []*delivery) (first []hit) {
	seen := map[int]bool{}
	for _, h := range hits {
		if seen[h.number] || !slices.ContainsFunc(begun, func(d *delivery) bool { return d.number() == h.number }) {
			m.t.Fatalf("received %s again, or too early", h.body)
		}
		if seen[h.number] = true; h.number == begun[0].number() {
			first = append(first, h)
		}
	}
	return first
}

// wrong returns what is wrong with the body of a call, or "".
func (m *machine) wrong(want expected, id, body string) string {
	if a := want.of; a.trouble != nil {
		if a.payload != nil && a.payload != body {
			return fmt.Sprintf("the log has another payload: %v", a.payload)
		}
		a.payload = body
	}
	c := want.events[0]
	if want.chat() {
		parts := []string{fmt.Sprintf("%d changes", len(want.events)), serviceURL}
		if len(want.events) == 1 {
			parts = []string{"{"}
		}
		if r, live := m.requestNow(c).(object); live && len(want.events) == 1 {
			parts = []string{r["url"].(string)}
		}
		for _, part := range parts {
			if !strings.Contains(body, part) {
				return "no " + part
			}
		}
		return ""
	}
	var got struct {
		Type, Timestamp string
		Data            object
	}
	decode(m.t, body, &got)
	var data object
	if c.number == 0 {
		data = m.event(want.account, c, object{"before": object{}, "after": object{}, "summary": "This is a test from Gatherkit."})
		data["id"] = want.of.testID
	} else {
		data = m.event(want.account, c, got.Data)
	}
	var event object
	decode(m.t, text(data), &event)
	if got.Type != c.kind || got.Timestamp != c.at.Format(timeForm) || id != event["id"] || !reflect.DeepEqual(got.Data, event) {
		return "want " + text(data)
	}
	return ""
}

// deliver delivers to all endpoints that are due, one after the other.
func (m *machine) deliver() {
	m.down = !m.often("the receiver is up")
	m.each(func(_ int, s *service) { s.receiver.turn(m.down) })
	for turns := 0; ; turns++ {
		e := find(m.webhooks, m.isDue)
		switch {
		case e == nil:
			m.round("a look for nothing", nil)
			return
		case turns > 20*len(m.webhooks):
			m.t.Fatalf("due again and again: %s", text(e.shown()))
		}
		m.serve(e)
	}
}

func (m *machine) round(what string, begun []*delivery) {
	m.each(func(_ int, s *service) {
		if err := s.sender.Round(context.Background()); err != nil {
			m.t.Fatal(err)
		}
	})
	m.receive(what, begun)
}

// serve delivers to one endpoint. Another process has the others meanwhile, because what one turn records,
// such as that it disabled the endpoint, another one can deliver or not.
func (m *machine) serve(e *endpoint) {
	lease := feedback.At(m.now().Add(time.Minute))
	m.exec("UPDATE webhooks SET lease_until = $1 WHERE id <> $2", lease, e.id)
	begun := m.turn(e)
	m.round("a turn of "+text(e.shown()), begun)
	m.exec("UPDATE webhooks SET lease_until = $1 WHERE id <> $2", 0, e.id)
	if len(begun) > 1 { // how many of them were begun is a matter of luck
		m.exec(`DELETE FROM webhook_attempts WHERE webhook_id = $2 AND id NOT IN (
			SELECT id FROM webhook_attempts WHERE webhook_id = $2 ORDER BY id LIMIT CAST($1 AS BIGINT))`, len(e.attempts), e.id)
	}
	m.wait(e)
}

// exec runs a statement with a value and the id of an endpoint.
func (m *machine) exec(statement string, value any, id string) {
	m.each(func(_ int, s *service) {
		if _, err := s.db.Exec(statement, value, s.id(m, id)); err != nil {
			m.t.Fatal(err)
		}
	})
}

// id returns the value of the name of an id.
func (s *service) id(m *machine, name string) (id feedback.ID) {
	if err := id.UnmarshalText([]byte(s.fill(name))); err != nil {
		m.t.Fatal(err)
	}
	return id
}

// wait compares how long the service waits with the model, and then makes it wait just as long, because the
// times are random.
func (m *machine) wait(e *endpoint) {
	m.each(func(_ int, s *service) {
		id := s.id(m, e.id)
		var due feedback.Time
		if err := s.db.QueryRow("SELECT due_at FROM webhooks WHERE id = $1", id).Scan(&due); err != nil {
			m.t.Fatal(err)
		}
		spread := time.Duration(0)
		if e.failures > 0 && e.due.After(m.now()) {
			spread = waitAfter(e.failures) / 5
		}
		m.near("the next attempt", due, e.due, spread)
		rows, err := s.db.Query("SELECT seq, attempts, due_at FROM webhook_retries WHERE webhook_id = $1 ORDER BY seq", id)
		if err != nil {
			m.t.Fatal(err)
		}
		defer rows.Close() //nolint:errcheck // Err returns all errors that matter
		n := 0
		for ; rows.Next(); n++ {
			var number, attempts int
			if err := rows.Scan(&number, &attempts, &due); err != nil {
				m.t.Fatal(err)
			}
			if n >= len(e.aside) || number != e.aside[n].number || attempts != e.aside[n].attempts {
				m.t.Fatalf("the event %d was refused %d times, want %s", number, attempts, text(e.shown()))
			}
			spread := time.Duration(0)
			if r := e.aside[n]; r.due.After(m.now()) {
				spread = waitAfter(r.attempts)/5 + time.Second // those that are refused together wait a little longer each
			}
			m.near("the event", due, e.aside[n].due, spread)
		}
		if err := rows.Err(); err != nil || n != len(e.aside) {
			m.t.Fatalf("%d events are set aside, want %d: %v", n, len(e.aside), err)
		}
	})
	m.exec("UPDATE webhooks SET due_at = $1 WHERE id = $2", feedback.At(e.due), e.id)
	for _, r := range e.aside {
		m.exec("UPDATE webhook_retries SET due_at = $1 WHERE webhook_id = $2 AND seq = "+fmt.Sprint(r.number), feedback.At(r.due), e.id)
	}
	m.exec("UPDATE webhooks SET retry_at = (SELECT MIN(due_at) FROM webhook_retries WHERE webhook_id = $2 AND due_at > $1) WHERE id = $2",
		0, e.id)
}

func (m *machine) near(what string, got feedback.Time, want time.Time, spread time.Duration) {
	if got.Std().Sub(want).Abs() > spread {
		m.t.Fatalf("%s is at %v, want %v", what, got.Std(), want)
	}
}

// finishWebhooks lists everything about webhooks.
func (m *machine) finishWebhooks() {
	m.deliver()
	attempts, refusals := 0, 0
	for _, a := range m.accounts {
		u := find(m.users, func(u *user) bool {
			return u.account == a && u.role == feedback.RoleOwner && !u.gone && u.password != ""
		})
		who := m.signIn(u)
		m.do(aCall{operation: "webhooks-list", who: who, in: object{}})
		m.do(aCall{operation: "audit-list", who: who, in: object{"limit": whole(200)}})
		for _, e := range m.endpointsOf(a) {
			m.do(aCall{operation: "webhooks-secret", who: who, in: object{"id": e.id}})
			m.do(aCall{operation: "webhooks-attempts", who: who, in: object{"id": e.id, "limit": whole(max(1, len(e.attempts)))}})
			attempts, refusals = attempts+len(e.attempts), refusals+len(e.aside)
		}
	}
	for table, want := range map[string]int{"webhook_attempts": attempts, "webhook_retries": refusals, "webhooks": len(m.webhooks)} {
		if got := m.both(table, func(s *service) string {
			var n int
			if err := s.db.QueryRow("SELECT COUNT(*) FROM " + table).Scan(&n); err != nil {
				m.t.Fatal(err)
			}
			return fmt.Sprint(n)
		}); got != fmt.Sprint(want) {
			m.t.Fatalf("%s has %s rows, want %d", table, got, want)
		}
	}
}
