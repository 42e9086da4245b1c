package web

import (
	"bytes"
	"embed"
	"net/http"
	"strings"
)

// dashboardFiles is the output of "npm run build" for the dashboard.
//
//go:embed dashboard/dist
var dashboardFiles embed.FS

// dashboardPolicy lets the page run its own scripts, call the API, and frame the widget's
// preview. Scripts cannot create scripts from text. The hash allows the one style rule that
// React Aria adds to the page, which sets touch-action for buttons and never changes.
const dashboardPolicy = "default-src 'none'; script-src 'self'; connect-src 'self'; " +
	"style-src 'self' 'sha256-38RhXrc7EdReTKsOm23ZPOCUgniTUUcjky8QOOrQx6o='; img-src 'self' data:; frame-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// dashboardPages are the paths that the dashboard's router handles.
var dashboardPages = []string{
	"/{$}", "/setup", "/join", "/mentions", "/apps", "/apps/{id}", "/insights", "/team", "/team/audit", "/team/tokens",
	"/team/webhooks", "/team/webhooks/{id}",
	"/account",
}

// handleDashboard serves the page of the dashboard under all of its paths, and its files.
// File names in assets contain a hash of the content, so browsers can cache them forever.
// demo is nil unless the service is the example.
func handleDashboard(mux *http.ServeMux, demo *Demo) error {
	const root = "dashboard/dist"
	page, err := dashboardFiles.ReadFile(root + "/index.html")
	if err != nil {
		return err
	}
	if page, err = demo.fillLogin(page); err != nil {
		return err
	}
	for _, path := range dashboardPages {
		mux.Handle("GET "+path, asset("text/html; charset=utf-8", pageAt(path, page), dashboardPolicy))
	}
	mux.HandleFunc("GET /", func(w http.ResponseWriter, r *http.Request) {
		if !strings.Contains(r.Header.Get("Accept"), "text/html") {
			http.NotFound(w, r)
			return
		}
		// For unknown paths, the dashboard shows a page that says so and links to the start.
		for name, value := range pageHeader("text/html; charset=utf-8", dashboardPolicy) {
			w.Header().Set(name, value)
		}
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write(pageAt(r.URL.Path, page)) //nolint:gosec // the page depends only on the number of slashes in the path
	})
	return handleFiles(mux, dashboardFiles, root, func(name string) map[string]string {
		if strings.HasPrefix(name, "/assets/") {
			return map[string]string{"Cache-Control": "public, max-age=31536000, immutable"}
		}
		return map[string]string{"Cache-Control": "public, max-age=300"}
	})
}

// pageAt returns the page for a path. It refers to its files by relative URLs, because a
// proxy may serve the dashboard below a path of its own.
func pageAt(path string, page []byte) []byte {
	up := strings.Repeat("../", max(0, strings.Count(path, "/")-1))
	return bytes.ReplaceAll(page, []byte(`="./`), []byte(`="./`+up))
}
