package search

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestSketch(t *testing.T) {
	long := strings.Repeat("Please add a dark mode to the settings page, as my eyes hurt at night. ", 20)
	for _, c := range []struct {
		a, b  string
		alike bool
	}{
		{"Dark mode", "dark  MODE!", true},
		{"Größe ändern, bitte", "grosse andern bitte", true},
		{"Cheap watches at example.com 17", "Cheap watches at example.com 18", true},
		{"Export to CSV", "Export to PDF", false},
		{"Dark mode", "Dark mode for the editor", false},
		{"🔥🔥🔥", "🔥🔥🔥🔥", true},
		{"🔥🔥🔥", "😀😀😀", false},
		{"", "", false},
		{"", "A", false},
		{"A", "B", false},
		{long + "First", long + "Second", true},
		{long, strings.ToUpper(long), true},
		{long, "Dark mode", false},
	} {
		if got := NewSketch(c.a).Like(NewSketch(c.b)); (got >= 0.8) != c.alike {
			t.Errorf("%.40q and %.40q: %v", c.a, c.b, got)
		}
	}
}

// TestSketchesAgreeWithTexts checks that the sketches of two texts overlap as much as their
// trigrams do, exactly so if the texts have few trigrams.
func TestSketchesAgreeWithTexts(t *testing.T) {
	letters := []rune("abcdefghijklmnopqrstuvwxyz0123456789 ")
	rapid.Check(t, func(t *rapid.T) {
		least := rapid.SampledFrom([]int{0, 300}).Draw(t, "least")
		part := rapid.StringOfN(rapid.RuneFrom(letters), least, least+40, -1)
		same := part.Draw(t, "same")
		a, b := same+part.Draw(t, "a"), same+part.Draw(t, "b")
		x, y := trigramsOf(fold(a)), trigramsOf(fold(b))
		if len(x) == 0 || len(y) == 0 {
			t.Skip("a text without letters has other trigrams")
		}
		margin := 0.0
		if max(len(x), len(y)) > sketchSize {
			margin = 0.25 // which is five times what is usual
		}
		got, want := NewSketch(a).Like(NewSketch(b)), overlap(x, y)
		if math.Abs(got-want) > margin {
			t.Fatalf("%q and %q: %v, want %v", a, b, got, want)
		}
		if back := NewSketch(b).Like(NewSketch(a)); back != got {
			t.Fatalf("%q and %q: %v and back %v", a, b, got, back)
		}
		if n := len(NewSketch(a)); n > sketchSize {
			t.Fatalf("a sketch of %d", n)
		}
	})
}
