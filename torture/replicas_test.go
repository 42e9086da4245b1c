package torture_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"gatherkit/e2e/program"
	"gatherkit/internal/store/storetest"
)

// sessionState is the state of a session in the model. Each refresh token is the successor of
// the one before, and only the last one is unspent.
type sessionState struct {
	tokens string // separated by spaces; lost stands for a token that no client has received
	dead   bool
	spent  span // the call that spent the last but one
}

// span is the time from the start of a call to its answer, in nanoseconds.
type span struct{ began, ended int64 }

// grace is how long a spent token returns its successor again. Within unsure of its end, the
// model accepts both outcomes, because client and service measure time differently.
const grace, unsure = 20 * time.Second, time.Second

// The calls in a session. The answer to a refresh is the next refresh token or a code. The
// answer to a call with an access token is a code.
type (
	refreshWith string
	callWith    string
)

// refreshIn is refreshWith with its time.
type refreshIn struct {
	refreshWith
	span
}

const lost = "lost"

// sessionModel returns a model of a session. Its inputs are callWith and refreshIn.
func sessionModel(first string) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return sessionState{tokens: first} },
		Step: func(state, input, output any) (bool, any) {
			session := state.(sessionState)
			if _, ok := input.(callWith); ok {
				want := "ok"
				if session.dead {
					want = "auth.invalid_token"
				}
				return output == unknown || output == want, session
			}
			refused := output == unknown || output == "auth.invalid_refresh_token"
			tokens := strings.Fields(session.tokens)
			next, got := output.(string), strings.HasPrefix(output.(string), "grt_")
			call := input.(refreshIn)
			i := slices.Index(tokens, string(call.refreshWith))
			switch {
			case session.dead || i < 0:
				return refused, session
			case i == len(tokens)-1:
				if output == unknown {
					return true, sessionState{tokens: session.tokens + " " + lost, spent: call.span}
				}
				return got && !slices.Contains(tokens, next), sessionState{tokens: session.tokens + " " + next, spent: call.span}
			case i == len(tokens)-2:
				last, since := tokens[i+1], session.spent
				if refused {
					return output == unknown || call.ended-since.began > int64(grace-unsure), session
				}
				if call.began-since.ended > int64(grace+unsure) {
					return false, session
				}
				if last == lost && got { // now a client has received it
					tokens[i+1] = next
					return true, sessionState{tokens: strings.Join(tokens, " "), spent: since}
				}
				return next == last, session
			}
			return refused, sessionState{tokens: session.tokens, dead: true}
		},
	}
}

// TestSessionModel tests that the model accepts the answers that the service may give, and no
// others.
func TestSessionModel(t *testing.T) {
	const first, second, invalid = "grt_1", "grt_2", "auth.invalid_refresh_token"
	// Each call starts at a second and takes one second.
	call := func(at int64, token, answer string) porcupine.Operation {
		began := at * int64(time.Second)
		o := porcupine.Operation{Input: refreshWith(token), Output: answer, Call: began, Return: began + int64(time.Second)}
		if answer == unknown {
			o.Return = math.MaxInt64
		}
		return o
	}
	for name, c := range map[string]struct {
		calls []porcupine.Operation
		want  porcupine.CheckResult
	}{
		"the same successor":   {[]porcupine.Operation{call(0, first, second), call(5, first, second)}, porcupine.Ok},
		"a different one":      {[]porcupine.Operation{call(0, first, second), call(5, first, "grt_3")}, porcupine.Illegal},
		"refused too early":    {[]porcupine.Operation{call(0, first, second), call(16, first, invalid)}, porcupine.Illegal},
		"refused after grace":  {[]porcupine.Operation{call(0, first, second), call(30, first, invalid)}, porcupine.Ok},
		"accepted after grace": {[]porcupine.Operation{call(0, first, second), call(30, first, second)}, porcupine.Illegal},
		"recovered":            {[]porcupine.Operation{call(0, first, unknown), call(5, first, second)}, porcupine.Ok},
		"recovered, then a different one": {
			[]porcupine.Operation{call(0, first, unknown), call(5, first, second), call(7, first, "grt_3")}, porcupine.Illegal,
		},
		"refused after grace, then a valid token": {
			[]porcupine.Operation{call(0, first, second), call(30, first, invalid), call(40, second, "grt_3")}, porcupine.Ok,
		},
		"the session survives an old token": {
			[]porcupine.Operation{
				call(0, first, second), call(2, second, "grt_3"), call(4, first, invalid), call(6, "grt_3", "grt_4"),
			}, porcupine.Illegal,
		},
	} {
		s := &session{history: history{calls: c.calls}}
		if got := porcupine.CheckOperationsTimeout(sessionModel(first), s.timed(), storetest.Patience); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// session is a session and the history of its calls.
type session struct {
	history
	first    string
	mu       sync.Mutex
	refresh  []string
	accesses []string
}

func (s *session) learn(tokens program.Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.refresh, tokens.RefreshToken) {
		s.refresh = append(s.refresh, tokens.RefreshToken)
	}
	s.accesses = append(s.accesses, tokens.AccessToken)
}

// tokens returns one of the last two refresh tokens, and an access token. If careless, it
// sometimes returns an older refresh token, which ends the session.
func (s *session) tokens(r *rand.Rand, careless bool) (refresh, access string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	back := r.IntN(2)
	if careless && r.IntN(20) == 0 {
		back = 2
	}
	return s.refresh[max(0, len(s.refresh)-1-back)], s.accesses[r.IntN(len(s.accesses))]
}

// run starts clients that use and refresh the session on all replicas until done is closed.
func (s *session) run(p *pair, careless bool, done <-chan struct{}) (wait func()) {
	var all sync.WaitGroup
	for number := range uint64(3) {
		all.Go(func() {
			r := rand.New(rand.NewPCG(number, 2))
			client := s.client()
			tick := time.NewTicker(250 * time.Millisecond)
			defer tick.Stop()
			for !s.over() {
				if !s.call(r, p.replicas[r.IntN(len(p.replicas))], client, number < 2, careless) {
					client = s.client()
				}
				select {
				case <-done:
					return
				case <-tick.C:
				}
			}
		})
	}
	return all.Wait
}

func (s *session) call(r *rand.Rand, c program.Client, client int, refreshes, careless bool) bool {
	refresh, access := s.tokens(r, careless)
	if !refreshes {
		return s.do(client, callWith(access), func() any {
			got, err := c.Call("auth-me", access, program.Params{})
			return code(got, err, func() any { return "ok" })
		})
	}
	return s.do(client, refreshWith(refresh), func() any {
		got, err := c.Call("auth-refresh", "", program.Params{"refresh_token": refresh})
		return code(got, err, func() any {
			s.learn(got.Result)
			return got.RefreshToken
		})
	})
}

// TestSessionsOverFailover refreshes sessions on three replicas while the primary is killed and
// its standby promoted. A spent token returns the same successor again, even if the first
// answer was lost. Once the successor is spent, too, the token ends the session.
func TestSessionsOverFailover(t *testing.T) {
	storetest.Proof(t)
	parallel(t)
	p := newPair(t, "*")
	var found verdicts
	recovered := 0
	failovers := program.Times(1, 10)
	for i := range failovers {
		sessions := make([]*session, 20)
		for j := range sessions {
			opened := p.replicas[0].Want(t, "ok", "auth-login", "", program.Params{"email": program.Email, "password": program.Password})
			sessions[j] = &session{first: opened.RefreshToken}
			sessions[j].learn(opened.Result)
		}
		failDuring(t, p, sessions)
		for j, s := range sessions {
			if s.recovered() {
				recovered++
			}
			found.check(t, fmt.Sprintf("history %d of failover %d", j, i), sessionModel(s.first), s.timed(), s.unanswered())
		}
		if i < failovers-1 {
			p.mend(t)
		}
	}
	found.conclude(t)
	measured(t, "%d failovers, %v; %d sessions went on with a token whose first answer was lost", failovers, &found, recovered)
}

// failDuring uses the sessions during a failover.
func failDuring(t *testing.T, p *pair, sessions []*session) {
	t.Helper()
	done := make(chan struct{})
	var waits []func()
	for j, s := range sessions {
		waits = append(waits, s.run(p, j%4 == 3, done))
	}
	called := func(n int) func() bool {
		return func() bool {
			return !slices.ContainsFunc(sessions, func(s *session) bool { return s.answered() < n && !s.over() })
		}
	}
	program.Eventually(t, "the sessions are used", called(10))
	p.fail(t)
	program.Eventually(t, "the sessions are used again", called(30))
	close(done)
	for _, wait := range waits {
		wait()
	}
}

// answered returns the number of calls that were answered.
func (s *session) answered() (n int) {
	s.history.mu.Lock()
	defer s.history.mu.Unlock()
	for _, c := range s.calls {
		if c.Output != unknown {
			n++
		}
	}
	return n
}

// timed returns the history with the inputs of the model.
func (s *session) timed() []porcupine.Operation {
	calls := slices.Clone(s.calls)
	for i, c := range calls {
		if token, ok := c.Input.(refreshWith); ok {
			calls[i].Input = refreshIn{token, span{c.Call, c.Return}}
		}
	}
	return calls
}

// recovered reports whether a refresh returned a new token after an earlier one with the same
// token was not answered.
func (s *session) recovered() bool {
	asked := map[any]bool{}
	for _, c := range s.calls {
		if _, ok := c.Input.(refreshWith); !ok {
			continue
		}
		if c.Output == unknown {
			asked[c.Input] = true
		} else if asked[c.Input] {
			return strings.HasPrefix(c.Output.(string), "grt_")
		}
	}
	return false
}
