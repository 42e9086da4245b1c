package web

import (
	"bytes"
	"embed"
	"net/http"
	"strings"
)

// dashboardFiles are what "npm run build" makes of the dashboard's sources.
//
//go:embed dashboard/dist
var dashboardFiles embed.FS

// dashboardPolicy lets the page run its own scripts, which cannot make scripts of text,
// call the API, and frame the widget's preview. The hash is that of the one rule that React
// Aria adds to the page, which never changes: it tells phones that buttons are for pressing.
const dashboardPolicy = "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self' 'sha256-38RhXrc7EdReTKsOm23ZPOCUgniTUUcjky8QOOrQx6o='; img-src 'self' data:; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// dashboardPages are the addresses that the dashboard's router knows.
var dashboardPages = []string{"/{$}", "/setup", "/join", "/apps", "/apps/{id}", "/insights", "/team", "/team/audit", "/account"}

// handleDashboard serves the dashboard: one page under many addresses, and its files. Their
// names change with their content, so browsers keep them for good.
func handleDashboard(mux *http.ServeMux) error {
	const root = "dashboard/dist"
	page, err := dashboardFiles.ReadFile(root + "/index.html")
	if err != nil {
		return err
	}
	for _, address := range dashboardPages {
		mux.Handle("GET "+address, asset("text/html; charset=utf-8", below(address, page), dashboardPolicy))
	}
	mux.HandleFunc("GET /", func(w http.ResponseWriter, r *http.Request) {
		if !strings.Contains(r.Header.Get("Accept"), "text/html") {
			http.NotFound(w, r)
			return
		}
		// Who is led astray is led on: the page says that there is nothing, and where to go.
		setPageHeader(w.Header(), "text/html; charset=utf-8", dashboardPolicy)
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write(below(r.URL.Path, page)) //nolint:gosec // of the path only the slashes are counted
	})
	return handleFiles(mux, dashboardFiles, root, func(name string) map[string]string {
		if strings.HasPrefix(name, "/assets/") {
			return map[string]string{"Cache-Control": "public, max-age=31536000, immutable"}
		}
		return map[string]string{"Cache-Control": "public, max-age=300"}
	})
}

// below is the page for an address. It names its files relatively, as a proxy may serve all
// this below a path.
func below(address string, page []byte) []byte {
	up := strings.Repeat("../", max(0, strings.Count(address, "/")-1))
	return bytes.ReplaceAll(page, []byte(`="./`), []byte(`="./`+up))
}
