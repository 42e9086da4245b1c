package torture_test

import (
	"syscall"
	"testing"
	"time"

	"gatherkit/e2e/program"
	"gatherkit/internal/store/storetest"
)

// pair is a primary and its standby, and three replicas of the service that have both in
// their database URL.
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
	// The standby comes first, because this is the harder case: after the failover, new
	// connections work while existing ones still belong to the old primary.
	addresses := databaseAt(p.standby.address(), p.primary.address())
	p.place = storetest.Place{Database: addresses + "&target_session_attrs=read-write&connect_timeout=1"}
	program.AddOwner(t, p.place)
	for range 3 {
		p.replicas = append(p.replicas, program.NewClient(t, program.Start(t, program.At(p.place)...)))
	}
	p.token = p.replicas[0].Login(t)
	return p
}

// fail kills the primary and promotes the standby, as a failover script does.
func (p *pair) fail(t *testing.T) {
	t.Helper()
	p.primary.kill(t)
	p.standby.promote(t)
}

// awaitReady waits until every replica is ready.
func (p *pair) awaitReady(t *testing.T) {
	t.Helper()
	for _, c := range p.replicas {
		program.Eventually(t, "the replica is ready", func() bool { return program.Answers(t, c.URL+"/readyz") })
	}
}

// mend replaces the dead primary by a standby of the new one.
func (p *pair) mend(t *testing.T) {
	t.Helper()
	p.primary, p.standby = p.standby, p.primary
	dead := p.standby
	*dead = server{programs: dead.programs, owner: dead.owner, folder: dead.folder + "x", port: dead.port}
	dead.run(t, "pg_basebackup", "-d", p.primary.url()+"&application_name=standby", "-D", dead.folder, "-R", "-X", "stream", "-c", "fast")
	dead.start(t)
	p.primary.sync(t, "*")
}

// TestFailover repeatedly kills the primary and promotes its synchronous standby, while
// clients submit to three replicas. The replicas are never restarted.
func TestFailover(t *testing.T) {
	storetest.Proof(t)
	parallel(t)
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
	measured(t, "%d times the primary killed and its standby promoted: %s, longest gap %v",
		failovers, settled, l.gap().Round(time.Millisecond))
}

// TestFailoverOfSilentPrimary stops the primary, so that it does not respond, like a lost
// machine, and promotes the standby. No connection is closed or refused, so the replicas must
// detect the failure themselves.
func TestFailoverOfSilentPrimary(t *testing.T) {
	storetest.Proof(t)
	parallel(t)
	const most = 5 * time.Second // the time to detect the failure, and twice connect_timeout
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
	measured(t, "%d times the primary silent and its standby promoted: %s, longest gap %v",
		failovers, settled, l.gap().Round(time.Millisecond))
}

// TestFailoverWithoutSync is the control. The primary does not wait for the standby, which is
// behind, so acknowledged requests must be lost. Otherwise, TestFailover proves nothing.
func TestFailoverWithoutSync(t *testing.T) {
	storetest.Proof(t)
	parallel(t)
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
		t.Errorf("%d acknowledged requests are lost and %d doubled; want some lost and none doubled", lost, doubled)
	}
	measured(t, "control with an asynchronous standby: %d acknowledged, %d lost, %d doubled", l.Len(), lost, doubled)
}
