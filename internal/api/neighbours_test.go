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

	"gatherkit/internal/store/storetest"
)

// TestNeighbours: while somebody calls any operation sixteen times at once in a large account, with one session, with
// sixteen sessions or with sixteen tokens, submissions and lists of another account take little longer than without.
// The times are compared with those of the same run, and a measurement that something else has disturbed is repeated.
func TestNeighbours(t *testing.T) {
	storetest.Measures(t)
	const (
		tries = 4
		// Beside reads that cost 2 ms, it was 80 to 1,300 times without shares, and 9 times beside sixteen short writes
		// while accounts did not take turns in a transaction.
		most = 6
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
				submission, list := beside.submission.Seconds()/quiet.submission.Seconds(), beside.list.Seconds()/quiet.list.Seconds()
				if max(submission, list) > most && try < tries {
					continue
				}
				t.Logf("%s: a submission %.1f times of %v, a list %.1f times of %v", name, submission, quiet.submission, list, quiet.list)
				if max(submission, list) > most {
					t.Errorf("%s of one account slows others", name)
				}
				break
			}
		}
		callers := s.crowds(16)
		s.api.rates.Tokens.Most = math.MaxInt64 // refused calls cost little
		var n atomic.Int64
		alternately := func(one, other string) func(who string) bool {
			return func(who string) bool {
				operation, body, _ := strings.Cut([]string{one, other}[n.Add(1)%2], " ")
				return s.call(operation, who, s.filled(body)).status == http.StatusOK
			}
		}
		check("another status", callers["a session"], alternately(
			`requests-update {"id":"{request}","status":"planned"}`, `requests-update {"id":"{request}","status":"opened"}`))
		check("a merge", callers["a session"], alternately(
			`requests-merge {"id":"{request}","into_id":"{target}"}`, `requests-unmerge {"id":"{request}"}`))
		const final = "apps-delete" // without its app, an account has little left for other operations
		others := slices.DeleteFunc(slices.Clone(s.api.order), func(o *op) bool { return o.name == final })
		for _, o := range append(others, s.api.ops[final]) {
			if o.guard != guardBearer || o.name == "auth-logout" || o.name == "auth-change-password" { // they end sessions
				continue
			}
			body := s.filled(cmp.Or(dear[o.name], sample(t, o.name)))
			for crowd, names := range callers {
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

// crowds returns the names of a number of callers: one session, as many sessions, and as many tokens.
func (s *sized) crowds(n int) map[string][]string {
	s.t.Helper()
	crowds := map[string][]string{"a session": slices.Repeat([]string{"owner"}, n)}
	for i := range n {
		session, token := fmt.Sprint("session ", i), fmt.Sprint("token ", i)
		s.logIn("owner")
		_, s.names[token] = s.token("owner", `{"name":"CI","scope":"admin"}`)
		s.names[session] = s.names["owner"]
		crowds["sessions"], crowds["tokens"] = append(crowds["sessions"], session), append(crowds["tokens"], token)
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

// beside are the medians of how long calls of another account took, and how many calls failed beside them.
type beside struct {
	submission, list time.Duration
	failures         int64
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
	var submissions, lists []time.Duration
	for range 50 {
		submissions = append(submissions, timed("widget-submit-request", "stranger_key", `{"title":"Beside","description":""}`))
		lists = append(lists, timed("requests-list", "stranger", `{}`))
	}
	close(stopped)
	all.Wait()
	return beside{median(submissions), median(lists), failures.Load()}
}

func median[T cmp.Ordered](list []T) T {
	slices.Sort(list)
	return list[len(list)/2]
}
