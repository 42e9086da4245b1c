package index_test

import (
	"crypto/sha256"
	"database/sql/driver"
	"encoding/hex"
	"strings"
	"sync"
	"testing"
	"unicode"
	"unicode/utf8"

	"gatherkit/internal/feedback"
	"gatherkit/internal/index"
	"gatherkit/internal/search"
	"gatherkit/internal/store/storetest"
)

// TestVersions: an index that was made without a field is brought up to date, and until then no
// total by the field is said to be exact. An index with more fields than this program knows is left
// as it is.
func TestVersions(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		account := r.NewAccount("Acme")
		r.Fill(r.NewApp(account), 2_100) // more than the end of the log that is read
		r.IndexAll()
		r.CheckIndex(t)
		was := r.Count("index_postings")
		total := func() index.Total {
			_, total, err := r.Index.List(ctx, account.ID, index.Filter{Box: feedback.Live, Unassigned: true},
				index.Page{Sort: index.Newest, Limit: 1})
			if err != nil {
				t.Fatal(err)
			}
			return total
		}
		backlog := func() int64 {
			n, err := r.Index.Backlog(ctx)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		exact := index.Total{N: 2_100, Exact: true}
		if got := total(); got != exact {
			t.Errorf("with the field: %+v", got)
		}

		r.Exec("UPDATE index_followed SET version = version - 1")
		r.Exec("DELETE FROM index_postings WHERE term LIKE '!assignee%'")
		renameField(r, "!assignee ", "!owner ")
		if got := total(); got.Exact || got.N >= 2_100 {
			t.Errorf("without the field: %+v", got)
		}
		if n := backlog(); n < 2_100 {
			t.Errorf("%d entries are to be followed", n)
		}
		r.IndexAll()
		r.CheckIndex(t)
		if got := total(); got != exact {
			t.Errorf("afterwards: %+v", got)
		}

		r.Exec("UPDATE index_followed SET version = version + 1")
		if got := total(); got != exact {
			t.Errorf("with a field of a later version: %+v", got)
		}
		r.Fill(r.NewApp(account), 10)
		behind := backlog()
		r.IndexAll()
		if n := backlog(); behind == 0 || n != behind {
			t.Errorf("%d entries of the later version's index were followed", behind-n)
		}
		if got := total(); got != (index.Total{N: 2_110, Exact: true}) {
			t.Errorf("with the end of the log: %+v", got)
		}
		if now := r.Count("index_postings"); now != was {
			t.Errorf("%d posting lists, not %d", now, was)
		}
	})
}

// renameField renames a field in all documents.
func renameField(r *storetest.Rig, from, to string) {
	r.T.Helper()
	for _, d := range r.Documents(r.T) {
		for i, term := range d.Terms {
			d.Terms[i] = strings.Replace(term, from, to, 1)
		}
		packed, err := index.Pack(d.Terms)
		if err != nil {
			r.T.Fatal(err)
		}
		r.Exec("UPDATE index_documents SET terms = $1 WHERE request_id = $2", packed, d.Request)
	}
}

// TestOvertaken: a process that reads the log while one of a newer version begins to index the
// account again does not write what it has read.
func TestOvertaken(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		account := r.NewAccount("Acme")
		app := r.NewApp(account)
		r.Fill(app, 3)
		r.IndexAll()
		r.Fill(app, 3)
		var once sync.Once
		s := r.Watched(func(query string, _ []driver.NamedValue) {
			if strings.HasPrefix(query, "SELECT seq, request_id, ") {
				once.Do(func() { r.Exec("UPDATE index_followed SET version = version + 1") })
			}
		})
		before := r.Count("index_documents")
		if _, err := s.Index.Follower().Step(ctx, index.MaxChunk, 1); err != nil {
			t.Fatal(err)
		}
		if now := r.Count("index_documents"); now != before {
			t.Errorf("%d documents, %d before", now, before)
		}
	})
}

// TestVersionOfWords: an index that was made with other words is brought up to date.
func TestVersionOfWords(t *testing.T) {
	const of, want = 1, "f071bdf25b94c81a"
	sum := sha256.New()
	for r := range rune(unicode.MaxRune + 1) {
		if utf8.ValidRune(r) {
			for _, word := range search.Words("a"+string(r)+string(r)+"b", "") {
				sum.Write([]byte(word + "\n"))
			}
		}
	}
	for _, word := range search.Words("xn--bcher-kva", "") {
		sum.Write([]byte(word + "\n"))
	}
	if got := hex.EncodeToString(sum.Sum(nil)[:8]); got != want || index.Version != of {
		t.Errorf("words are %s in version %d: raise version, and write both here", got, index.Version)
	}
}
