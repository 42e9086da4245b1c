package database

import (
	"fmt"
	"log/slog"
	"sync"
	"time"
)

const (
	// slowFrom is how long a write takes that is logged: it has waited for a lock, or the disk is slow.
	slowFrom = time.Second
	// slowEvery is the time between two lines about slow writes.
	slowEvery = time.Second
)

// slowLog logs slow writes.
type slowLog struct {
	mu      sync.Mutex
	last    time.Time // when the last line was written
	omitted int       // writes since then
}

// note logs a write that ended at now, if it was slow. Of many, it logs one, and then how many it has omitted.
func (s *slowLog) note(log *slog.Logger, account [16]byte, began, now time.Time) {
	took := now.Sub(began)
	if took < slowFrom {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if now.Sub(s.last) < slowEvery {
		s.omitted++
		return
	}
	who := "none"
	if account != [16]byte{} {
		who = fmt.Sprintf("%x-%x-%x-%x-%x", account[:4], account[4:6], account[6:8], account[8:10], account[10:])
	}
	log.Warn("a write took longer than a second", "account", who, "ms", took.Milliseconds(), "omitted", s.omitted)
	s.last, s.omitted = now, 0
}
