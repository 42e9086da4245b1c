package store_test

import (
	"fmt"
	"strings"
	"testing"

	"gatherkit/internal/feedback"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
)

// TestTogetherPlans: what a group of several accounts asks reads the rows of these accounts only.
func TestTogetherPlans(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		b := storetest.NewBig(t, at)
		subs := []store.Submission{{App: b.AcmeApps[0]}}
		for i := range 40 {
			account := b.NewAccount(fmt.Sprint(i))
			subs = append(subs, store.Submission{App: b.NewApp(account)})
		}
		var keys []string
		for i := range subs {
			subs[i].Request = feedback.NewRequest(fmt.Sprint(i), "")
			keys = append(keys, subs[i].App.APIKey)
		}
		id, hash := "randomblob(16)", "randomblob(32)"
		if at.Name == "postgres" {
			id, hash = "gen_random_uuid()", "sha256(CAST(CAST(n AS TEXT) AS bytea))"
		}
		rows := " WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 20000) SELECT "
		b.Exec("INSERT INTO api_keys (key_hash, account_id, app_id)" + rows + hash + ", " + id + ", " + id + " FROM numbers")
		b.Exec("INSERT INTO quotas (account_id, name, most)" + rows + id + ", 'requests', 1000000 FROM numbers")
		b.Exec("INSERT INTO quotas (account_id, name, most) SELECT account_id, 'requests', 1000000 FROM accounts")
		b.Exec("INSERT INTO usage_days (account_id, day, calls, busy_us, submissions, files, file_bytes, mails, last_at)" + rows +
			"account_id, n, 1, 1, 1, 0, 0, 0, 0 FROM accounts CROSS JOIN numbers WHERE n > 19900")
		b.Analyze()
		primary := primaryKeys(at)
		for _, n := range []int{1, len(subs)} {
			sent := b.During(func(s *store.Store) error {
				if err := s.SubmitTogether(ctx, subs[:n]); err != nil {
					return err
				}
				apps, err := s.AppsByKey(ctx, keys[:n])
				if len(apps) != n || apps[n-1] == nil || apps[n-1].ID != subs[n-1].App.ID {
					t.Errorf("%d apps", len(apps))
				}
				return err
			})
			for _, c := range []struct{ part, table string }{
				{"FROM quotas", "quotas"},
				{"FROM usage_days", "usage_days"},
				{"FROM api_keys", "api_keys"},
				{"FROM apps a JOIN accounts", "apps"},
			} {
				found := false
				for _, s := range sent {
					if strings.Contains(s.Query, c.part) {
						b.CheckPlan(fmt.Sprintf("%s of %d", c.table, n), s, c.table, primary(c.table), "PRIMARY KEY")
						found = true
					}
				}
				if !found {
					t.Errorf("no statement has %q", c.part)
				}
			}
		}
	})
}
