package spam

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"gatherkit/internal/fair"
	"gatherkit/internal/feedback"
	"gatherkit/internal/search"
)

// at returns a text that is sent at a time after the start.
func at(after time.Duration, text, key string) Text {
	return Text{time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(after), key, search.NewSketch(text)}
}

func senderFrom(address string, app byte) Sender {
	return Sender{fair.Caller(netip.MustParseAddr(address)), feedback.ID{app}}
}

// texts returns the number of stored texts.
func (b *Bursts) texts() (n int) {
	for _, generation := range []map[Sender][]Text{b.current, b.previous} {
		for _, texts := range generation {
			n += len(texts)
		}
	}
	return n
}

func TestBurst(t *testing.T) {
	here, there := senderFrom("198.51.100.1", 1), senderFrom("198.51.100.2", 1)
	type one struct {
		by   Sender
		w    Text
		spam bool
	}
	const spam, other = "Cheap watches at example.com", "Dark mode for the editor"
	for name, writes := range map[string][]one{
		"the fifth": {
			{here, at(0, spam, ""), false},
			{here, at(1, spam, ""), false},
			{here, at(2, spam, ""), false},
			{here, at(3, spam, ""), false},
			{here, at(4, spam, ""), true},
			{here, at(5, spam, ""), true},
		},
		"with others between": {
			{here, at(0, spam+" 17", ""), false},
			{here, at(1, other, ""), false},
			{here, at(2, spam+" 18", ""), false},
			{here, at(3, "Invoices", ""), false},
			{here, at(4, spam+"!", ""), false},
			{here, at(5, spam+" 19", ""), false},
			{here, at(6, spam+"?", ""), true},
			{here, at(7, other, ""), false},
		},
		"another address": {
			{here, at(0, spam, ""), false},
			{there, at(1, spam, ""), false},
			{here, at(2, spam, ""), false},
			{there, at(3, spam, ""), false},
			{here, at(4, spam, ""), false},
			{there, at(5, spam, ""), false},
			{here, at(6, spam, ""), false},
			{there, at(7, spam, ""), false},
		},
		"another app": {
			{here, at(0, spam, ""), false},
			{here, at(1, spam, ""), false},
			{here, at(2, spam, ""), false},
			{here, at(3, spam, ""), false},
			{senderFrom("198.51.100.1", 2), at(4, spam, ""), false},
		},
		"the same /64": {
			{senderFrom("2001:db8::1", 1), at(0, spam, ""), false},
			{senderFrom("2001:db8::2", 1), at(1, spam, ""), false},
			{senderFrom("2001:db8::3", 1), at(2, spam, ""), false},
			{senderFrom("2001:db8::4", 1), at(3, spam, ""), false},
			{senderFrom("2001:db8::5", 1), at(4, spam, ""), true},
		},
		"loopback": slices.Repeat([]one{{senderFrom("127.0.0.1", 1), at(0, spam, ""), false}}, 6),
		"sent again": {
			{here, at(0, spam, "k"), false},
			{here, at(1, spam, "k"), false},
			{here, at(2, spam, "k"), false},
			{here, at(3, spam, "k"), false},
			{here, at(4, spam, "k"), false},
			{here, at(5, spam, "l"), false},
			{here, at(6, spam, "m"), false},
			{here, at(7, spam, "n"), false},
			{here, at(8, spam, "o"), true},
		},
		"forgotten after ten minutes": {
			{here, at(0, spam, ""), false},
			{here, at(time.Minute, spam, ""), false},
			{here, at(time.Minute, spam, ""), false},
			{here, at(time.Minute, spam, ""), false},
			{here, at(10*time.Minute, spam, ""), false},
			{here, at(11*time.Minute-1, spam, ""), true},
			{here, at(22*time.Minute, spam, ""), false},
		},
		"the clock is set back": {
			{here, at(time.Hour, spam, ""), false},
			{here, at(0, spam, ""), false},
			{here, at(1, spam, ""), false},
			{here, at(2, spam, ""), false},
			{here, at(3, spam, ""), true},
			{here, at(20*time.Minute, spam, ""), false},
			{here, at(21*time.Minute, spam, ""), false},
		},
	} {
		var b Bursts
		for i, c := range writes {
			if got := b.Add(c.by, c.w); got != c.spam {
				t.Errorf("%s, text %d: %v", name, i, got)
			}
		}
	}
}

// TestBurstsByDefinition: a text belongs to a burst if and only if four others of the same
// sender within ten minutes are similar.
func TestBurstsByDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b Bursts
		sent := map[Sender][]Text{}
		now := time.Duration(0)
		word := rapid.StringMatching(`[a-z]{4,9}`)
		for range rapid.IntRange(1, 60).Draw(t, "texts") {
			pause, pace := rapid.IntRange(0, 240).Draw(t, "pause"), rapid.SampledFrom([]int{1, 1, 60}).Draw(t, "pace")
			now += time.Duration(pause) * time.Second / time.Duration(pace)
			by := senderFrom(fmt.Sprint("198.51.100.", rapid.IntRange(1, 2).Draw(t, "address")), byte(rapid.IntRange(1, 2).Draw(t, "app")))
			text := rapid.OneOf(word, rapid.SampledFrom([]string{
				"Cheap watches at example.com 1", "Cheap watches at example.com 2", "Dark mode",
			})).Draw(t, "text")
			w := at(now, text, "")
			alike := 0
			for _, earlier := range sent[by] {
				if w.At.Sub(earlier.At) < 10*time.Minute && w.Sketch.Like(earlier.Sketch) >= 0.8 {
					alike++
				}
			}
			want := alike >= 4
			if len(sent[by]) >= maxTextsOfOne {
				continue // older ones may have been dropped
			}
			sent[by] = append(sent[by], w)
			if got := b.Add(by, w); got != want {
				t.Fatalf("%q after %d like it: %v", text, alike, got)
			}
		}
	})
}

// TestBurstsTakeLittle: the memory is limited for one sender and for many.
func TestBurstsTakeLittle(t *testing.T) {
	var b Bursts
	write := func(i int, address string) {
		b.Add(senderFrom(address, 1), at(time.Duration(i)*time.Millisecond, fmt.Sprint(i), ""))
	}
	for i := range 1000 {
		write(i, "198.51.100.1")
	}
	if n := b.texts(); n != maxTextsOfOne || b.n != n {
		t.Errorf("%d texts of one writer are remembered, and %d are counted", n, b.n)
	}
	for i := range 5 * maxTexts {
		write(i, netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}).String())
	}
	if n := b.texts(); n > 2*maxTexts || n < maxTexts {
		t.Errorf("%d texts are remembered", n)
	}
}
