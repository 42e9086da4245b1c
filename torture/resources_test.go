package torture_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"gatherkit/e2e/program"
	"gatherkit/internal/store/storetest"
)

// maxMemory is the most memory that the service may use at its peak, in MiB.
const maxMemory = 200

// checkMemory fails the test if the service has ever used more than maxMemory.
func checkMemory(t *testing.T, p *program.Process) {
	t.Helper()
	if peak := memory(t, p, "VmHWM"); peak > maxMemory {
		t.Errorf("the service used %d MiB at its peak, more than %d MiB", peak, maxMemory)
	}
}

// memory returns a memory figure of the service from /proc, in MiB.
func memory(t *testing.T, p *program.Process, figure string) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.PID))
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(figure + `:\s+(\d+) kB`).FindSubmatch(status)
	if found == nil {
		t.Fatalf("no %s in %s", figure, status)
	}
	return number(t, string(found[1])) >> 10
}

// descriptors returns how many files and connections the service has open.
func descriptors(t *testing.T, p *program.Process) int {
	t.Helper()
	entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", p.PID))
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// processorTime returns the processor time that the service has used.
func processorTime(t *testing.T, p *program.Process) time.Duration {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.PID))
	if err != nil {
		t.Fatal(err)
	}
	// Fields 14 and 15 of proc_pid_stat(5), in hundredths of a second. The name, which is field
	// 2, may contain any character.
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	return time.Duration(number(t, fields[11])+number(t, fields[12])) * 10 * time.Millisecond
}

func number(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// wrapped returns the path of a script that runs shell commands and then executes gatherkit.
func wrapped(t *testing.T, commands string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "gatherkit")
	writeFile(t, path, fmt.Sprintf("#!/bin/sh\nset -e\n%s\nexec %s \"$@\"\n", commands, program.Build(t)))
	if err := os.Chmod(path, 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestDescriptors uses up all descriptors of the service with idle connections. Callers that
// have a connection can continue, even if the store needs more files, and new callers can
// connect.
func TestDescriptors(t *testing.T) {
	storetest.Proof(t)
	storetest.EachInTurn(t, func(t *testing.T, place storetest.Place) {
		program.AddOwner(t, place)
		p := program.StartBinary(t, wrapped(t, "ulimit -n 200"), program.FreeAddress(t), nil, program.At(place)...)
		c := program.NewClient(t, p)
		token := c.Login(t)
		l := startLoad(t, 16, c.AddApp(t, token).APIKey, c)
		l.AwaitMore(t, 100)
		before, began := descriptors(t, p), time.Now()
		idle := slowConnection{name: "idle", begin: "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n"}
		var all connections
		all.add(t, p, idle, 400)
		t.Logf("%d descriptors, %d with 400 connections", before, descriptors(t, p))
		l.AwaitMore(t, program.Times(500, 20_000))
		others := l.between(began, time.Now())
		l.stop()
		// They reuse the submitters' connections. They run at once, so that the store opens all of
		// its connections or files.
		var readers sync.WaitGroup
		for range 16 {
			readers.Go(func() {
				got, err := c.Call("requests-list", token, program.Params{"limit": 50})
				if err != nil || got.Code != "ok" {
					t.Errorf("a list: %s %v", got.Code, err)
				}
			})
		}
		readers.Wait()
		// A busy machine can keep a submitter from using its connection for so long that it may be
		// closed as idle. The call then gets no answer, but none is refused.
		if others.failures > l.count("") {
			t.Errorf("submissions: %v", others)
		}
		// The service must not retry to accept the waiting connections in a busy loop.
		used := processorTime(t, p)
		<-time.After(2 * time.Second)
		if used = processorTime(t, p) - used; used > 200*time.Millisecond {
			t.Errorf("the idle service used %v of processor time in two seconds", used)
		}
		fresh := program.NewClient(t, p)
		again := fresh.Login(t)
		all.close()
		settled := l.settle(t, fresh, again)
		if place.Folder != "" {
			checkDatabase(t, program.At(place))
		}
		measured(t, "400 connections beside at most 200 descriptors: others' submissions %v; %s", others, settled)
	})
}
