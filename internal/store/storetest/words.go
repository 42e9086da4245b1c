package storetest

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"

	"gatherkit/internal/feedback"
	"gatherkit/internal/index"
)

// IndexAll lets the index follow to the end of the logs, and vocabularies be read again.
func (r *Rig) IndexAll() {
	r.T.Helper()
	if err := r.Index.FollowAll(context.Background(), index.MaxChunk); err != nil {
		r.T.Fatal(err)
	}
	r.Clock.Move(time.Minute)
}

// fataler is a test, or a case of one that rapid tries.
type fataler interface {
	Fatalf(format string, args ...any)
}

// CheckIndex compares the index, which has followed to the end, with the requests.
func (r *Rig) CheckIndex(t fataler) {
	var postings, documents, words []string
	ordinals := r.ordinals(t)
	for _, line := range r.lines(t, `SELECT r.account_id, r.app_id, r.id
		FROM requests r JOIN apps a ON a.account_id = r.account_id AND a.id = r.app_id WHERE a.deleted_at IS NULL`) {
		fields := strings.Fields(line)
		account, app, id := fields[0], fields[1], fields[2]
		stored, all := r.terms(t, account, id)
		for _, term := range all {
			postings = append(postings, app+" "+id+" "+term)
		}
		documents = append(documents, app+" "+id+" "+strings.Join(stored, "\x1f"))
	}
	var saved []string
	for _, d := range r.Documents(t) {
		saved = append(saved, d.App.String()+" "+d.Request.String()+" "+strings.Join(d.Terms, "\x1f"))
	}
	slices.Sort(saved)
	slices.Sort(postings)
	slices.Sort(documents)
	var got []string
	for _, list := range r.postings(t) {
		for _, i := range list.ordinals {
			got = append(got, list.app+" "+ordinals[list.app+fmt.Sprint(i)]+" "+list.term)
		}
		if !strings.ContainsAny(list.term[:1], "!~#") {
			words = append(words, fmt.Sprint(list.app, " ", list.term, " ", list.block))
		}
	}
	slices.Sort(got)
	slices.Sort(words)
	copied := cmp.Transformer("none", func(l []string) []string { return append([]string{}, l...) })
	for _, c := range []struct {
		name      string
		want, got []string
	}{
		{"index_postings", postings, got},
		{"index_documents", documents, saved},
		{"index_words", words, r.wordBlocks(t)},
	} {
		if diff := cmp.Diff(c.want, c.got, copied); diff != "" && len(c.want)+len(c.got) > 0 {
			t.Fatalf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// Document is what the index has stored of a request, to remove it.
type Document struct {
	App, Request feedback.ID
	Terms        []string
}

// Documents returns the requests of all accounts in the index. A restored account may have the ids of another one.
func (r *Rig) Documents(t fataler) (documents []Document) {
	r.each(t, "SELECT app_id, request_id, terms FROM index_documents", func(rows *sql.Rows) error {
		var d Document
		var packed []byte
		if err := rows.Scan(&d.App, &d.Request, &packed); err != nil {
			return err
		}
		var err error
		d.Terms, err = index.Unpack(packed)
		documents = append(documents, d)
		return err
	})
	return documents
}

// terms returns the terms under which a request is to be indexed.
func (r *Rig) terms(t fataler, account, id string) (stored, all []string) {
	accountID, err := feedback.ParseID(account)
	if err != nil {
		t.Fatalf("%v", err)
	}
	requestID, err := feedback.ParseID(id)
	if err != nil {
		t.Fatalf("%v", err)
	}
	if stored, all, err = index.Terms(context.Background(), r.Raw, accountID, requestID); err != nil {
		t.Fatalf("%v", err)
	}
	return stored, all
}

// ordinals returns the requests in the index by app and ordinal.
func (r *Rig) ordinals(t fataler) map[string]string {
	byOrdinal := map[string]string{}
	for _, line := range r.lines(t, "SELECT app_id, ordinal, request_id FROM index_documents") {
		fields := strings.Fields(line)
		byOrdinal[fields[0]+fields[1]] = fields[2]
	}
	return byOrdinal
}

// posted is a posting list of an app.
type posted struct {
	app, term string
	block     int64
	ordinals  []int64
}

// each calls visit for each row of a query.
func (r *Rig) each(t fataler, query string, visit func(*sql.Rows) error) {
	rows, err := r.Raw.QueryContext(context.Background(), query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err below has what matters
	for rows.Next() {
		if err := visit(rows); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

// postings reads all posting lists, and compares their lengths with what is noted.
func (r *Rig) postings(t fataler) (all []posted) {
	r.each(t, "SELECT app_id, block, term, n, bits FROM index_postings", func(rows *sql.Rows) error {
		var app feedback.ID
		var term string
		var block int64
		var n int
		var bits []byte
		if err := rows.Scan(&app, &block, &term, &n, &bits); err != nil {
			return err
		}
		lists, err := index.Ordinals(block, term, bits)
		has := len(lists) // a row of tags counts them
		if of, is := lists[term]; is {
			has = len(of)
		}
		if err != nil || has != n || n == 0 {
			t.Fatalf("%q has %d of %d entries: %v", term, has, n, err)
		}
		for term, ordinals := range lists {
			all = append(all, posted{app.String(), term, block, ordinals})
		}
		return nil
	})
	return all
}

// wordBlocks returns a line for each word of an app and each block that has it.
func (r *Rig) wordBlocks(t fataler) (lines []string) {
	r.each(t, "SELECT app_id, word, blocks FROM index_words", func(rows *sql.Rows) error {
		var app feedback.ID
		var word string
		var stored []byte
		if err := rows.Scan(&app, &word, &stored); err != nil {
			return err
		}
		blocks, err := index.Ordinals(0, word, stored)
		if err != nil || len(blocks[word]) == 0 {
			t.Fatalf("the word %q is in blocks %v: %v", word, blocks, err)
		}
		for _, block := range blocks[word] {
			lines = append(lines, fmt.Sprint(app, " ", word, " ", block))
		}
		return nil
	})
	slices.Sort(lines)
	return lines
}

// lines is what a query of three columns returns, a line a row.
func (r *Rig) lines(t fataler, query string) []string {
	found := []string{}
	r.each(t, query, func(rows *sql.Rows) error {
		values, into := make([]any, 3), make([]any, 3)
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			return err
		}
		for i, v := range values {
			if raw, is := v.([]byte); is && len(raw) == 16 {
				values[i] = feedback.ID(raw)
			}
		}
		found = append(found, strings.TrimSpace(fmt.Sprintln(values...)))
		return nil
	})
	slices.Sort(found)
	return found
}
