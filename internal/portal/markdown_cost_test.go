//go:build !race

package portal

import (
	"strings"
	"testing"
	"time"
)

// TestMarkdownCost checks that no text takes much longer than a usual one.
func TestMarkdownCost(t *testing.T) {
	cost := func(source string) time.Duration {
		best := time.Hour
		for range 10 {
			start := time.Now()
			if _, err := markdown(source, 2); err != nil {
				t.Fatal(err)
			}
			best = min(best, time.Since(start))
		}
		return best
	}
	usual := cost(strings.Repeat("word and ", 1111))
	for _, source := range hostileMarkdown() {
		if got := cost(source); got > 30*usual { // a parser without limits takes more than 200 times as long
			t.Errorf("%.12q takes %v, a usual text %v", source, got, usual)
		}
	}
}
