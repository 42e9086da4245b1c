package e2e_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gatherkit/e2e/program"
	"gatherkit/internal/feedback"
	"gatherkit/internal/store/storetest"
)

const (
	host       = "feedback.example.com" // as in deploy/nginx.conf
	portalHost = "ideas.example.com"    // as in docs/portal.md
)

// proxy is a running nginx with deploy/nginx.conf.
type proxy struct {
	plain, secure string // addresses
	roots         *x509.CertPool
}

// TestNginx runs the documented reverse proxy in front of the service.
func TestNginx(t *testing.T) {
	p := program.Start(t, "--trusted-proxies", "127.0.0.1", "--submit-rate", "1", "--public-url", "https://"+host)
	_, key := setUp(t, p)
	proxy := startNginx(t, p.Address)
	client := proxy.client(t, "127.0.0.1")
	url := "https://" + host
	submit := func(client *http.Client, forwardedFor string) answer {
		return call(t, client, url+"/api/widget-submit-request", `{"title":"Dark mode","description":""}`,
			"X-API-Key", key, "X-Forwarded-For", forwardedFor)
	}

	// The client's address is a trusted proxy, so the client can choose addresses.
	a := submit(client, "203.0.113.7")
	wantHSTS(t, a)
	if !a.OK || a.proto != "HTTP/2.0" || a.header.Get("X-Request-Id") == "" {
		t.Errorf("the first submission got %+v", a)
	}
	a = submit(client, "203.0.113.7")
	if a.status != http.StatusTooManyRequests || a.Error.Code != "api.rate_limited" || a.header.Get("Retry-After") == "" {
		t.Errorf("the second submission from one address got %+v", a)
	}
	if a := submit(client, "203.0.113.8"); !a.OK {
		t.Errorf("a submission from another address got %+v", a)
	}
	// 127.0.0.2 is not trusted: nginx appends it, and the address that it claims is ignored.
	if a := submit(proxy.client(t, "127.0.0.2"), "203.0.113.7"); !a.OK {
		t.Errorf("a submission with a forged address got %+v", a)
	}
	if strings.Contains(p.Stderr.String(), "not a trusted proxy") {
		t.Errorf("gatherkit does not trust the proxy:\n%s", p.Stderr.String())
	}

	// Only the service's own pages may refresh with the cookie: their origin must match Host.
	a = call(t, client, url+"/api/auth-refresh", "", "Origin", url, "Cookie", "gatherkit_refresh=x")
	if a.Error.Code != "auth.invalid_refresh_token" {
		t.Errorf("a refresh from the service's own page got %+v", a)
	}
	if a := call(t, client, url+"/api/no-such", ""); a.status != http.StatusNotFound || a.Error.Code != "api.unknown_operation" {
		t.Errorf("an unknown operation got %+v", a)
	}

	for size, fromGatherkit := range map[int]bool{300 << 10: true, 600 << 10: false} {
		a := call(t, client, url+"/api/auth-login", strings.Repeat(" ", size))
		if a.status != http.StatusRequestEntityTooLarge || !a.has(feedback.ErrBodyTooLarge) {
			t.Errorf("a body of %d bytes got %+v", size, a)
		}
		if (a.header.Get("X-Request-Id") != "") != fromGatherkit {
			t.Errorf("a body of %d bytes is refused by gatherkit: %v; want %v", size, !fromGatherkit, fromGatherkit)
		}
		wantHSTS(t, a)
	}
	proxy.redirects(t)
	proxy.limits(t)

	p.Stop(t)
	a = call(t, client, url+"/api/auth-me", "")
	wantHSTS(t, a)
	if a.status != http.StatusServiceUnavailable || !a.has(feedback.ErrUnavailable) || a.header.Get("Retry-After") == "" {
		t.Errorf("after gatherkit was stopped, a call got %+v", a)
	}
}

// has reports whether an answer has the code and the message of an error.
func (a answer) has(err *feedback.Error) bool {
	return a.Error.Code == err.Code && a.Error.Message == err.Message
}

// TestFilesThroughNginx sends a file through the proxy and downloads it. The proxy itself refuses
// a file that is too large, with the service's error.
func TestFilesThroughNginx(t *testing.T) {
	p := program.Start(t, "--trusted-proxies", "127.0.0.1", "--public-url", "https://"+host)
	token, key := uploading(t, p)
	client := startNginx(t, p.Address).client(t, "127.0.0.1")
	content := bytes.Repeat([]byte("The list ends at row 7. "), 3<<20/24)
	target, id := announced(t, announce(t, p, key, "long.txt", "text/plain", len(content)))
	tooLarge := `"code":"` + feedback.ErrBodyTooLarge.Code + `","message":"A file may be at most 10 MiB."`
	status, text := put(t, client, target, make([]byte, 12<<20), nil)
	if status != http.StatusRequestEntityTooLarge || !strings.Contains(text, tooLarge) {
		t.Errorf("12 MiB: %d %s", status, text)
	}
	if status, text := put(t, client, target, content, nil); status != http.StatusOK {
		t.Fatalf("%d %s", status, text)
	}
	submission := `{"title":"T","description":"","attachments":["` + id + `"]}`
	if a := call(t, client, "https://"+host+"/api/widget-submit-request", submission, "X-API-Key", key); !a.OK {
		t.Fatalf("%+v", a)
	}
	file := downloadBy(t, client, onlyAttachment(t, p, token).URL)
	if file.status != http.StatusOK || !bytes.Equal(file.body, content) ||
		file.header.Get("Content-Type") != "text/plain" || file.header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("%d %v, %d bytes", file.status, file.header, len(file.body))
	}
	p.Stop(t)
	status, text = put(t, client, target, content, nil)
	if status != http.StatusServiceUnavailable || !strings.Contains(text, `"code":"`+feedback.ErrUnavailable.Code+`"`) {
		t.Errorf("after gatherkit was stopped: %d %s", status, text)
	}
}

// limits checks that the number of concurrent calls of a caller is limited, and that this does
// not affect other callers.
func (p *proxy) limits(t *testing.T) {
	t.Helper()
	const from, limit = "127.0.0.3", 100
	dialer := tls.Dialer{
		NetDialer: &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}},
		Config:    &tls.Config{RootCAs: p.roots, ServerName: host, MinVersion: tls.VersionTLS13},
	}
	var held []net.Conn
	for range limit {
		conn, err := dialer.DialContext(t.Context(), "tcp", p.secure)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		// The body stays incomplete.
		if _, err := fmt.Fprintf(conn, "POST /api/auth-me HTTP/1.1\r\nHost: %s\r\nContent-Length: 10\r\n\r\n{", host); err != nil {
			t.Fatal(err)
		}
		held = append(held, conn)
	}
	client, url := p.client(t, from), "https://"+host+"/api/setup-status"
	var a answer
	program.Eventually(t, "the caller reaches the limit", func() bool {
		a = call(t, client, url, "")
		return !a.OK
	})
	if a.status != http.StatusServiceUnavailable || a.Error.Code != feedback.ErrUnavailable.Code || a.header.Get("Retry-After") == "" {
		t.Errorf("a call beyond the limit got %+v", a)
	}
	wantHSTS(t, a)
	if a := call(t, p.client(t, "127.0.0.4"), url, ""); !a.OK {
		t.Errorf("another caller got %+v", a)
	}
	if err := held[0].Close(); err != nil {
		t.Error(err)
	}
	program.Eventually(t, "the caller can make a call again", func() bool { return call(t, client, url, "").OK })
}

// wantHSTS checks that an answer tells browsers to use only TLS.
func wantHSTS(t *testing.T, a answer) {
	t.Helper()
	if got := a.header.Values("Strict-Transport-Security"); len(got) != 1 || got[0] != "max-age=31536000" {
		t.Errorf("status %d with Strict-Transport-Security %q", a.status, got)
	}
}

// redirects checks that plain HTTP is redirected to TLS, without changing the method.
func (p *proxy) redirects(t *testing.T) {
	t.Helper()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+p.plain+"/api/auth-me", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = host
	response, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // nothing is read
	if to := response.Header.Get("Location"); response.StatusCode != http.StatusPermanentRedirect || to != "https://"+host+"/api/auth-me" {
		t.Errorf("plain HTTP got %d to %s", response.StatusCode, to)
	}
}

// client returns a client that calls the proxy by its host name, from a loopback address.
func (p *proxy) client(t *testing.T, from string) *http.Client {
	t.Helper()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	transport := &http.Transport{
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, network, p.secure)
		},
		TLSClientConfig:   &tls.Config{RootCAs: p.roots, MinVersion: tls.VersionTLS13},
		ForceAttemptHTTP2: true,
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// startNginx checks deploy/nginx.conf with nginx -t and runs it until the test ends. It replaces
// the addresses and the certificate in the file.
func startNginx(t *testing.T, upstream string) *proxy {
	t.Helper()
	nginx, err := exec.LookPath("nginx")
	if err != nil {
		// Debian installs it in a folder that is only in root's PATH.
		if nginx, err = exec.LookPath("/usr/sbin/nginx"); err != nil {
			storetest.Missing(t, "nginx", "install it with `apt-get install nginx-light`")
		}
	}
	folder := t.TempDir()
	p := &proxy{plain: program.FreeAddress(t), secure: program.FreeAddress(t), roots: writeCertificate(t, folder)}
	server := program.Replaced(t, program.Read(t, "deploy/nginx.conf"),
		"listen 80;", "listen "+p.plain+";", "listen 443 ssl http2;", "listen "+p.secure+" ssl http2;",
		"server_name "+host+";", "server_name "+host+" "+portalHost+";",
		"listen [::]:80;", "", "listen [::]:443 ssl http2;", "", // not every machine has IPv6
		"server 127.0.0.1:8080 max_fails=0;", "server "+upstream+" max_fails=0;",
		"/etc/ssl/certs/"+host+".pem", filepath.Join(folder, "certificate.pem"),
		"/etc/ssl/private/"+host+".key", filepath.Join(folder, "key.pem"))
	// A single process, so that none survives the test.
	whole := fmt.Sprintf("daemon off;\nmaster_process off;\npid %[1]s/pid;\nerror_log stderr;\nevents {}\n"+
		"http {\naccess_log off;\nclient_body_temp_path %[1]s/body;\nproxy_temp_path %[1]s/proxy;\n%[2]s}\n", folder, server)
	file := filepath.Join(folder, "nginx.conf")
	if err := os.WriteFile(file, []byte(whole), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), nginx, "-t", "-p", folder, "-c", file).CombinedOutput(); err != nil {
		t.Fatalf("nginx -t: %v\n%s", err, out)
	}
	var stderr program.Output
	cmd := exec.CommandContext(t.Context(), nginx, "-p", folder, "-c", file)
	cmd.Stderr = &stderr
	exited := make(chan struct{})
	program.Launch(t, cmd, exited)
	program.Eventually(t, "nginx listens", func() bool {
		select {
		case <-exited:
			t.Fatalf("nginx exited:\n%s", stderr.String())
		default:
		}
		connection, err := new(net.Dialer).DialContext(t.Context(), "tcp", p.secure)
		return err == nil && connection.Close() == nil
	})
	return p
}

// writeCertificate writes a certificate for the host and its key.
func writeCertificate(t *testing.T, folder string) *x509.CertPool {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{host, portalHost},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{
		"certificate.pem": {Type: "CERTIFICATE", Bytes: certificate}, "key.pem": {Type: "PRIVATE KEY", Bytes: private},
	} {
		if err := os.WriteFile(filepath.Join(folder, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	parsed, err := x509.ParseCertificate(certificate)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(parsed)
	return roots
}
