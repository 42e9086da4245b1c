package store_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
	"gatherkit/internal/index"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
)

// voteScans are the plans that walk over all votes, or over all requests by the names
// that these statements give them.
var voteScans = regexp.MustCompile(`^SCAN (votes|comments|v|o|m)\b`)

// popular makes votes for all requests of the first app, and merges a thousand of them
// into the one that is returned.
func popular(b *storetest.Big) feedback.ID {
	b.T.Helper()
	id := b.Fill(b.AcmeApps[0], 1).ID
	b.WithoutIndexes("votes", "votes", func() {
		b.Exec(`INSERT INTO votes (account_id, request_id, person, verified, source, created_at)
			SELECT account_id, id, 'e:' || n, submitter_verified, 'widget', 0 FROM requests
			CROSS JOIN (SELECT 1 AS n UNION ALL SELECT 2 UNION ALL SELECT 3) AS people`)
	})
	_, err := b.Raw.ExecContext(ctx, `UPDATE requests SET merged_into_id = $2, merged_parent_id = $2, merged_status = status WHERE id <> $2
		AND id IN (SELECT id FROM requests WHERE account_id = $1 AND app_id = $3 AND box = 'live' ORDER BY id LIMIT 1000)`,
		b.Acme.ID, id, b.AcmeApps[0].ID)
	if err != nil {
		b.T.Fatal(err)
	}
	b.Analyze()
	return id
}

// TestVotePlans: votes and merges look at the votes of the requests that they are about,
// and at no others.
func TestVotePlans(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		b := storetest.NewBig(t, at)
		hot, other := popular(b), b.Fill(b.AcmeApps[0], 1).ID
		first := b.Fill(b.AcmeApps[0], 1).ID
		alone, lone := b.Fill(b.AcmeApps[0], 1).ID, b.Fill(b.AcmeApps[0], 1).ID
		old := b.Fill(b.AcmeApps[0], 1).ID // the one in the bin whose time is over
		if _, err := b.Raw.ExecContext(ctx, "UPDATE requests SET box = 'bin', updated_at = 0 WHERE id = $1", old); err != nil {
			t.Fatal(err)
		}
		voters := 0
		vote := func(id feedback.ID, remove bool) func(s *store.Store) error {
			return func(s *store.Store) error {
				voters++ // nobody has voted before
				email := fmt.Sprintf("%d@example.com", voters)
				_, err := s.Vote(ctx, b.Acme.ID, feedback.Command(), store.Ballot{
					RequestID: id, Person: feedback.Person{Email: &email}, Source: "dashboard", Remove: remove,
				})
				return err
			}
		}
		list := func(after string) func(s *store.Store) error {
			return func(s *store.Store) error {
				_, _, err := s.Votes(ctx, b.Acme.ID, hot, after, 51)
				return err
			}
		}
		ofPerson := func(s *store.Store) error {
			f := index.Filter{Box: feedback.Live, Person: "e:0@example.com"}
			_, _, err := s.Index.List(ctx, b.Acme.ID, f, index.Page{Sort: index.Newest, Limit: 51})
			return err
		}
		merge := func(s *store.Store) error {
			_, err := s.MergeRequest(ctx, b.Acme.ID, hot, other, feedback.Command())
			return err
		}
		unmerge := func(s *store.Store) error {
			_, err := s.UnmergeRequest(ctx, b.Acme.ID, hot, feedback.Command())
			return err
		}
		remove := func(s *store.Store) error { // the first corrects the counter, which popular has not set
			merged, err := database.All(ctx, b.Raw, database.One[feedback.ID],
				"SELECT id FROM requests WHERE merged_into_id = $1 AND box = 'live' ORDER BY id LIMIT 2", hot)
			if err != nil {
				return err
			}
			for _, id := range merged {
				_, err := s.ChangeRequest(ctx, b.Acme.ID, id, feedback.Command(), func(r *feedback.Request) error {
					r.Box = feedback.Bin
					return nil
				})
				if err != nil {
					return err
				}
			}
			return nil
		}
		votes, requests := "votes_pkey", "requests_pkey"
		if at.Name == "sqlite" {
			votes, requests = "INDEX sqlite_autoindex_votes_1", "INDEX sqlite_autoindex_requests_1"
		}
		for _, c := range []struct {
			name, part, table string
			indexes           []string
			call              func(s *store.Store) error
		}{
			{"the merged whose votes count", "MIN(created_at)", "requests", []string{"requests_merged"}, vote(hot, false)},
			{"the app", "SELECT app_id, created_at", "requests", []string{requests}, vote(hot, false)},
			{"the submitter's row", "SELECT request_id FROM votes", "votes", []string{votes}, vote(alone, false)},
			{"what is merged into it", "SELECT request_id FROM votes", "requests", []string{"requests_merged"}, vote(lone, false)},
			{"who else voted", "INSERT INTO votes", "votes", []string{votes, "votes_person", "votes_reader"}, vote(hot, false)},
			{"who asked", "INSERT INTO votes", "requests", []string{requests, "requests_merged", "requests_reader"}, vote(hot, false)},
			{"their removal", "DELETE FROM votes", "votes", []string{votes, "votes_person", "votes_reader"}, vote(hot, true)},
			{"who asked, too", "DELETE FROM votes", "requests", []string{requests, "requests_merged", "requests_reader"}, vote(hot, true)},
			{"the counter", "UPDATE requests SET votes", "requests", []string{requests}, vote(hot, false)},
			{"when people voted", "MIN(created_at)", "votes", []string{votes}, vote(first, false)},
			{"the counters", "UPDATE requests SET votes = CASE", "requests", []string{requests}, remove},
			{"the list", "PARTITION BY v.person", "votes", []string{votes}, list("")},
			{"its next page", "PARTITION BY v.person", "votes", []string{votes}, list("e:1")},
			{"what a person voted for", "AND person = $2 ORDER BY", "votes", []string{"votes_person"}, ofPerson},
			{"members", "SELECT id, app_id, merged_parent_id", "requests", []string{"requests_merged"}, merge},
			{"members that follow", "SET merged_into_id = $3", "requests", []string{requests}, unmerge},
			{"people", "created_at, reader FROM votes", "votes", []string{votes}, merge},
			{"people, taken apart", "created_at, reader FROM votes", "votes", []string{votes}, unmerge},
			{"who asked, taken apart", "SELECT id, reader FROM requests", "requests", []string{requests}, merge},
			{"what was counted", "SELECT r.id, r.version", "requests", []string{requests}, unmerge},
			{"parents of what goes", "UPDATE requests AS m", "requests", []string{requests, "requests_merged"}, sweep},
		} {
			found := false
			for _, s := range b.During(c.call) {
				if !strings.Contains(s.Query, c.part) || !ours(b, s) {
					continue
				}
				found = true
				b.CheckPlan(c.name, s, c.table, c.indexes...)
				if at.Name == "sqlite" {
					for _, n := range b.Plan(s) {
						if voteScans.MatchString(n.Kind) {
							t.Errorf("%s: the plan has %s", c.name, n.Kind)
						}
					}
				}
				break
			}
			if !found {
				t.Errorf("%s: no statement has %q", c.name, c.part)
			}
		}
	})
}
