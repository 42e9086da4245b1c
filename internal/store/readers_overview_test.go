package store_test

import (
	"database/sql/driver"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gatherkit/internal/feedback"
	"gatherkit/internal/readers"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
)

// TestOverview: it is the first page of the list, without comments and with the beginnings of descriptions, and reads
// no comments.
func TestOverview(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		c := newCrowd(t, at)
		const beginning = 500
		for i := range 3 {
			c.Clock.Move(time.Second)
			r := feedback.NewRequest(fmt.Sprint("Idea ", i), strings.Repeat("é", beginning-1+i))
			r, err := c.Submit(ctx, store.Submission{App: c.app, Request: r, Reader: c.who(1).Reader})
			c.must(err)
			c.comment(c.by, r.ID, feedback.Public, "Soon.")
		}
		c.must(c.vote(1, c.ask(2, feedback.Live)))
		c.merge(c.by, c.ask(1, feedback.Live), c.ask(3, feedback.Live))
		want, err := c.Readers.List(ctx, c.who(1), feedback.ID{}, readers.MaxPage, nil)
		c.must(err)
		if len(want.Requests) != 5 {
			t.Fatalf("%d requests", len(want.Requests))
		}
		for n := range want.Requests {
			m := &want.Requests[n]
			letters := []rune(m.Description)
			m.Comments, m.CanReply, m.Description = []readers.PublicComment{}, false, string(letters[:min(len(letters), beginning)])
		}
		s := c.Watched(func(query string, _ []driver.NamedValue) {
			if strings.Contains(query, "FROM comments") {
				t.Errorf("comments are read: %s", query)
			}
		})
		got, err := s.Readers.Overview(ctx, c.who(1))
		c.must(err)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}
