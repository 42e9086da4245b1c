package store_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
	"gatherkit/internal/readers"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
)

// TestRetention: metadata and people are kept for exactly as long as they should be. Then nothing of a person is left but
// what erasing them leaves, nothing else changes, and programs are told.
func TestRetention(t *testing.T) {
	for _, rows := range []int{1, 3, 1000} {
		t.Run(fmt.Sprint("parts of ", rows), func(t *testing.T) {
			storetest.Each(t, func(t *testing.T, at storetest.Place) {
				kept := store.Retention{Metadata: 90 * day, People: 730 * day}
				k := traceable(t, at, func(o *store.Options) { o.RemoveFile = func(context.Context, feedback.ID) error { return nil } })
				k.SmallParts(rows)
				last := k.Clock.Now()
				before := k.state()
				walk := func(after time.Duration) {
					t.Helper()
					k.Clock.Move(after - k.Clock.Now().Sub(last))
					k.must(k.Retain(ctx, kept))
				}
				walk(89 * day)
				if diff := cmp.Diff(before, k.state()); diff != "" {
					t.Errorf("after 89 days (-want +got):\n%s", diff)
				}
				walk(90 * day)
				if n := k.Count("requests WHERE account_id = $1 AND metadata <> '{}'", k.account.ID); n != 0 {
					t.Errorf("%d requests have metadata", n)
				}
				walk(729 * day)
				if diff := cmp.Diff(before, k.state()); diff != "" {
					t.Errorf("after 729 days (-want +got):\n%s", diff)
				}
				walk(730 * day)
				if diff := cmp.Diff(before, k.state()); diff != "" {
					t.Errorf("after 730 days (-want +got):\n%s", diff)
				}
				k.sameNames()
				if n := k.Count("requests WHERE account_id = $1 AND id NOT IN (SELECT request_id FROM changes WHERE account_id = $1"+
					" AND kind = 'request.person_erased' AND actor_kind = 'service')", k.account.ID); n != 0 {
					t.Errorf("programs are not told of %d requests", n)
				}
				told := k.Count("changes WHERE account_id = $1 AND kind = 'request.person_erased' AND actor_kind = 'service'", k.account.ID)
				k.must(k.Retain(ctx, kept))
				if n := k.Count("changes WHERE account_id = $1 AND kind = 'request.person_erased'", k.account.ID); n != told {
					t.Errorf("a second walk logged %d changes", n-told)
				}
				k.must(k.Sweep(ctx))
				k.IndexAll()
				for table, found := range holding(k.Rig, "ada@", "bob@", k.subject.ExternalID) {
					if table != "blocked_people" {
						t.Errorf("%s still knows somebody: %v", table, found)
					}
				}
				for _, reader := range k.readers {
					for _, table := range []string{"requests", "votes", "readers", "status_links"} {
						if n := k.Count(table+" WHERE reader = $1", reader); n > 0 {
							t.Errorf("%s still has %d rows of a browser", table, n)
						}
					}
				}
				k.counts()
			})
		})
	}
}

// state is what retention does not change of requests.
func (k *known) state() []string {
	k.T.Helper()
	rows, err := database.All(ctx, k.Raw, func(r database.Row) (text string, err error) {
		var title, status string
		var votes, comments int64
		var updated feedback.Time
		err = r.Scan(&title, &status, &votes, &comments, &updated)
		return fmt.Sprint(title, " ", status, " ", votes, " ", comments, " ", updated), err
	}, "SELECT title, status, votes, comments, updated_at FROM requests WHERE account_id = $1 ORDER BY id", k.account.ID)
	k.must(err)
	return rows
}

// sameNames checks that submitters have the id that their votes have.
func (k *known) sameNames() {
	k.T.Helper()
	const own = "SELECT 1 FROM votes v WHERE v.account_id = $1 AND v.request_id = r.id"
	if n := k.Count("requests r WHERE account_id = $1 AND EXISTS ("+own+") AND NOT EXISTS ("+own+
		" AND v.external_id = r.submitter_external_id)", k.account.ID); n != 0 {
		k.T.Errorf("%d submitters have another id than their votes", n)
	}
}

// TestRetentionForEver: without settings, everything stays.
func TestRetentionForEver(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		k := traceable(t, at)
		k.Clock.Move(100 * 365 * day)
		changes := k.Count("changes")
		k.must(k.Retain(ctx, store.Retention{}))
		k.must(k.Retain(ctx, store.Retention{People: 101 * 365 * day}))
		if k.Count("changes") != changes || k.Count("requests WHERE metadata <> '{}'") == 0 {
			t.Error("something is gone")
		}
		if found := searched(t, k.Store, k.account.ID, k.subject, ""); found.Count() != 12 {
			t.Errorf("%d records are left", found.Count())
		}
	})
}

// TestRetentionOfMetadata: metadata alone can be deleted.
func TestRetentionOfMetadata(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		k := traceable(t, at)
		k.Clock.Move(100 * day)
		k.must(k.Retain(ctx, store.Retention{Metadata: 99 * day}))
		if n := k.Count("requests WHERE metadata <> '{}'"); n != 0 {
			t.Errorf("%d requests have metadata", n)
		}
		if found := searched(t, k.Store, k.account.ID, k.subject, ""); found.Count() != 12 {
			t.Errorf("%d records of the person are left", found.Count())
		}
	})
}

// TestRetentionOfVoters: who has voted later for the same idea stays, with what they submitted, until that vote is old, too.
// Others do not wait for them.
func TestRetentionOfVoters(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		k := traceable(t, at)
		ada := feedback.Submitter{Email: new("ada@example.org")}
		root := k.submit("Root", feedback.Submitter{Email: new("eve@example.org")}, store.Submission{})
		reader, _ := feedback.ReaderOfSecret(k.app.ID, strings.Repeat("2", feedback.MaxReader))
		old := k.submit("Old", ada, store.Submission{Reader: reader})
		_, err := k.AddComment(ctx, k.account.ID, k.by, feedback.Comment{
			RequestID: old.ID, Author: feedback.Author{ID: k.by.ID, Kind: feedback.ByTeam}, Visibility: feedback.Public, Body: "Why?",
		})
		k.must(err)
		_, err = k.Reply(ctx, readers.Person{App: k.app, Reader: reader}, old.ID, "Because.")
		k.must(err)
		third := k.submit("Third", feedback.Submitter{Email: new("frank@example.org")}, store.Submission{})
		carol := feedback.Person{Email: new("carol@example.org")}
		k.vote(third.ID, carol, nil)
		for _, id := range []feedback.ID{old.ID, third.ID} {
			_, err = k.MergeRequest(ctx, k.account.ID, id, root.ID, k.by)
			k.must(err)
		}
		k.Clock.Move(10 * day)
		k.vote(root.ID, feedback.Person{Email: ada.Email}, nil)
		k.vote(root.ID, carol, nil)
		_, err = k.PortalComment(ctx, k.app, root.ID, feedback.Person{Email: new("dan@example.org")}, "And me", false)
		k.must(err)
		kept := store.Retention{People: 11 * day}
		known := func() (known []string) {
			t.Helper()
			for _, rows := range []string{
				"'submitter', submitter_email FROM requests", "'voter', email FROM votes", "'commenter', person_email FROM comments",
			} {
				found, err := database.All(ctx, k.Raw, func(r database.Row) (text string, err error) {
					var what, email string
					err = r.Scan(&what, &email)
					return what + " " + email, err
				}, "SELECT "+rows+" WHERE COALESCE("+strings.Fields(rows)[1]+", '') LIKE '%@example.org'")
				k.must(err)
				known = append(known, found...)
			}
			slices.Sort(known)
			return known
		}
		k.SmallParts(1)
		k.Clock.Move(2 * day)
		k.must(k.Retain(ctx, kept))
		young := []string{
			"commenter dan@example.org", "submitter ada@example.org", "voter ada@example.org", "voter ada@example.org",
			"voter carol@example.org", "voter carol@example.org",
		}
		if diff := cmp.Diff(young, known()); diff != "" {
			t.Errorf("while the votes are young (-want +got):\n%s", diff)
		}
		changes := k.Count("changes")
		k.must(k.Retain(ctx, kept))
		if n := k.Count("changes") - changes; n != 0 {
			t.Errorf("a second walk logged %d changes", n)
		}
		k.Clock.Move(10 * day)
		k.must(k.Retain(ctx, kept))
		if got := known(); len(got) != 0 {
			t.Errorf("when the votes are old: %v", got)
		}
		k.sameNames()
		if n := k.Count("changes WHERE request_id = $1 AND kind = 'request.person_erased'", third.ID); n != 2 {
			t.Errorf("programs are told %d times of a request with two people", n)
		}
		if r, err := k.Request(ctx, k.account.ID, root.ID); err != nil || r.Votes != 4 {
			t.Errorf("%d votes, %v", r.Votes, err)
		}
		k.IndexAll()
		k.counts()
	})
}

// TestRetentionGoesOn: a record that cannot be changed keeps neither others of its account nor other accounts from it, and is
// tried again. While the database is away, the walk waits.
func TestRetentionGoesOn(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		k := traceable(t, at)
		k.SmallParts(1)
		other := k.NewApp(k.NewAccount("Globex"))
		request := feedback.NewRequest("T", "")
		request.Submitter.Email = new("eve@example.org")
		_, err := k.Submit(ctx, store.Submission{App: other, Request: request})
		k.must(err)
		k.Clock.Move(2 * day)
		mend := k.Refuses("UPDATE", "requests", "NEW.id = "+k.Literal(k.own.ID)+" AND NEW.submitter_name = 'Erased person'")
		kept := store.Retention{People: day}
		if err := k.Retain(ctx, kept); err == nil {
			t.Error("no failure is reported")
		}
		left := func() int {
			return k.Count("requests WHERE submitter_email IS NOT NULL")
		}
		if n := left(); n != 1 {
			t.Errorf("%d requests have an address, want the one that cannot be changed", n)
		}
		mend()
		k.must(k.Retain(ctx, kept))
		if n := left(); n != 0 {
			t.Errorf("%d requests have an address", n)
		}
	})
}
