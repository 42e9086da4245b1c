package api

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"gatherkit/internal/events"
	"gatherkit/internal/feedback"
	"gatherkit/internal/limits"
	"gatherkit/internal/store/storetest"
)

// feed calls events-list and returns the page.
func (s *service) feed(who, body string) (page eventsListResult) {
	s.t.Helper()
	text, err := json.Marshal(s.must("events-list", who, s.filled(body)))
	if err == nil {
		err = json.Unmarshal(text, &page)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return page
}

// accountID returns the id of the first account.
func (s *service) accountID() feedback.ID {
	s.t.Helper()
	id, err := feedback.ParseID(s.names["account"])
	if err != nil {
		s.t.Fatal(err)
	}
	return id
}

// untilWait returns when so many calls wait for events.
func (s *service) untilWait(n int) {
	s.t.Helper()
	for began := time.Now(); s.store.Waiters.Waiting() != n; runtime.Gosched() {
		if time.Since(began) > storetest.Patience {
			s.t.Fatalf("%d calls wait, not %d", s.store.Waiters.Waiting(), n)
		}
	}
}

// numbers returns the numbers of events.
func numbers(page eventsListResult) (list []int64) {
	for _, e := range page.Events {
		list = append(list, e.Number)
	}
	return list
}

// TestEventsAccountForEveryNumber: read in pages of any size, events and erased numbers are those from 1
// to the last, each once and in order.
func TestEventsAccountForEveryNumber(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s := newService(t, at)
		var gone []string
		for i := range 260 {
			id := s.submit(fmt.Sprint("T", i))
			if i%3 == 0 || i > 20 && i < 200 { // single ones, and more than a statement reads
				s.must("requests-delete", "owner", `{"id":"`+id+`"}`)
				gone = append(gone, id)
			}
		}
		s.clock.Move(31 * 24 * time.Hour)
		s.logIn("owner")
		if err := s.store.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(1, 2))
		var after, shown, erased int64
		for more := true; more; {
			limit := 1 + r.IntN(70)
			page := s.feed("owner", fmt.Sprintf(`{"after":%d,"limit":%d}`, after, limit))
			if len(page.Events) > limit {
				t.Fatalf("%d events, limit %d", len(page.Events), limit)
			}
			var all []int64
			all = append(all, numbers(page)...)
			for _, one := range page.Erased {
				for n := one.From; n <= one.To; n++ {
					all = append(all, n)
					erased++
				}
			}
			shown += int64(len(page.Events))
			if !slices.IsSorted(numbers(page)) {
				t.Errorf("not in order: %v", numbers(page))
			}
			slices.Sort(all)
			for i, n := range all {
				if n != after+int64(i)+1 {
					t.Fatalf("after %d: %v", after, all)
				}
			}
			if page.Position != after+int64(len(all)) || page.More != (page.Position < page.Last) {
				t.Fatalf("after %d: position %d, %d numbers, more %v", after, page.Position, len(all), page.More)
			}
			after, more = page.Position, page.More
		}
		last, err := s.store.Events.Last(t.Context(), s.accountID())
		if err != nil || shown+erased != last || erased < int64(2*len(gone)) {
			t.Errorf("%d events and %d erased, the last is %d: %v", shown, erased, last, err)
		}
	})
}

// TestEventsLimits: one call reads at most 2,000 entries, and about a mebibyte of changed fields. What a
// filter leaves out counts.
func TestEventsLimits(t *testing.T) {
	at := storetest.SQLite(t)
	s := newService(t, at)
	id := s.submit("T")
	for i := range 60 { // 20 kB before and after
		s.must("requests-update", "owner", fmt.Sprintf(`{"id":%q,"description":%q}`, id, strings.Repeat(fmt.Sprint(i%10), 10_000)))
	}
	page := s.feed("owner", `{"after":0,"limit":1000}`)
	if n := len(page.Events); n < 50 || n > 60 || !page.More {
		t.Errorf("%d events, position %d, more %v", n, page.Position, page.More)
	}
	raw := at.Raw(t)
	for n := range int64(4_500) {
		if _, err := raw.Exec("INSERT INTO changes (account_id, seq, at, kind, actor_kind) VALUES ($1, $2, 0, 'vote.added', 'service')",
			s.accountID(), 1000+n); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := raw.Exec("UPDATE account_seq SET last = 5499 WHERE account_id = $1", s.accountID()); err != nil {
		t.Fatal(err)
	}
	page = s.feed("owner", `{"after":999,"limit":1000,"kinds":["comment.*"]}`)
	if len(page.Events) != 0 || page.Position != 2999 || !page.More {
		t.Errorf("position %d, more %v", page.Position, page.More)
	}
}

func TestEventsFilter(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s := newService(t, at)
		other := s.must("apps-create", "owner", `{"name":"Other"}`)["app"].(map[string]any)["id"].(string)
		id := s.submit("T")
		s.must("requests-create", "member", `{"app_id":"`+other+`","title":"U"}`)
		s.must("requests-update", "member", `{"id":"`+id+`","status":"planned"}`)
		s.must("requests-update", "member", `{"id":"`+id+`","title":"T2"}`)
		s.must("votes-add", "member", `{"request_id":"`+id+`","email":"ada@example.com"}`)
		s.must("links-add", "member", `{"request_id":"`+id+`","url":"https://a.example"}`)
		kinds := func(who, body string) string {
			var list []string
			for _, e := range s.feed(who, body).Events {
				list = append(list, string(e.Kind))
				if e.ID != feedback.EventID(s.accountID(), e.Number, e.At) || e.Version != events.Version {
					t.Errorf("event %d: %s, version %d", e.Number, e.ID, e.Version)
				}
			}
			return strings.Join(list, " ")
		}
		const requests = "request.created request.created request.updated request.updated vote.added link.added"
		for _, c := range []struct{ who, body, want string }{
			{"viewer", `{"after":0}`, requests},
			{"member", `{"after":0}`, requests},
			{"viewer", `{"after":0,"app_id":"` + other + `"}`, "request.created"},
			{"owner", `{"after":0,"app_id":"` + other + `"}`, "app.created request.created"},
			{"owner", `{"after":0,"kinds":["app.created","vote.*"]}`, "app.created app.created vote.added"},
			{"viewer", `{"after":0,"kinds":["app.created","vote.*"]}`, "vote.added"},
			{"viewer", `{"after":0,"kinds":["request.updated:title"]}`, "request.updated"},
			{"viewer", `{"after":0,"kinds":["request.updated:title","request.updated:status"]}`, "request.updated request.updated"},
			{"viewer", `{"after":0,"kinds":["request.updated:votes"]}`, ""},
			{"viewer", `{}`, ""},
		} {
			if got := kinds(c.who, c.body); got != c.want {
				t.Errorf("%s %s: %s, want %s", c.who, c.body, got, c.want)
			}
		}
		for _, wrong := range []string{
			"vote", "vote.", "vote.cast", "vot.*", "*", "request.*:title", "request.updated:", "Request.updated", " ",
		} {
			if got := s.call("events-list", "viewer", fmt.Sprintf(`{"kinds":[%q]}`, wrong)); got.code(t) != "events.invalid_kinds" {
				t.Errorf("%q: %s", wrong, got.body)
			}
		}
		theirs := s.feed("stranger", `{"after":0}`)
		if theirs.Last == 0 || theirs.Events[0].AppID != nil || strings.Contains(fmt.Sprint(theirs), id) {
			t.Errorf("another account: %v", theirs)
		}
	})
}

// TestEventsOfQuarantine: nothing of a request is shown unless it is live.
func TestEventsOfQuarantine(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s := newService(t, at)
		spam, live := s.submitSpam("Buy watches"), s.submit("Dark mode")
		last := func() events.FeedEvent {
			page := s.feed("viewer", `{"after":0}`)
			if strings.Contains(fmt.Sprint(s.must("events-list", "viewer", `{"after":0}`)), "example.com\"") {
				t.Error("the submitter is in an event")
			}
			return page.Events[len(page.Events)-1]
		}
		first := s.feed("viewer", `{"after":0}`).Events[0]
		if first.RequestID.String() != spam || first.Request != nil {
			t.Errorf("in quarantine: %+v", first)
		}
		s.must("requests-release", "member", `{"id":"`+spam+`"}`)
		if e := last(); e.Kind != feedback.RequestReleased || e.Request == nil || e.Request.Title != "Buy watches" ||
			e.Request.URL != "https://feedback.example.com/?request="+spam {
			t.Errorf("released: %+v", e)
		}
		s.must("requests-delete", "member", `{"id":"`+live+`"}`)
		if e := last(); e.Kind != feedback.RequestDeleted || e.Request != nil {
			t.Errorf("deleted: %+v", e)
		}
	})
}

// TestEventsWait: a call that waits is answered when another call of any process commits, and does not
// take a place of its address.
func TestEventsWait(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s, apis := replicas(t, at)
		for i, api := range apis {
			if at.Name == "sqlite" && i > 0 {
				break // it has one process
			}
			answered := make(chan answer, 1)
			go func() {
				answered <- s.at(apis[0], "events-list", s.names["owner"], `{"wait":10,"kinds":["request.created"]}`)
			}()
			s.untilWait(1)
			if i == 0 {
				s.must("apps-create", "owner", `{"name":"A"}`) // does not fit, so the call waits on
			}
			began := time.Now()
			s.at(api, "widget-submit-request", s.names["key"], `{"title":"T","description":""}`)
			_, result := resultOf(t, <-answered)
			if len(result["events"].([]any)) != 1 {
				t.Errorf("process %d: %v", i, result)
			}
			t.Logf("%s: process %d woke the call after %v", at.Name, i, time.Since(began))
		}
		if n := s.store.Waiters.Waiting(); n != 0 {
			t.Errorf("%d calls still wait", n)
		}
		if page := s.feed("owner", `{"wait":0}`); len(page.Events) != 0 || page.More {
			t.Errorf("without a change: %+v", page)
		}
		began := time.Now()
		s.feed("owner", `{"wait":1}`)
		if time.Since(began) < time.Second {
			t.Errorf("answered after %v", time.Since(began))
		}
	})
}

// TestEventsWaitPlaces: a session waits with at most eight calls, and further ones pause before they are answered.
func TestEventsWaitPlaces(t *testing.T) {
	ending := make(chan struct{})
	s := newService(t, storetest.SQLite(t), func(o *Options) { o.Ending = ending })
	answered := make(chan answer, 2*maxWaitsOfSession)
	wait := func() {
		r := s.request("events-list", "owner", `{"wait":10}`)
		r.RemoteAddr = "198.51.100.1:4711"
		go func() { answered <- serve(s.api, r) }()
	}
	for range maxWaitsOfSession {
		wait()
	}
	s.untilWait(maxWaitsOfSession)
	if !s.api.server.Places.Callers.TryAcquire(netip.MustParsePrefix("198.51.100.1/32"), limits.MaxCalls/4) {
		t.Error("calls that wait hold places of their address")
	}
	s.api.server.Places.Callers.Release(netip.MustParsePrefix("198.51.100.1/32"), limits.MaxCalls/4)
	began := time.Now()
	wait()
	if got := <-answered; got.code(t) != "ok" || time.Since(began) < withoutPlace {
		t.Errorf("one more after %v: %s", time.Since(began), got.body)
	}
	close(ending)
	for range maxWaitsOfSession {
		if got := <-answered; got.code(t) != "ok" {
			t.Errorf("when the service stops: %s", got.body)
		}
	}
}
