package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	mathrand "math/rand/v2"
	"strings"
	"time"

	"gatherkit/internal/feedback"
	"gatherkit/internal/sessions"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
	"gatherkit/internal/team"
)

// tenant is an account with an app, an owner who is logged in, and a few requests.
type tenant struct {
	owner      sessions.Credentials
	key, token string
	requests   []feedback.ID
}

// measureAccounts compares submissions and lists in one account with those in many. As in a large
// installation, few accounts are busy: the calls for each follow Zipf's law.
func measureAccounts(ctx context.Context, o options, r rig) error {
	began := time.Now()
	tenants, err := r.addTenants(ctx, o.accounts)
	if err != nil {
		return err
	}
	fmt.Printf("\n%d accounts with an owner and an app each were added in %s.\n\n", o.accounts, time.Since(began).Round(time.Second))
	const submitters, readers = 64, 16
	fmt.Printf("| accounts | submissions/s, %d callers | p50 | p99 | lists/s, %d callers | p50 | p99 | failures | of the busiest |\n"+
		"| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n", submitters, readers)
	var submits, lists [2][]figures
	var busiest [2]float64
	for range o.rounds {
		for i, n := range []int{1, o.accounts} {
			choices, counts := zipf(submitters, n), make([]tally, submitters)
			submits[i] = append(submits[i], load(ctx, submitters, o.during, func(ctx context.Context, caller int) error {
				rank := choices[caller].Uint64()
				counts[caller].all++
				if rank == 0 {
					counts[caller].first++
				}
				return r.callWith(ctx, "widget-submit-request", "X-API-Key", tenants[rank].key, submission, nil)
			}))
			lists[i] = append(lists[i], load(ctx, readers, o.during, func(ctx context.Context, caller int) error {
				return r.callWith(ctx, "requests-list", "Authorization", "Bearer "+tenants[choices[caller].Uint64()].token, "{}", nil)
			}))
			busiest[i] = share(counts)
		}
	}
	for i, n := range []int{1, o.accounts} {
		s, l := median(submits[i]), median(lists[i])
		fmt.Printf("| %d | %.0f | %s | %s | %.0f | %s | %s | %d | %.0f %% |\n", n, s.rate, ms(s.p50), ms(s.p99), l.rate, ms(l.p50), ms(l.p99),
			s.failures+l.failures, 100*busiest[i])
	}
	if err := r.timeCalls(ctx, o, tenants); err != nil {
		return err
	}
	if err := r.timeIndexing(ctx); err != nil {
		return err
	}
	if err := r.timeKeepingUp(ctx, o, tenants); err != nil {
		return err
	}
	return r.timeBacklog(ctx, o, tenants)
}

// timeKeepingUp prints how many of the submissions in one account, and in many, the index processes meanwhile.
func (r rig) timeKeepingUp(ctx context.Context, o options, tenants []tenant) error {
	const callers = 16
	fmt.Printf("\n| accounts | submissions/s, %d callers | p50 | p99 | indexed/s | indexed/submitted | failures |\n"+
		"| --- | --- | --- | --- | --- | --- | --- |\n", callers)
	for _, n := range []int{1, o.accounts} {
		var submits, indexed []figures
		for range o.rounds {
			choices := zipf(callers, n)
			began := time.Now()
			f := load(ctx, callers, 3*o.during, func(ctx context.Context, caller int) error {
				return r.callWith(ctx, "widget-submit-request", "X-API-Key", tenants[choices[caller].Uint64()].key, submission, nil)
			})
			took := time.Since(began).Seconds()
			left, err := r.backlog(ctx)
			if err != nil {
				return err
			}
			submits, indexed = append(submits, f), append(indexed, figures{rate: float64(int64(f.calls)-left) / took})
			if err := r.untilIndexed(ctx); err != nil {
				return err
			}
		}
		s, i := median(submits), median(indexed)
		fmt.Printf("| %d | %.0f | %s | %s | %.0f | %.2f | %d |\n", n, s.rate, ms(s.p50), ms(s.p99), i.rate, i.rate/s.rate, s.failures)
	}
	return nil
}

// timeIndexing prints how long the index takes to process what was submitted.
func (r rig) timeIndexing(ctx context.Context) error {
	left, err := r.backlog(ctx)
	if err != nil {
		return err
	}
	began := time.Now()
	if err := r.untilIndexed(ctx); err != nil {
		return err
	}
	_, peak, err := r.memory()
	fmt.Printf("\nAfterwards, the index has %d changes to process, and is done after %s. Peak memory: %.0f MB.\n",
		left, time.Since(began).Round(time.Second/10), peak)
	return err
}

// zipf returns generators of ranks below n, one for each caller: the same ones in each run.
func zipf(callers, n int) []*mathrand.Zipf {
	generators := make([]*mathrand.Zipf, callers)
	for i := range generators {
		generators[i] = mathrand.NewZipf(mathrand.New(mathrand.NewPCG(uint64(i), 1)), 1.07, 1, uint64(n-1))
	}
	return generators
}

// tally counts calls, and those for the first rank among them.
type tally struct{ first, all int }

// share returns the share of the first rank in the calls of all callers.
func share(counts []tally) float64 {
	var sum tally
	for _, c := range counts {
		sum.first, sum.all = sum.first+c.first, sum.all+c.all
	}
	return float64(sum.first) / float64(max(sum.all, 1))
}

// addTenants adds accounts past the service, which would take a second for 60 log-ins.
func (r rig) addTenants(ctx context.Context, n int) ([]tenant, error) {
	tenants := make([]tenant, n)
	failures := make([]error, n)
	err := r.inStore(ctx, func(s *store.Store) error {
		storetest.Crowd(n, func(i int) { tenants[i], failures[i] = addTenant(ctx, s, i) })
		return errors.Join(failures...)
	})
	return tenants, err
}

// inStore runs fn with a store beside the service.
func (r rig) inStore(ctx context.Context, fn func(*store.Store) error) (err error) {
	o := store.Options{Now: time.Now, Rand: rand.Reader, Log: slog.New(slog.DiscardHandler)}
	if r.driver == "pgx" {
		o.Database = r.dsn
	} else {
		o.Folder = strings.TrimPrefix(r.flags[0], "--data=")
	}
	s, err := store.Open(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return fn(s)
}

func addTenant(ctx context.Context, s *store.Store, i int) (t tenant, err error) {
	name := fmt.Sprintf("Account %d", i)
	owner := team.NewUser{Email: fmt.Sprintf("owner%d@example.com", i), Name: name, PasswordHash: "none"}
	created, err := s.CreateAccounts(ctx, []store.NewAccount{{Name: name, Owner: owner, App: "App"}})
	if err != nil {
		return t, err
	}
	account := created[0]
	t.key = account.App.APIKey
	t.owner = sessions.Credentials{AccountID: account.ID, UserID: account.Owner.ID, PasswordHash: owner.PasswordHash}
	_, tokens, err := s.Sessions.Open(ctx, t.owner, nil, "")
	if t.token = tokens.Access; err != nil {
		return t, err
	}
	requests := 1
	if i == 0 { // the account whose calls are compared with those of many
		requests = sessions.Max
	}
	for range requests {
		r, err := s.Submit(ctx, store.Submission{App: account.App, Request: feedback.NewRequest("Dark mode", "")})
		if err != nil {
			return t, err
		}
		t.requests = append(t.requests, r.ID)
	}
	return t, nil
}
