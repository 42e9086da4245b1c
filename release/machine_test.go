package main

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"testing"

	"gatherkit/e2e/program"
	"gatherkit/internal/store/storetest"
)

// boot makes a machine that has the programs of this one and nothing else: what is installed there is in memory, and its
// network is its own. It needs a folder to mount it on, and copies the files of another folder to /mnt. Its first process
// prints its number and waits; when it is killed, everything on the machine is.
const boot = `
read -r pid _ </proc/self/stat
mount -t tmpfs none "$0"
root=$0/root
mkdir "$0/changes" "$0/work" "$root"
mount -t overlay none -o "lowerdir=/,upperdir=$0/changes,workdir=$0/work" "$root"
mount -t proc none "$root/proc"
mount -t sysfs none "$root/sys"
mount -t cgroup2 none "$root/sys/fs/cgroup"
mount --rbind /dev "$root/dev"
mkdir -p "$root/var/lib/containers" # podman creates it when it first runs
for folder in run tmp root mnt var/lib/containers; do mount -t tmpfs none "$root/$folder"; done
cp "$1"/* "$root/mnt"
mkdir "$root/tmp/old"
cd "$root"
pivot_root . tmp/old
umount --lazy /tmp/old
ip link set lo up
echo "$pid"
exec sleep infinity
`

// machine is a machine to install on.
type machine struct{ pid string }

// newMachine starts a machine that has the files of a folder in /mnt. It stops when the test ends.
func newMachine(t *testing.T, files string) machine {
	t.Helper()
	if os.Getuid() != 0 {
		storetest.Missing(t, "root", "run it as root, who may mount folders")
	}
	folder := t.TempDir()
	cmd := exec.CommandContext(t.Context(),
		"unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "bash", "-euc", boot, folder, files)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var complaints program.Output
	cmd.Stderr = &complaints
	exited := make(chan struct{})
	program.Launch(t, cmd, exited)
	pid, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		storetest.Missing(t, "root", "run it as root, who may mount folders: "+complaints.String())
	}
	return machine{strings.TrimSpace(pid)}
}

// command returns a script that runs on the machine, in /mnt.
func (m machine) command(t *testing.T, script string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "nsenter", "--target", m.pid, "--mount", "--net", "--pid",
		"bash", "-euo", "pipefail", "-c", "cd /mnt\n"+script)
	// systemctl enables units, and starts none, because systemd does not run there.
	cmd.Env = []string{"PATH=" + os.Getenv("PATH") + ":/usr/sbin:/sbin", "HOME=/root", "SYSTEMD_OFFLINE=1"}
	return cmd
}

// run runs a script on the machine and returns what it prints.
func (m machine) run(t *testing.T, script string) string {
	t.Helper()
	out, err := m.command(t, script).CombinedOutput()
	if err != nil {
		t.Fatalf("%s\n%v\n%s", script, err, out)
	}
	return string(out)
}

// awaitReady waits until the service answers at the address that it has by default. failed returns why it never will, or "".
func (m machine) awaitReady(t *testing.T, failed func() string) {
	t.Helper()
	program.Eventually(t, "the service answers", func() bool {
		if why := failed(); why != "" {
			t.Fatalf("the service has ended:\n%s", why)
		}
		return m.command(t, "curl --silent --fail http://localhost:8080/readyz").Run() == nil
	})
}

// use sends an idea to the service and reads it, as README.md shows. The owner must be there.
func (m machine) use(t *testing.T) {
	t.Helper()
	var script []string
	for _, text := range []string{"TOKEN=$(", "ONCE=$("} {
		script = append(script, readmeBlock(t, text))
	}
	if got := m.run(t, strings.Join(script, "\n")); !strings.Contains(got, `"title":"Dark mode"`) {
		t.Errorf("the list of requests is %s", got)
	}
}

// count returns how many requests the service has.
func (m machine) count(t *testing.T) string {
	t.Helper()
	login, _, _ := strings.Cut(readmeBlock(t, "TOKEN=$("), "\n\n")
	return strings.TrimSpace(m.run(t, login+`
curl --silent http://localhost:8080/api/requests-list -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -d '{}' |
  sed -n 's/.*"total_count":\([0-9]*\).*/\1/p'`))
}

// readmeBlock returns the fenced block of README.md that contains a text.
func readmeBlock(t *testing.T, text string) string {
	t.Helper()
	for _, match := range program.FencedBlock.FindAllStringSubmatch(program.Read(t, "README.md"), -1) {
		if strings.Contains(match[2], text) {
			return match[2]
		}
	}
	t.Fatalf("README.md has no block with %q", text)
	return ""
}
