package web

import (
	_ "embed"
	"net/http"
)

var (
	//go:embed preview/page.html
	previewPage []byte
	//go:embed preview/style.css
	previewStyle []byte
	//go:embed preview/dist/preview.js
	previewScript []byte
)

// previewPolicy lets only the service's own pages frame the preview, and the preview
// connect to nothing: what is written into it goes nowhere. Its origin is none, so that
// the widget finds nothing there of what the dashboard keeps in the browser. Files that
// are tried go to a data: URL.
const previewPolicy = "default-src 'none'; script-src 'self'; connect-src data:; style-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; require-trusted-types-for 'script'; trusted-types 'none'; sandbox allow-scripts allow-forms"

// handlePreview adds the page in which the dashboard shows the widget with settings that
// are not saved yet. Its script is built beside the widget's.
func handlePreview(mux *http.ServeMux) {
	mux.Handle("GET /preview", asset("text/html; charset=utf-8", previewPage, previewPolicy))
	mux.Handle("GET /preview/style.css", asset("text/css; charset=utf-8", previewStyle, previewPolicy))
	mux.Handle("GET /preview/preview.js", asset("text/javascript; charset=utf-8", previewScript, previewPolicy))
}
