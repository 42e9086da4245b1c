package main

import (
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"gatherkit/e2e/program"
)

// addOwner is the command of README.md that adds the owner, with another way to run the program, and with more flags.
func addOwner(t *testing.T, how, flags string) string {
	t.Helper()
	return program.Replaced(t, readmeBlock(t, "./gatherkit user add"), "./gatherkit user add", how+" user add "+flags)
}

const asService = "setpriv --reuid=gatherkit --regid=gatherkit --init-groups"

// asGatherkit is a block of docs/operating.md. It runs commands without sudo, which Debian does not always have.
func asGatherkit(t *testing.T, text string) string {
	t.Helper()
	return program.Replaced(t, program.Block(t, text), "sudo -u gatherkit", asService)
}

// enable is a block of docs/operating.md that enables the service. Where systemd does not run, nothing can start it.
func enable(t *testing.T, text string) string {
	t.Helper()
	return program.Replaced(t, program.Block(t, text), "systemctl enable --now", "systemctl enable")
}

// service is a service that runs as an installed unit says.
type service struct {
	cmd    *exec.Cmd
	exited chan struct{}
	output program.Output
}

// start runs the service as systemd does: with the user, the folder and the settings of a unit.
func (m machine) start(t *testing.T, unit string) *service {
	t.Helper()
	text := m.run(t, "cat "+unit)
	value := func(name string) string {
		match := regexp.MustCompile(`(?m)^` + name + `=(.*)$`).FindStringSubmatch(text)
		if match == nil {
			t.Fatalf("%s has no %s", unit, name)
		}
		return match[1]
	}
	settings := regexp.MustCompile(`(?m)^Environment=(.*)$`).FindAllStringSubmatch(text, -1)
	script := fmt.Sprintf("install -d -o %[1]s -g %[2]s -m %[3]s /var/lib/%[4]s\nexec setpriv --reuid=%[1]s --regid=%[2]s --init-groups env",
		value("User"), value("Group"), value("StateDirectoryMode"), value("StateDirectory"))
	for _, setting := range settings {
		script += " " + strings.ReplaceAll(setting[1], "%S", "/var/lib")
	}
	s := &service{cmd: m.command(t, script+" "+value("ExecStart")), exited: make(chan struct{})}
	s.cmd.Stdout, s.cmd.Stderr = &s.output, &s.output
	program.Launch(t, s.cmd, s.exited)
	return s
}

// failed returns what the service has printed, if it has ended.
func (s *service) failed() string {
	select {
	case <-s.exited:
		return s.cmd.ProcessState.String() + "\n" + s.output.Tail()
	default:
		return ""
	}
}

// stop stops the service.
func (m machine) stop(t *testing.T, s *service) {
	t.Helper()
	m.run(t, "pkill --exact gatherkit") // in the machine, which has no other processes
	<-s.exited
	if code := s.cmd.ProcessState.ExitCode(); code != 0 {
		t.Fatalf("the service ends with status %d:\n%s", code, s.output.Tail())
	}
}

func installArchive(t *testing.T, folder string) {
	m := newMachine(t, folder)
	check := program.Block(t, "sha256sum --check")
	if checked := m.run(t, check); strings.Count(checked, ": OK\n") != 5 {
		t.Errorf("checked are:\n%s", checked)
	}
	if out, err := m.command(t, "echo >>gatherkit_1.2.3_amd64.deb\n"+check).CombinedOutput(); err == nil {
		t.Errorf("a changed file is not noticed:\n%s", out)
	}
	_, unit, _ := strings.Cut(enable(t, "useradd --system"), "\n")
	m.run(t, program.Block(t, "install -m 0755 gatherkit ")+unit)
	const installed = "/etc/systemd/system/gatherkit.service"
	m.run(t, "test -L /etc/systemd/system/multi-user.target.wants/gatherkit.service")
	s := m.start(t, installed)
	m.awaitReady(t, s.failed)
	m.run(t, addOwner(t, asService+" gatherkit", "--data /var/lib/gatherkit"))
	m.use(t)
	m.stop(t, s)
}

// installDeb installs the version before from its package, then the new one as documented, and goes back.
func installDeb(t *testing.T, folder string) {
	m := newMachine(t, folder)
	m.run(t, program.Replaced(t, enable(t, "dpkg -i gatherkit_1.2.3_amd64.deb\nsystemctl"), "1.2.3", "1.2.2"))
	upgrade(t, m, "deb", asGatherkit(t, "before-1.2.3\ndpkg -i"), program.Block(t, "dpkg -i gatherkit_1.2.2_amd64.deb"))
	remove(t, m, "dpkg --remove gatherkit")
}

// installRPM does the same with rpm. On Debian, its database does not know the programs that the package needs.
func installRPM(t *testing.T, folder string) {
	m := newMachine(t, folder)
	const install = "rpm -U gatherkit_1.2.3_x86_64.rpm"
	block := program.Replaced(t, enable(t, install), "rpm -U", "rpm -U --nodeps")
	m.run(t, program.Replaced(t, block, "1.2.3", "1.2.2"))
	if got := m.run(t, "rpm -qp --qf '%{NAME} %{VERSION} %{ARCH} %{LICENSE} %{BUILDHOST} %{BUILDTIME}' gatherkit_1.2.3_x86_64.rpm"); got !=
		"gatherkit 1.2.3 x86_64 Apache-2.0 gatherkit 1767225600" {
		t.Errorf("the package is %s", got)
	}
	forward := program.Replaced(t, asGatherkit(t, "before-1.2.3\ndpkg -i"),
		"dpkg -i gatherkit_1.2.3_amd64.deb", "rpm -U --nodeps gatherkit_1.2.3_x86_64.rpm")
	back := program.Replaced(t, program.Block(t, "dpkg -i gatherkit_1.2.2_amd64.deb"),
		"dpkg -i gatherkit_1.2.2_amd64.deb", "rpm -U --nodeps --oldpackage gatherkit_1.2.2_x86_64.rpm")
	upgrade(t, m, "rpm", forward, back)
	remove(t, m, "rpm -e gatherkit")
}

// remove removes the package: the data stays.
func remove(t *testing.T, m machine, how string) {
	t.Helper()
	const installed = "ls -d /usr/bin/gatherkit /usr/lib/systemd/system/gatherkit.service /usr/share/doc/gatherkit/deploy/alerts.yml " +
		"/usr/share/man/man1/gatherkit.1 /usr/share/bash-completion/completions/gatherkit /usr/share/zsh/*/_gatherkit " +
		"/usr/share/fish/vendor_completions.d/gatherkit.fish 2>/dev/null"
	if got := m.run(t, installed); strings.Count(got, "\n") != 7 {
		t.Errorf("the package installs:\n%s", got)
	}
	m.run(t, how)
	wantSystemctl(t, m, "disable --now gatherkit.service\n")
	if got := m.run(t, installed+" || ls /var/lib/gatherkit/gatherkit.db"); got != "/var/lib/gatherkit/gatherkit.db\n" {
		t.Errorf("after %s, there are:\n%s", how, got)
	}
}

// upgrade uses an installed version 1.2.2, and then walks forward to 1.2.3 and back. The backup has one request, and what
// arrives after it is lost when somebody goes back.
func upgrade(t *testing.T, m machine, name, forward, back string) {
	const unit = "/usr/lib/systemd/system/gatherkit.service"
	m.run(t, "test -L /etc/systemd/system/multi-user.target.wants/gatherkit.service")
	old := m.start(t, unit)
	m.awaitReady(t, old.failed)
	wantVersion(t, m, "1.2.2")
	m.run(t, addOwner(t, asService+" gatherkit", "--data /var/lib/gatherkit"))
	m.use(t)
	m.run(t, "echo GATHERKIT_LOG_LEVEL=warn >>/etc/gatherkit/environment")
	m.run(t, recordSystemctl)
	m.run(t, forward)
	wantSystemctl(t, m, "daemon-reload\ntry-restart gatherkit.service\n")
	m.stop(t, old)
	wantVersion(t, m, "1.2.3")
	current := m.start(t, unit)
	m.awaitReady(t, current.failed)
	if got := m.count(t); got != "1" {
		t.Errorf("%s: after the upgrade, there are %q requests; want 1", name, got)
	}
	m.use(t)
	m.stop(t, current)

	// Both versions know the same schema, so this is what a migration of the newer one would leave.
	m.run(t, `python3 -c '
import sqlite3
with sqlite3.connect("/var/lib/gatherkit/gatherkit.db") as database:
    database.execute("INSERT INTO schema_version (version) VALUES (999)")
'`)
	refused := m.start(t, unit)
	<-refused.exited
	want := regexp.MustCompile(`the database in /var/lib/gatherkit has schema 999 but this program knows \d+; ` +
		`start a newer version of gatherkit, or restore the backup from before the upgrade\n$`)
	if refused.cmd.ProcessState.ExitCode() != 1 || !want.MatchString(refused.output.String()) {
		t.Errorf("on a newer schema, the service says %s", refused.output.Tail())
	}
	m.run(t, back)
	wantSystemctl(t, m, "stop gatherkit\ndaemon-reload\ntry-restart gatherkit.service\nstart gatherkit\n")
	wantVersion(t, m, "1.2.2")
	restored := m.start(t, unit)
	m.awaitReady(t, restored.failed)
	const owned = "600 root\nGATHERKIT_LOG_LEVEL=warn\n"
	if got := m.run(t, "stat -c '%a %U' /etc/gatherkit/environment && tail -n 1 /etc/gatherkit/environment"); got != owned {
		t.Errorf("%s: the settings are now %s", name, got)
	}
	if got := m.count(t); got != "1" {
		t.Errorf("%s: after the way back, there are %q requests; want 1", name, got)
	}
	m.stop(t, restored)
}

// recordSystemctl lets a machine look as if systemd ran there, and notes what systemctl is told to do.
const recordSystemctl = `mkdir -p /run/systemd/system
printf '#!/bin/sh\necho "$*" >>/run/systemctl\n' >/usr/bin/systemctl`

// wantSystemctl checks what systemctl was told to do since the last call.
func wantSystemctl(t *testing.T, m machine, want string) {
	t.Helper()
	if got := m.run(t, "cat /run/systemctl && rm /run/systemctl"); got != want {
		t.Errorf("systemctl was told:\n%s; want:\n%s", got, want)
	}
}

func wantVersion(t *testing.T, m machine, version string) {
	t.Helper()
	if got := m.run(t, "gatherkit version"); got != "gatherkit "+version+"\n" {
		t.Errorf("installed is %s; want %s", got, version)
	}
	if got := m.run(t, "grep '^.TH ' /usr/share/man/man1/gatherkit.1"); !strings.Contains(got, version) {
		t.Errorf("the manual page is of %s; want %s", got, version)
	}
}
