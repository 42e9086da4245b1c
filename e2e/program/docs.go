package program

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Read returns a file of the project. The test must run in a folder below the project's.
func Read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// FencedBlock matches a fenced block of Markdown: what follows the fence, and the content.
var FencedBlock = regexp.MustCompile("(?s)\n```([^\n]*)\n(.*?\n)```\n")

// Block returns the fenced block of docs/operating.md that contains a text.
func Block(t *testing.T, text string) string {
	t.Helper()
	var found []string
	for _, match := range FencedBlock.FindAllStringSubmatch(Read(t, "docs/operating.md"), -1) {
		if strings.Contains(match[2], text) {
			found = append(found, match[2])
		}
	}
	if len(found) != 1 {
		t.Fatalf("docs/operating.md has %d blocks with %q; want 1", len(found), text)
	}
	return found[0]
}

// Replaced replaces all occurrences of texts. pairs has old and new texts. The test fails if an old
// text does not occur.
func Replaced(t *testing.T, text string, pairs ...string) string {
	t.Helper()
	for pair := range slices.Chunk(pairs, 2) {
		if !strings.Contains(text, pair[0]) {
			t.Fatalf("%q is not in\n%s", pair[0], text)
		}
		text = strings.ReplaceAll(text, pair[0], pair[1])
	}
	return text
}
