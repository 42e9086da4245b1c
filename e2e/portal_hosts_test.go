package e2e_test

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gatherkit/e2e/program"
	"gatherkit/internal/store/storetest"
)

// hostedPortal starts a service with a portal on portalHost. It returns the token of the owner and the app.
func hostedPortal(t *testing.T) (p *program.Process, c program.Client, token string, app program.App) {
	t.Helper()
	place := storetest.SQLite(t)
	program.AddOwner(t, place)
	p = program.Start(t, append(program.At(place), "--trusted-proxies", "127.0.0.1", "--public-url", "https://"+host)...)
	c = program.NewClient(t, p)
	token = c.Login(t)
	app = c.AddApp(t, token)
	setPortal(t, c, token, app, program.Params{"access": "public", "slug": "acme", "host": portalHost})
	c.Submit(t, app.APIKey, "Dark mode")
	return p, c, token, app
}

// setPortal changes the settings of the portal of an app that shares all requests.
func setPortal(t *testing.T, c program.Client, token string, app program.App, portal program.Params) {
	t.Helper()
	c.Want(t, "ok", "apps-update-settings", token, program.Params{
		"id": app.ID, "settings": program.Params{"sharing": "all", "portal": portal},
	})
}

// visited is the answer to a call for a page.
type visited struct {
	Status     string
	StatusCode int
	Header     http.Header
}

// Cookies returns the cookies that the answer sets.
func (v visited) Cookies() []*http.Cookie { return (&http.Response{Header: v.Header}).Cookies() }

// page asks for a page without following redirects. form is posted, unless it is nil.
func page(t *testing.T, client *http.Client, address string, form url.Values, headers ...string) (visited, string) {
	t.Helper()
	method, body := http.MethodGet, ""
	if form != nil {
		method, body = http.MethodPost, form.Encode()
	}
	r, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for pair := range slices.Chunk(headers, 2) {
		r.Header.Set(pair[0], pair[1])
		if pair[0] == "Host" {
			r.Host = pair[1]
		}
	}
	response, err := client.Transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // the body is read below
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return visited{response.Status, response.StatusCode, response.Header}, string(text)
}

// TestPortalHost: a host of its own has the portal and nothing else, and all other hosts have the dashboard.
func TestPortalHost(t *testing.T) {
	t.Parallel()
	p, c, token, app := hostedPortal(t)
	const title, dashboard = "Dark mode", `id="root"`
	check := func(what, at, path string, status int, has string) {
		t.Helper()
		if r, text := page(t, c.HTTP, p.URL+path, nil, "Host", at); r.StatusCode != status || !strings.Contains(text, has) {
			t.Errorf("%s, %s%s: %d, want %d with %q\n%s", what, at, path, r.StatusCode, status, has, text)
		}
	}
	for _, at := range []string{portalHost, "IDEAS.example.com", portalHost + ":8443"} {
		check("on", at, "/", http.StatusOK, title)
		check("on", at, "/api/auth-me", http.StatusNotFound, "<main")
		check("on", at, "/livez", http.StatusOK, "")
		check("on", at, "/portal/style.css", http.StatusOK, "{")
	}
	for _, at := range []string{host, "other.example.com", "127.0.0.1", "ideas.example.com.evil.test", ""} {
		check("on", at, "/", http.StatusOK, dashboard)
	}
	check("on", host, "/p/acme/", http.StatusOK, title)
	asked := func(domain string, status int) {
		t.Helper()
		r, _ := page(t, c.HTTP, p.URL+"/portal-hosts/check?domain="+url.QueryEscape(domain), nil)
		if r.StatusCode != status {
			t.Errorf("a certificate for %q: %d, want %d", domain, r.StatusCode, status)
		}
	}
	asked(portalHost, http.StatusOK)
	for _, domain := range []string{"", host, "other.example.com", "*.example.com", portalHost + ".", "127.0.0.1", "ideas.example.com/x"} {
		asked(domain, http.StatusNotFound)
	}
	setPortal(t, c, token, app, program.Params{"access": "off"})
	asked(portalHost, http.StatusNotFound)
	check("off", portalHost, "/", http.StatusOK, dashboard)
	check("off", host, "/p/acme/", http.StatusNotFound, "<main")
	setPortal(t, c, token, app, program.Params{"access": "public", "host": "new.example.com"})
	asked(portalHost, http.StatusNotFound)
	asked("new.example.com", http.StatusOK)
}

// throughProxy checks a portal that a proxy serves on its own host: reading, and voting with a cookie.
func throughProxy(t *testing.T, client *http.Client) {
	t.Helper()
	home := "https://" + portalHost + "/"
	r, text := page(t, client, home, nil)
	_, rest, found := strings.Cut(text, `form="ballot" name="add" value="`)
	if r.StatusCode != http.StatusOK || !found || r.Header.Get("Strict-Transport-Security") == "" {
		t.Fatalf("the board: %d %v\n%s", r.StatusCode, r.Header, text)
	}
	id, _, _ := strings.Cut(rest, `"`)
	vote := url.Values{"add": {id}}
	if r, text = page(t, client, home+"vote", vote, "Origin", "https://other.example.com"); r.StatusCode != http.StatusForbidden {
		t.Errorf("a vote from another site: %d\n%s", r.StatusCode, text)
	}
	r, text = page(t, client, home+"vote", vote, "Origin", "https://"+portalHost)
	if cookies := r.Cookies(); r.StatusCode != http.StatusSeeOther || len(cookies) != 1 || !cookies[0].Secure || cookies[0].Path != "/" {
		t.Fatalf("a vote: %d %v\n%s", r.StatusCode, r.Header, text)
	}
	cookie := r.Cookies()[0]
	if r, text = page(t, client, home, nil, "Cookie", cookie.Name+"="+cookie.Value); !strings.Contains(text, `aria-pressed="true"`) {
		t.Errorf("after the vote: %d\n%s", r.StatusCode, text)
	}
	again, _ := page(t, client, home, nil, "Cookie", cookie.Name+"="+cookie.Value, "If-None-Match", r.Header.Get("ETag"))
	if again.StatusCode != http.StatusNotModified {
		t.Errorf("the same page again: %d", again.StatusCode)
	}
}

// TestPortalBehindNginx tests the site of deploy/nginx.conf with the name of a portal, as docs/portal.md says.
func TestPortalBehindNginx(t *testing.T) {
	t.Parallel()
	p, _, _, _ := hostedPortal(t)
	throughProxy(t, startNginx(t, p.Address).client(t, "127.0.0.1"))
}

// TestPortalBehindCaddy runs deploy/Caddyfile. Its certificates are Caddy's own instead of public ones.
func TestPortalBehindCaddy(t *testing.T) {
	t.Parallel()
	caddy, err := exec.LookPath("caddy")
	if err != nil {
		storetest.Missing(t, "caddy", "install it with `apt-get install caddy`")
	}
	p, _, _, _ := hostedPortal(t)
	folder, secure, plain := t.TempDir(), program.FreeAddress(t), program.FreeAddress(t)
	port := func(address string) string { _, n, _ := net.SplitHostPort(address); return n }
	text := program.Replaced(t, program.Read(t, "deploy/Caddyfile"), "127.0.0.1:8080", p.Address, "\ton_demand_tls {",
		"\tadmin off\n\tlocal_certs\n\tskip_install_trust\n\tstorage file_system "+folder+
			"\n\thttp_port "+port(plain)+"\n\thttps_port "+port(secure)+"\n\tdefault_bind 127.0.0.1\n\ton_demand_tls {")
	file := filepath.Join(folder, "Caddyfile")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), caddy, "run", "--adapter", "caddyfile", "--config", file)
	cmd.Env = append(os.Environ(), "HOME="+folder, "XDG_CONFIG_HOME="+folder, "XDG_DATA_HOME="+folder)
	var stderr program.Output
	cmd.Stderr = &stderr
	exited := make(chan struct{})
	program.Launch(t, cmd, exited)
	roots := x509.NewCertPool()
	program.Eventually(t, "caddy has made its root certificate", func() bool {
		select {
		case <-exited:
			t.Fatalf("caddy exited:\n%s", stderr.String())
		default:
		}
		root, err := os.ReadFile(filepath.Join(folder, "pki", "authorities", "local", "root.crt"))
		return err == nil && roots.AppendCertsFromPEM(root)
	})
	client := (&proxy{secure: secure, roots: roots}).client(t, "127.0.0.1")
	program.Eventually(t, "caddy serves the portal", func() bool {
		r, err := client.Get("https://" + portalHost + "/")
		return err == nil && r.Body.Close() == nil && r.StatusCode == http.StatusOK
	})
	throughProxy(t, client)
	dialer := tls.Dialer{Config: &tls.Config{RootCAs: roots, ServerName: "other.example.com", MinVersion: tls.VersionTLS13}}
	if conn, err := dialer.DialContext(t.Context(), "tcp", secure); err == nil {
		_ = conn.Close()
		t.Error("caddy got a certificate for a host without a portal")
	}
}
