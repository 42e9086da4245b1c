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

// maxMemory is what the service may take at its peak, in MiB.
const maxMemory = 200

// checkMemory fails when the service has ever had more than maxMemory.
func checkMemory(t *testing.T, p *program.Process) {
	t.Helper()
	if peak := memory(t, p, "VmHWM"); peak > maxMemory {
		t.Errorf("the service took %d MiB", peak)
	}
}

// memory is one of the figures that the kernel has of the service's memory, in MiB.
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

// descriptors is how many files and connections the service has open.
func descriptors(t *testing.T, p *program.Process) int {
	t.Helper()
	entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", p.PID))
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// processorTime is how long the service has used a processor.
func processorTime(t *testing.T, p *program.Process) time.Duration {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.PID))
	if err != nil {
		t.Fatal(err)
	}
	// The fields 14 and 15 of proc_pid_stat(5), in hundredths of a second; the name,
	// which is the second one, may hold any character.
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

// behind is a program that runs shell commands and then becomes gatherkit.
func behind(t *testing.T, commands string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "gatherkit")
	writeFile(t, path, fmt.Sprintf("#!/bin/sh\nset -e\n%s\nexec %s \"$@\"\n", commands, program.Build(t)))
	if err := os.Chmod(path, 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestDescriptors lets idle connections take all descriptors that the service may
// have. Those who have a connection go on, also where the store needs more files, and
// a caller without one gets one.
func TestDescriptors(t *testing.T) {
	storetest.EachInTurn(t, func(t *testing.T, place storetest.Place) {
		program.AddOwner(t, place)
		p := program.StartBinary(t, behind(t, "ulimit -n 200"), program.FreeAddress(t), nil, program.At(place)...)
		c := program.NewClient(t, p)
		token := c.Login(t)
		l := startLoad(t, 16, c.AddApp(t, token).APIKey, c)
		l.AwaitMore(t, 100)
		before, began := descriptors(t, p), time.Now()
		idle := slowness{name: "idle", begin: "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n"}
		var all crowd
		all.add(t, p, idle, 400)
		t.Logf("%d descriptors, %d with 400 connections", before, descriptors(t, p))
		l.AwaitMore(t, program.Times(500, 20_000))
		others := l.between(began, time.Now())
		l.stop()
		// On the submitters' connections, and beside each other, so that the store opens
		// all that it may.
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
		if others.failures > 0 {
			t.Errorf("submissions: %v", others)
		}
		// It must not try to take the waiting connections over and over.
		used := processorTime(t, p)
		<-time.After(2 * time.Second)
		if used = processorTime(t, p) - used; used > 200*time.Millisecond {
			t.Errorf("the service used %v of a processor in two seconds with nothing to do", used)
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
