package api

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"gatherkit/internal/calls"
)

// timed is a ResponseWriter that records its deadlines.
type timed struct {
	*httptest.ResponseRecorder
	reads, writes []time.Duration // relative to the time when they were set
}

func (w *timed) SetReadDeadline(at time.Time) error {
	w.reads = append(w.reads, time.Until(at).Round(time.Second))
	return nil
}

func (w *timed) SetWriteDeadline(at time.Time) error {
	w.writes = append(w.writes, time.Until(at).Round(time.Second))
	return nil
}

// between reports whether there are deadlines and all of them are in a range.
func between(deadlines []time.Duration, least, most time.Duration) bool {
	return len(deadlines) > 0 && slices.Min(deadlines) >= least && slices.Max(deadlines) <= most
}

// TestPacedAnswers: pages, files and exports are sent with deadlines.
func TestPacedAnswers(t *testing.T) {
	s := longPages(t)
	s.allowFiles(true)
	file := s.file(requestID(t, s.submitWith(`"`+s.send("key", "a.txt", "words")+`"`)))
	open := func(path string) *http.Request { return httptest.NewRequest(http.MethodGet, path, http.NoBody) }
	for name, test := range map[string]struct {
		call *http.Request
		most time.Duration
	}{
		"a page":    {s.request("requests-list", "owner", `{"limit":200}`), calls.AnswerStall},
		"a file":    {open(strings.TrimPrefix(file, serviceURL)), downloadStall},
		"an export": {open(s.exportOf("owner")), downloadStall},
	} {
		w := &timed{ResponseRecorder: httptest.NewRecorder()}
		s.api.ServeHTTP(w, test.call)
		if w.Code != http.StatusOK || !between(w.writes, test.most/2, test.most) {
			t.Errorf("%s: %d, %v", name, w.Code, w.writes)
		}
	}
}
