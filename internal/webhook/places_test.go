package webhook

import (
	"encoding/binary"
	"testing"
	"time"

	"gatherkit/internal/feedback"
	"gatherkit/internal/quota"
)

// TestPlacesOfSlowEndpoints fills the places for slow endpoints. Others still begin, and an endpoint that
// answers quickly again is one of them.
func TestPlacesOfSlowEndpoints(t *testing.T) {
	s := NewSender(nil, Options{})
	n := uint64(0)
	id := func() (id feedback.ID) {
		n++
		binary.BigEndian.PutUint64(id[:], n)
		return id
	}
	begun := 0
	var waiting candidate
	for range 10 {
		account := id()
		for range quota.MaxWebhooks {
			c := candidate{account, id()}
			if !s.noteSpeed(c.id, slowTime) {
				t.Error("a call that takes slowTime is not slow")
			}
			if s.enter(c) {
				begun++
			} else {
				waiting = c
			}
		}
	}
	if begun != turns/2 {
		t.Errorf("%d slow endpoints begin, want %d", begun, turns/2)
	}
	if !s.enter(candidate{id(), id()}) {
		t.Error("another endpoint does not begin")
	}
	if s.noteSpeed(waiting.id, time.Millisecond) || !s.enter(waiting) {
		t.Error("an endpoint that answers quickly again does not begin")
	}
}

// TestPauseAfterLook checks that a slow look does not stop the deliveries.
func TestPauseAfterLook(t *testing.T) {
	for look, want := range map[time.Duration]time.Duration{
		0: lookAtMost, time.Millisecond: lookAtMost, 10 * time.Millisecond: 200 * time.Millisecond, lookTime: lookEvery,
	} {
		if got := pauseAfter(look); got != want {
			t.Errorf("after a look of %v: %v, want %v", look, got, want)
		}
	}
}
