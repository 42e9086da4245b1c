package torture_test

import (
	"bufio"
	"errors"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"gatherkit/e2e/program"
	"gatherkit/internal/store/storetest"
)

// maxMemory is what the service may take at its peak, in bytes.
const maxMemory = 200 << 20

// checkMemory fails when the service has ever had more than maxMemory.
func checkMemory(t *testing.T, p *program.Process) {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.PID))
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
		program.AddOwner(t, place)
		p := program.Start(t, program.At(place)...)
		c := program.NewClient(t, p)
		var all sync.WaitGroup
		for i := range logins {
			all.Go(func() {
				in, want := program.Params{"email": program.Email, "password": program.Password}, "ok"
				if i%2 == 0 {
					in, want = program.Params{"email": fmt.Sprintf("nobody%d@example.com", i), "password": program.Password}, "auth.invalid_credentials"
				}
				got, err := c.Call("auth-login", "", in)
				if err != nil || got.Code != want {
					t.Errorf("login %d: %d %s %v, want %s", i, got.Status, got.Code, err, want)
				}
			})
		}
		all.Wait()
		checkMemory(t, p)
	})
}

// TestEndlessBody sends one GiB to an operation that anybody may call.
func TestEndlessBody(t *testing.T) {
	p := program.Start(t)
	for _, framing := range []string{"Transfer-Encoding: chunked", "Content-Length: 1073741824"} {
		conn := dial(t, p.Address)
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
		got, err := program.ReadReply(response)
		err = errors.Join(err, response.Body.Close())
		if err != nil || got.Status != http.StatusRequestEntityTooLarge || got.Code != "api.body_too_large" {
			t.Errorf("%s: %d %s %v", framing, got.Status, got.Code, err)
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
	program.AddOwner(t, place)
	p := program.Start(t, program.At(place)...)
	slow := dial(t, p.Address)
	send(t, slow, "POST /api/auth-login HTTP/1.1\r\nHost: x\r\n")
	for range 499 {
		send(t, dial(t, p.Address), "POST /api/auth-login HTTP/1.1\r\nHost: x\r\n")
	}
	began := time.Now()
	program.NewClient(t, p).Login(t)
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
