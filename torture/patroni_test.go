package torture_test

import (
	"net"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"gatherkit/e2e/program"
	"gatherkit/internal/store/storetest"
)

// node is a PostgreSQL server that Patroni manages.
type node struct {
	*server
	name, settings string // settings is a file
	api            string // address of Patroni's API
	patroni        *exec.Cmd
}

func newNode(t *testing.T, name, etcd string) *node {
	t.Helper()
	n := &node{server: prepareServer(t), name: name, api: program.FreeAddress(t)}
	n.settings = n.folder + ".yml"
	writeFile(t, n.settings, program.Replaced(t, program.Read(t, "deploy/patroni.yml"),
		"name: one", "name: "+name, "10.0.0.1:8008", n.api, "10.0.0.1:2379,10.0.0.2:2379,10.0.0.3:2379", etcd,
		"10.0.0.1:5432", n.address(), "10.0.0.0/24", "127.0.0.1/32", "/var/lib/postgresql/15/gatherkit", n.folder,
		"/usr/lib/postgresql/15/bin", n.programs, "/var/lib/postgresql/gatherkit.pgpass", n.folder+".pgpass",
		"directories: /var/run/postgresql", `directories: ""`))
	if err := os.Chmod(n.settings, 0o644); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.end) // before its folder is removed
	n.start(t)
	return n
}

// start starts Patroni, which starts PostgreSQL.
func (n *node) start(t *testing.T) {
	t.Helper()
	n.patroni = launchAs(t, n.owner, n.folder+".patroni.log", nil, "patroni", n.settings)
}

// kill kills Patroni and PostgreSQL, as the loss of their machine does.
func (n *node) kill(t *testing.T) {
	t.Helper()
	if err := n.patroni.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	n.server.kill(t)
}

// is reports whether the node has a role, according to Patroni.
func (n *node) is(t *testing.T, role string) bool {
	return program.Answers(t, "http://"+n.api+"/"+role)
}

// launchAs runs a program as a user until the test ends. settings are environment variables.
func launchAs(t *testing.T, owner *syscall.Credential, log string, settings []string, name string, args ...string) *exec.Cmd {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		storetest.Missing(t, "patroni", "install it with `apt-get install patroni etcd-server`")
	}
	output, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), path, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = "/", output, output
	cmd.Env = append(os.Environ(), settings...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: owner, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan struct{})
	go func() {
		defer close(exited)
		_ = cmd.Wait() // it reports that the process was killed
	}()
	t.Cleanup(func() {
		<-exited
		if text, err := os.ReadFile(log); err == nil && t.Failed() {
			t.Logf("%s:\n%s", name, text[max(0, len(text)-3000):])
		}
		_ = output.Close()
	})
	return cmd
}

// startEtcd starts an etcd cluster with one member and returns its address.
func startEtcd(t *testing.T, s *server) string {
	t.Helper()
	address, peers := program.FreeAddress(t), program.FreeAddress(t)
	settings := program.Replaced(t, program.Read(t, "deploy/etcd"), "/var/lib/etcd/gatherkit", s.folder+".etcd",
		",two=http://10.0.0.2:2380,three=http://10.0.0.3:2380", "", "10.0.0.1:2379", address, "10.0.0.1:2380", peers)
	launchAs(t, s.owner, s.folder+".etcd.log", strings.Fields(comments.ReplaceAllString(settings, "")), "etcd")
	program.Eventually(t, "etcd listens", func() bool {
		conn, err := net.Dial("tcp", address)
		return err == nil && conn.Close() == nil
	})
	return address
}

var comments = regexp.MustCompile("(?m)^#.*$")

// TestPatroni kills the leader of a Patroni cluster together with its Patroni process, and waits
// for Patroni's failover, with the files in deploy/. It takes about as long as Patroni's ttl.
func TestPatroni(t *testing.T) {
	storetest.Proof(t)
	etcd := startEtcd(t, prepareServer(t))
	leader := newNode(t, "one", etcd)
	program.Eventually(t, "there is a leader", func() bool { return leader.is(t, "primary") })
	follower := newNode(t, "two", etcd)
	database := databaseAt(leader.address(), follower.address()) + "&target_session_attrs=read-write"
	database = program.Replaced(t, database, "postgres@", "postgres:superuser-password@")
	place := storetest.Place{Database: database}
	program.AddOwner(t, place)
	var replicas []program.Client
	for range 3 {
		replicas = append(replicas, program.NewClient(t, program.Start(t, program.At(place)...)))
	}
	token := replicas[0].Login(t)
	l := startLoad(t, 16, replicas[0].AddApp(t, token).APIKey, replicas...)
	failovers := program.Times(1, 5)
	for range failovers {
		program.Eventually(t, "there is a synchronous follower", func() bool { return follower.is(t, "synchronous") })
		l.AwaitMore(t, 300)
		leader.kill(t)
		program.Eventually(t, "the follower leads", func() bool { return follower.is(t, "primary") })
		l.AwaitMore(t, 300)
		leader.start(t)
		leader, follower = follower, leader
	}
	for _, c := range replicas {
		program.Eventually(t, "the replica is ready", func() bool { return program.Answers(t, c.URL+"/readyz") })
	}
	settled := l.settle(t, replicas[1], token)
	if l.count("api.unavailable") == 0 {
		t.Error("no call got 503 during a failover")
	}
	gap := l.gap()
	measured(t, "%d times the leader killed: %s, longest gap %v", failovers, settled, gap.Round(time.Millisecond))
	if late(gap, 15*time.Second) {
		t.Errorf("the longest gap is %v", gap)
	}
}
