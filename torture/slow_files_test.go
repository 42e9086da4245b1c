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
	filesAtOnce = 48      // that the service takes for an account
	filesOfOne  = 16      // of which one address has a place for
	fileSize    = 4 << 20 // of a slow one
	fileSent    = 2 << 20 // of it, before it becomes slow
)

// address is one of the addresses of a test, which a proxy names that the service trusts.
// Each is in a network of its own.
func address(i int) string { return fmt.Sprintf("198.51.%d.1", i+1) }

// at is the client as it calls from an address.
func at(c program.Client, address string) program.Client {
	return program.Client{URL: c.URL, HTTP: &http.Client{Transport: forwarded{c.HTTP.Transport, address}, Timeout: c.HTTP.Timeout}}
}

// forwarded makes calls as a proxy does.
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

// TestSlowFiles sends files that become as slow as they may be. As many as one address may
// send at once keep nobody elsewhere from sending one. Then others send as many as the
// service takes: submissions go on as before, and so does what else there is; another
// file is put off, and goes through when the slow ones are gone. One that stops is ended.
func TestSlowFiles(t *testing.T) {
	t.Parallel() // in the long form, it waits for most of its time
	place := storetest.SQLite(t)
	program.AddOwner(t, place)
	p := program.Start(t, append(program.At(place), "--trusted-proxies=127.0.0.1")...)
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
	var all crowd
	for i := range filesAtOnce {
		all.add(t, p, slowFile(t, c, app.APIKey, address(i/filesOfOne)), 1)
		if i == filesOfOne-1 {
			if status, code := sendFile(t, c, app.APIKey); status != http.StatusOK {
				t.Errorf("a file from elsewhere: %d %s", status, code)
			}
		}
	}
	await(t, "the service holds as many files as it takes", func() bool {
		status, _ := sendFile(t, c, app.APIKey)
		return status == http.StatusServiceUnavailable
	})
	l.AwaitMore(t, program.Times(500, 5000))
	if status, code := sendFile(t, c, app.APIKey); status != http.StatusServiceUnavailable || code != "api.unavailable" {
		t.Errorf("one more file: %d %s", status, code)
	}
	others, peak := l.between(began, time.Now()), memory(t, p, "VmHWM")
	all.close()
	await(t, "a good file goes through", func() bool { status, _ := sendFile(t, c, app.APIKey); return status == http.StatusOK })
	l.stop()
	stored := c.List(t, c.Login(t))
	l.Check(t, stored)
	if others.failures > 0 || late(others.p99, 2*time.Second) {
		t.Errorf("other callers: %v", others)
	}
	if n := all.refused.Load(); n > 0 {
		t.Errorf("%d connections found no room", n)
	}
	measured(t, "%d slow files of %d MiB: others' submissions %v; memory %d MiB before, %d MiB at the peak", filesAtOnce, fileSize>>20, others, quiet, peak)
	checkMemory(t, p)
}

// filesApp is an app that takes files.
func filesApp(t *testing.T, c program.Client, token string) program.App {
	t.Helper()
	app := c.AddApp(t, token)
	c.Want(t, "ok", "apps-update-settings", token, program.Params{"id": app.ID, "settings": program.Params{"widget": program.Params{"allow_file_uploads": true}}})
	return app
}

// slowFile is the sending of a file that goes on at little more than the 8 KiB a second
// that the service demands.
func slowFile(t *testing.T, c program.Client, key, from string) slowness {
	t.Helper()
	file := program.Params{"filename": "slow.txt", "content_type": "text/plain", "size": fileSize}
	u := at(c, from).Want(t, "ok", "widget-create-upload", key, file).Upload
	head := fmt.Sprintf("PUT %s HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: %s\r\nContent-Length: %d\r\n\r\n", u.URL, from, fileSize)
	return slowness{name: "file", begin: head + strings.Repeat("slow", fileSent/4), more: strings.Repeat("slow", 7<<10)}
}

// sendFile sends a good file, and returns the status and the code.
func sendFile(t *testing.T, c program.Client, key string) (status int, code string) {
	t.Helper()
	const content = "good"
	status, code, err := put(c, announced(t, c, key, content), content)
	if err != nil {
		t.Fatal(err)
	}
	return status, code
}

// announced is where content is to be sent.
func announced(t *testing.T, c program.Client, key, content string) program.Upload {
	t.Helper()
	return c.Want(t, "ok", "widget-create-upload", key, program.Params{"filename": "a", "content_type": "text/plain", "size": len(content)}).Upload
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
	defer response.Body.Close() //nolint:errcheck // read to its end
	got, err := program.ReadReply(response)
	return got.Status, got.Code, err
}

// TestLargeFiles sends large pictures from several addresses to two apps, as many at once
// as the service takes, and attaches them.
func TestLargeFiles(t *testing.T) {
	place := storetest.SQLite(t)
	program.AddOwner(t, place)
	p := program.Start(t, append(program.At(place), "--trusted-proxies=127.0.0.1")...)
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
				got, err := c.Call("widget-submit-request", app.APIKey, program.Params{"title": title, "description": "", "attachments": []string{u.ID}})
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

// noise is a PNG of so many pixels each way, which takes a byte for each.
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
