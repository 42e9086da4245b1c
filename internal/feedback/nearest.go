package feedback

import "strings"

// Nearest returns the known name that name is most likely a typo of, or "" if more than a
// third of the letters of name would have to change. It ignores case, and returns the first
// of several equally close names.
func Nearest(name string, known []string) string {
	lower := strings.ToLower(name)
	best, fewest := "", len(lower)/3+1
	for _, candidate := range known {
		// At least as many letters must change as the lengths differ. This check makes very
		// long names from untrusted callers cheap.
		if max(len(lower)-len(candidate), len(candidate)-len(lower)) >= fewest {
			continue
		}
		if d := distance(lower, strings.ToLower(candidate)); d < fewest {
			best, fewest = candidate, d
		}
	}
	return best
}

// distance returns how many letters must be added, removed, replaced or swapped with a
// neighbor to turn a into b (optimal string alignment).
func distance(a, b string) int {
	before, above, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before, above, row = above, row, before
		row[0] = i + 1
		for j := range len(b) {
			if a[i] == b[j] {
				row[j+1] = above[j]
				continue
			}
			row[j+1] = 1 + min(above[j+1], row[j], above[j])
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], 1+before[j-1])
			}
		}
	}
	return row[len(b)]
}
