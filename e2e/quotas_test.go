package e2e_test

import (
	"regexp"
	"strings"
	"testing"

	"gatherkit/e2e/program"
	"gatherkit/internal/store/storetest"
)

// TestQuotaCommand: the operator sets quotas of all accounts for the service, and quotas of one account while it runs.
func TestQuotaCommand(t *testing.T) {
	storetest.Each(t, func(t *testing.T, place storetest.Place) {
		quota := func(args ...string) []string {
			return append(append([]string{"account", "quota", "Acme"}, args...), program.At(place)...)
		}
		program.AddOwner(t, place)
		p := program.Start(t, append(program.At(place), "--quotas=requests=2,apps=2")...)
		c := program.NewClient(t, p)
		owner := c.Login(t)
		key := c.AddApp(t, owner).APIKey
		c.Submit(t, key, "One")
		c.Submit(t, key, "Two")
		three := program.Params{"title": "Three", "description": ""}
		c.Want(t, "requests.quota_reached", "widget-submit-request", key, three)

		const raised = `QUOTA     USED  MOST
requests  0     3
files     0 B   10 GB
members   1     none
apps      1     2 (default)
webhooks  0     0
mails     0     5000 (default)
verified  0     100 (default)
`
		set := quota("requests=3", "files=10GB", "members=none", "webhooks=0", "--quotas=apps=2")
		if got := program.Succeed(t, set...); got != raised {
			t.Errorf("account quota prints:\n%s", got)
		}
		c.Want(t, "ok", "widget-submit-request", key, three)
		c.Want(t, "requests.quota_reached", "widget-submit-request", key, three)
		c.Want(t, "webhooks.too_many", "webhooks-create", owner, program.Params{"name": "W", "url": "https://a.example"})
		c.AddApp(t, owner)
		c.Want(t, "apps.too_many", "apps-create", owner, program.Params{"name": "Third"})
		entries := c.Want(t, "ok", "audit-list", owner, program.Params{}).Entries
		const logged = "An operator set the quotas files=10 GB, members=none, requests=3, webhooks=0."
		found := false
		for _, entry := range entries {
			found = found || entry.Summary == logged
		}
		if !found {
			t.Errorf("the audit log %+v has no %q", entries, logged)
		}

		near := func(args ...string) string {
			return program.Succeed(t, append(append([]string{"account", "quota"}, args...), program.At(place)...)...)
		}
		used := regexp.MustCompile(`^QUOTA  USED  MOST         ACCOUNT\napps   2     2 \(default\)  Acme \([0-9a-f-]{36}\)\n$`)
		if got := near("--quotas=apps=2"); !used.MatchString(got) {
			t.Errorf("account quota prints:\n%s", got)
		}

		for want, args := range map[string][]string{
			`there is no account called "Acne"; run gatherkit account list to see all accounts`: append(
				[]string{"account", "quota", "Acne", "files=1"}, program.At(place)...),
			`"bytes" is not a quota; the quotas are requests, files, members, apps, webhooks, mails, verified`: quota("requests=9", "bytes=1"),
			`the quota webhooks must be a number from 0 to 20, or default, not "21"`:                           quota("webhooks=21"),
		} {
			if got := fail(t, nil, "", args...); got != want {
				t.Errorf("gatherkit %q: %q, want %q", args, got, want)
			}
		}
		p.Stop(t) // and counts its last requests
		want := strings.NewReplacer(
			"requests  0     3\n", "requests  3     none (default)\n", "apps      1     2 (", "apps      2     1000 (").Replace(raised)
		if got := program.Succeed(t, quota("requests=default")...); got != want {
			t.Errorf("account quota prints:\n%s", got)
		}
		if got := near("--quotas=requests=3"); !strings.Contains(got, "\nrequests  3     3 (default)  Acme (") {
			t.Errorf("account quota prints:\n%s", got)
		}
		if got := near("--quotas=requests=4"); got != "No account uses 80 % of a quota.\n" {
			t.Errorf("account quota prints:\n%s", got)
		}
	})
}
