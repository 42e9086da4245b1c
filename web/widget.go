package web

import (
	"embed"
	"net/http"
)

// widgetFiles are what "npm run build" makes of the widget's sources. They lie as they
// are served, below the root of the service.
//
//go:embed widget/dist
var widgetFiles embed.FS

// handleWidget serves the files of the widget to pages of any origin. Browsers keep them
// for five minutes: so soon after an upgrade all pages have the new one.
func handleWidget(mux *http.ServeMux) error {
	return handleFiles(mux, widgetFiles, "widget/dist", func(string) map[string]string {
		return map[string]string{
			"Cache-Control":                "public, max-age=300",
			"Access-Control-Allow-Origin":  "*",
			"Cross-Origin-Resource-Policy": "cross-origin",
		}
	})
}
