package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"gatherkit/e2e/program"
	"gatherkit/internal/store/storetest"
)

// podman says how podman runs containers where systemd does not: without limits and groups, which only root of the real
// machine may set.
const podman = `cat >/etc/containers/containers.conf <<EOF
[containers]
cgroups = "disabled"
default_ulimits = ["nofile=1024:4096", "nproc=1024:1024"]
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
EOF
`

// runContainer runs the image as documented, but with podman, and so that nothing but /data can be written.
func runContainer(t *testing.T, folder string) {
	if _, err := exec.LookPath("podman"); err != nil {
		storetest.Missing(t, "podman", "install it with `apt-get install podman`")
	}
	m := newMachine(t, folder)
	m.run(t, podman)
	// The metrics say how far the background work is. Many requests come from one address.
	m.run(t, program.Replaced(t, program.Block(t, "docker run --detach"), "docker ", "podman ",
		"--read-only ", "--read-only --read-only-tmpfs=false ",
		"8080:8080 ", "8080:8080 --publish 127.0.0.1:9090:9090 --env GATHERKIT_METRICS_LISTEN=:9090 --env GATHERKIT_SUBMIT_RATE=0 "))
	// The container starts again and again if the service ends.
	failed := func() string {
		return m.run(t, "[ \"$(podman inspect --format '{{.RestartCount}}' gatherkit)\" = 0 ] || podman logs gatherkit 2>&1")
	}
	m.awaitReady(t, failed)
	m.run(t, "podman healthcheck run gatherkit")
	m.run(t, addOwner(t, "podman exec --interactive gatherkit /gatherkit", ""))
	m.use(t)
	var state []struct {
		State  struct{ Status string }
		Config struct {
			User        string
			Cmd         []string
			Healthcheck struct{ Interval, Timeout, StartPeriod, Retries int64 }
		}
	}
	if err := json.Unmarshal([]byte(m.run(t, "podman inspect gatherkit")), &state); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintf("%+v", state); got != "[{State:{Status:running} Config:{User:65532:65532 Cmd:[serve] "+
		"Healthcheck:{Interval:30000000000 Timeout:5000000000 StartPeriod:10000000000 Retries:3}}}]" {
		t.Errorf("the container is %s", got)
	}
	sortOnDisk(t, m)
	before := m.count(t)
	m.run(t, "podman restart gatherkit")
	m.awaitReady(t, failed)
	if after := m.count(t); after != before {
		t.Errorf("there are %s requests before a restart, and %s after it", before, after)
	}
	m.run(t, program.Replaced(t, program.Block(t, "gatherkit:1.2.2 backup"), "docker ", "podman ", "1.2.2", "1.2.3",
		"--read-only ", "--read-only --read-only-tmpfs=false "))
	m.run(t, "test -s /var/backups/gatherkit/before-1.2.3/gatherkit.db")
	listFiles(t, m)
}

// sortOnDisk submits so many requests that SQLite needs temporary files to bring the index up to date.
func sortOnDisk(t *testing.T, m machine) {
	const many = 1500
	words := strings.Repeat("my eyes hurt at night and ", 60)
	script := readmeBlock(t, "TOKEN=$(") + fmt.Sprintf(`
for n in $(seq %d); do
	[ "$n" = 1 ] || echo next
	echo 'url = "http://localhost:8080/api/widget-submit-request"'
	echo "header = \"X-API-Key: $KEY\""
	echo 'header = "Content-Type: application/json"'
	echo "data = \"{\\\"title\\\":\\\"wish $n\\\",\\\"description\\\":\\\"%s$n\\\"}\""
	echo 'output = /dev/null'
done | curl --silent --fail --parallel --parallel-max 16 --config -`, many, words)
	m.run(t, script)
	program.Eventually(t, "the index is up to date", func() bool {
		if log := m.run(t, "podman logs gatherkit 2>&1"); strings.Contains(log, "background work failed") {
			t.Fatalf("the log has:\n%s", log[max(0, len(log)-2000):])
		}
		return strings.Contains(m.run(t, "curl --silent http://localhost:9090/metrics"), "\ngatherkit_index_backlog 0\n")
	})
	if got, want := m.count(t), strconv.Itoa(many+1); got != want {
		t.Errorf("there are %s requests; want %s", got, want)
	}
}

// listFiles checks what is in the image: what the program needs, and nothing of this machine.
func listFiles(t *testing.T, m machine) {
	const export = `podman export "$(podman create gatherkit:1.2.3)" | tar `
	list := m.run(t, export+"--list --verbose --numeric-owner")
	found := map[string]string{}
	for line := range strings.Lines(list) {
		fields := strings.Fields(line)
		found[fields[len(fields)-1]] = fields[0] + " " + fields[1]
	}
	for name, want := range map[string]string{
		"data/": "drwx------ 65532/65532", "tmp/": "drwxrwxrwt 0/0",
		"gatherkit": "-rwxr-xr-x 0/0", "etc/ssl/certs/ca-certificates.crt": "-rw-r--r-- 0/0",
	} {
		if found[name] != want {
			t.Errorf("%s is %q; want %q:\n%s", name, found[name], want, list)
		}
	}
	certificates := m.run(t, export+"--extract --to-stdout etc/ssl/certs/ca-certificates.crt")
	paths, err := filepath.Glob("/usr/share/ca-certificates/mozilla/*.crt")
	if err != nil || len(paths) < 50 || strings.Count(certificates, "BEGIN CERTIFICATE") != len(paths) {
		t.Fatalf("the image has %d certificates; Debian has %d", strings.Count(certificates, "BEGIN CERTIFICATE"), len(paths))
	}
	first, err := os.ReadFile(paths[0])
	if err != nil || !strings.HasPrefix(certificates, string(first)) {
		t.Errorf("the certificates begin with %.100q; want %.100q, %v", certificates, first, err)
	}
}
