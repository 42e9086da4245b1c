package feedback

// Nearest returns the known name that is most like name, or "" when none is near:
// more than a third of its letters would have to change.
func Nearest(name string, known []string) string {
	best, fewest := "", len(name)/3+1
	for _, candidate := range known {
		if d := distance(name, candidate); d < fewest {
			best, fewest = candidate, d
		}
	}
	return best
}

// distance is how many letters must be added, removed or replaced to make a into b
// (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}
