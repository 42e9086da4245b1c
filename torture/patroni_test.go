package torture_test

import (
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"gatherkit/e2e/program"
	"gatherkit/internal/store/storetest"
)

var withPatroni = flag.Bool("patroni", false, "also let Patroni do a failover; it and etcd must be installed")

// node is a PostgreSQL server that Patroni manages.
type node struct {
	*server
	name, settings string // settings is a file
	api            string // address of Patroni's API
	patroni        *exec.Cmd
}

// patroniSettings have the shortest times that Patroni accepts. There are passwords only
// because Patroni requires them.
const patroniSettings = `
scope: gatherkit
name: %[1]s
restapi: {listen: "%[2]s", connect_address: "%[2]s"}
etcd3: {host: "%[3]s"}
bootstrap:
  dcs:
    ttl: 20
    loop_wait: 1
    retry_timeout: 3
    synchronous_mode: true
    postgresql: {use_pg_rewind: true, parameters: {wal_log_hints: "on", wal_retrieve_retry_interval: 200ms, max_connections: 200}}
  initdb: [encoding: UTF8, locale: C.UTF-8, auth: trust]
postgresql:
  listen: "%[4]s"
  connect_address: "%[4]s"
  data_dir: "%[5]s"
  bin_dir: "%[6]s"
  pgpass: "%[5]s.pgpass"
  authentication: {superuser: {username: postgres, password: postgres}, replication: {username: postgres, password: postgres}}
  pg_hba: ["host all all 127.0.0.1/32 trust", "host replication all 127.0.0.1/32 trust"]
  parameters: {unix_socket_directories: ""}
`

func newNode(t *testing.T, name, etcd string) *node {
	t.Helper()
	n := &node{server: prepareServer(t), name: name, api: program.FreeAddress(t)}
	n.settings = n.folder + ".yml"
	writeFile(t, n.settings, fmt.Sprintf(patroniSettings, name, n.api, etcd, n.address(), n.folder, n.programs))
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
	n.patroni = launchAs(t, n.owner, n.folder+".patroni.log", "patroni", n.settings)
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

// launchAs runs a program as a user until the test ends.
func launchAs(t *testing.T, owner *syscall.Credential, log, name string, args ...string) *exec.Cmd {
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
	launchAs(t, s.owner, s.folder+".etcd.log", "etcd", "--data-dir", s.folder+".etcd",
		"--listen-client-urls", "http://"+address, "--advertise-client-urls", "http://"+address,
		"--listen-peer-urls", "http://"+peers, "--initial-advertise-peer-urls", "http://"+peers, "--initial-cluster", "default=http://"+peers)
	program.Eventually(t, "etcd listens", func() bool {
		conn, err := net.Dial("tcp", address)
		return err == nil && conn.Close() == nil
	})
	return address
}

// TestPatroni kills the leader of a Patroni cluster together with its Patroni process, and waits
// for Patroni's failover. That takes as long as Patroni's ttl, whose minimum is 20 seconds.
func TestPatroni(t *testing.T) {
	if !*withPatroni {
		t.Skip("this test needs Patroni and etcd; run it with -patroni")
	}
	etcd := startEtcd(t, prepareServer(t))
	leader := newNode(t, "one", etcd)
	program.Eventually(t, "there is a leader", func() bool { return leader.is(t, "primary") })
	follower := newNode(t, "two", etcd)
	database := databaseAt(leader.address(), follower.address()) + "&target_session_attrs=read-write"
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
	measured(t, "%d times the leader killed: %s, longest gap %v", failovers, settled, l.gap().Round(time.Millisecond))
}
