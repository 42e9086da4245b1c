package web

import (
	"io/fs"
	"net/http"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
)

// TestDashboardPages checks that each path serves the page with the policy and with correct
// relative URLs of its files, and that unknown paths answer 404.
func TestDashboardPages(t *testing.T) {
	h := serve(t, nil)
	for address, up := range map[string]string{
		"/": "./", "/setup": "./", "/join": "./", "/mentions": "./", "/apps": "./", "/insights": "./", "/team": "./", "/account": "./",
		"/apps/0193e0a0-0000-7000-8000-000000000000": "./../", "/team/audit": "./../", "/team/tokens": "./../", "/team/webhooks": "./../",
		"/team/webhooks/0193e0a0-0000-7000-8000-000000000000": "./../../",
		"/nothing": "./", "/nothing/of/the/kind": "./../../../",
	} {
		want := http.StatusOK
		if strings.HasPrefix(address, "/nothing") {
			want = http.StatusNotFound
			if plain := get(h, address); plain.Code != want || strings.Contains(plain.Body.String(), "<") {
				t.Errorf("%s for a program: %d, %s", address, plain.Code, plain.Body)
			}
		}
		page := get(h, address, "Accept", "text/html,*/*")
		if page.Code != want || page.Header().Get("Content-Security-Policy") != dashboardPolicy {
			t.Errorf("%s: %d, %v", address, page.Code, page.Header())
		}
		if page.Header().Get("Cross-Origin-Opener-Policy") != "same-origin" {
			t.Errorf("%s shares its window with pages of other sites: %v", address, page.Header())
		}
		files := regexp.MustCompile(`(?:src|href)="([^"]+)"`).FindAllStringSubmatch(page.Body.String(), -1)
		if len(files) < 3 {
			t.Fatalf("%s names %d files", address, len(files))
		}
		for _, file := range files {
			name, ok := strings.CutPrefix(file[1], up)
			got := get(h, "/"+name, "Accept-Encoding", "gzip")
			if !ok || got.Code != http.StatusOK || got.Header().Get("Content-Encoding") != "gzip" {
				t.Errorf("%s refers to %s: %d, %v", address, file[1], got.Code, got.Header())
			}
		}
	}
	strict := "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
	if strings.Contains(dashboardPolicy, "unsafe") || !strings.Contains(dashboardPolicy, strict) {
		t.Error(dashboardPolicy)
	}
}

// TestDemoLogin checks that only the page of a demo with a password contains it.
func TestDemoLogin(t *testing.T) {
	const email, secret = "ada@example.com", `SECRET"<&`
	for _, address := range []string{"/", "/account", "/nothing"} {
		page := get(serve(t, &Demo{Email: email, Password: secret}), address, "Accept", "text/html").Body.String()
		const want = `<meta name="demo-email" content="ada@example.com"><meta name="demo-password" content="SECRET&#34;&lt;&amp;"></head>`
		if !strings.Contains(page, want) {
			t.Errorf("%s of the demo does not have the login: %s", address, page)
		}
		for name, demo := range map[string]*Demo{"a service": nil, "a demo for others": {Email: email}} {
			if page := get(serve(t, demo), address, "Accept", "text/html").Body.String(); strings.Contains(page, "demo-") {
				t.Errorf("%s: %s has %s", name, address, page)
			}
		}
	}
}

// TestDashboardSources checks that no source turns text into markup or scripts, and that files
// are short.
func TestDashboardSources(t *testing.T) {
	forbidden := regexp.MustCompile(`innerHTML|outerHTML|dangerouslySetInnerHTML|insertAdjacentHTML|document\.write|` +
		`\beval\(|new Function|DOMParser|document\.cookie`)
	n := 0
	err := fs.WalkDir(os.DirFS("dashboard/src"), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path.Join("dashboard/src", name))
		if err != nil {
			return err
		}
		n++
		if found := forbidden.Find(text); found != nil {
			t.Errorf("%s has %s", name, found)
		}
		if lines := strings.Count(string(text), "\n"); lines > 400 {
			t.Errorf("%s has %d lines", name, lines)
		}
		return nil
	})
	if err != nil || n < 50 {
		t.Errorf("%d files, %v", n, err)
	}
}
