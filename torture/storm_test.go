package torture_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"gatherkit/e2e/program"
	"gatherkit/internal/store/storetest"
)

// TestLoginStorm makes 64 logins at once. Half of them have an unknown e-mail.
func TestLoginStorm(t *testing.T) {
	storetest.Proof(t)
	const logins = 64
	storetest.EachInTurn(t, func(t *testing.T, place storetest.Place) {
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
				got, err := c.Persist("auth-login", "", in)
				if err != nil || got.Code != want {
					t.Errorf("login %d: %d %s %v, want %s", i, got.Status, got.Code, err, want)
				}
			})
		}
		all.Wait()
		checkMemory(t, p)
	})
}

// hostileBody is a body that no normal client sends, and the expected answer.
type hostileBody struct {
	name    string
	headers string
	begin   string
	piece   string // is sent after begin up to 1,024 times, until the service closes the connection
	status  int
	code    string
}

func hostileBodies() []hostileBody {
	const typed = "Content-Type: application/json\r\n"
	mebibyte := strings.Repeat(" ", 1<<20)
	keys := func(n int) string {
		var b strings.Builder
		b.WriteString("{")
		for i := range n {
			fmt.Fprintf(&b, `"k%d":1,`, i)
		}
		return b.String() + `"k":1}`
	}
	zip := func() string {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		for range 64 {
			_, _ = io.WriteString(w, mebibyte) // a buffer returns no error
		}
		_ = w.Close()
		return b.String()
	}
	whole := func(name, headers, body string, status int, code string) hostileBody {
		headers = fmt.Sprintf("%s%sContent-Length: %d\r\n", typed, headers, len(body))
		return hostileBody{name: name, headers: headers, begin: body, status: status, code: code}
	}
	return []hostileBody{
		{"1 GiB", typed + "Content-Length: 1073741824\r\n", "", mebibyte, 413, "api.body_too_large"},
		{"endless", typed + "Transfer-Encoding: chunked\r\n", "", "100000\r\n" + mebibyte + "\r\n", 413, "api.body_too_large"},
		{"in small chunks", typed + "Transfer-Encoding: chunked\r\n", "", strings.Repeat("8\r\n        \r\n", 1<<14), 413, "api.body_too_large"},
		whole("64 MiB in 64 KiB of gzip", "Content-Encoding: gzip\r\n", zip(), 415, "api.unsupported_media_type"),
		whole("10,000 nested arrays", "", `{"a":`+strings.Repeat("[", 10_001)+strings.Repeat("]", 10_001)+"}", 400, "api.invalid_json"),
		whole("9,000 nested arrays", "", `{"a":`+strings.Repeat("[", 9_000)+strings.Repeat("]", 9_000)+"}", 400, "api.unknown_parameter"),
		whole("a million keys", "", keys(1_000_000), 413, "api.body_too_large"),
		whole("as many keys as fit", "", keys(22_000), 400, "api.unknown_parameter"),
	}
}

// TestHostileBodies sends each of these bodies to operations with each kind of credential, many
// at once.
func TestHostileBodies(t *testing.T) {
	storetest.Proof(t)
	place := storetest.SQLite(t)
	p, c, token, app := program.Serve(t, place)
	operations := map[string]string{
		"auth-login":            "",
		"apps-create":           "Authorization: Bearer " + token + "\r\n",
		"widget-submit-request": "X-API-Key: " + app.APIKey + "\r\n",
	}
	for _, body := range hostileBodies() {
		for operation, credential := range operations {
			var all sync.WaitGroup
			for range program.Times(1, 50) {
				all.Go(func() { body.send(t, p, operation, credential) })
			}
			all.Wait()
		}
	}
	c.Submit(t, app.APIKey, "a normal request")
	measured(t, "%d kinds of bodies, %d at once on 3 operations: %d MiB at the peak",
		len(hostileBodies()), program.Times(1, 50), memory(t, p, "VmHWM"))
	checkMemory(t, p)
}

// send sends the body and checks the answer.
func (b hostileBody) send(t *testing.T, p *program.Process, operation, credential string) {
	conn, err := net.Dial("tcp", p.Address)
	if err != nil {
		t.Error(err)
		return
	}
	defer conn.Close() //nolint:errcheck // the answer was read
	if err := conn.SetDeadline(time.Now().Add(storetest.Patience)); err != nil {
		t.Error(err)
		return
	}
	sent := make(chan int, 1)
	go func() {
		_, err := fmt.Fprintf(conn, "POST /api/%s HTTP/1.1\r\nHost: x\r\n%s%s\r\n%s", operation, credential, b.headers, b.begin)
		n := 0
		for ; b.piece != "" && n < 1024 && err == nil; n++ {
			_, err = io.WriteString(conn, b.piece)
		}
		sent <- n
	}()
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Errorf("%s to %s: no answer: %v", b.name, operation, err)
		return
	}
	got, err := program.ReadReply(response)
	if err := errors.Join(err, response.Body.Close()); err != nil || got.Status != b.status || got.Code != b.code {
		t.Errorf("%s to %s: %d %s %v, want %d %s", b.name, operation, got.Status, got.Code, err, b.status, b.code)
	}
	if n := <-sent * len(b.piece) >> 20; n >= 64 {
		t.Errorf("%s to %s: the service read %d MiB of the body", b.name, operation, n)
	}
}

// TestBodyThatNeverComes announces a body and sends nothing of it.
func TestBodyThatNeverComes(t *testing.T) {
	storetest.Proof(t)
	t.Parallel()
	p := program.Start(t)
	for _, c := range []struct {
		operation string
		status    int
		code      string
		within    time.Duration
	}{
		{"auth-login", 408, "api.request_timeout", 30 * time.Second},
		{"apps-create", 401, "auth.missing_token", 45 * time.Second}, // net/http waits for a short body even if nobody reads it
	} {
		t.Run(c.operation, func(t *testing.T) {
			t.Parallel()
			conn := dial(t, p.Address)
			began := time.Now()
			send(t, conn, "POST /api/"+c.operation+" HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n")
			reader := bufio.NewReader(conn)
			response, err := http.ReadResponse(reader, nil)
			if err != nil {
				t.Fatal(err)
			}
			got, err := program.ReadReply(response)
			answered := time.Since(began)
			if err := errors.Join(err, response.Body.Close()); err != nil || got.Status != c.status || got.Code != c.code {
				t.Errorf("%d %s %v, want %d %s", got.Status, got.Code, err, c.status, c.code)
			}
			_, err = reader.ReadByte()
			ended := time.Since(began)
			if !errors.Is(err, io.EOF) || late(ended, c.within+2*time.Second) {
				t.Errorf("answered after %v, closed after %v with %v", answered, ended, err)
			}
			measured(t, "answered %d after %v, closed after %v", got.Status, answered.Round(100*time.Millisecond), ended.Round(100*time.Millisecond))
		})
	}
}
