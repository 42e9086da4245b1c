package torture_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"gatherkit/e2e/program"
	"gatherkit/internal/store/storetest"
)

// volume is a file system in a file, which is mounted on a folder of its own.
type volume struct {
	kind   string // ext4 or xfs
	device string // the loop device
	folder string // where it is mounted
}

// newVolume makes and mounts a file system of a size such as 300M, until the test
// ends. That takes root, the file system's own mkfs and a loop device.
func newVolume(t *testing.T, kind, size string, mkfsFlags ...string) *volume {
	t.Helper()
	if os.Getuid() != 0 {
		storetest.Missing(t, "root", "only root may mount file systems")
	}
	if _, err := os.Stat("/dev/loop-control"); err != nil {
		storetest.Missing(t, "root", "this machine gives root no loop devices")
	}
	mkfs, err := exec.LookPath("mkfs." + kind)
	if err != nil {
		storetest.Missing(t, kind, "install mkfs."+kind+", which is in e2fsprogs or xfsprogs, and have /usr/sbin in PATH")
	}
	// Not the test's folder, whose removal would go into a file system that is still mounted.
	base, err := os.MkdirTemp("", "gatherkit-volume-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(base); err != nil {
			t.Error(err)
		}
	})
	image := filepath.Join(base, "image")
	run(t, "truncate", "--size", size, image)
	run(t, mkfs, append(mkfsFlags, "-q", image)...)
	v := &volume{kind: kind, folder: filepath.Join(base, "mounted")}
	if err := os.Mkdir(v.folder, 0o700); err != nil {
		t.Fatal(err)
	}
	v.device = strings.TrimSpace(run(t, "losetup", "--find", "--show", image))
	t.Cleanup(func() {
		// The processes on it have ended by now: their clean-ups were added later. A
		// file system that could not be unmounted for another reason goes when it can.
		if mounted(t, v.folder) {
			run(t, "umount", "--lazy", v.folder)
		}
		run(t, "losetup", "--detach", v.device)
	})
	v.mount(t)
	return v
}

// place is where a store on the volume is.
func (v *volume) place() storetest.Place {
	return storetest.Place{Name: v.kind, Folder: filepath.Join(v.folder, "data")}
}

// mount mounts the file system, which replays its journal.
func (v *volume) mount(t *testing.T, options ...string) {
	t.Helper()
	run(t, "mount", append(options, v.device, v.folder)...)
}

func (v *volume) unmount(t *testing.T) {
	t.Helper()
	run(t, "umount", v.folder)
}

// cycle unmounts the file system and mounts it again, as a machine that starts does.
func (v *volume) cycle(t *testing.T) {
	t.Helper()
	v.unmount(t)
	v.mount(t)
}

// cut does to the file system what a power cut does: what has not reached the
// device yet never will. Its own log is not written out before that either.
func (v *volume) cut(t *testing.T) {
	t.Helper()
	const (
		shutdown = 0x8004587D // EXT4_IOC_SHUTDOWN and XFS_IOC_GOINGDOWN, which are _IOR('X', 125, __u32)
		noFlush  = 2          // …_GOING_FLAGS_NOLOGFLUSH
	)
	folder, err := os.Open(v.folder)
	if errors.Is(err, syscall.EIO) {
		return // it is shut down already
	}
	if err != nil {
		t.Fatal(err)
	}
	flags := uint32(noFlush)
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, folder.Fd(), shutdown, uintptr(unsafe.Pointer(&flags)))
	if err := folder.Close(); err != nil {
		t.Fatal(err)
	}
	if errno != 0 {
		t.Fatalf("shut the file system down: %v", errno)
	}
}

func mounted(t *testing.T, folder string) bool {
	t.Helper()
	all, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Contains(string(all), " "+folder+" ")
}

// run runs a program that has to succeed and returns what it prints.
func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput() // not in the test's context, which has ended when it cleans up
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
	return string(out)
}

// freeze stops all threads of a process, and returns when none of them runs.
func freeze(t *testing.T, p *program.Process) {
	t.Helper()
	if err := syscall.Kill(p.PID, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	program.Eventually(t, "all threads are stopped", func() bool {
		return eachThread(t, p, "stat", func(stat string) bool {
			// The name before the state is in parentheses, and may hold any character.
			return strings.HasPrefix(stat[strings.LastIndexByte(stat, ')')+1:], " T")
		})
	})
}

// eachThread reports whether a file in /proc is as it should be for all threads.
func eachThread(t *testing.T, p *program.Process, file string, holds func(content string) bool) bool {
	t.Helper()
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/%s", p.PID, file))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil || !holds(string(content)) { // a thread may have ended meanwhile
			return false
		}
	}
	return len(files) > 0
}
