package torture_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"gatherkit/e2e/program"
	"gatherkit/internal/store/storetest"
)

// TestDiskFull fills the disk while clients submit, and then frees space. Reads work all the
// time, and writes work again without a restart.
func TestDiskFull(t *testing.T) {
	t.Run("ext4", func(t *testing.T) { fillDisk(t, newVolume(t, "ext4", "128M", "-m", "0")) })
	t.Run("xfs", func(t *testing.T) {
		storetest.Proof(t)
		fillDisk(t, newVolume(t, "xfs", "320M"))
	})
}

func fillDisk(t *testing.T, v *volume) {
	t.Helper()
	rng := random(t)
	program.AddOwner(t, v.place())
	p := program.Start(t, program.At(v.place())...)
	c := program.NewClient(t, p)
	owner := c.Login(t)
	l := startLoad(t, 16, c.AddApp(t, owner).APIKey, c)
	// Not a session: the logins below end the oldest one.
	token := c.Want(t, "ok", "tokens-create", owner, program.Params{"name": "reads", "scope": "viewer"}).Secret
	l.AwaitMore(t, 100)
	var writing time.Duration
	rounds := program.Times(2, 20)
	for round := range rounds {
		ballast := v.fill(t, int64(rng.IntN(4<<20)))
		refused := l.count("api.unavailable")
		program.Eventually(t, "the disk is full", func() bool { return l.count("api.unavailable") >= refused+200 })
		// A login needs fewer free pages than a group of submissions, so it may succeed longer.
		program.Eventually(t, "logins are refused", func() bool { return refusesLogin(t, c) })
		c.Want(t, "ok", "requests-list", token, program.Params{"limit": 200})
		if !program.Answers(t, p.URL+"/readyz") {
			t.Error("/readyz does not answer 200")
		}
		if round%2 == 1 {
			p.Kill(t)
			p = program.StartOn(t, p.Address, nil, program.At(v.place())...)
			c.HTTP.CloseIdleConnections()
			c.Want(t, "ok", "requests-list", token, program.Params{"limit": 200})
		}
		if err := os.Remove(ballast); err != nil {
			t.Fatal(err)
		}
		freed := time.Now()
		l.AwaitMore(t, 300)
		writing = max(writing, l.firstAfter(freed).Sub(freed))
	}
	settled := l.settle(t, c, token)
	// Calls without an answer are expected, because the test kills the service.
	if n := len(l.attempts) - l.count("ok") - l.count("api.unavailable") - l.count(""); n > 0 {
		t.Errorf("%d calls got an answer other than ok and api.unavailable", n)
	}
	checkDatabase(t, program.At(v.place()))
	measured(t, "%d times full: %s, %d answered 503, the slowest within %v; writing again within %v of the room", rounds, settled,
		l.count("api.unavailable"), l.slowest("api.unavailable").Round(time.Millisecond), writing.Round(time.Millisecond))
}

// refusesLogin reports whether a login gets 503, which docs/operating.md documents for writes
// on a full disk.
func refusesLogin(t *testing.T, c program.Client) bool {
	t.Helper()
	got, err := c.Call("auth-login", "", program.Params{"email": program.Email, "password": program.Password})
	if err != nil {
		t.Fatal(err)
	}
	if got.Code == "ok" {
		return false
	}
	if got.Status != http.StatusServiceUnavailable || got.Code != "api.unavailable" || got.Header.Get("Retry-After") == "" {
		t.Fatalf("a login got %d %s with Retry-After %q", got.Status, got.Code, got.Header.Get("Retry-After"))
	}
	return true
}

// fill fills the volume with a file until leave bytes are free, and returns the file's path.
func (v *volume) fill(t *testing.T, leave int64) string {
	t.Helper()
	const piece = 1 << 18
	ballast, err := os.Create(filepath.Join(v.folder, "ballast"))
	if err != nil {
		t.Fatal(err)
	}
	var fs syscall.Statfs_t
	for size := int64(0); err == nil; size += piece {
		if err = syscall.Statfs(v.folder, &fs); err == nil && int64(fs.Bavail)*fs.Bsize < leave+piece {
			break
		}
		if err == nil {
			err = syscall.Fallocate(int(ballast.Fd()), 0, size, piece)
		}
	}
	if closeErr := ballast.Close(); closeErr != nil || err != nil && !errors.Is(err, syscall.ENOSPC) { // the service uses space as well
		t.Fatal(err, closeErr)
	}
	return ballast.Name()
}

// firstAfter returns the time of the first acknowledgement of a submission that began after
// the given moment.
func (l *load) firstAfter(moment time.Time) (first time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, a := range l.attempts {
		if a.code == "ok" && a.began.After(moment) && (first.IsZero() || a.ended.Before(first)) {
			first = a.ended
		}
	}
	return first
}

// TestReadOnlyDisk makes the disk read-only while clients submit, as the kernel does when it
// finds a damaged file system. (An operator cannot remount it read-only while files are open
// for writing.) Writes can no longer become durable, so the service exits, and it does not
// start until the disk is repaired.
func TestReadOnlyDisk(t *testing.T) {
	v := newVolume(t, "ext4", "512M")
	run(t, "mount", "-o", "remount,errors=remount-ro", v.folder)
	breakDisk(t, v, whileStopped(v.failReadOnly), func(p *program.Process) {
		for _, folder := range []string{v.place().Folder, filepath.Join(v.folder, "new")} {
			got := program.Execute(t, nil, "", "serve", "--listen", p.Address, "--data", folder)
			if got.Code != 1 || strings.Count(got.Stderr, "\n") != 1 || !strings.Contains(got.Stderr, "read-only") {
				t.Errorf("a start on a read-only disk: exit %d:\n%s", got.Code, got.Stderr)
			}
		}
		v.unmount(t)
		run(t, "sh", "-c", `fsck.ext4 -p "$0" || [ $? -eq 1 ]`, v.device) // 1 means that it repaired something
		v.mount(t, "-o", "errors=remount-ro")
	})
}

// failReadOnly makes ext4 report an error, after which it refuses writes.
func (v *volume) failReadOnly(t *testing.T) {
	t.Helper()
	writeFile(t, "/sys/fs/ext4/"+filepath.Base(v.device)+"/trigger_fs_error", "injected by a test")
}

// TestDiskError makes every write to the disk fail while clients submit.
func TestDiskError(t *testing.T) {
	for _, kind := range []string{"ext4", "xfs"} {
		t.Run(kind, func(t *testing.T) {
			v := newVolume(t, kind, "512M")
			breakDisk(t, v, whileStopped(v.cut), func(*program.Process) { v.cycle(t) })
		})
	}
}

// TestSyncError makes fsync fail for a file of the database while clients submit. Then it cuts
// the power, so that the data does not become durable later by itself.
func TestSyncError(t *testing.T) {
	if _, err := exec.LookPath("strace"); err != nil {
		storetest.Missing(t, "strace", "install it with `apt-get install strace`")
	}
	for name, file := range map[string]string{"log": "gatherkit.db-wal", "file": "gatherkit.db"} {
		t.Run(name, func(t *testing.T) {
			v := newVolume(t, "ext4", "512M")
			calls := filepath.Join(t.TempDir(), "calls")
			inject := func(t *testing.T, p *program.Process) {
				trace(t, p, calls, "-e", "trace=fsync,fdatasync", "-P", filepath.Join(v.place().Folder, file),
					"-e", "inject=fsync,fdatasync:error=EIO")
			}
			breakDisk(t, v, inject, func(*program.Process) {
				if text, err := os.ReadFile(calls); err != nil || !strings.Contains(string(text), "EIO (Input/output error) (INJECTED)") {
					t.Errorf("no error was injected: %v\n%s", err, text)
				}
				v.cut(t)
				v.cycle(t)
			})
		})
	}
}

// whileStopped returns a function that stops the service between two system calls, breaks
// the disk and resumes the service. Otherwise, an fsync that is under way can report success
// for data that the aborted journal never commits (Linux 6.18, ext4 and xfs), which no
// program can detect.
func whileStopped(fail func(*testing.T)) func(*testing.T, *program.Process) {
	return func(t *testing.T, p *program.Process) {
		t.Helper()
		freeze(t, p)
		fail(t)
		if err := syscall.Kill(p.PID, syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
	}
}

// trace attaches strace to a running service, to log its system calls or change their
// results, until strace or the service exits.
func trace(t *testing.T, p *program.Process, output string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "strace", append([]string{"-f", "-qq", "-o", output, "-p", fmt.Sprint(p.PID)}, args...)...)
	var stderr program.Output
	cmd.Stderr = &stderr
	exited := make(chan struct{})
	program.Launch(t, cmd, exited)
	program.Eventually(t, "all threads are traced", func() bool {
		select {
		case <-exited:
			select {
			case <-p.Exited: // strace exits with it
				return true
			case <-time.After(storetest.Patience):
				t.Fatalf("strace exited, but the service did not:\n%s", stderr.String())
			}
		default:
		}
		return eachThread(t, p, "status", func(status string) bool { return !strings.Contains(status, "TracerPid:\t0\n") })
	})
}

// breakDisk makes a disk fail while clients submit. The service must exit and log the reason.
// After the disk is repaired, it must start and have all acknowledged requests.
func breakDisk(t *testing.T, v *volume, fail func(*testing.T, *program.Process), mend func(*program.Process)) {
	t.Helper()
	flags := program.At(v.place())
	program.AddOwner(t, v.place())
	p := program.Start(t, flags...)
	c := program.NewClient(t, p)
	token := c.Login(t)
	l := startLoad(t, 16, c.AddApp(t, token).APIKey, c)
	failures := program.Times(1, 10)
	var slowest time.Duration
	for range failures {
		l.AwaitMore(t, 300)
		fail(t, p)
		failed := time.Now()
		if code := p.ExitCode(t); code != 1 {
			t.Errorf("exit %d, want 1", code)
		}
		took := time.Since(failed)
		if slowest = max(slowest, took); late(took, 5*time.Second) {
			t.Errorf("the service exited after %v", took)
		}
		if n := strings.Count(p.Stderr.String(), "the disk has failed"); n != 1 {
			t.Errorf("the log says %d times that the disk has failed, want once:\n%s", n, p.Stderr.Tail())
		}
		mend(p)
		p = program.StartOn(t, p.Address, nil, flags...)
		c.HTTP.CloseIdleConnections()
	}
	l.AwaitMore(t, 300)
	settled := l.settle(t, c, token)
	checkDatabase(t, flags)
	measured(t, "%d failures: ended with status 1 within %v; mended and started again: %s", failures, slowest.Round(time.Millisecond), settled)
}
