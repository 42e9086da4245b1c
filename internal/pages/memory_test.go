package pages

import (
	"strings"
	"testing"

	"gatherkit/internal/feedback"
	"gatherkit/internal/portal"
	"gatherkit/internal/store/storetest"
)

// TestCardMemory: a picture takes no more memory than its page claims, also what is free again before it is sent.
func TestCardMemory(t *testing.T) {
	site := portal.Site{App: "Acme", Color: "#123456"}
	idea := portal.Idea{Title: strings.Repeat("Dark mode ", 20), Status: feedback.Opened, Votes: 12}
	least := storetest.LeastAllocated(func() {
		if _, err := portal.Card(site, idea); err != nil {
			t.Fatal(err)
		}
	})
	if claimed := sizeOf("card/x.png"); least > uint64(claimed) {
		t.Errorf("it takes %d bytes, and claims %d", least, claimed)
	}
}
