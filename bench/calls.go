package main

import (
	"context"
	"crypto/rand"
	"fmt"
	mathrand "math/rand/v2"

	"gatherkit/internal/feedback"
	"gatherkit/internal/sessions"
	"gatherkit/internal/store"
)

// timeCalls compares other calls in one account with the same in many: votes, comments, checks of a session, and refreshes.
// There are as many callers as a user may have sessions, but for those of the other calls.
func (r rig) timeCalls(ctx context.Context, o options, tenants []tenant) error {
	const callers = sessions.Max - 2
	fmt.Printf("\n| operation, %d callers | one account, calls/s | p50 | p99 | %d accounts, calls/s | p50 | p99 | many/one | failures |\n"+
		"| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n", callers, len(tenants)-1)
	accounts := [][]tenant{tenants[:1], tenants[1:]}
	var chains [2][]chain
	for i, each := range []int{1, 4} {
		var err error
		if chains[i], err = r.addChains(ctx, zipf(callers, len(accounts[i])), each, accounts[i]); err != nil {
			return err
		}
	}
	for _, c := range []struct {
		operation string
		body      func(request feedback.ID) string
	}{
		{"votes-add", func(request feedback.ID) string {
			return fmt.Sprintf(`{"request_id":%q,"email":"%s@example.com"}`, request, rand.Text())
		}},
		{"comments-create", func(request feedback.ID) string {
			return fmt.Sprintf(`{"request_id":%q,"body":"Three ask for it."}`, request)
		}},
		{"auth-me", func(feedback.ID) string { return "" }},
		{"auth-refresh", nil},
	} {
		var runs [2][]figures
		for range o.rounds {
			for i, tenants := range accounts {
				choices := zipf(callers, len(tenants))
				runs[i] = append(runs[i], load(ctx, callers, o.during, func(ctx context.Context, caller int) error {
					if c.body == nil {
						return r.refresh(ctx, chains[i][caller])
					}
					t := tenants[choices[caller].Uint64()]
					return r.callWith(ctx, c.operation, "Authorization", "Bearer "+t.token, c.body(t.requests[caller%len(t.requests)]), nil)
				}))
			}
		}
		one, many := median(runs[0]), median(runs[1])
		fmt.Printf("| `%s` | %.0f | %s | %s | %.0f | %s | %s | %.2f | %d |\n", c.operation, one.rate, ms(one.p50), ms(one.p99),
			many.rate, ms(many.p50), ms(many.p99), many.rate/one.rate, one.failures+many.failures)
	}
	return nil
}

// chain is the sessions of a caller, which are refreshed in turn: a channel of refresh tokens.
type chain chan string

// addChains opens sessions for each caller, past the service, in accounts that its generator chooses.
func (r rig) addChains(ctx context.Context, choices []*mathrand.Zipf, each int, tenants []tenant) ([]chain, error) {
	chains := make([]chain, len(choices))
	err := r.inStore(ctx, func(s *store.Store) error {
		for caller, c := range choices {
			chains[caller] = make(chain, each)
			for range each {
				_, tokens, err := s.Sessions.Open(ctx, tenants[c.Uint64()].owner, nil, "")
				if err != nil {
					return err
				}
				chains[caller] <- tokens.Refresh
			}
		}
		return nil
	})
	return chains, err
}

// refresh refreshes the session of a chain whose turn it is.
func (r rig) refresh(ctx context.Context, c chain) error {
	token := <-c
	next, err := r.exchange(ctx, token)
	if err != nil {
		next = token
	}
	c <- next
	return err
}
