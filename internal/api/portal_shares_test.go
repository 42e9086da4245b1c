package api

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"gatherkit/internal/store/storetest"
)

// TestSlowForms: senders of forms that do not come to an end keep nobody from the pages of a portal.
func TestSlowForms(t *testing.T) {
	s := newService(t, storetest.SQLite(t))
	s.publicPortal()
	const senders = 40 // more pages than there is memory for
	answered := make(chan struct{})
	var ends [senders]*io.PipeWriter
	for i := range senders {
		body, end := io.Pipe()
		ends[i] = end
		r := httptest.NewRequest(http.MethodPost, "/p/acme/vote", body)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		go func() {
			s.api.ServeHTTP(httptest.NewRecorder(), r)
			answered <- struct{}{}
		}()
		if _, err := io.WriteString(end, "request_id="); err != nil { // returns when the service reads it
			t.Fatal(err)
		}
	}
	if got := s.guest().get(""); got.status != http.StatusOK {
		t.Errorf("a reader gets %d", got.status)
	}
	for _, end := range ends {
		_ = end.CloseWithError(io.ErrUnexpectedEOF)
	}
	for range senders {
		<-answered
	}
}
