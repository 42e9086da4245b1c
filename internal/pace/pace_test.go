package pace_test

import (
	"errors"
	"io"
	"net"
	"net/http/httptest"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"gatherkit/internal/pace"
)

// wire is a ResponseWriter with a connection.
type wire struct {
	net.Conn
	*httptest.ResponseRecorder
}

func (w wire) Write(b []byte) (int, error) { return w.Conn.Write(b) }

// linked connects a peer to a wire, in a synctest bubble.
func linked(t *testing.T) (w wire, peer net.Conn) {
	ours, peer := net.Pipe()
	t.Cleanup(func() { _ = ours.Close(); _ = peer.Close() })
	return wire{ours, httptest.NewRecorder()}, peer
}

// trickle transfers one part at a time, each after a pause, until it fails.
func trickle(t *testing.T, pause time.Duration, piece func() error) {
	for {
		select {
		case <-t.Context().Done():
			return
		case <-time.After(pause):
		}
		if piece() != nil {
			return
		}
	}
}

// TestPaceOfSenders sends files of 10 MiB at different rates.
func TestPaceOfSenders(t *testing.T) {
	for name, test := range map[string]struct {
		piece  int
		pause  time.Duration
		within time.Duration // in which the transfer ends
		whole  bool
	}{
		"nothing":             {0, time.Hour, 30 * time.Second, false},
		"a byte in 29 s":      {1, 29 * time.Second, 31 * time.Second, false},
		"a byte a second":     {1, time.Second, 31 * time.Second, false},
		"4 KiB/s":             {4 << 10, time.Second, 61 * time.Second, false},
		"16 KiB/s":            {16 << 10, time.Second, 641 * time.Second, true},
		"16 KiB/s, in bursts": {400 << 10, 25 * time.Second, 651 * time.Second, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, peer := linked(t)
				const size = 10 << 20
				body, began := pace.NewReader(io.LimitReader(w.Conn, size), w, 30*time.Second), time.Now()
				body.Until = began.Add(15 * time.Minute)
				go trickle(t, test.pause, func() error { _, err := peer.Write(make([]byte, test.piece)); return err })
				n, err := io.Copy(io.Discard, body)
				if whole := err == nil && n == size; whole != test.whole || !whole && !errors.Is(body.Err(), os.ErrDeadlineExceeded) {
					t.Errorf("%d bytes, %v", n, err)
				}
				if took := time.Since(began); took > test.within {
					t.Errorf("it took %v, want %v at the most", took, test.within)
				}
				_ = w.Close()
			})
		})
	}
}

// TestPaceEnds: a fast transfer ends at the absolute deadline.
func TestPaceEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, peer := linked(t)
		body, began := pace.NewReader(w.Conn, w, 30*time.Second), time.Now()
		body.Until = began.Add(time.Minute)
		go trickle(t, time.Second, func() error { _, err := peer.Write(make([]byte, 64<<10)); return err })
		n, err := io.Copy(io.Discard, body)
		if took := time.Since(began); took != time.Minute || n < 59*64<<10 || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%d bytes in %v, %v", n, took, err)
		}
		_ = w.Close()
	})
}

// TestPaceOfReaders sends 10 MiB to readers with different rates. The time that the service
// needs for each part does not count.
func TestPaceOfReaders(t *testing.T) {
	for name, test := range map[string]struct {
		piece  int
		pause  time.Duration
		within time.Duration
		whole  bool
	}{
		"nothing":             {1, time.Hour, 2 * time.Minute, false},
		"a byte a second":     {1, time.Second, 2*time.Minute + time.Second, false},
		"4 KiB/s":             {4 << 10, time.Second, 4 * time.Minute, false},
		"16 KiB/s":            {16 << 10, time.Second, 641 * time.Second, true},
		"1.4 MiB in each 90s": {1400 << 10, 90 * time.Second, 721 * time.Second, true}, // as behind a proxy
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, peer := linked(t)
				const parts, part, work = 10, 1 << 20, 20 * time.Second
				out, began := pace.NewWriter(w, 2*time.Minute), time.Now()
				go trickle(t, test.pause, func() error { _, err := io.CopyN(io.Discard, peer, int64(test.piece)); return err })
				var err error
				worked := time.Duration(0)
				for i := 0; i < parts && err == nil; i++ {
					<-time.After(work)
					worked += work
					_, err = out.Write(make([]byte, part))
				}
				if whole := err == nil; whole != test.whole || !whole && !errors.Is(err, os.ErrDeadlineExceeded) {
					t.Error(err)
				}
				if took := time.Since(began) - worked; took > test.within {
					t.Errorf("it took %v, want %v at the most", took, test.within)
				}
				_ = w.Close()
			})
		})
	}
}
