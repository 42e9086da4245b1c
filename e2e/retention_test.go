package e2e_test

import (
	"crypto/rand"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"gatherkit/e2e/program"
	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
)

// TestRetentionSettings: the service deletes what is older than its settings say, and nothing else.
func TestRetentionSettings(t *testing.T) {
	storetest.Each(t, func(t *testing.T, place storetest.Place) {
		const day = 24 * time.Hour
		program.AddOwner(t, place)
		p := program.Start(t, program.At(place)...)
		c := program.NewClient(t, p)
		key := c.AddApp(t, c.Login(t)).APIKey
		p.Stop(t)

		now := time.Now()
		var ago time.Duration
		s, err := store.Open(t.Context(), store.Options{
			Database: place.Database, Folder: place.Folder, Rand: rand.Reader, Log: slog.New(slog.DiscardHandler),
			Now: func() time.Time { return now.Add(-ago) },
		})
		if err != nil {
			t.Fatal(err)
		}
		app, err := s.AppByKey(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		for _, ago = range []time.Duration{40 * day, 20 * day, 0} {
			request := feedback.NewRequest(fmt.Sprint(ago.Hours()/24, " days"), "")
			request.Submitter.Email, request.Metadata = new("eve@example.com"), feedback.Metadata{"beta": true}
			if _, err := s.Submit(t.Context(), store.Submission{App: app, Request: request}); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}

		program.Start(t, append(program.At(place), "--metadata-days=10", "--people-days=30")...)
		raw := place.Raw(t)
		kept := func() []string {
			all, err := database.All(t.Context(), raw, func(r database.Row) (text string, err error) {
				var title, metadata string
				var email *string
				err = r.Scan(&title, &email, &metadata)
				return fmt.Sprint(title, ": ", email != nil, ", ", metadata), err
			}, "SELECT title, submitter_email, metadata FROM requests ORDER BY id")
			if err != nil {
				t.Fatal(err)
			}
			return all
		}
		want := []string{"40 days: false, {}", "20 days: true, {}", `0 days: true, {"beta":true}`}
		program.Eventually(t, "what is old is deleted", func() bool { return slices.Equal(kept(), want) })
	})
}
