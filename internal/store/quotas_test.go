package store_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"gatherkit/internal/feedback"
	"gatherkit/internal/quota"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
	"gatherkit/internal/team"
	"gatherkit/internal/webhook"
)

// limit sets quotas of an account, such as requests=3.
func limit(r *storetest.Rig, account feedback.Account, quotas ...string) {
	r.T.Helper()
	changes, err := quota.Parse(quotas)
	if err == nil {
		err = r.Quotas.Set(ctx, account.ID, changes)
	}
	if err != nil {
		r.T.Fatal(err)
	}
}

// usedOf checks what an account uses of its quotas.
func usedOf(r *storetest.Rig, account feedback.Account, want map[quota.Name]int64) {
	r.T.Helper()
	quotas, err := r.UsedQuotas(ctx, account.ID)
	if err != nil {
		r.T.Fatal(err)
	}
	got := map[quota.Name]int64{}
	for _, q := range quotas {
		if got[q.Name] = q.Used; q.Used == 0 {
			delete(got, q.Name)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		r.T.Errorf("used (-want +got):\n%s", diff)
	}
}

// TestRequestsQuota: of the requests that arrive together, those beyond the quota of the month are refused, and those
// before it are stored. A request that was stored is answered again, also when the quota is used up.
func TestRequestsQuota(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		r.Clock.Move(12 * time.Hour) // no day ends in what follows
		account, other := r.NewAccount("Acme"), r.NewAccount("Globex")
		app, elsewhere := r.NewApp(account), r.NewApp(other)
		limit(r, account, "requests=5")
		submit := func(app feedback.App, key string) error {
			_, err := r.Submit(ctx, store.Submission{App: app, Request: feedback.NewRequest("T"+key, ""), IdempotencyKey: key})
			return err
		}
		errs := make([]error, 12)
		storetest.Crowd(len(errs), func(i int) { errs[i] = submit(app, fmt.Sprint(i)) })
		refused := func(errs []error) (n int) {
			for _, err := range errs {
				switch {
				case errors.Is(err, feedback.ErrRequestsSpent):
					n++
				case err != nil:
					t.Error(err)
				}
			}
			return n
		}
		stored := r.Count("requests WHERE account_id = $1", account.ID)
		if n := refused(errs); n != 7 || stored != 5 {
			t.Errorf("%d requests are refused and %d stored", n, stored)
		}
		for i, err := range errs {
			if again := submit(app, fmt.Sprint(i)); !errors.Is(again, err) && (again != nil || err != nil) {
				t.Errorf("once more: %v after %v", again, err)
			}
		}
		if err := submit(elsewhere, "x"); err != nil {
			t.Errorf("another account: %v", err)
		}
		must(t, r.Usage.Add(ctx))
		for _, id := range r.IDs(app) {
			_, err := r.ChangeRequest(ctx, account.ID, id, feedback.Command(), func(q *feedback.Request) error {
				q.Box = feedback.Bin
				return nil
			})
			must(t, err)
		}
		if err := submit(app, "deleted"); !errors.Is(err, feedback.ErrRequestsSpent) {
			t.Errorf("requests that are deleted count: %v", err)
		}
		usedOf(r, account, map[quota.Name]int64{quota.Requests: 5, quota.Members: 1, quota.Apps: 1})
		limit(r, account, "requests=6")
		if err := submit(app, "raised"); err != nil {
			t.Errorf("after the quota is raised: %v", err)
		}
		_, next := quota.Month(r.Clock.Now())
		r.Clock.Move(next.Begin().Add(-time.Millisecond).Sub(r.Clock.Now()))
		spent := func(err error, after time.Duration, header string) {
			t.Helper()
			var e *feedback.Error
			if !errors.As(err, &e) || e.Code != "requests.quota_reached" || e.RetryAfter != after || e.RateLimit != header {
				t.Errorf("%+v, want %s and %s", err, after, header)
			}
		}
		spent(submit(app, "last moment"), time.Second, `"requests";r=0;t=1`)
		r.Clock.Move(time.Millisecond)
		if err := submit(app, "next month"); err != nil {
			t.Error(err)
		}
		limit(r, account, "requests=0")
		spent(submit(app, "none"), time.Hour, `"requests";r=0;t=2419200`) // all of February
		limit(r, account, "requests=none")
		if err := submit(app, "any"); err != nil {
			t.Error(err)
		}
	})
}

// TestRequestsQuotaOfTwo: a process knows what others have added.
func TestRequestsQuotaOfTwo(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		other := at.Open(t, r.Clock.Now)
		account := r.NewAccount("Acme")
		app := r.NewApp(account)
		limit(r, account, "requests=3")
		for _, s := range []*store.Store{r.Store, other, other} {
			_, err := s.Submit(ctx, store.Submission{App: app, Request: feedback.NewRequest("T", "")})
			must(t, err)
			must(t, s.Usage.Add(ctx))
		}
		for _, s := range []*store.Store{r.Store, other} {
			_, err := s.Submit(ctx, store.Submission{App: app, Request: feedback.NewRequest("T", "")})
			if !errors.Is(err, feedback.ErrRequestsSpent) {
				t.Error(err)
			}
		}
	})
}

// TestStored: whatever is announced, arrives, is refused, is attached and is swept, the stored bytes are the sum of all
// files, and never more than the quota allows.
func TestStored(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at, func(o *store.Options) { o.RemoveFile = func(context.Context, feedback.ID) error { return nil } })
		rapid.Check(t, func(t *rapid.T) {
			account := r.NewAccount(fmt.Sprint("Acme ", r.NewID()))
			app := r.NewApp(account)
			most := rapid.Int64Range(0, 300).Draw(t, "quota")
			limit(r, account, fmt.Sprint("files=", most))
			var files []feedback.Upload
			var stored int64
			one := func() *feedback.Upload {
				if len(files) == 0 {
					t.Skip("no files")
				}
				return &files[rapid.IntRange(0, len(files)-1).Draw(t, "file")]
			}
			t.Repeat(map[string]func(*rapid.T){
				"announce": func(t *rapid.T) {
					size := rapid.Int64Range(1, 100).Draw(t, "size")
					u, err := r.Uploads.Add(ctx, account.ID, feedback.Upload{
						AppID: app.ID, Attachment: feedback.Attachment{Filename: "a.txt", ContentType: "text/plain", Size: size},
					})
					if full := stored+size > most; full != errors.Is(err, feedback.ErrFilesFull) || !full && err != nil {
						t.Fatalf("%d bytes to %d of %d: %v", size, stored, most, err)
					}
					if err == nil {
						files, stored = append(files, u), stored+size
					}
				},
				"arrive": func(*rapid.T) {
					u := *one()
					u.Size = rapid.Int64Range(1, u.Size).Draw(t, "real size")
					must(t, r.Uploads.Save(ctx, account.ID, u))
				},
				"refuse": func(*rapid.T) { must(t, r.Uploads.Remove(ctx, account.ID, one().ID)) },
				"attach": func(*rapid.T) {
					_, _ = r.Submit(ctx, store.Submission{ // is refused if the file is not there
						App: app, Request: feedback.NewRequest("T", ""), Attachments: []feedback.ID{one().ID},
					})
				},
				"sweep": func(t *rapid.T) {
					r.Clock.Move(time.Duration(rapid.Int64Range(0, int64(20*time.Hour)).Draw(t, "duration")))
					must(t, r.Uploads.Sweep(ctx, []feedback.ID{account.ID}))
				},
				"": func(t *rapid.T) {
					var sum int64
					must(t, r.Raw.QueryRowContext(ctx, "SELECT COALESCE(SUM(size), 0) FROM uploads WHERE account_id = $1", account.ID).Scan(&sum))
					got, err := r.Uploads.Stored(ctx, account.ID)
					if stored = sum; err != nil || got != sum {
						t.Fatalf("%d bytes are stored, want %d; %v", got, sum, err)
					}
				},
			})
		})
	})
}

// TestRecountFiles: a sum of bytes that is wrong or missing is repaired, and only those that are wrong are returned.
func TestRecountFiles(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		var accounts []feedback.ID
		for i := range 4 {
			account := r.NewAccount(fmt.Sprint("Acme ", i))
			accounts = append(accounts, account.ID)
			if app := r.NewApp(account); i < 3 {
				addUpload(r, app)
			}
		}
		size, err := r.Uploads.Stored(ctx, accounts[0])
		must(t, err)
		r.Exec("UPDATE stored_files SET bytes = 1000 WHERE account_id = $1", accounts[0])
		r.Exec("DELETE FROM stored_files WHERE account_id = $1", accounts[1])
		wrong, err := r.Recount(ctx)
		must(t, err)
		want := []store.Miscount{
			{AccountID: accounts[0], Of: "files", Counted: 1000, Rows: size}, {AccountID: accounts[1], Of: "files", Rows: size},
		}
		if diff := cmp.Diff(want, wrong); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		for i, id := range accounts {
			if n, err := r.Uploads.Stored(ctx, id); err != nil || n != size && i < 3 {
				t.Errorf("account %d: %d bytes, %v", i, n, err)
			}
		}
		if again, err := r.Recount(ctx); err != nil || len(again) > 0 {
			t.Errorf("once more: %v, %v", again, err)
		}
	})
}

// TestTeamQuotas: an account cannot have more users, apps and webhooks than its quotas allow, and one that is refused
// leaves nothing behind. What it has stays when a quota is lowered. The quota of users does not bind the operator.
func TestTeamQuotas(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		account := r.NewAccount("Acme")
		limit(r, account, "members=2", "apps=1", "webhooks=1")
		by := feedback.ByUserID(*r.UserOf(account))
		invite := func(email string, by feedback.Actor) error {
			_, _, err := r.Team.Invite(ctx, account.ID, by, team.NewUser{Email: email, Name: "N", Role: feedback.RoleViewer})
			return err
		}
		adds := []struct {
			name quota.Name
			want error
			add  func(n int) error
		}{
			{quota.Members, feedback.ErrTooManyUsers, func(n int) error { return invite(fmt.Sprint(n, "@example.com"), by) }},
			{quota.Apps, feedback.ErrTooManyApps, func(int) error {
				_, err := r.AddApp(ctx, account.ID, "A", by)
				return err
			}},
			{quota.Webhooks, feedback.ErrTooManyWebhooks, func(int) error {
				_, err := r.Webhooks.Add(ctx, account.ID, by, webhook.Webhook{Name: "W", URL: "https://example.com", Format: webhook.Events})
				return err
			}},
		}
		full := map[quota.Name]int64{quota.Members: 2, quota.Apps: 1, quota.Webhooks: 1}
		for _, a := range adds {
			must(t, a.add(1))
			changes := r.Count("changes")
			var refusal *feedback.Error
			err := a.add(2)
			if !errors.Is(err, a.want) || !errors.As(err, &refusal) || refusal.RateLimit != `"`+string(a.name)+`";r=0` {
				t.Errorf("%s: %+v", a.name, err)
			}
			if r.Count("changes") != changes {
				t.Errorf("%s: what is refused is logged", a.name)
			}
		}
		usedOf(r, account, full)
		limit(r, account, "members=0", "apps=0", "webhooks=0")
		usedOf(r, account, full)
		must(t, invite("operator@example.com", feedback.Command()))
		_, err := r.Team.AddUser(ctx, account.ID, team.NewUser{Email: "more@example.com", Name: "N", Role: feedback.RoleViewer})
		must(t, err)
		limit(r, account, "members=5", "apps=2", "webhooks=default")
		for _, a := range adds {
			if err := a.add(3); err != nil {
				t.Errorf("%s: %v", a.name, err)
			}
		}
		quotas, err := r.UsedQuotas(ctx, account.ID)
		must(t, err)
		var own []quota.Name
		for _, q := range quotas {
			if q.Own {
				own = append(own, q.Name)
			}
		}
		if !slices.Equal(own, []quota.Name{quota.Members, quota.Apps}) {
			t.Errorf("set for the account: %v", own)
		}
	})
}

// must fails a test, or a check of rapid's, because of an error.
func must(t interface {
	Helper()
	Fatal(args ...any)
}, err error,
) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
