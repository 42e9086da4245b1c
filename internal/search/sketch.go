package search

import "slices"

// sketchSize is of how many thirds a sketch is made at most. As much as that tells how
// alike two texts are to within a few hundredths.
const sketchSize = 128

// Sketch stands for a text of any length where many are compared: it is those of the
// text's thirds that come first when all thirds there can be are shuffled. So the sketches
// of two texts are samples of the same thirds, and have as much in common as the texts.
type Sketch []uint64

// NewSketch reads a text. One without letters, such as a row of emoji, is told by its signs.
func NewSketch(text string) Sketch {
	thirds := thirdsOf(fold(text))
	if len(thirds) == 0 {
		thirds = thirdsIn([]rune(" " + text + " "))
	}
	sketch := make(Sketch, 0, len(thirds))
	for _, t := range thirds {
		sketch = append(sketch, t.shuffled())
	}
	slices.Sort(sketch)
	return slices.Clone(sketch[:min(len(sketch), sketchSize)])
}

// shuffled is the place of a third among all when they are shuffled; no two have the same.
func (t third) shuffled() uint64 {
	x := uint64(t)
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Like says how far the letters of two texts agree, from 0 to 1: exactly for texts with at
// most as many thirds as a sketch has, and nearly for longer ones.
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
	// Beyond the end of a sketch that is full nothing is known of its text, and the rest of
	// the other does not count. One that is not full has all there is.
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
