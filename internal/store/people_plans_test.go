package store_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"gatherkit/internal/feedback"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
)

// TestPeoplePlans: a part of a search for a person reads as many rows as it may, wherever in a large account it begins, and
// a change reads those that it is about.
func TestPeoplePlans(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		v := newVisited(t, at)
		v.Exec("INSERT INTO changes (account_id, seq, at, kind, actor_kind, app_id, request_id, before, after) SELECT account_id,"+
			" ROW_NUMBER() OVER (ORDER BY id) + 10000000, 0, 'request.updated', 'user', app_id, id, '{\"title\":\"A\"}', '{\"title\":\"B\"}'"+
			" FROM requests WHERE account_id = $1 ORDER BY id LIMIT 100000", v.Acme.ID)
		v.Exec("UPDATE account_seq SET last = 10100000 WHERE account_id = $1", v.Acme.ID)
		v.Analyze()
		by, who := feedback.ByUserID(*v.UserOf(v.Acme)), feedback.Subject{Email: "ada@example.com"}
		deep := *v.Deep()
		for table := range store.PersonTables {
			place := store.PersonPlace{Table: table, First: deep, ID: deep, Text: "00"}
			v.readsFew(v.During(func(s *store.Store) error {
				_, err := s.FindPerson(ctx, v.Acme.ID, who, "", place)
				return err
			}))
		}

		known := func() {
			v.Exec("UPDATE requests SET submitter_email = 'ada@example.com', reader = $2, submitter_verified = $3 WHERE id = $1",
				v.id, feedback.ReaderOfPerson(v.app.ID, "1"), false)
			v.Exec("UPDATE votes SET email = 'ada@example.com', reader = $2 WHERE request_id = $1", v.id, feedback.ReaderOfPerson(v.app.ID, "2"))
			v.Exec("UPDATE comments SET person_email = 'ada@example.com' WHERE request_id = $1", v.id)
		}
		before := v.id
		before[15]--
		known()
		for _, table := range []int{0, 2, 3} {
			place := store.PersonPlace{Table: table, First: before, ID: before, Text: "b"}
			logged := v.Count("changes WHERE account_id = $1 AND kind = 'request.person_erased'", v.Acme.ID)
			v.readsFew(v.During(func(s *store.Store) error {
				v.Clock.Move(time.Second)
				_, err := s.Expire(ctx, v.Acme.ID, store.Retention{Metadata: time.Second, People: time.Second}, place)
				return err
			}))
			if v.Count("changes WHERE account_id = $1 AND kind = 'request.person_erased'", v.Acme.ID) == logged {
				t.Errorf("nothing was too old in the table %d", table)
			}
		}
		known()
		for _, deletes := range []bool{false, true} {
			for _, table := range []int{0, 2, 3} {
				place := store.PersonPlace{Table: table, First: before, ID: before, Text: "b"}
				var part store.Part
				sent := v.During(func(s *store.Store) (err error) {
					erasure := store.Erasure{Of: who, Delete: deletes, Salt: v.NewID()}
					part, err = s.ErasePerson(ctx, v.Acme.ID, by, erasure, place, store.PersonCounts{}, 1000)
					return err
				})
				if part.Total() == 0 && !deletes {
					t.Errorf("nothing was found in the table %d", table)
				}
				v.readsFew(sent)
			}
		}
		v.readsFew(v.During(func(s *store.Store) error {
			place := store.PersonPlace{Table: store.PersonTables, Seq: 10_005_000}
			_, err := s.ErasePerson(ctx, v.Acme.ID, by, store.Erasure{Of: who}, place, store.PersonCounts{}, 0)
			return err
		}))
	})
}

// readsFew checks that no statement walks over a table, and on PostgreSQL how many rows the queries read.
func (v *visited) readsFew(sent []storetest.Statement) {
	const most = 7000
	v.T.Helper()
	large := []string{"requests", "votes", "comments", "held_comments", "visitor_tokens", "blocked_people", "changes"}
	for _, s := range sent {
		if verb, _, _ := strings.Cut(s.Query, " "); !slices.Contains([]string{"SELECT", "INSERT", "UPDATE", "DELETE"}, verb) {
			continue
		}
		if v.At.Name == "sqlite" {
			for _, n := range v.Plan(s) {
				if portalScans.MatchString(n.Kind) && !strings.Contains(n.Kind, " account_seq ") {
					v.T.Errorf("%s: the plan has %s", s.Query, n.Kind)
				}
			}
			continue
		}
		for _, n := range v.Plan(s) {
			if n.Kind == "Seq Scan" && slices.Contains(large, n.Table) {
				v.T.Errorf("%s reads all of %s", s.Query, n.Table)
			}
		}
		if !strings.HasPrefix(s.Query, "SELECT") {
			continue
		}
		for _, n := range v.RunPlan(s) {
			if n.Table != "" && n.Read > most {
				v.T.Errorf("%s reads %v rows of %s", s.Query, n.Read, n.Table)
			}
		}
	}
}
