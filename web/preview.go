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

// previewPolicy lets only pages of the service frame the preview, and keeps the preview from
// sending anything. The sandbox gives it an opaque origin, so that it has no access to the
// dashboard's storage. It uploads files to a data: URL.
const previewPolicy = "default-src 'none'; script-src 'self'; connect-src data:; style-src 'self'; img-src data:; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'self'; require-trusted-types-for 'script'; trusted-types 'none'; " +
	"sandbox allow-scripts allow-forms"

// handlePreview adds the page in which the dashboard previews the widget with unsaved
// settings. Its script is built together with the widget.
func handlePreview(mux *http.ServeMux) {
	mux.Handle("GET /preview", asset("text/html; charset=utf-8", previewPage, previewPolicy))
	mux.Handle("GET /preview/style.css", asset("text/css; charset=utf-8", previewStyle, previewPolicy))
	mux.Handle("GET /preview/preview.js", asset("text/javascript; charset=utf-8", previewScript, previewPolicy))
}
