package webhook_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gatherkit/internal/feedback"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
	"gatherkit/internal/webhook"
)

const (
	late    = "The endpoint did not answer in time."
	broken  = "The connection failed."
	noTLS   = "The endpoint does not speak TLS."
	badCert = "The certificate of the endpoint is not valid."
)

// hostile is an endpoint that misbehaves, and what must come of an attempt.
type hostile struct {
	url      string
	outcome  string
	sentence string
}

// TestHostileEndpoints sends to endpoints that misbehave, all at the same time.
func TestHostileEndpoints(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		rig, sender := newSender(t, at, "127.0.0.0/8")
		sent, trapped := new(atomic.Int64), new(atomic.Int64)
		endpoints := silentEndpoints(t)
		maps.Copy(endpoints, endlessEndpoints(t, sent))
		maps.Copy(endpoints, brokenEndpoints(t))
		maps.Copy(endpoints, secureEndpoints(t, sender, sent))
		maps.Copy(endpoints, redirects(t, trapped))
		stop := watchHeap()
		var all sync.WaitGroup
		for name, one := range endpoints {
			account := rig.NewAccount(name)
			all.Go(func() { one.check(t, rig, sender, account, name) })
		}
		all.Wait()
		if grown := stop(); grown > 64<<20 {
			t.Errorf("the heap grew by %d MiB", grown>>20)
		}
		// What the sockets hold is more than what was read.
		if n := sent.Load(); n == 0 || n > 64<<20 {
			t.Errorf("endpoints without an end have sent %d bytes", n)
		}
		if trapped.Load() > 0 {
			t.Error("a redirect was followed")
		}
	})
}

func (h hostile) check(t *testing.T, rig *storetest.Rig, sender *webhook.Sender, account feedback.Account, name string) {
	ctx := context.Background()
	hook := addWebhook(t, rig, account, h.url)
	got, err := sender.Test(ctx, account.ID, hook.ID)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	sentence, response := "", ""
	if got.Error != nil {
		sentence = *got.Error
	}
	if got.Response != nil {
		response = *got.Response
	}
	if string(got.Outcome) != h.outcome || sentence != h.sentence {
		t.Errorf("%s: %s, %q, want %s, %q", name, got.Outcome, sentence, h.outcome, h.sentence)
	}
	// The machine may be busy, so that a timer ends late.
	if took := time.Duration(got.Took) * time.Millisecond; took > 2*webhook.CallTime {
		t.Errorf("%s: it took %v", name, took)
	}
	if len(response) > 4<<10 || strings.Contains(sentence+response, "127.") {
		t.Errorf("%s: %q, an answer of %d bytes: %.200q", name, sentence, len(response), response)
	}
	stored, err := rig.Webhooks.Attempts(ctx, account.ID, hook.ID, nil, 10)
	if err != nil || len(stored) != 1 || stored[0].Response != nil && *stored[0].Response != response {
		t.Errorf("%s: stored %+v %v", name, stored, err)
	}
}

func newSender(t *testing.T, at storetest.Place, allow ...string) (*storetest.Rig, *webhook.Sender) {
	t.Helper()
	rig := storetest.NewRig(t, at, func(o *store.Options) { o.Now = time.Now })
	o := webhook.Options{Home: "https://feedback.example.com"}
	for _, network := range allow {
		o.Allow = append(o.Allow, netip.MustParsePrefix(network))
	}
	return rig, webhook.NewSender(rig.Webhooks, o)
}

func addWebhook(t *testing.T, rig *storetest.Rig, account feedback.Account, url string) webhook.Webhook {
	hook, err := rig.Webhooks.Add(context.Background(), account.ID, feedback.Command(), webhook.Webhook{
		Name: "Endpoint", URL: url, Format: webhook.Events, Kinds: []string{},
	})
	if err != nil {
		t.Errorf("%s: %v", url, err)
	}
	return hook
}

// watchHeap measures the heap until stop is called, which returns by how much it has grown at most.
func watchHeap() (stop func() uint64) {
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	runtime.GC()
	before := heap()
	done, result := make(chan struct{}), make(chan uint64)
	go func() {
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		most := before
		for {
			select {
			case <-tick.C:
				most = max(most, heap())
			case <-done:
				result <- most - before
				return
			}
		}
	}()
	return func() uint64 { close(done); return <-result }
}

// listen calls serve with each connection to an address until the test ends.
func listen(t *testing.T, address string, serve func(net.Conn)) (hostPort string) {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	var open sync.Map
	all.Go(func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			open.Store(c, true)
			all.Go(func() {
				defer c.Close() //nolint:errcheck // it may be closed already
				serve(c)
			})
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		open.Range(func(c, _ any) bool {
			_ = c.(net.Conn).Close()
			return true
		})
		all.Wait()
	})
	return listener.Addr().String()
}

// endpoint returns the address of an endpoint that reads the head of a call and continues with serve.
func endpoint(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	return "http://" + listen(t, "127.0.0.1:0", func(c net.Conn) {
		if _, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
			serve(c)
		}
	})
}

// says returns an endpoint that answers with a text and closes the connection.
func says(t *testing.T, format string, args ...any) string {
	t.Helper()
	return endpoint(t, func(c net.Conn) { _, _ = fmt.Fprintf(c, format, args...) })
}

// hang waits until the other side closes the connection.
func hang(c net.Conn) { _, _ = io.Copy(io.Discard, c) }

// drip sends a text and then a byte a second.
func drip(c net.Conn, text string) {
	for {
		if _, err := io.WriteString(c, text); err != nil {
			return
		}
		time.Sleep(time.Second)
		text = "x"
	}
}

// flood sends a text again and again, and counts its bytes.
func flood(w io.Writer, text string, sent *atomic.Int64) {
	for {
		n, err := io.WriteString(w, text)
		sent.Add(int64(n))
		if err != nil {
			return
		}
	}
}

func silentEndpoints(t *testing.T) map[string]hostile {
	after := func(text string, then func(net.Conn, string)) string {
		return endpoint(t, func(c net.Conn) { then(c, text) })
	}
	silent := func(c net.Conn, text string) { _, _ = io.WriteString(c, text); hang(c) }
	return map[string]hostile{
		"silent":             {endpoint(t, hang), "failed", late},
		"silent handshake":   {"https://" + listen(t, "127.0.0.1:0", hang), "failed", late},
		"silent after a 100": {after("HTTP/1.1 100 Continue\r\n\r\n", silent), "failed", late},
		"status line drips":  {after("HTTP/1.1 ", drip), "failed", late},
		"headers drip":       {after("HTTP/1.1 200 OK\r\nX-Drip: ", drip), "failed", late},
		"body drips":         {after("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n", drip), "delivered", ""},
		"body never comes":   {after("HTTP/1.1 200 OK\r\nContent-Length: 9999999999\r\n\r\n", silent), "delivered", ""},
	}
}

func endlessEndpoints(t *testing.T, sent *atomic.Int64) map[string]hostile {
	endless := func(head, text string) string {
		return endpoint(t, func(c net.Conn) {
			_, _ = io.WriteString(c, head)
			flood(c, text, sent)
		})
	}
	const ok, header = "HTTP/1.1 200 OK\r\n", "X-Header: 0123456789012345678901234567890123456789\r\n"
	const chunked = ok + "Transfer-Encoding: chunked\r\n\r\n"
	many := strings.Repeat("0123456789", 1<<12)
	bomb := zeros(t, 64<<20)
	return map[string]hostile{
		"endless body":      {endless(ok+"\r\n", many), "delivered", ""},
		"endless chunks":    {endless(chunked, "1\r\nx\r\n"), "delivered", ""},
		"endless extension": {endless(chunked+"1;", many), "delivered", ""},
		"endless headers":   {endless(ok, header), "failed", broken},
		"endless header":    {endless(ok+"X-Header: ", many), "failed", broken},
		"endless status":    {endless("HTTP/1.1 200 ", many), "failed", broken},
		"endless hints":     {endless("", "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"), "failed", broken},
		"endless refusal":   {endless("HTTP/1.1 500 No\r\n\r\n", many), "failed", "The endpoint answered 500 Internal Server Error."},
		"64 KiB of headers": {says(t, "%s%s\r\n", ok, strings.Repeat(header, 64<<10/len(header))), "failed", broken},
		"gzip bomb":         {says(t, "%sContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s", ok, len(bomb), bomb), "delivered", ""},
	}
}

// zeros returns a number of zero bytes, compressed.
func zeros(t *testing.T, n int64) string {
	t.Helper()
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	zero, err := os.Open("/dev/zero")
	if err == nil {
		_, err = io.CopyN(w, zero, n)
	}
	if err := errors.Join(err, w.Close(), zero.Close()); err != nil {
		t.Fatal(err)
	}
	return packed.String()
}

func brokenEndpoints(t *testing.T) map[string]hostile {
	reset := func(c net.Conn) { _ = c.(*net.TCPConn).SetLinger(0) }
	atOnce := func(serve func(net.Conn)) string { return "http://" + listen(t, "127.0.0.1:0", serve) }
	plain := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(plain.Close)
	const ok = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"
	const switches = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"
	const refuses = "HTTP/1.1 400 \x00\xff\r\nConnection: close\r\n\r\n\x00\xff\x00\xff"
	return map[string]hostile{
		"closes at once":        {atOnce(func(net.Conn) {}), "failed", broken},
		"closes after the call": {endpoint(t, func(net.Conn) {}), "failed", broken},
		"resets at once":        {atOnce(reset), "failed", broken},
		"resets":                {endpoint(t, reset), "failed", broken},
		"another protocol":      {says(t, "SSH-2.0-OpenSSH_9.2p1\r\n"), "failed", broken},
		"a strange status":      {says(t, "HTTP/1.1 2000 OK\r\n\r\n"), "failed", broken},
		"two lengths":           {says(t, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx"), "failed", broken},
		"switches protocols":    {says(t, switches), "failed", "The endpoint answered 101 Switching Protocols."},
		"refuses with garbage":  {says(t, refuses), "refused", "The endpoint answered 400 Bad Request."},
		"answers with garbage":  {says(t, "%s\xff\xfe\x00\x01\xed\xa0\x80 garbage", ok), "delivered", ""},
		"answers with NUL":      {says(t, "%s%s", ok, strings.Repeat("\x00", 8<<10)), "delivered", ""},
		"cuts a character":      {says(t, "%sx%s", ok, strings.Repeat("é", 4<<10)), "delivered", ""},
		"ends in the body":      {says(t, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf"), "delivered", ""},
		"closed port":           {"http://127.0.0.1:1", "failed", "The endpoint refused the connection."},
		"impossible port":       {"http://127.0.0.1:99999", "failed", broken},
		"plain HTTP on https":   {strings.Replace(plain.URL, "http:", "https:", 1), "failed", noTLS},
	}
}

func secureEndpoints(t *testing.T, sender *webhook.Sender, sent *atomic.Int64) map[string]hostile {
	trusted := x509.NewCertPool()
	two := func(handler http.HandlerFunc) string {
		s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.ProtoMajor != 2 {
				w.WriteHeader(http.StatusHTTPVersionNotSupported)
				return
			}
			handler(w, r)
		}))
		s.EnableHTTP2 = true
		s.Config.ErrorLog = log.New(io.Discard, "", 0)
		s.StartTLS()
		t.Cleanup(s.Close)
		trusted.AddCert(s.Certificate())
		return s.URL
	}
	good := two(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "thanks") })
	headers := func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X-Header", strings.Repeat("x", 64<<10)) }
	speaksFirst := func(c net.Conn) { _, _ = io.WriteString(c, "220 mail.example.com ESMTP\r\n"); hang(c) }
	sender.Trust(trusted)
	return map[string]hostile{
		"HTTP/2":                 {good, "delivered", ""},
		"HTTP/2, silent":         {two(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }), "failed", late},
		"HTTP/2, endless body":   {two(func(w http.ResponseWriter, _ *http.Request) { flood(w, "0123456789", sent) }), "delivered", ""},
		"HTTP/2, resets":         {two(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }), "failed", broken},
		"HTTP/2, 64 KiB headers": {two(headers), "failed", broken},
		"another name":           {strings.Replace(good, "127.0.0.1", "localhost", 1), "failed", badCert},
		"unknown authority":      {withCertificate(t, time.Hour), "failed", badCert},
		"expired certificate":    {withCertificate(t, -time.Hour), "failed", badCert},
		"TLS on http":            {strings.Replace(good, "https:", "http:", 1), "refused", "The endpoint answered 400 Bad Request."},
		"speaks no TLS":          {"https://" + listen(t, "127.0.0.1:0", speaksFirst), "failed", noTLS},
	}
}

// withCertificate returns an endpoint with a certificate of its own, which ends after some time.
func withCertificate(t *testing.T, valid time.Duration) string {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := x509.Certificate{
		SerialNumber: big.NewInt(1), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: time.Now().Add(valid),
	}
	signed, err := x509.CreateCertificate(rand.Reader, &template, &template, public, private)
	if err != nil {
		t.Fatal(err)
	}
	config := &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{signed}, PrivateKey: private}}}
	return "https://" + listen(t, "127.0.0.1:0", func(c net.Conn) { hang(tls.Server(c, config)) })
}

// redirects are endpoints that redirect to a trap, which counts connections.
func redirects(t *testing.T, trapped *atomic.Int64) map[string]hostile {
	trap := listen(t, "127.0.0.1:0", func(net.Conn) { trapped.Add(1) })
	list := map[string]hostile{}
	for _, status := range []int{301, 302, 303, 307, 308} {
		list[fmt.Sprint("redirects with ", status)] = hostile{
			says(t, "HTTP/1.1 %d \r\nLocation: http://%s/\r\nContent-Length: 0\r\n\r\n", status, trap), "failed",
			fmt.Sprintf("The endpoint answered %d; redirects are not followed.", status),
		}
	}
	return list
}
