package api

import (
	"slices"
	"testing"
	"time"

	"gatherkit/internal/store/storetest"
)

// TestTrendingPages: a list in the order trending has each request once, even if one loses its votes between two pages.
func TestTrendingPages(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s := newService(t, at)
		var wanted []string
		for _, title := range []string{"Dark mode", "Export as CSV", "Larger text", "Print labels", "Search by date"} {
			s.clock.Move(time.Second)
			wanted = append(wanted, s.submit(title))
		}
		vote := func(operation, id, who string) {
			s.clock.Move(time.Second)
			s.must(operation, "member", `{"request_id":"`+id+`","email":"`+who+`@example.com"}`)
		}
		for _, i := range []int{1, 3, 0} {
			vote("votes-add", wanted[i], "ada")
		}
		var got []string
		for cursor := ""; ; {
			page := s.must("requests-list", "viewer", `{"sort":"trending","limit":1,"cursor":"`+cursor+`"}`)
			for _, r := range page["requests"].([]any) {
				got = append(got, r.(map[string]any)["id"].(string))
			}
			if cursor = page["next_cursor"].(string); cursor == "" {
				break
			}
			if len(got) == 1 {
				vote("votes-remove", wanted[3], "ada") // the one that was shown
			}
		}
		if want := []string{wanted[3], wanted[0], wanted[1], wanted[4], wanted[2]}; !slices.Equal(got, want) {
			t.Errorf("the list has %v, want %v", got, want)
		}
	})
}
