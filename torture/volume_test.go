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

// volume is a file system in a file, mounted on its own folder.
type volume struct {
	kind   string // ext4 or xfs
	device string // the loop device
	folder string // where it is mounted
}

// newVolume creates and mounts a file system with a size such as 300M, until the test ends. It
// needs root, the file system's mkfs and a loop device.
func newVolume(t *testing.T, kind, size string, mkfsFlags ...string) *volume {
	t.Helper()
	if os.Getuid() != 0 {
		storetest.Missing(t, "root", "run the tests as root, because they mount file systems")
	}
	if _, err := os.Stat("/dev/loop-control"); err != nil {
		storetest.Missing(t, "root", "run the tests on a machine with loop devices")
	}
	mkfs, err := exec.LookPath("mkfs." + kind)
	if err != nil {
		storetest.Missing(t, kind, "install mkfs."+kind+" from e2fsprogs or xfsprogs, and add /usr/sbin to PATH")
	}
	// Not in t.TempDir, whose removal would delete files in a file system that is still mounted.
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
		// The processes that use it have exited, because their clean-ups were added later. If it
		// is busy for another reason, it is unmounted when that ends.
		if mounted(t, v.folder) {
			run(t, "umount", "--lazy", v.folder)
		}
		run(t, "losetup", "--detach", v.device)
	})
	v.mount(t)
	return v
}

// place returns a place for a store on the volume.
func (v *volume) place() storetest.Place {
	return storetest.Place{Name: v.kind, Folder: filepath.Join(v.folder, "data")}
}

// mount mounts the file system, which replays its journal.
func (v *volume) mount(t *testing.T, options ...string) {
	t.Helper()
	run(t, "mount", append(options, v.device, v.folder)...)
}

// unmount unmounts the file system and waits until the kernel has closed it. A program with mounts of its
// own, such as a browser or a container, has those that were there when it started, and keeps the file system
// open until it ends. If it was shut down, it would be mounted again as it is: with an error for each call.
func (v *volume) unmount(t *testing.T) {
	t.Helper()
	run(t, "umount", v.folder)
	program.Eventually(t, "the file system is closed", func() bool {
		_, err := os.Stat("/sys/fs/" + v.kind + "/" + filepath.Base(v.device))
		return errors.Is(err, os.ErrNotExist)
	})
}

// TestCycle: a file system can be used after a power cut, also if another program has its mount.
func TestCycle(t *testing.T) {
	for _, kind := range []string{"ext4", "xfs"} {
		t.Run(kind, func(t *testing.T) {
			v := newVolume(t, kind, "300M")
			begun, end := filepath.Join(t.TempDir(), "begun"), filepath.Join(t.TempDir(), "end")
			other := exec.CommandContext(t.Context(), "unshare", "--mount", "sh", "-c",
				`touch "$0"; while [ ! -e "$1" ]; do sleep 0.05; done`, begun, end)
			program.Launch(t, other, make(chan struct{}))
			program.Eventually(t, "the other program has its mounts", func() bool {
				_, err := os.Stat(begun)
				return err == nil
			})
			v.cut(t)
			if err := os.WriteFile(end, nil, 0o600); err != nil { // it ends a moment later
				t.Fatal(err)
			}
			v.cycle(t)
			if err := os.WriteFile(filepath.Join(v.folder, "file"), nil, 0o600); err != nil {
				t.Error(err)
			}
		})
	}
}

// cycle unmounts the file system and mounts it again, as the restart of a machine does.
func (v *volume) cycle(t *testing.T) {
	t.Helper()
	v.unmount(t)
	v.mount(t)
}

// cut shuts the file system down as a power cut does: everything that has not reached the device
// is lost, and the file system's journal is not flushed.
func (v *volume) cut(t *testing.T) {
	t.Helper()
	const (
		shutdown = 0x8004587D // EXT4_IOC_SHUTDOWN and XFS_IOC_GOINGDOWN, which are _IOR('X', 125, __u32)
		noFlush  = 2          // …_GOING_FLAGS_NOLOGFLUSH
	)
	folder, err := os.Open(v.folder)
	if errors.Is(err, syscall.EIO) {
		return // it is already shut down
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
		t.Fatalf("cannot shut the file system down: %v", errno)
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

// run runs a program and returns its output. The test fails if the program fails.
func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	// Not with t.Context, which is canceled before clean-ups run.
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
	return string(out)
}

// freeze stops all threads of a process, and waits until none of them runs.
func freeze(t *testing.T, p *program.Process) {
	t.Helper()
	if err := syscall.Kill(p.PID, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	program.Eventually(t, "all threads are stopped", func() bool {
		return eachThread(t, p, "stat", func(stat string) bool {
			// The name before the state is in parentheses and may contain any character.
			return strings.HasPrefix(stat[strings.LastIndexByte(stat, ')')+1:], " T")
		})
	})
}

// eachThread reports whether holds returns true for a file in /proc of every thread.
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
