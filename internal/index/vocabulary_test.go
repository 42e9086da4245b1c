package index_test

import (
	"database/sql/driver"
	"strings"
	"testing"
	"time"

	"gatherkit/internal/index"
	"gatherkit/internal/store/storetest"
)

// TestVocabularyHasABound: strangers write the words of an app, so only so many of them
// are read, also of those that no search uses.
func TestVocabularyHasABound(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, place storetest.Place) {
		r := storetest.NewRig(t, place)
		account := r.NewAccount("Acme")
		app := r.NewApp(account)
		// Twice as many words as are read. They have digits, so that no slip leads to them.
		r.Exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000)
			INSERT INTO index_words (account_id, app_id, word, blocks) SELECT $1, $2, '0' || i, $3 FROM n`, account.ID, app.ID, []byte{0, 0})
		pages := 0
		s := r.Watched(func(query string, _ []driver.NamedValue) {
			if strings.HasPrefix(query, "SELECT word FROM index_words") {
				pages++
			}
		})
		if _, err := s.Index.Similar(ctx, account.ID, index.Likeness{AppID: app.ID, Text: "dark mode", Limit: 1}); err != nil {
			t.Fatal(err)
		}
		if pages != 20 {
			t.Errorf("%d pages of 5,000 words were read, want 20", pages)
		}
	})
}

// TestVocabularyStaysFresh: reading an app's words takes at most a twentieth of the time,
// however often they change.
func TestVocabularyStaysFresh(t *testing.T) {
	r := storetest.NewRig(t, storetest.SQLite(t))
	account := r.NewAccount("Acme")
	app := r.NewApp(account)
	r.Exec("INSERT INTO index_words (account_id, app_id, word, blocks) VALUES ($1, $2, 'dark', $3)", account.ID, app.ID, []byte{0, 0})
	r.Exec("INSERT INTO index_followed (account_id, seq, version) VALUES ($1, 0, $2)", account.ID, index.Version)
	reads, takes := 0, time.Duration(0)
	s := r.Watched(func(query string, args []driver.NamedValue) {
		if strings.HasPrefix(query, "SELECT word FROM index_words") && args[2].Value == "" { // not the second range of words
			reads++
			r.Clock.Move(takes)
		}
	})
	for i, c := range []struct{ takes, later time.Duration }{
		{0, 5 * time.Second}, // at least so long
		{time.Second, 20 * time.Second},
		{time.Minute, 20 * time.Minute},
	} {
		takes = c.takes
		search := func(want int) {
			t.Helper()
			r.Exec("UPDATE index_followed SET seq = seq + 1 WHERE account_id = $1", account.ID)
			before := reads
			if _, err := s.Index.Similar(ctx, account.ID, index.Likeness{AppID: app.ID, Text: "drak", Limit: 1}); err != nil {
				t.Fatal(err)
			}
			if reads-before != want {
				t.Errorf("case %d at %s: read %d times, want %d", i, r.Clock.Now(), reads-before, want)
			}
		}
		r.Clock.Move(time.Hour)
		search(1)
		r.Clock.Move(c.later - c.takes - time.Millisecond) // it counts from the beginning of the reading
		search(0)
		r.Clock.Move(time.Millisecond)
		search(1)
	}
}
