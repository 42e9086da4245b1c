package quota_test

import (
	"context"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"gatherkit/internal/feedback"
	"gatherkit/internal/quota"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
)

var ctx = context.Background()

// TestParse: amounts are numbers, sizes, none or default, and anything else gets an error that says what is accepted.
func TestParse(t *testing.T) {
	for text, want := range map[string]int64{
		"requests=0": 0, "requests=1000": 1000, " members = 5 ": 5, "files=10GiB": 10 << 30, "files=1 kB": 1000, "files=7": 7,
		"files=none": quota.None, "members=none": quota.None, "mails=none": quota.None, "verified=none": quota.None,
		"requests=none": quota.None, "apps=1000": 1000, "apps=0": 0, "webhooks=20": 20,
	} {
		changes, err := quota.Parse([]string{text})
		if err != nil || len(changes) != 1 {
			t.Errorf("%q: %v, %v", text, changes, err)
			continue
		}
		for _, most := range changes {
			if most == nil || *most != want {
				t.Errorf("%q: %v, want %d", text, most, want)
			}
		}
	}
	if changes, err := quota.Parse([]string{"apps=default", "files=1"}); err != nil || len(changes) != 2 || changes[quota.Apps] != nil {
		t.Errorf("%v, %v", changes, err)
	}
	for _, test := range []struct {
		texts []string
		want  string
	}{
		{[]string{"requests"}, `"requests" must be a quota with its amount, such as requests=1000`},
		{[]string{"users=5"}, `"users" is not a quota; the quotas are requests, files, members, apps, webhooks, mails, verified`},
		{[]string{"files=1", "files=2"}, `the quota files is there twice`},
		{[]string{"requests=-1"}, `the quota requests must be a number from 0, none or default, not "-1"`},
		{[]string{"requests=9223372036854775807"}, `the quota requests must be a number from 0, none or default, not "9223372036854775807"`},
		{[]string{"members="}, `the quota members must be a number from 0, none or default, not ""`},
		{[]string{"files=much"}, `the quota files must be a size such as 10GB, none or default, not "much"`},
		{[]string{"files=16EB"}, `the quota files must be a size such as 10GB, none or default, not "16EB"`},
		{[]string{"apps=1001"}, `the quota apps must be a number from 0 to 1000, or default, not "1001"`},
		{[]string{"webhooks=none"}, `the quota webhooks must be a number from 0 to 20, or default, not "none"`},
	} {
		if changes, err := quota.Parse(test.texts); err == nil || err.Error() != test.want || changes != nil {
			t.Errorf("%q: %v, %v", test.texts, changes, err)
		}
	}
}

// TestNames: each quota has a name and a default.
func TestNames(t *testing.T) {
	if diff := cmp.Diff(slices.Sorted(maps.Keys(quota.Defaults)), slices.Sorted(slices.Values(quota.Names()))); diff != "" {
		t.Error(diff)
	}
}

// TestMonth: a month begins with its first day, and the next one follows it.
func TestMonth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := time.Unix(rapid.Int64Range(0, 1e10).Draw(t, "seconds"), 0)
		first, next := quota.Month(now.In(time.FixedZone("", rapid.IntRange(-50000, 50000).Draw(t, "zone"))))
		if first > feedback.DayOf(now) || next <= feedback.DayOf(now) || first.Begin().Day() != 1 || next.Begin().Day() != 1 ||
			next-first < 28 || next-first > 31 {
			t.Fatalf("%s: from %s to %s", now.UTC(), first, next)
		}
	})
}

// TestOwn: an account has the quotas that the operator has set for it, and otherwise those of the service. Other
// accounts do not notice, and the audit log has what has changed.
func TestOwn(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		all := parse(t, "requests=100", "files=none")
		r := storetest.NewRig(t, at, func(o *store.Options) { o.Quotas = quota.Defaults.With(all) })
		acme, globex := r.NewAccount("Acme").ID, r.NewAccount("Globex").ID
		must(t, r.Quotas.Set(ctx, globex, parse(t, "requests=1")))
		check := func(changes quota.Changes) {
			t.Helper()
			want := quota.Defaults.With(all).With(changes)
			got, own, err := r.Quotas.All(ctx, acme)
			must(t, err)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("all quotas (-want +got):\n%s", diff)
			}
			for _, name := range quota.Names() {
				_, set := changes[name]
				one, err := r.Quotas.Of(ctx, r.Raw, acme, name)
				if one != want[name] || err != nil || own[name] != set {
					t.Errorf("%s: %d, %v, set for the account: %t", name, one, err, own[name])
				}
			}
		}
		log := func(n int) {
			t.Helper()
			if got := r.Count("changes WHERE account_id = $1 AND kind = 'account.quotas_changed'", acme); got != n {
				t.Errorf("%d changes are logged, want %d", got, n)
			}
		}
		check(nil)
		changes := parse(t, "requests=none", "members=3", "mails=0")
		must(t, r.Quotas.Set(ctx, acme, changes))
		check(changes)
		must(t, r.Quotas.Set(ctx, acme, changes))
		must(t, r.Quotas.Set(ctx, acme, parse(t, "apps=default")))
		must(t, r.Quotas.Set(ctx, acme, nil))
		log(1) // the others changed nothing
		must(t, r.Quotas.Set(ctx, acme, parse(t, "requests=7", "members=3", "mails=default")))
		check(parse(t, "requests=7", "members=3"))
		log(2)
		var before, after string
		must(t, r.Raw.QueryRowContext(ctx, "SELECT before, after FROM changes WHERE account_id = $1 ORDER BY seq DESC LIMIT 1", acme).
			Scan(&before, &after))
		if before != `{"mails":"0","requests":"none"}` || after != `{"mails":"default","requests":"7"}` {
			t.Errorf("logged: %s, %s", before, after)
		}
	})
}

func parse(t *testing.T, texts ...string) quota.Changes {
	t.Helper()
	changes, err := quota.Parse(texts)
	must(t, err)
	return changes
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
