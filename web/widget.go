package web

import (
	"embed"
	"net/http"
)

// widgetFiles is the output of "npm run build" for the widget. The paths of the files are
// their URL paths.
//
//go:embed widget/dist
var widgetFiles embed.FS

// handleWidget serves the files of the widget to pages of all origins. Browsers cache them
// for five minutes, so that pages get a new version soon after an upgrade.
func handleWidget(mux *http.ServeMux) error {
	return handleFiles(mux, widgetFiles, "widget/dist", func(string) map[string]string {
		return map[string]string{
			"Cache-Control":                "public, max-age=300",
			"Access-Control-Allow-Origin":  "*",
			"Cross-Origin-Resource-Policy": "cross-origin",
		}
	})
}
