package search

import "slices"

// sketchSize is the maximum number of trigrams in a sketch. With this many, the likeness of
// two texts is exact to a few hundredths.
const sketchSize = 128

// Sketch represents a text of any length, so that many texts can be compared quickly. It
// contains the trigrams of the text with the smallest hashes (bottom-k MinHash). The sketches
// of two texts sample the same trigrams, so they overlap as much as the texts do.
type Sketch []uint64

// NewSketch returns the sketch of a text. If the text has no letters, such as a row of emoji,
// it uses the trigrams of all its characters.
func NewSketch(text string) Sketch {
	trigrams := trigramsOf(fold(text))
	if len(trigrams) == 0 {
		trigrams = trigramsIn([]rune(" " + text + " "))
	}
	sketch := make(Sketch, 0, len(trigrams))
	for _, t := range trigrams {
		sketch = append(sketch, t.hash())
	}
	slices.Sort(sketch)
	return slices.Clone(sketch[:min(len(sketch), sketchSize)])
}

// hash returns a hash of the trigram. Different trigrams have different hashes.
func (t trigram) hash() uint64 {
	x := uint64(t)
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Like returns how many trigrams two texts share, as a Dice coefficient from 0 to 1. The
// result is exact for texts with at most sketchSize trigrams, and an estimate for others.
func (s Sketch) Like(other Sketch) float64 {
	common, i, j := 0, 0, 0
	for i < len(s) && j < len(other) {
		switch {
		case s[i] < other[j]:
			i++
		case s[i] > other[j]:
			j++
		default:
			common++
			i++
			j++
		}
	}
	// A full sketch says nothing about trigrams beyond its end, so the rest of the other sketch
	// does not count. A sketch that is not full has all trigrams of its text.
	if len(s) < sketchSize {
		j = len(other)
	}
	if len(other) < sketchSize {
		i = len(s)
	}
	if i+j == 0 {
		return 0
	}
	return 2 * float64(common) / float64(i+j)
}
