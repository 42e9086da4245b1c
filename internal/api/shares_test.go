package api

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"gatherkit/internal/calls"
	"gatherkit/internal/fair"
	"gatherkit/internal/feedback"
	"gatherkit/internal/limits"
	"gatherkit/internal/lists"
	"gatherkit/internal/store/storetest"
)

// stuck is a client that reads nothing until its context ends.
type stuck struct {
	*httptest.ResponseRecorder
	reading chan struct{} // closed when the answer is written
	first   sync.Once
	gone    context.Context
}

func (s *stuck) Write(b []byte) (int, error) {
	s.first.Do(func() { close(s.reading) })
	<-s.gone.Done()
	return 0, context.Cause(s.gone)
}

// crowd are clients that do not read their answers.
type crowd struct {
	*service
	ctx   context.Context
	leave context.CancelFunc
	all   sync.WaitGroup
}

func newCrowd(t *testing.T, s *service) *crowd {
	c := &crowd{service: s}
	c.ctx, c.leave = context.WithCancel(t.Context())
	t.Cleanup(c.all.Wait)
	t.Cleanup(c.leave)
	return c
}

// call makes a call whose answer is not read. The channel is closed when the answer is written.
func (c *crowd) call(r *http.Request) (reading chan struct{}) {
	w := &stuck{ResponseRecorder: httptest.NewRecorder(), reading: make(chan struct{}), gone: c.ctx}
	c.all.Go(func() {
		defer func() {
			if cause := recover(); cause != nil && cause != http.ErrAbortHandler { //nolint:errorlint // net/http compares it like this
				panic(cause)
			}
		}()
		c.api.ServeHTTP(w, r.WithContext(c.ctx))
	})
	return w.reading
}

// holder returns the holder of an access token.
func (s *service) holder(who string) limits.Holder {
	s.t.Helper()
	session, err := s.store.Sessions.Of(s.t.Context(), s.names[who])
	if err != nil {
		s.t.Fatal(err)
	}
	return limits.Holder{Account: session.Account.ID, Session: session.ID}
}

// full reports whether fewer than n places are free for a holder.
func full(s *limits.Shares, who limits.Holder, n int64) bool {
	if claims := s.Of(who); claims.TryAcquire(n) {
		claims.Release(n)
		return false
	}
	return true
}

// longPages returns a service with requests in both accounts that make the longest pages.
func longPages(t *testing.T) *service {
	t.Helper()
	at := storetest.SQLite(t)
	s := newService(t, at)
	app := s.must("apps-create", "stranger", `{"name":"Other"}`)["app"].(map[string]any)
	s.names["other"] = app["api_key"].(string)
	long := `{"title":"T","description":"` + strings.Repeat("界", 10_000) + `"}`
	for _, key := range []string{"other", "key"} {
		s.names["request"] = s.must("widget-submit-request", key, long)["request"].(map[string]any)["id"].(string)
	}
	s.copies(at, at.Raw(t), lists.MaxLimit)
	return s
}

// TestSlowReadersOfPages: clients that do not read long pages do not block their colleagues or
// other accounts.
func TestSlowReadersOfPages(t *testing.T) {
	s := longPages(t)
	slow := newCrowd(t, s)
	const list = `{"limit":200}`
	history := `{"request_id":"` + s.names["request"] + `","limit":200}`
	for _, who := range []string{"owner", "member", "viewer"} {
		for range 8 {
			slow.call(s.request("requests-list", who, list))
		}
		for !full(s.api.pages, s.holder(who), lists.MaxLimit*rowBytes) {
			<-slow.call(s.request("auth-me", who, "")) // returns after about the time of a call
		}
		if who == "owner" {
			s.must("requests-list", "admin", list)
			s.must("requests-history", "admin", history)
		}
	}
	s.must("requests-list", "stranger", list)
	s.must("audit-list", "stranger", list)
	slow.leave()
	slow.all.Wait()
	s.must("requests-history", "owner", history)
	if everyone := (limits.Holder{}); !s.api.pages.Accounts.TryAcquire(everyone.Account, maxPages/3*2) {
		t.Error("abandoned pages hold memory")
	}
}

// TestListsHoldMemory: every list acquires memory before it reads, and releases it.
func TestListsHoldMemory(t *testing.T) {
	s := newService(t, storetest.SQLite(t))
	s.names["request"] = s.submit("T")
	who, count := s.holder("owner"), 0
	for _, o := range s.api.order {
		if _, isList := o.returns.FieldByName("PageResult"); !isList {
			continue
		}
		count++
		body := "{}"
		if _, ofRequest := o.takes.FieldByName("RequestID"); ofRequest {
			body = s.filled(`{"request_id":"{request}"}`)
		} else if slices.Contains(o.params.Schema.Required, "app_id") {
			body = s.filled(`{"app_id":"{app}"}`)
		}
		share := int64(maxPages / 3)
		if !s.api.pages.Of(who).TryAcquire(share) {
			t.Fatalf("a call before %s holds memory", o.name)
		}
		ctx, leave := context.WithCancel(t.Context())
		waits := make(chan answer)
		go func() { waits <- serve(s.api, s.request(o.name, "owner", body).WithContext(ctx)) }()
		s.must(o.name, "admin", body)
		leave()
		if got := <-waits; got.code(t) != "api.unavailable" {
			t.Errorf("%s without memory: %d %s", o.name, got.status, got.body)
		}
		s.api.pages.Of(who).Release(share)
		s.must(o.name, "owner", body)
	}
	if count < 8 {
		t.Errorf("%d lists", count)
	}
}

// exportOf creates a link to an export and returns its path.
func (s *service) exportOf(who string) string {
	s.t.Helper()
	url := s.must("requests-export", who, `{"format":"csv"}`)["url"].(string)
	return strings.TrimPrefix(url, serviceURL)
}

// TestSlowReadersOfExports: clients that do not read exports do not block their colleagues or
// other accounts. A refused link stays valid, and an invalid link is refused as invalid even if
// no place is free.
func TestSlowReadersOfExports(t *testing.T) {
	s := newService(t, storetest.SQLite(t))
	slow := newCrowd(t, s)
	open := func(link string) *http.Request { return httptest.NewRequest(http.MethodGet, link, http.NoBody) }
	wait := func(link string) {
		t.Helper()
		got := s.open(http.MethodGet, link)
		if got.status != http.StatusServiceUnavailable || got.code(t) != "api.unavailable" || got.header.Get("Retry-After") == "" {
			t.Errorf("%d %s", got.status, got.body)
		}
	}
	for range maxExports / 3 {
		<-slow.call(open(s.exportOf("owner")))
	}
	refused := s.exportOf("owner")
	wait(refused)
	if got := s.open(http.MethodGet, s.exportOf("admin")); got.status != http.StatusOK {
		t.Errorf("a colleague: %d %s", got.status, got.body)
	}
	<-slow.call(open(s.exportOf("member")))
	wait(s.exportOf("admin"))
	if got := s.open(http.MethodGet, s.exportOf("stranger")); got.status != http.StatusOK {
		t.Errorf("another account: %d %s", got.status, got.body)
	}

	for i := range byte(maxExports / 2) {
		if !s.api.exports.Of(limits.Holder{Account: feedback.ID{1}, Session: feedback.ID{i}}).TryAcquire(1) {
			t.Fatal("three more places are free")
		}
	}
	wait(s.exportOf("stranger"))
	unknown := feedback.NewExportToken(strings.NewReader(strings.Repeat("seven-eleven", 99)))
	for _, token := range []string{"x", unknown} {
		if got := s.open(http.MethodGet, exportPath+token); got.code(t) != "exports.not_found" {
			t.Errorf("%s: %d %s", token, got.status, got.body)
		}
	}
	slow.leave()
	slow.all.Wait()
	if got := s.open(http.MethodGet, refused); got.status != http.StatusOK {
		t.Errorf("the link that was refused: %d %s", got.status, got.body)
	}
	if who := s.holder("owner"); !s.api.exports.Of(who).TryAcquire(maxExports / 3) {
		t.Error("exports that have ended hold places")
	}
}

// TestShares: accounts and sessions get their shares, and shrink releases memory.
func TestShares(t *testing.T) {
	s := limits.NewShares(6, 4, 3)
	one := s.Of(limits.Holder{Account: feedback.ID{1}, Session: feedback.ID{1}})
	colleague := s.Of(limits.Holder{Account: feedback.ID{1}, Session: feedback.ID{2}})
	other := s.Of(limits.Holder{Account: feedback.ID{2}, Session: feedback.ID{3}})
	if !one.TryAcquire(3) || one.TryAcquire(1) || colleague.TryAcquire(2) || !colleague.TryAcquire(1) {
		t.Error("a session gets 3, and its account 4")
	}
	if !other.TryAcquire(2) || other.TryAcquire(1) {
		t.Error("there are 6")
	}
	r := calls.Memory{Claims: other, Bytes: 2}
	r.Shrink(5)
	r.Shrink(1)
	if r.Bytes != 1 || !other.TryAcquire(1) || other.TryAcquire(1) {
		t.Errorf("%d are held of 1", r.Bytes)
	}
	if !reflect.DeepEqual(calls.Memory{}, func() (m calls.Memory) { m.Shrink(0); return m }()) {
		t.Error("the zero value holds memory")
	}
}

// TestConcurrentCalls: the concurrent calls of a caller and of a network are limited, and others
// are not affected.
func TestConcurrentCalls(t *testing.T) {
	p := limits.NewCallPlaces()
	var leaves []func()
	enter := func(address string) bool {
		leave, err := p.Enter(fair.Caller(netip.MustParseAddr(address)))
		if err == nil {
			leaves = append(leaves, leave)
		}
		return err == nil
	}
	for i := range limits.MaxCalls / 4 {
		if !enter("2001:db8:1::1") || !enter("127.0.0.1") {
			t.Fatalf("call %d is refused", i+1)
		}
	}
	if enter("2001:db8:1::2") || !enter("2001:db8:1:1::1") || !enter("127.0.0.1") {
		t.Error("a caller gets its share and no more")
	}
	for i := range 3*limits.MaxCalls/4 - 1 {
		if !enter(fmt.Sprintf("2001:db8:1:%x::1", 2+i%8)) {
			t.Fatalf("call %d of the network is refused", i+1)
		}
	}
	if enter("2001:db8:1:ffff::1") || !enter("2001:db8:2::1") {
		t.Error("a network gets its share and no more")
	}
	for _, leave := range leaves {
		leave()
	}
	if !enter("2001:db8:1::1") {
		t.Error("places were not released")
	}
}
