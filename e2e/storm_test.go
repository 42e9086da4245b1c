package e2e_test

import (
	"bufio"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"gatherkit/internal/store/storetest"
)

// maxMemory is what the service may take at its peak, in bytes.
const maxMemory = 200 << 20

// checkMemory fails when the service has ever had more than maxMemory.
func checkMemory(t *testing.T, p *process) {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.pid))
	if err != nil {
		t.Fatal(err)
	}
	peak := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(status)
	if peak == nil {
		t.Fatalf("no peak in %s", status)
	}
	kib, err := strconv.Atoi(string(peak[1]))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("peak memory: %d MiB", kib>>10)
	if kib<<10 > maxMemory {
		t.Errorf("the service took %d MiB", kib>>10)
	}
}

// TestLoginStorm logs 64 people in at once, of whom half have mistyped the password.
func TestLoginStorm(t *testing.T) {
	const logins = 64
	storetest.Each(t, func(t *testing.T, place storetest.Place) {
		addOwner(t, place)
		p := start(t, at(place)...)
		c := newClient(t, p)
		var all sync.WaitGroup
		for i := range logins {
			all.Go(func() {
				in, want := params{"email": email, "password": password}, "ok"
				if i%2 == 0 {
					in, want = params{"email": fmt.Sprintf("nobody%d@example.com", i), "password": password}, "auth.invalid_credentials"
				}
				got, err := c.call("auth-login", "", in)
				if err != nil || got.code != want {
					t.Errorf("login %d: %d %s %v, want %s", i, got.status, got.code, err, want)
				}
			})
		}
		all.Wait()
		checkMemory(t, p)
	})
}

// TestEndlessBody sends one GiB to an operation that anybody may call.
func TestEndlessBody(t *testing.T) {
	p := start(t)
	for _, framing := range []string{"Transfer-Encoding: chunked", "Content-Length: 1073741824"} {
		conn := dial(t, p.address)
		send(t, conn, "POST /api/auth-login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"+framing+"\r\n\r\n")
		piece := strings.Repeat(" ", 1<<20)
		if strings.HasSuffix(framing, "chunked") {
			piece = "100000\r\n" + piece + "\r\n"
		}
		sent := make(chan int)
		go func() {
			for n := range 1024 {
				if _, err := conn.Write([]byte(piece)); err != nil {
					sent <- n
					return
				}
			}
			sent <- 1024
		}()
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatalf("%s: no answer: %v", framing, err)
		}
		got, err := readReply(response)
		if err != nil || got.status != http.StatusRequestEntityTooLarge || got.code != "api.body_too_large" {
			t.Errorf("%s: %d %s %v", framing, got.status, got.code, err)
		}
		if n := <-sent; n >= 64 {
			t.Errorf("%s: the service took %d MiB of the body", framing, n)
		}
	}
	checkMemory(t, p)
}

// TestSlowHeaders holds 500 connections open that do not get to the end of their
// headers: they disturb nobody, and are closed after a time.
func TestSlowHeaders(t *testing.T) {
	t.Parallel() // it takes ten seconds, and nearly no time of a processor
	place := storetest.SQLite(t)
	addOwner(t, place)
	p := start(t, at(place)...)
	slow := dial(t, p.address)
	send(t, slow, "POST /api/auth-login HTTP/1.1\r\nHost: x\r\n")
	for range 499 {
		send(t, dial(t, p.address), "POST /api/auth-login HTTP/1.1\r\nHost: x\r\n")
	}
	began := time.Now()
	newClient(t, p).login(t)
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("a login took %v beside slow connections", took)
	}
	if err := slow.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if n, err := slow.Read(make([]byte, 1)); err == nil || os.IsTimeout(err) {
		t.Errorf("a slow connection is not closed: %d %v", n, err)
	}
	checkMemory(t, p)
}
