package torture_test

import (
	"syscall"
	"testing"
	"time"

	"gatherkit/e2e/program"
	"gatherkit/internal/store/storetest"
)

// pair is a primary and its standby, and three replicas of the service that know both.
type pair struct {
	primary, standby *server
	replicas         []program.Client
	place            storetest.Place
	token            string
}

func newPair(t *testing.T, standbys string) *pair {
	t.Helper()
	p := &pair{primary: newServer(t)}
	p.standby = p.primary.standby(t)
	p.primary.sync(t, standbys)
	// With the standby first, a replica that asks anew whether the database is there gets
	// an answer while its other connections still lead to the old primary.
	p.place = storetest.Place{Database: databaseAt(p.standby.address(), p.primary.address()) + "&target_session_attrs=read-write&connect_timeout=1"}
	program.AddOwner(t, p.place)
	for range 3 {
		p.replicas = append(p.replicas, program.NewClient(t, program.Start(t, program.At(p.place)...)))
	}
	p.token = p.replicas[0].Login(t)
	return p
}

// fail kills the primary and promotes the standby, as a script would.
func (p *pair) fail(t *testing.T) {
	t.Helper()
	p.primary.kill(t)
	p.standby.promote(t)
}

// awaitReady waits until every replica has found the new primary.
func (p *pair) awaitReady(t *testing.T) {
	t.Helper()
	for _, c := range p.replicas {
		program.Eventually(t, "the replica is ready", func() bool { return program.Answers(t, c.URL+"/readyz") })
	}
}

// mend makes the dead primary the standby of the new one.
func (p *pair) mend(t *testing.T) {
	t.Helper()
	p.primary, p.standby = p.standby, p.primary
	dead := p.standby
	*dead = server{programs: dead.programs, owner: dead.owner, folder: dead.folder + "x", port: dead.port}
	dead.run(t, "pg_basebackup", "-d", p.primary.url()+"&application_name=standby", "-D", dead.folder, "-R", "-X", "stream", "-c", "fast")
	dead.start(t)
	p.primary.sync(t, "*")
}

// TestFailover kills the primary again and again and promotes its synchronous standby,
// while clients submit to three replicas, which are never restarted.
func TestFailover(t *testing.T) {
	beside(t)
	const most = 3 * time.Second
	p := newPair(t, "*")
	l := startLoad(t, 16, p.replicas[0].AddApp(t, p.token).APIKey, p.replicas...)
	failovers := program.Times(1, 10)
	for i := range failovers {
		l.AwaitMore(t, 300)
		p.fail(t)
		l.AwaitMore(t, 300)
		if i < failovers-1 {
			p.mend(t)
		}
	}
	p.awaitReady(t)
	settled := l.settle(t, p.replicas[1], p.token)
	if gap := l.gap(); late(gap, most) {
		t.Errorf("nothing was acknowledged for %v, want at most %v", gap, most)
	}
	if got := program.Succeed(t, append([]string{"recount"}, program.At(p.place)...)...); got != "All counters are right.\n" {
		t.Errorf("recount: %s", got)
	}
	measured(t, "%d times the primary killed and its standby promoted: %s, longest gap %v", failovers, settled, l.gap().Round(time.Millisecond))
}

// TestFailoverOfSilentPrimary lets the primary fall silent, as a machine does that is
// lost, and promotes the standby: no connection is closed or refused, so the replicas
// must find out by themselves.
func TestFailoverOfSilentPrimary(t *testing.T) {
	beside(t)
	const most = 5 * time.Second // until it counts as away, and twice connect_timeout
	p := newPair(t, "*")
	l := startLoad(t, 16, p.replicas[0].AddApp(t, p.token).APIKey, p.replicas...)
	failovers := program.Times(1, 5)
	for i := range failovers {
		l.AwaitMore(t, 300)
		p.primary.signal(syscall.SIGSTOP)
		p.standby.promote(t)
		l.AwaitMore(t, 300)
		p.primary.kill(t)
		if i < failovers-1 {
			p.mend(t)
		}
	}
	p.awaitReady(t)
	settled := l.settle(t, p.replicas[1], p.token)
	if gap := l.gap(); late(gap, most) {
		t.Errorf("nothing was acknowledged for %v, want at most %v", gap, most)
	}
	measured(t, "%d times the primary silent and its standby promoted: %s, longest gap %v", failovers, settled, l.gap().Round(time.Millisecond))
}

// TestFailoverWithoutSync is the control: with a standby that is behind, as the primary
// does not wait for it, something acknowledged must be lost, or TestFailover proves nothing.
func TestFailoverWithoutSync(t *testing.T) {
	beside(t)
	p := newPair(t, "")
	l := startLoad(t, 16, p.replicas[0].AddApp(t, p.token).APIKey, p.replicas...)
	l.AwaitMore(t, 300)
	p.standby.kill(t)
	l.AwaitMore(t, 300)
	p.primary.kill(t)
	p.standby.start(t)
	p.standby.promote(t)
	l.AwaitMore(t, 300)
	l.stop()
	p.awaitReady(t)
	lost, doubled := l.Compare(p.replicas[0].List(t, p.token))
	if lost == 0 || doubled > 0 {
		t.Errorf("%d acknowledged requests are lost and %d doubled; some must be lost", lost, doubled)
	}
	measured(t, "control with an asynchronous standby: %d acknowledged, %d lost, %d doubled", l.Len(), lost, doubled)
}
