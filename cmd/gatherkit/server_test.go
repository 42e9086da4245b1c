package main

import (
	"bufio"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"testing"

	"gatherkit/internal/config"
)

// TestLeave: a server that ends finishes calls, and closes connections without a call. A browser opens such
// connections ahead of need, and Shutdown alone would wait five seconds for their first call.
func TestLeave(t *testing.T) {
	s := newServer(config.Serve{Listen: "127.0.0.1:0"}, newRegistry(), slog.New(slog.DiscardHandler))
	defer s.http.Close() //nolint:errcheck // ends the test
	begun, finish := make(chan struct{}), make(chan struct{})
	err := s.answer(t.Context(), http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(begun)
		<-finish
		_, _ = io.WriteString(w, "done")
	}))
	if err != nil {
		t.Fatal(err)
	}
	dial := func() net.Conn {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", s.listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		return conn
	}
	unused, busy := dial(), dial()
	if _, err := io.WriteString(busy, "GET / HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	<-begun // so the server has accepted the other connection, too
	if err := s.leave(); err != nil {
		t.Fatal(err)
	}
	if n := s.listener.opened(); n != 1 {
		t.Errorf("%d connections are open, want the one with a call", n)
	}
	if _, err := unused.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("the connection without a call: %v, want its end", err)
	}
	close(finish)
	response, err := http.ReadResponse(bufio.NewReader(busy), nil)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil || string(body) != "done" || response.StatusCode != http.StatusOK {
		t.Errorf("the call in progress: %s, %q, %v", response.Status, body, err)
	}
}
