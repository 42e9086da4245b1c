package torture_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gatherkit/e2e/program"
	"gatherkit/internal/store/storetest"
)

// enoughMemory is the memory limit, in MiB, at which the service must not be killed.
const enoughMemory = 256

// otherUser logs in so often that their earlier sessions end. The owner's sessions stay.
const otherUser = "grace@example.com"

// TestMemoryLimit overloads a service with little memory. It must stay up and answer. The long
// form lowers the limit until the kernel kills the service. Even then, no acknowledged request
// may be lost.
func TestMemoryLimit(t *testing.T) {
	storetest.Proof(t)
	storetest.EachInTurn(t, func(t *testing.T, place storetest.Place) {
		program.AddOwner(t, place)
		add := []string{"user", "add", "--new-account", "--account=Other", "--email=" + otherUser, "--name=Grace", "--password-stdin"}
		if got := program.Execute(t, nil, program.Password+"\n", append(add, program.At(place)...)...); got.Code != 0 {
			t.Fatalf("user add: exit %d\n%s", got.Code, got.Stderr)
		}
		for _, limit := range []int{enoughMemory, 192, 160, 128, 112, 96, 80, 64}[:program.Times(1, 8)] {
			lived := false
			t.Run(fmt.Sprint(limit, " MiB"), func(t *testing.T) { lived = runWithin(t, place, limit) })
			if !lived {
				return
			}
		}
	})
}

// runWithin overloads a service with a memory limit in MiB, and reports whether it stayed up.
func runWithin(t *testing.T, place storetest.Place, limit int) (lived bool) {
	t.Helper()
	group := newMemoryGroup(t, limit)
	// The rest is for SQLite and the binary, which GOMEMLIMIT does not cover.
	settings := []string{fmt.Sprintf("GOMEMLIMIT=%dMiB", limit/2)}
	p := program.StartBinary(t, wrapped(t, "echo $$ >"+group+"/cgroup.procs"), program.FreeAddress(t), settings, program.At(place)...)
	c := program.NewClient(t, p)
	token := c.Login(t)
	app := c.AddApp(t, token)
	l := startLoad(t, 16, app.APIKey, c)
	l.AwaitMore(t, program.Times(200, 3000))
	var busy, broken atomic.Int64
	for range program.Times(1, 3) {
		overload(t, c, token, app, &busy, &broken)
	}
	found := "killed"
	select {
	case <-p.Exited:
		if limit >= enoughMemory {
			t.Error("the service was killed")
		}
		program.StartOn(t, p.Address, nil, program.At(place)...)
		c.HTTP.CloseIdleConnections()
	default:
		lived = true
		found = fmt.Sprintf("lived with %d MiB at the peak", memory(t, p, "VmHWM"))
		if broken.Load() > 0 {
			t.Errorf("%d calls got no answer", broken.Load())
		}
	}
	l.AwaitMore(t, 100)
	l.stop()
	stored := c.ListApp(t, c.Login(t), app.ID)
	l.Check(t, stored)
	lost, doubled := l.Compare(stored)
	measured(t, "%s; %d of the other calls were answered 503; %d acknowledged, %d lost, %d doubled",
		found, busy.Load(), l.Len(), lost, doubled)
	return lived
}

// overload makes 64 logins, reads 64 long pages and sends 64 bodies with many keys, all at
// once. It counts the calls that got 503, and those without an answer.
func overload(t *testing.T, c program.Client, token string, app program.App, busy, broken *atomic.Int64) {
	t.Helper()
	keys := program.Params{}
	for i := range 15_000 {
		keys[fmt.Sprint("key", i)] = i
	}
	login := program.Params{"email": otherUser, "password": program.Password}
	var all sync.WaitGroup
	call := func(want, operation, credential string, in program.Params) {
		all.Go(func() {
			got, err := c.Call(operation, credential, in)
			if err != nil { // the service may close a connection that has waited too long for its first call
				got, err = c.Call(operation, credential, in)
			}
			switch {
			case err != nil:
				broken.Add(1)
			case got.Code == "api.unavailable":
				busy.Add(1)
			case got.Code != want:
				t.Errorf("%s: %s, want %s", operation, got.Code, want)
			}
		})
	}
	for range 64 {
		call("ok", "auth-login", "", login)
		call("ok", "requests-list", token, program.Params{"limit": 200})
		call("api.unknown_parameter", "widget-submit-request", app.APIKey, keys)
	}
	all.Wait()
}

// newMemoryGroup creates a control group with a memory limit in MiB, which includes the cache
// of files, and returns its folder.
func newMemoryGroup(t *testing.T, limit int) string {
	t.Helper()
	root, file := "/sys/fs/cgroup/memory", "memory.limit_in_bytes" // version 1
	if controllers, err := os.ReadFile("/sys/fs/cgroup/cgroup.controllers"); err == nil && strings.Contains(string(controllers), "memory") {
		root, file = "/sys/fs/cgroup", "memory.max"
	}
	group := filepath.Join(root, fmt.Sprintf("gatherkit-%d-%d", os.Getpid(), time.Now().UnixNano()))
	err := os.Mkdir(group, 0o700)
	if err == nil {
		t.Cleanup(func() {
			// A process leaves its group a moment after it exits.
			program.Eventually(t, "the control group can be removed", func() bool {
				err := os.Remove(group)
				return err == nil || errors.Is(err, os.ErrNotExist)
			})
		})
		err = os.WriteFile(filepath.Join(group, file), []byte(strconv.Itoa(limit<<20)), 0o600)
	}
	if err != nil {
		storetest.Missing(t, "cgroup", fmt.Sprintf("run the tests as root on a machine with memory control groups: %v", err))
	}
	return group
}
