package index_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"gatherkit/internal/feedback"
	"gatherkit/internal/index"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
)

// tablesOf finds the tables of a statement that are checked.
var tablesOf = regexp.MustCompile(`\b(index_[a-z]+|changes|requests)\b`)

// checkKeys checks that every statement on the index and on the log reads them by their
// primary keys, and at most so many rows.
func checkKeys(p *storetest.Plans, name string, most float64, call func(*store.Store) error) {
	p.T.Helper()
	checked := 0
	for _, s := range p.During(call) {
		tables := tablesOf.FindAllString(s.Query, -1)
		ofIndex := strings.Contains(s.Query, "index_") || strings.Contains(s.Query, "FROM requests WHERE account_id = $1 AND id IN")
		if len(tables) == 0 || !ofIndex || strings.HasPrefix(s.Query, "INSERT") {
			continue
		}
		for _, table := range slices.Compact(slices.Sorted(slices.Values(tables))) {
			key := table + "_pkey"
			if p.At.Name == "sqlite" {
				if key = "PRIMARY KEY"; table == "changes" || table == "requests" {
					key = "INDEX sqlite_autoindex_" + table + "_1"
				}
			}
			p.CheckPlan(name, s, table, key)
		}
		checked++
		if p.At.Name == "sqlite" || !strings.HasPrefix(s.Query, "SELECT") {
			continue
		}
		read := 0.0
		for _, n := range p.RunPlan(s) {
			if n.Index != "" && n.Table != "" {
				read += n.Read
			}
		}
		if read > most {
			p.T.Errorf("%s: %v rows are read, want at most %v:\n%s", name, read, most, s.Query)
		}
	}
	if checked == 0 {
		p.T.Errorf("%s sends no statement on the index", name)
	}
}

// TestFindingPlans: whatever is searched, the index is read by its keys.
func TestFindingPlans(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		account := r.NewAccount("Acme")
		apps := []feedback.App{r.NewApp(account), r.NewApp(account), r.NewApp(account)}
		r.InsertRequests(apps[0], corpus(t, 9000, readPairs(t, "similar.tsv")))
		r.InsertRequests(apps[1], distractors(t, 1000))
		r.InsertRequests(apps[2], distractors(t, 1000))
		others := [][]any{}
		for i, other := 0, r.NewAccount("Other"); i < 2000; i++ {
			id := feedback.FirstIDAt(storetest.BigFirst.Add(time.Duration(i) * time.Millisecond))
			others = append(others, []any{other.ID, id, "A", "gk", "{}", 1, 0, 0})
		}
		r.InsertRows("apps", "account_id, id, name, api_key, settings, version, created_at, updated_at", others)
		if err := r.Index.FollowAll(ctx, index.MaxChunk); err != nil {
			t.Fatal(err)
		}
		const columns = "id, app_id, box, status, title, description, submitter_verified, tags, votes, comments, metadata," +
			" source, version, created_at, updated_at"
		for i := range 8 { // else PostgreSQL may as well read all of a table
			other := r.NewAccount("A" + feedback.FirstIDAt(time.Now()).String())
			if i < 3 {
				r.Exec("INSERT INTO requests (account_id, "+columns+") SELECT $1, "+columns+" FROM requests WHERE account_id = $2",
					other.ID, account.ID)
			}
			for table, columns := range map[string]string{
				"index_blocks": "app_id, block, n, lowest, highest, disorder", "index_ids": "app_id, part, first, ids",
				"index_postings": "app_id, block, term, n, bits", "index_words": "app_id, word, blocks",
				"index_documents": "request_id, app_id, ordinal, terms",
			} {
				r.Exec("INSERT INTO "+table+" (account_id, "+columns+") SELECT $1, "+columns+" FROM "+table+" WHERE account_id = $2",
					other.ID, account.ID)
			}
		}
		r.Exec("INSERT INTO account_seq (account_id, last) SELECT id, 0 FROM apps WHERE api_key = 'gk'")
		r.Exec("INSERT INTO index_followed (account_id, seq, version) SELECT id, 0, 1 FROM apps WHERE api_key = 'gk'")
		r.Exec("INSERT INTO index_blocks (account_id, app_id, block, n, lowest, highest, disorder)" +
			" SELECT id, id, 0, 1, id, id, 0 FROM apps WHERE api_key = 'gk'")
		r.Analyze()
		plans := r.Plans()
		deep := index.Place{ID: feedback.FirstIDAt(storetest.BigFirst.Add(7 * time.Second)), Votes: 1, UpdatedAt: 1}
		after, before := feedback.At(storetest.BigFirst.Add(3*time.Second)), feedback.At(storetest.BigFirst.Add(14*time.Second))
		for name, f := range map[string]index.Filter{
			"a word":  {Query: "calendar "},
			"words":   {Query: "make the calendar invoice"},
			"prefix":  {Query: "in"},
			"source":  {Source: "widget"},
			"a time":  {CreatedAfter: &after, CreatedBefore: &before},
			"an app":  {Unassigned: true, AppID: &apps[1].ID, Statuses: []feedback.Status{feedback.Opened}},
			"a tag":   {Tag: "design"},
			"nothing": {Query: "xyzzy"},
		} {
			f.Box = feedback.Live
			for _, sort := range orders {
				for _, place := range []*index.Place{nil, &deep} {
					checkKeys(plans, name+", "+string(sort), 3000, func(s *store.Store) error {
						_, _, err := s.Index.List(ctx, account.ID, f, index.Page{Sort: sort, Limit: 51, After: place})
						return err
					})
				}
			}
			checkKeys(plans, name+", facets", 3000, func(s *store.Store) error {
				_, err := s.Index.Facets(ctx, account.ID, f)
				return err
			})
		}
		checkKeys(plans, "stats", 3000, func(s *store.Store) error {
			_, err := s.Index.Stats(ctx, account.ID, nil, after, before)
			return err
		})
		checkKeys(plans, "relevance", 6000, func(s *store.Store) error {
			_, _, err := s.Index.Ranked(ctx, account.ID, index.Filter{Box: feedback.Live, Query: "calender invoces"},
				index.Page{Sort: index.Relevance, Limit: 51})
			return err
		})
		checkKeys(plans, "similar", 6000, func(s *store.Store) error {
			_, err := s.Index.Similar(ctx, account.ID, index.Likeness{AppID: apps[0].ID, Text: "calendar of the invoice list", Limit: 5})
			return err
		})
		checkKeys(plans, "follow", 6000, func(s *store.Store) error {
			if _, err := s.ChangeRequest(ctx, account.ID, r.IDs(apps[0])[0], feedback.Command(), func(r *feedback.Request) error {
				r.Title, r.Tags = "One more", []string{"design"}
				return nil
			}); err != nil {
				return err
			}
			return s.Index.FollowAccount(ctx, account.ID, index.Chunk)
		})
		checkKeys(plans, "purge", 6000, func(s *store.Store) error {
			r.Drop(apps[0])
			_, err := s.Purge(ctx)
			return err
		})
	})
}
