package api

import (
	"cmp"
	"fmt"
	"math"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gatherkit/internal/feedback"
	"gatherkit/internal/store/storetest"
)

// TestNeighbors: while somebody calls any operation sixteen times at once in a large account, with one session, with
// sixteen sessions of all roles or with sixteen tokens of the least scope, submissions and lists of another account take
// little longer than without. The times are compared with those of the same run, and a measurement that something else
// has disturbed is repeated.
func TestNeighbors(t *testing.T) {
	storetest.Measures(t)
	const (
		tries = 4
		// Beside reads that cost 2 ms, it was 80 to 1,300 times without shares, and 9 times beside sixteen short writes
		// while accounts did not take turns in a transaction.
		most = 6
		// The second slowest of 50 calls.
		mostSlow = 12
	)
	storetest.EachInTurn(t, func(t *testing.T, at storetest.Place) {
		s := newLarge(t, at)
		s.strangers()
		s.names["target"], s.owner = s.asked("Target"), s.id(s.user("owner"))
		s.switchOnPortal()
		for name, made := range s.makers() {
			s.names[name] = made()
		}
		check := func(name string, callers []string, repeat func(who string) bool) {
			t.Helper()
			for try := 1; ; try++ {
				quiet, beside := s.besideThem(nil, nil), s.besideThem(callers, repeat)
				if beside.failures > 0 {
					t.Errorf("%s: %d calls failed", name, beside.failures)
				}
				submission, slowSubmission := beside.submissions.times(quiet.submissions)
				list, slowList := beside.lists.times(quiet.lists)
				slow := max(submission, list) > most || max(slowSubmission, slowList) > mostSlow
				if slow && try < tries {
					continue
				}
				t.Logf("%s: a submission %.1f times of %v, slow ones %.1f times; a list %.1f times of %v, slow ones %.1f times", name,
					submission, quiet.submissions.median(), slowSubmission, list, quiet.lists.median(), slowList)
				if slow {
					t.Errorf("%s of one account slows others", name)
				}
				break
			}
		}
		crowds := s.crowds(16)
		s.api.rates.Tokens.Most = math.MaxInt64 // refused calls cost little
		var n atomic.Int64
		alternately := func(one, other string) func(who string) bool {
			return func(who string) bool {
				operation, body, _ := strings.Cut([]string{one, other}[n.Add(1)%2], " ")
				return s.call(operation, who, s.filled(body)).status == http.StatusOK
			}
		}
		check("another status", crowds[feedback.RoleMember]["a session"], alternately(
			`requests-update {"id":"{request}","status":"planned"}`, `requests-update {"id":"{request}","status":"opened"}`))
		check("a merge", crowds[feedback.RoleMember]["a session"], alternately(
			`requests-merge {"id":"{request}","into_id":"{target}"}`, `requests-unmerge {"id":"{request}"}`))
		const final = "apps-delete" // without its app, an account has little left for other operations
		others := slices.DeleteFunc(slices.Clone(s.api.order), func(o *op) bool { return o.name == final })
		for _, o := range append(others, s.api.ops[final]) {
			if o.guard != guardBearer || o.name == "auth-logout" || o.name == "auth-change-password" { // they end sessions
				continue
			}
			body := s.filled(cmp.Or(dear[o.name], sample(t, o.name)))
			for crowd, names := range crowds[o.role] {
				if o.callers == onlySessions && crowd == "tokens" {
					continue
				}
				check(o.name+" with "+crowd, names, func(who string) bool {
					return s.call(o.name, who, body).status != http.StatusInternalServerError // much can be done only once
				})
			}
		}
	})
}

// dear are parameters with which an operation costs more than with those of its sample.
var dear = map[string]string{
	"requests-list": `{"query":"export dark"}`, "requests-facets": `{}`, "requests-similar": `{"id":"{request}"}`, "requests-stats": `{}`,
	"events-list": `{}`,
}

// crowds returns the names of n callers with at least a role: one session of the owner, sessions of all roles from this
// one up, or tokens of its scope.
func (s *sized) crowds(n int) map[feedback.Role]map[string][]string {
	s.t.Helper()
	crowds := map[feedback.Role]map[string][]string{}
	for _, least := range scopes {
		crowd := map[string][]string{"a session": slices.Repeat([]string{"owner"}, n)}
		roles := slices.DeleteFunc(append([]feedback.Role{feedback.RoleOwner}, scopes...), func(r feedback.Role) bool { return !r.Allows(least) })
		for i := range n {
			user, number := string(roles[i%len(roles)]), fmt.Sprint(" of ", least, " ", i)
			s.logIn(user)
			s.names["session"+number] = s.names[user]
			_, s.names["token"+number] = s.token("owner", fmt.Sprintf(`{"name":"CI","scope":%q}`, least))
			crowd["sessions"], crowd["tokens"] = append(crowd["sessions"], "session"+number), append(crowd["tokens"], "token"+number)
		}
		crowds[least] = crowd
	}
	return crowds
}

// newLarge returns a service whose first account has 60,000 requests with 340 tags. 25,000 people have voted for one of
// them, {request}.
func newLarge(t *testing.T, at storetest.Place) *sized {
	t.Helper()
	const requests, tags, voters = 60_000, 340, 25_000
	s := emptySized(t, at, voters)
	s.addRequests(requests, func(i int) []string { return []string{fmt.Sprint("area ", i%tags)} })
	s.rig.Analyze()
	s.rig.IndexAll()
	s.names["request"] = s.popular()
	return s
}

// durations are how long calls took, in order.
type durations []time.Duration

func (d durations) median() time.Duration { return d[len(d)/2] }

// times returns how many times as long as quiet ones these calls took: the median, and the second slowest one.
func (d durations) times(quiet durations) (median, slow float64) {
	second := len(d) - 2
	return d.median().Seconds() / quiet.median().Seconds(), d[second].Seconds() / quiet[second].Seconds()
}

// beside are how long calls of another account took, and how many calls failed beside them.
type beside struct {
	submissions, lists durations
	failures           int64
}

// besideThem makes calls of another account while each of the callers repeats a call.
func (s *sized) besideThem(callers []string, repeat func(who string) bool) beside {
	s.t.Helper()
	runtime.GC() // it runs for all calls so far
	stopped := make(chan struct{})
	var all sync.WaitGroup
	var failures atomic.Int64
	for _, who := range callers {
		all.Go(func() {
			for {
				select {
				case <-stopped:
					return
				default:
					if !repeat(who) {
						failures.Add(1)
					}
				}
			}
		})
	}
	timed := func(operation, who, body string) time.Duration {
		began := time.Now()
		s.must(operation, who, body)
		return time.Since(began)
	}
	var submissions, lists durations
	for range 50 {
		submissions = append(submissions, timed("widget-submit-request", "stranger_key", `{"title":"Beside","description":""}`))
		lists = append(lists, timed("requests-list", "stranger", `{}`))
	}
	close(stopped)
	all.Wait()
	slices.Sort(submissions)
	slices.Sort(lists)
	return beside{submissions, lists, failures.Load()}
}
