package storetest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"

	"gatherkit/internal/feedback"
	"gatherkit/internal/index"
	"gatherkit/internal/search"
)

// IndexAll lets the index follow to the end of the logs, and vocabularies be read again.
func (r *Rig) IndexAll() {
	r.T.Helper()
	var next feedback.ID
	for more := true; more; {
		var err error
		if next, more, err = r.Index.Follow(context.Background(), next, index.Chunk); err != nil {
			r.T.Fatal(err)
		}
	}
	r.Clock.Move(time.Minute)
}

// fataler is a test, or a case of one that rapid tries.
type fataler interface {
	Fatalf(format string, args ...any)
}

// CheckIndex holds the index of words, which has followed to the end, against the live
// requests.
func (r *Rig) CheckIndex(t fataler) {
	var postings, words []string
	counts := map[string]int{}
	for _, line := range r.lines(t, `SELECT r.id, r.app_id, r.title || '~' || r.description
		FROM requests r JOIN apps a ON a.account_id = r.account_id AND a.id = r.app_id
		WHERE r.box = 'live' AND a.deleted_at IS NULL`) {
		fields := strings.SplitN(line, " ", 3)
		id, app := fields[0], fields[1]
		title, description, _ := strings.Cut(fields[2], "~")
		all := search.Words(title, description)
		if len(all) == 0 { // nothing to be found by
			continue
		}
		for _, word := range all {
			postings = append(postings, app+" "+id+" "+word)
			counts[app+" "+word]++
		}
		counts[app+" "]++
		words = append(words, app+" "+id+" "+strings.Join(all, " "))
	}
	var counted []string
	for key, n := range counts {
		fields := strings.SplitN(key, " ", 2)
		counted = append(counted, fmt.Sprintf("%s %q %d", fields[0], fields[1], n))
	}
	slices.Sort(counted)
	slices.Sort(postings)
	slices.Sort(words)
	got := r.lines(t, "SELECT app_id, word, n FROM word_counts WHERE n <> 0 OR word <> ''")
	for i, line := range got {
		fields := strings.Split(line, " ")
		got[i] = fmt.Sprintf("%s %q %s", fields[0], strings.Join(fields[1:len(fields)-1], " "), fields[len(fields)-1])
	}
	got = slices.DeleteFunc(got, func(line string) bool { return strings.HasSuffix(line, ` "" 0`) })
	slices.Sort(got)
	copied := cmp.Transformer("none", func(l []string) []string { return append([]string{}, l...) })
	for _, c := range []struct {
		name      string
		want, got []string
	}{
		{"request_words", postings, r.lines(t, "SELECT app_id, id, word FROM request_words")},
		{"indexed_requests", words, r.lines(t, "SELECT app_id, request_id, words FROM indexed_requests")},
		{"word_counts", counted, got},
	} {
		if diff := cmp.Diff(c.want, c.got, copied); diff != "" && len(c.want)+len(c.got) > 0 {
			t.Fatalf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// lines is what a query of three columns returns, a line a row.
func (r *Rig) lines(t fataler, query string) []string {
	rows, err := r.Raw.QueryContext(context.Background(), query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err below has what matters
	found := []string{}
	for rows.Next() {
		values, into := make([]any, 3), make([]any, 3)
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		for i, v := range values {
			if raw, is := v.([]byte); is && len(raw) == 16 {
				values[i] = feedback.ID(raw)
			}
		}
		found = append(found, strings.TrimSpace(fmt.Sprintln(values...)))
	}
	if err := rows.Err(); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	slices.Sort(found)
	return found
}
