package pages

import (
	"bytes"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"gatherkit/internal/calls"
	"gatherkit/internal/feedback"
	"gatherkit/internal/headers"
	"gatherkit/internal/metrics"
	"gatherkit/internal/visitors"
)

type page func() ([]byte, error)

func (p page) Render(string) ([]byte, error) { return p() }

// TestBrokenPages: a page that panics is answered and recorded, and its memory is free for the next one.
func TestBrokenPages(t *testing.T) {
	var log bytes.Buffer
	server, err := calls.New(calls.Server{
		Log: slog.New(slog.NewTextHandler(&log, nil)), NewID: func() feedback.ID { return feedback.ID{} },
		Metrics: metrics.New(prometheus.NewRegistry()), Proxies: &headers.Proxies{}, Unavailable: func(error) bool { return false },
	})
	if err != nil {
		t.Fatal(err)
	}
	p := New(Options{Calls: server, Memory: NewMemory(4 * cardBytes)})
	at := visitors.At{Slug: "acme"}
	panics, fails := func() ([]byte, error) { panic("a bug") }, func() ([]byte, error) { return nil, errors.New("a bug") }
	for name, a := range map[string]answer{
		"a page that panics": {page: page(panics)}, "a page that fails": {page: page(fails)},
		"a file that panics": {draw: panics, media: pictureType}, "a file that fails": {draw: fails, media: atomType},
	} {
		log.Reset()
		w := httptest.NewRecorder()
		c := server.Begin(w, httptest.NewRequest(http.MethodGet, "/p/acme/", http.NoBody))
		c.SetClient()
		if err := p.hold(t.Context(), c.Client, at, cardBytes); err != nil {
			t.Fatal(err)
		}
		(&visit{Call: c, pages: p, at: at, home: "/p/acme/"}).send(a, nil)
		if w.Code != http.StatusInternalServerError || w.Body.String() != feedback.ErrInternal.Message {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
		if text := log.String(); !strings.Contains(text, "a bug") || !strings.Contains(text, "msg=call") {
			t.Errorf("%s: the log says %s", name, text)
		}
		if !c.Client.Memory.Claims.TryAcquire(cardBytes) {
			t.Fatalf("%s: its memory is not free", name)
		}
		c.Client.Memory.Claims.Release(cardBytes)
	}
}
