package api

import (
	"context"
	"io"
	"net/http"
	"net/netip"
	"runtime"
	"strings"
	"testing"

	"gatherkit/internal/calls"
	"gatherkit/internal/store/storetest"
)

// from returns a submission from an address.
func (s *service) from(address, body string) *http.Request {
	r := s.request("widget-submit-request", "key", body)
	r.RemoteAddr = address + ":4711"
	return r
}

// announced is a body that sends to end when it has been read completely.
type announced struct {
	io.Reader
	end chan<- struct{}
}

func (a announced) Read(b []byte) (int, error) {
	n, err := a.Reader.Read(b)
	if err == io.EOF {
		a.end <- struct{}{}
	}
	return n, err
}

// TestDecodingPlaces: one address cannot take all places for decoding. Waiting calls whose
// clients disconnect leave the queue, and the next call is decoded.
func TestDecodingPlaces(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	s := newService(t, storetest.SQLite(t))
	const body, share = `{"title":"T","description":""}`, 2
	crowd := netip.MustParsePrefix("198.51.100.1/32")
	if !s.api.decoding.TryAcquire(crowd, share) || s.api.decoding.TryAcquire(crowd, 1) {
		t.Fatal("an address gets half of the places")
	}
	ctx, hangUp := context.WithCancel(t.Context())
	read, answers := make(chan struct{}, 2), make(chan answer, 2)
	for range 2 {
		r := s.from("198.51.100.1", "").WithContext(ctx)
		r.Body = io.NopCloser(announced{strings.NewReader(body), read})
		go func() { answers <- serve(s.api, r) }()
	}
	<-read
	<-read
	if got := serve(s.api, s.from("198.51.100.2", body)); got.status != http.StatusOK {
		t.Errorf("another address: %d %s", got.status, got.body)
	}
	select {
	case got := <-answers:
		t.Fatalf("an answer without a place: %d %s", got.status, got.body)
	default:
	}
	hangUp()
	for range 2 {
		if got := <-answers; got.code(t) != "api.unavailable" {
			t.Errorf("a call that was hung up: %d %s", got.status, got.body)
		}
	}
	s.api.decoding.Release(crowd, 1)
	if got := serve(s.api, s.from("198.51.100.1", body)); got.status != http.StatusOK {
		t.Errorf("the next one: %d %s", got.status, got.body)
	}
	s.api.decoding.Release(crowd, 1)
	for _, from := range []string{"198.51.100.1/32", "198.51.100.2/32"} {
		if !s.api.decoding.TryAcquire(netip.MustParsePrefix(from), share) {
			t.Errorf("places of %s were not given back", from)
		}
	}
}

// TestBodyMemory: the bodies of one address hold at most a quarter of the memory, small
// bodies hold none of it, and all of it is released, whatever the outcome of the call.
func TestBodyMemory(t *testing.T) {
	s := newService(t, storetest.SQLite(t))
	const address = "198.51.100.1"
	long := `{"title":"` + strings.Repeat("a", 250<<10) + `"}`
	large := func(from string) answer { return serve(s.api, s.from(from, long)) }
	const perBody = 17 * calls.BodyChunk // at most
	for range calls.MaxBodies / 4 / perBody * 2 {
		if got := large(address); got.code(t) != "widget.invalid_title" {
			t.Fatalf("%d %s", got.status, got.body)
		}
		if got := serve(s.api, s.from(address, long+long)); got.code(t) != "api.body_too_large" {
			t.Fatalf("%d %s", got.status, got.body)
		}
		r := s.from(address, long)
		r.Header.Set("Content-Type", "text/plain")
		if got := serve(s.api, r); got.code(t) != "api.unsupported_media_type" {
			t.Fatalf("%d %s", got.status, got.body)
		}
		r = s.from(address, "")
		r.Body = io.NopCloser(io.MultiReader(strings.NewReader(long), brokenReader{}))
		if got := serve(s.api, r); got.code(t) != "api.invalid_json" {
			t.Fatalf("%d %s", got.status, got.body)
		}
	}
	crowd := netip.MustParsePrefix(address + "/32")
	if !s.api.server.Bodies.TryAcquire(crowd, calls.MaxBodies/4) {
		t.Fatal("bodies that were answered hold memory")
	}
	if s.api.server.Bodies.TryAcquire(crowd, 1) {
		t.Fatal("an address holds more than its share")
	}
	if got := large(address); got.code(t) != "api.unavailable" || got.header.Get("Retry-After") == "" {
		t.Errorf("a large body beyond the share: %d %s", got.status, got.body)
	}
	if got := serve(s.api, s.from(address, `{"title":"T","description":""}`)); got.status != http.StatusOK {
		t.Errorf("a small body beyond the share: %d %s", got.status, got.body)
	}
	if got := large("198.51.100.2"); got.code(t) != "widget.invalid_title" {
		t.Errorf("another address: %d %s", got.status, got.body)
	}
	s.api.server.Bodies.Release(crowd, calls.MaxBodies/4)
	if got := large(address); got.code(t) != "widget.invalid_title" {
		t.Errorf("after the release: %d %s", got.status, got.body)
	}
}

// brokenReader is a connection that breaks.
type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }
