package index

import (
	"encoding/binary"
	"slices"
	"strconv"
	"testing"
	"time"

	"gatherkit/internal/feedback"
)

// TestKept: what is kept of blocks has a limit, the latest block is always kept, and what was read of a block before its
// last change does not count.
func TestKept(t *testing.T) {
	const size, most = 100, 1000
	k := newKept[int](most)
	numbered := func(number, revision int) *block { return &block{number: int64(number), revision: int64(revision)} }
	account := feedback.ID{1}
	for i := range 100 {
		k.put(account, numbered(i, 1), i, size)
		if v, known := k.get(account, numbered(i, 1)); !known || v != i {
			t.Fatalf("block %d was put: %d, %t", i, v, known)
		}
		if k.bytes != size*len(k.of) || k.bytes > most || i >= 10 && len(k.of) != 10 {
			t.Fatalf("%d blocks with %d bytes are kept", len(k.of), k.bytes)
		}
	}
	k.put(account, numbered(99, 2), -99, size/2)
	if v, known := k.get(account, numbered(99, 2)); !known || v != -99 || k.bytes != size*9+size/2 || len(k.of) != 10 {
		t.Errorf("the next revision: %d, %t; %d blocks with %d bytes", v, known, len(k.of), k.bytes)
	}
	if _, known := k.get(account, numbered(99, 1)); known {
		t.Error("the revision before is known")
	}
	if _, known := k.get(feedback.ID{2}, numbered(99, 2)); known {
		t.Error("the block of another account is known")
	}
	k.put(account, numbered(1000, 1), 1, 2*most)
	if len(k.of) != 1 {
		t.Errorf("%d blocks beside one that is larger than the limit", len(k.of)-1)
	}
}

// TestKeptScan: an app with more blocks than are kept finds some of them again.
func TestKeptScan(t *testing.T) {
	k, found := newKept[int](10), 0
	for range 20 {
		for i := range 20 {
			id := feedback.ID{}
			binary.BigEndian.PutUint64(id[:], uint64(i))
			b := &block{appID: id}
			if _, known := k.get(feedback.ID{}, b); known {
				found++
				continue
			}
			k.put(feedback.ID{}, b, i, 1)
		}
	}
	if found < 40 {
		t.Errorf("%d of 400 were found", found)
	}
}

// TestAnswerValues: a class ends before its time.
func TestAnswerValues(t *testing.T) {
	for after, want := range map[time.Duration]string{
		0: "hour", time.Hour - time.Microsecond: "hour", time.Hour: "day", 24*time.Hour - time.Microsecond: "day", 24 * time.Hour: "week",
		7 * 24 * time.Hour: "month", 30*24*time.Hour - time.Microsecond: "month", 30 * 24 * time.Hour: "longer", 90_000 * time.Hour: "longer",
	} {
		got, err := answerValues(strconv.AppendInt(nil, after.Microseconds(), 10))
		if err != nil || !slices.Equal(got, []string{want}) {
			t.Errorf("%v: %v, %v, want %s", after, got, err, want)
		}
	}
	if got, err := answerValues(nil); got != nil || err != nil {
		t.Errorf("without an answer: %v, %v", got, err)
	}
}
