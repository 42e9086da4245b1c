package api

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"gatherkit/internal/fair"
	"gatherkit/internal/feedback"
	"gatherkit/internal/limits"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
)

// cameFrom sets the address of a request.
func cameFrom(address string, r *http.Request) *http.Request {
	r.RemoteAddr = address + ":4711"
	return r
}

// still is a body that does not arrive.
type still struct {
	begun chan<- struct{}
	gone  context.Context
}

func (b still) Read([]byte) (int, error) {
	b.begun <- struct{}{}
	<-b.gone.Done()
	return 0, context.Cause(b.gone)
}

// TestSlowSenders: uploads that do not arrive do not block those of other addresses.
func TestSlowSenders(t *testing.T) {
	s := newService(t, storetest.SQLite(t))
	s.allowFiles(true)
	begun := make(chan struct{}, limits.MaxUploads+1)
	slow := newCrowd(t, s)
	send := func(address string) {
		_, url := s.announce("key", "a", 5)
		slow.call(cameFrom(address, httptest.NewRequest(http.MethodPut, url, still{begun, slow.ctx})))
	}
	put := func(ctx context.Context, address string) answer {
		_, url := s.announce("key", "a", 5)
		return serve(s.api, cameFrom(address, httptest.NewRequestWithContext(ctx, http.MethodPut, url, strings.NewReader("words"))))
	}
	for range 2 * limits.MaxUploads {
		send("198.51.100.1")
	}
	for range limits.MaxUploads / 4 {
		<-begun
	}
	for _, other := range []string{"198.51.100.2", "2001:db8::1"} {
		if got := put(t.Context(), other); got.code(t) != "ok" {
			t.Errorf("at %s: %s", other, got.body)
		}
	}
	if len(begun) > 0 {
		t.Error("an address has more than its share")
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	got := put(gone, "198.51.100.1")
	if got.status != http.StatusServiceUnavailable || got.code(t) != "api.unavailable" || got.header.Get("Retry-After") == "" {
		t.Errorf("one more from there: %d %s", got.status, got.body)
	}
	for i := range 2 * limits.MaxUploads / 4 {
		send(fmt.Sprintf("203.0.%d.1", i/(limits.MaxUploads/4)))
		<-begun
	}
	// All places of the account are taken. Callers take turns, so a caller with many waiting
	// uploads does not delay the others.
	waits := make(chan answer, 1)
	go func() { waits <- put(t.Context(), "198.51.100.3") }()
	slow.leave()
	slow.all.Wait()
	if got := <-waits; got.code(t) != "ok" {
		t.Errorf("one that waited: %s", got.body)
	}
	if got := put(t.Context(), "198.51.100.1"); got.code(t) != "ok" {
		t.Errorf("afterwards: %s", got.body)
	}
}

// TestUploadPlaces: of 64 concurrent uploads, a caller gets 16, a network 32 and an account 48.
func TestUploadPlaces(t *testing.T) {
	p := limits.NewUploadPlaces()
	fill := func(address string, account byte) (n int) {
		for p.Of(fair.Caller(netip.MustParseAddr(address)), feedback.ID{account}).TryAcquire(1) {
			n++
		}
		return n
	}
	for i, c := range []struct {
		address string
		account byte
		want    int
	}{
		{"198.51.100.1", 1, 16},
		{"198.51.100.2", 1, 16},
		{"198.51.100.3", 1, 0},
		{"198.51.100.3", 2, 0},
		{"2001:db8::1", 1, 16},
		{"203.0.113.1", 1, 0},
		{"203.0.113.1", 2, 16},
		{"203.0.114.1", 3, 0},
	} {
		if got := fill(c.address, c.account); got != c.want {
			t.Errorf("case %d: %s sends %d files, want %d", i, c.address, got, c.want)
		}
	}
}

// TestSendersDeadline: an upload must not pause for too long, and must be complete before its
// link expires.
func TestSendersDeadline(t *testing.T) {
	s := newService(t, storetest.SQLite(t))
	s.allowFiles(true)
	for left, want := range map[time.Duration]time.Duration{15 * time.Minute: uploadStall, 10 * time.Second: 10 * time.Second} {
		_, url := s.announce("key", "a", 5)
		s.clock.Move(15*time.Minute - left)
		w := &timed{ResponseRecorder: httptest.NewRecorder()}
		s.api.ServeHTTP(w, httptest.NewRequest(http.MethodPut, url, strings.NewReader("words")))
		if w.Code != http.StatusOK || !between(w.reads, want/2, want) {
			t.Errorf("%v before the end: %d %v, want %v", left, w.Code, w.reads, want)
		}
	}
}

// TestFilesHaveBounds: announced files count towards the limits of an address, an app and an
// account, even if nothing is sent.
func TestFilesHaveBounds(t *testing.T) {
	storetest.Each(t, func(t *testing.T, place storetest.Place) {
		s := newService(t, place)
		s.allowFiles(true)
		for _, name := range []string{"second", "third"} {
			app := s.must("apps-create", "owner", `{"name":"App"}`)["app"].(map[string]any)
			s.names[name] = app["api_key"].(string)
			s.must("apps-update-settings", "owner", fmt.Sprintf(`{"id":%q,"settings":{"widget":{"allow_file_uploads":true}}}`, app["id"]))
		}
		announce := func(key, address string, size int) (target string, got answer) {
			body := fmt.Sprintf(`{"filename":"a","content_type":"text/plain","size":%d}`, size)
			got = serve(s.api, cameFrom(address, s.request("widget-create-upload", key, body)))
			if got.status == http.StatusOK {
				return lookUp(t, got, "result.upload.url"), got
			}
			if got.code(t) != "api.rate_limited" || got.header.Get("Retry-After") != "900" {
				t.Errorf("%v %s", got.header, got.body)
			}
			return "", got
		}
		fill := func(key, address string, size int) (n int) {
			for ; ; n++ {
				if _, got := announce(key, address, size); got.status != http.StatusOK {
					return n
				}
			}
		}
		const large, share, most = 10 << 20, 12, 51 // 128 of 512 MiB
		if n := fill("key", "198.51.100.1", large); n != share {
			t.Errorf("an address announced %d files", n)
		}
		if n := fill("second", "198.51.100.1", large); n != share {
			t.Errorf("at another app it announced %d files", n)
		}
		n := share
		for i := 2; n < most; i++ {
			n += fill("key", fmt.Sprint("198.51.100.", i), large)
		}
		if more := fill("key", "198.51.100.9", large); n != most || more != 0 {
			t.Errorf("the app has %d files and %d", n, more)
		}
		target, got := announce("second", "198.51.100.2", 5)
		if got.status != http.StatusOK || s.put(target, strings.NewReader("words")).code(t) != "ok" {
			t.Errorf("another app: %s", got.body)
		}
		for i := range 8 {
			n += fill("second", fmt.Sprint("198.51.100.", i), large) + fill("third", fmt.Sprint("198.51.100.", i), large)
		}
		if n += share; n != 102 { // 1 GiB
			t.Errorf("the account has %d files", n)
		}
		// Files that have not arrived in time do not count. Those that have arrived count for a day.
		s.clock.Move(15*time.Minute + time.Second)
		if _, got := announce("key", "198.51.100.1", large); got.status != http.StatusOK {
			t.Errorf("a quarter of an hour later: %s", got.body)
		}
	})
}

// TestFilesThatHaveArrivedCount: files count until they are attached, small ones as 64 KiB.
func TestFilesThatHaveArrivedCount(t *testing.T) {
	storetest.Each(t, func(t *testing.T, place storetest.Place) {
		s := newService(t, place)
		s.allowFiles(true)
		const share, large, smallest, small = 128 << 20, 10 << 20, 64 << 10, 20
		var ids []string
		for range 5 {
			ids = append(ids, `"`+s.send("key", "a", "words")+`"`)
		}
		refused := func() bool {
			return s.call("widget-create-upload", "key", `{"filename":"a","content_type":"text/plain","size":1}`).code(t) == "api.rate_limited"
		}
		// fill announces files until there is space left for the small ones and a few bytes, and
		// then announces the small ones.
		fill := func(more int) {
			t.Helper()
			rest := share - small*smallest - more
			for ; rest > large; rest -= large {
				s.announce("key", "a", large)
			}
			s.announce("key", "a", rest)
			for range small - len(ids) {
				s.announce("key", "a", 1)
			}
		}
		fill(0)
		if !refused() {
			t.Error("one more than the share was let in")
		}
		s.clock.Move(15*time.Minute + time.Second)
		fill(smallest - 1)
		if !refused() {
			t.Error("files that have come do not count any more, or the smallest for less")
		}
		requestID(t, s.submitWith(strings.Join(ids, ",")))
		for range 5 {
			s.announce("key", "a", 1)
		}
		if !refused() {
			t.Error("more than the attached ones were let in")
		}
		var known int
		err := place.Raw(t).QueryRowContext(t.Context(),
			"SELECT COUNT(*) FROM uploads WHERE request_id IS NOT NULL AND sender IS NOT NULL").Scan(&known)
		if err != nil || known > 0 {
			t.Errorf("of %d attached files the sender is known, %v", known, err)
		}
	})
}

// TestFilesThatDoNotArrive: files count as long as they can be sent, and are removed an hour
// later. Files that are sent directly to S3 count as if they had arrived.
func TestFilesThatDoNotArrive(t *testing.T) {
	for name, counts := range map[string]time.Duration{"by": 15 * time.Minute, "past": 24 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			storetest.Each(t, func(t *testing.T, place storetest.Place) {
				s := newService(t, place)
				s.store = place.Open(t, s.clock.Now, func(o *store.Options) { o.RemoveFile, o.FilesSentPast = s.api.Files.Remove, name == "past" })
				s.api.Store = s.store
				s.doNotCome(place, counts)
			})
		})
	}
}

func (s *service) doNotCome(place storetest.Place, counts time.Duration) {
	t := s.t
	s.allowFiles(true)
	for range 12 {
		s.announce("key", "a", 10<<20)
	}
	full := func() bool {
		return s.call("widget-create-upload", "key", `{"filename":"a","content_type":"text/plain","size":10485760}`).code(t) == "api.rate_limited"
	}
	left := func() (n int) {
		if err := s.store.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := place.Raw(t).QueryRowContext(t.Context(), "SELECT COUNT(*) FROM uploads").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	s.clock.Move(counts - time.Second)
	if !full() {
		t.Error("they do not count any more")
	}
	s.clock.Move(time.Hour - time.Second)
	if n := left(); n != 12 {
		t.Errorf("%d are left", n)
	}
	if full() {
		t.Error("they still count")
	}
	s.clock.Move(3 * time.Second)
	if n := left(); n != 1 { // which full has announced
		t.Errorf("%d are left after their time", n)
	}
}

// TestFilesOfADay: the bytes of files that an address announces in a day are limited, whether
// the files are attached or not.
func TestFilesOfADay(t *testing.T) {
	s := newService(t, storetest.SQLite(t), func(o *Options) { o.SubmitRate = 3 })
	s.allowFiles(true)
	announce := func(address string, size int) answer {
		body := fmt.Sprintf(`{"filename":"a","content_type":"text/plain","size":%d}`, size)
		return serve(s.api, cameFrom(address, s.request("widget-create-upload", "key", body)))
	}
	attach := func(address string, size int) answer {
		got := announce(address, size)
		if got.status != http.StatusOK {
			return got
		}
		if sent := s.put(lookUp(t, got, "result.upload.url"), strings.NewReader(strings.Repeat("a", size))); sent.code(t) != "ok" {
			t.Fatal(string(sent.body))
		}
		body := fmt.Sprintf(`{"title":"A file","description":"Here.","attachments":[%q]}`, lookUp(t, got, "result.upload.id"))
		return serve(s.api, cameFrom(address, s.request("widget-submit-request", "key", body)))
	}
	const large = 10 << 20
	for i, size := range []int{large, large, large - 1} {
		if got := attach("198.51.100.1", size); got.code(t) != "ok" {
			t.Fatalf("file %d: %s", i, got.body)
		}
		s.clock.Move(2 * time.Minute)
	}
	got := announce("198.51.100.1", 2)
	if got.code(t) != "api.rate_limited" || got.header.Get("Retry-After") == "" {
		t.Errorf("more than a day's bytes: %v %s", got.header, got.body)
	}
	for address, size := range map[string]int{"198.51.100.1": 1, "198.51.100.2": large} {
		if got := announce(address, size); got.code(t) != "ok" {
			t.Errorf("%d bytes from %s: %s", size, address, got.body)
		}
	}
	s.clock.Move(18 * time.Hour)
	if got := announce("198.51.100.1", large); got.code(t) != "api.rate_limited" {
		t.Errorf("on the same day: %s", got.body)
	}
	s.clock.Move(30 * time.Hour)
	if got := announce("198.51.100.1", large); got.code(t) != "ok" {
		t.Errorf("two days later: %s", got.body)
	}
}
