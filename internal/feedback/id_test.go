package feedback

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// millis returns the milliseconds that an id contains.
func millis(id ID) int64 { return int64(binary.BigEndian.Uint64(id[:]) >> 16) }

// TestIDsGrow checks that each id is greater than the one before, has the bits of version 7,
// and is not older than the clock, whatever the clock does.
func TestIDsGrow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := start
		ids := NewIDs(func() time.Time { return now }, rand.Reader)
		var last ID
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.Int64Range(-5000, 5000).Draw(t, "move")) * time.Millisecond)
			// More than 4,096 ids in a millisecond overflow the counter.
			for range rapid.SampledFrom([]int{1, 2, 10, 5000}).Draw(t, "ids") {
				id := ids.New()
				if bytes.Compare(id[:], last[:]) <= 0 {
					t.Fatalf("%s follows %s", id, last)
				}
				if id[6]>>4 != 7 || id[8]>>6 != 0b10 {
					t.Fatalf("%s is not of version 7", id)
				}
				if millis(id) < now.UnixMilli() {
					t.Fatalf("%s is older than the clock's %d", id, now.UnixMilli())
				}
				last = id
			}
		}
	})
}

// TestIDsKeepTime checks that an id contains the clock's milliseconds unless the counter
// overflows, and that the counter restarts with each millisecond.
func TestIDsKeepTime(t *testing.T) {
	now := start
	ids := NewIDs(func() time.Time { return now }, rand.Reader)
	for range 3 {
		for n := range 0x1000 {
			id := ids.New()
			if millis(id) != now.UnixMilli() || int(binary.BigEndian.Uint16(id[6:])&0xfff) != n {
				t.Fatalf("id %d of the millisecond is %s", n, id)
			}
		}
		if id := ids.New(); millis(id) != now.UnixMilli()+1 || id[6] != 0x70 || id[7] != 0 {
			t.Fatalf("the counter is full, but the next id is %s", id)
		}
		now = now.Add(2 * time.Millisecond)
	}
}

// TestIDsAreUnguessable checks that two generators with the same clock differ in the random
// part of their ids, and that all 62 bits of it vary.
func TestIDsAreUnguessable(t *testing.T) {
	ids := NewIDs(func() time.Time { return start }, rand.Reader)
	var zeros, ones [8]byte
	for range 1000 {
		id := ids.New()
		for i, b := range id[8:] {
			ones[i] |= b
			zeros[i] |= ^b
		}
	}
	if ones != [8]byte{0xbf, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff} || zeros != [8]byte{0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff} {
		t.Errorf("bits that are always 0: %x, always 1: %x", ones, zeros)
	}
}

func TestNoRandomness(t *testing.T) {
	for name, generate := range map[string]func(){
		"id":  func() { NewIDs(time.Now, strings.NewReader("short")).New() },
		"key": func() { NewAPIKey(strings.NewReader("short")) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("a secret or id was made without randomness")
				}
			}()
			generate()
		})
	}
}

// TestFirstIDAt checks that FirstIDAt separates the ids generated before a time from those
// generated at that time or later.
func TestFirstIDAt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := time.UnixMilli(rapid.Int64Range(0, 1<<47).Draw(t, "at"))
		made := at.Add(time.Duration(rapid.IntRange(-3, 3).Draw(t, "offset")) * time.Millisecond)
		if made.UnixMilli() < 0 {
			return
		}
		ids := NewIDs(func() time.Time { return made }, rand.Reader)
		first, id := FirstIDAt(at), ids.New()
		if before := bytes.Compare(id[:], first[:]) < 0; before != made.Before(at) {
			t.Fatalf("made at %d, %s against %s of %d", made.UnixMilli(), id, first, at.UnixMilli())
		}
	})
}

// TestFirstIDBefore1970 checks that times before 1970 count as 1970.
func TestFirstIDBefore1970(t *testing.T) {
	for _, at := range []time.Time{{}, time.UnixMilli(-1)} {
		if FirstIDAt(at) != FirstIDAt(time.UnixMilli(0)) {
			t.Errorf("%v: %s", at, FirstIDAt(at))
		}
	}
}

func TestIDText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := ID(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "id"))
		value, err := id.Value()
		if err != nil {
			t.Fatal(err)
		}
		for _, src := range []any{value, id.String(), []byte(id.String()), strings.ToUpper(id.String())} {
			var back ID
			if err := back.Scan(src); err != nil || back != id {
				t.Fatalf("%v read as %s, %v", src, back, err)
			}
		}
		var back ID
		text, err := id.MarshalText()
		if err != nil || back.UnmarshalText(text) != nil || back != id {
			t.Fatalf("%s marshals to %s, which is %s; %v", id, text, back, err)
		}
	})
}

func TestIDRefused(t *testing.T) {
	const good = "01234567-89ab-7def-8123-456789abcdef"
	if _, err := ParseID(good); err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{
		"", good[1:], good + "0", " " + good, good + "\n", "{" + good + "}", "urn:uuid:" + good,
		strings.ReplaceAll(good, "-", ""), strings.ReplaceAll(good, "-", "_"), strings.Replace(good, "a", "g", 1),
		"0123456-789ab-7def-8123-456789abcdef", "01234567-89ab-7def-8123-456789abcdé",
	} {
		if id, err := ParseID(s); err == nil || id != (ID{}) {
			t.Errorf("%q is read as %s, %v", s, id, err)
		}
	}
	var id ID
	for _, src := range []any{nil, 1, []byte("short"), "short", make([]byte, 15), make([]byte, 17)} {
		if err := id.Scan(src); err == nil {
			t.Errorf("%v is read as %s", src, id)
		}
	}
}

func TestTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		std := time.Unix(rapid.Int64Range(0, 250_000_000_000).Draw(t, "s"), rapid.Int64Range(0, 999_999_999).Draw(t, "ns"))
		at := At(std)
		if at%1000 != 0 || at.Std() != std.UTC().Truncate(time.Millisecond) {
			t.Fatalf("%s is kept as %s", std, at.Std())
		}
		text, err := at.MarshalText()
		if err != nil || len(text) != len("2026-01-01T00:00:00.000Z") || text[len(text)-1] != 'Z' {
			t.Fatalf("%s, %v", text, err)
		}
		var back Time
		if err := back.UnmarshalText(text); err != nil || back != at {
			t.Fatalf("%s is read as %s, %v", text, back.Std(), err)
		}
	})
	var at Time
	if err := at.UnmarshalText([]byte("2026-01-01T02:00:00.123456+02:00")); err != nil || at != At(start.Add(123*time.Millisecond)) {
		t.Errorf("another zone: %s, %v", at.Std(), err)
	}
	if err := at.UnmarshalText([]byte("yesterday")); err == nil {
		t.Error("yesterday is a time")
	}
}
