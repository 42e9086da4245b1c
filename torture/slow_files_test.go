package torture_test

import (
	"crypto/rand"
	"fmt"
	"image"
	"image/png"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"gatherkit/e2e/program"
	"gatherkit/internal/store/storetest"
)

const (
	filesAtOnce = 48      // uploads that the service accepts at once for an account
	filesOfOne  = 16      // uploads that it accepts at once from one address
	fileSize    = 4 << 20 // size of a slow file
	fileSent    = 2 << 20 // bytes of it that are sent before it becomes slow
)

// address returns an address of a caller. Each one is in a different network.
func address(i int) string { return fmt.Sprintf("198.51.%d.1", i+1) }

// at returns a client that calls from an address, through a trusted proxy.
func at(c program.Client, address string) program.Client {
	return program.Client{URL: c.URL, HTTP: &http.Client{Transport: forwarded{c.HTTP.Transport, address}, Timeout: c.HTTP.Timeout}}
}

// forwarded makes calls like a proxy.
type forwarded struct {
	http.RoundTripper
	from string
}

// RoundTrip implements http.RoundTripper.
func (f forwarded) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("X-Forwarded-For", f.from)
	return f.RoundTripper.RoundTrip(r)
}

// TestSlowFiles sends files at the lowest speed that the service accepts. When one address has
// reached its limit, another address can still send a file. When the account has reached its
// limit, submissions work as before, and another file gets 503. After the slow uploads end, a file
// is accepted again. In the long form, it also tests that an upload that stops is closed.
func TestSlowFiles(t *testing.T) {
	storetest.Proof(t)
	t.Parallel() // even the long form mostly waits
	place := storetest.SQLite(t)
	program.AddOwner(t, place)
	p := program.Start(t, append(program.At(place), "--trusted-proxies=127.0.0.1", "--submit-rate=0")...)
	c := program.NewClient(t, p)
	token := c.Login(t)
	app := filesApp(t, c, token)
	l := startLoad(t, 4, app.APIKey, c)
	l.AwaitMore(t, 100)
	quiet, began := memory(t, p, "VmRSS"), time.Now()

	if *program.Full {
		stops := slowFile(t, c, app.APIKey, address(filesAtOnce))
		stops.more, stops.within = "", 30*time.Second
		conn, err := stops.open(t, p)
		if err != nil {
			t.Fatal(err)
		}
		stops.wantClosed(t, conn)
	}
	var all connections
	for i := range filesAtOnce {
		all.add(t, p, slowFile(t, c, app.APIKey, address(i/filesOfOne)), 1)
		if i == filesOfOne-1 {
			if status, code := sendFile(t, c, app.APIKey); status != http.StatusOK {
				t.Errorf("a file from another address: %d %s", status, code)
			}
		}
	}
	await(t, "the service has as many uploads as it accepts", func() bool {
		status, _ := sendFile(t, c, app.APIKey)
		return status == http.StatusServiceUnavailable
	})
	l.AwaitMore(t, program.Times(500, 5000))
	if status, code := sendFile(t, c, app.APIKey); status != http.StatusServiceUnavailable || code != "api.unavailable" {
		t.Errorf("one more file: %d %s", status, code)
	}
	others, peak := l.between(began, time.Now()), memory(t, p, "VmHWM")
	all.close()
	await(t, "a file is accepted", func() bool { status, _ := sendFile(t, c, app.APIKey); return status == http.StatusOK })
	l.stop()
	stored := c.List(t, c.Login(t))
	l.Check(t, stored)
	if others.failures > 0 || late(others.p99, 2*time.Second) {
		t.Errorf("other callers: %v", others)
	}
	if n := all.refused.Load(); n > 0 {
		t.Errorf("%d connections were refused", n)
	}
	measured(t, "%d slow files of %d MiB: others' submissions %v; memory %d MiB before, %d MiB at the peak",
		filesAtOnce, fileSize>>20, others, quiet, peak)
	checkMemory(t, p)
}

// filesApp creates an app that accepts files.
func filesApp(t *testing.T, c program.Client, token string) program.App {
	t.Helper()
	app := c.AddApp(t, token)
	settings := program.Params{"widget": program.Params{"allow_file_uploads": true}}
	c.Want(t, "ok", "apps-update-settings", token, program.Params{"id": app.ID, "settings": settings})
	return app
}

// slowFile announces a file and returns an upload of it at a little more than the 8 KiB per
// second that the service requires.
func slowFile(t *testing.T, c program.Client, key, from string) slowConnection {
	t.Helper()
	file := program.Params{"filename": "slow.txt", "content_type": "text/plain", "size": fileSize}
	u := at(c, from).Want(t, "ok", "widget-create-upload", key, file).Upload
	head := fmt.Sprintf("PUT %s HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: %s\r\nContent-Length: %d\r\n\r\n", u.URL, from, fileSize)
	return slowConnection{name: "file", begin: head + strings.Repeat("slow", fileSent/4), more: strings.Repeat("slow", 7<<10)}
}

// sendFile announces and sends a small file, and returns the status and the code.
func sendFile(t *testing.T, c program.Client, key string) (status int, code string) {
	t.Helper()
	const content = "good"
	status, code, err := put(c, announced(t, c, key, content), content)
	if err != nil {
		t.Fatal(err)
	}
	return status, code
}

// announced announces a file with the given content.
func announced(t *testing.T, c program.Client, key, content string) program.Upload {
	t.Helper()
	file := program.Params{"filename": "a", "content_type": "text/plain", "size": len(content)}
	return c.Want(t, "ok", "widget-create-upload", key, file).Upload
}

func put(c program.Client, u program.Upload, content string) (status int, code string, err error) {
	r, err := http.NewRequest(http.MethodPut, c.URL+u.URL, strings.NewReader(content))
	if err != nil {
		return 0, "", err
	}
	response, err := c.HTTP.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close() //nolint:errcheck // the body is read below
	got, err := program.ReadReply(response)
	return got.Status, got.Code, err
}

// TestLargeFiles sends large pictures from several addresses to two apps, as many at once as the
// service accepts, and attaches them.
func TestLargeFiles(t *testing.T) {
	storetest.Proof(t)
	place := storetest.SQLite(t)
	program.AddOwner(t, place)
	p := program.Start(t, append(program.At(place), "--trusted-proxies=127.0.0.1", "--submit-rate=0")...)
	c := program.NewClient(t, p)
	token := c.Login(t)
	apps := []program.App{filesApp(t, c, token), filesApp(t, c, token)}
	l := startLoad(t, 4, apps[0].APIKey, c)
	l.AwaitMore(t, 100)
	began, picture, rounds := time.Now(), noise(t, 3200), program.Times(2, 20)
	for round := range rounds {
		var all sync.WaitGroup
		for i := range filesAtOnce {
			c, app := at(c, address(i%8)), apps[i%2]
			u := announced(t, c, app.APIKey, picture)
			all.Go(func() {
				status, code, err := put(c, u, picture)
				if err != nil || status != http.StatusOK {
					t.Errorf("%d %s %v", status, code, err)
				}
				title := fmt.Sprint("with a picture ", round, i)
				in := program.Params{"title": title, "description": "", "attachments": []string{u.ID}}
				got, err := c.Call("widget-submit-request", app.APIKey, in)
				if err != nil || got.Code != "ok" {
					t.Errorf("attached: %s %v", got.Code, err)
				}
				l.Note(t, got.Request.ID, title)
			})
		}
		all.Wait()
	}
	others, took := l.between(began, time.Now()), time.Since(began)
	settled := l.settle(t, c, c.Login(t))
	if others.failures > 0 || late(others.p99, 2*time.Second) {
		t.Errorf("other callers: %v", others)
	}
	measured(t, "%d pictures of %d MiB, %d at once, in %v: others' submissions %v; %d MiB at the peak; %s",
		rounds*filesAtOnce, len(picture)>>20, filesAtOnce, took.Round(time.Second), others, memory(t, p, "VmHWM"), settled)
	checkMemory(t, p)
}

// noise returns a square PNG with the given width, which has one byte per pixel.
func noise(t *testing.T, pixels int) string {
	t.Helper()
	i := image.NewGray(image.Rect(0, 0, pixels, pixels))
	if _, err := rand.Read(i.Pix); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := (&png.Encoder{CompressionLevel: png.NoCompression}).Encode(&b, i); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
