package web

import (
	"embed"
	"io/fs"
	"net/http"
	"path"
	"strings"
)

// widgetFiles are what "npm run build" makes of the widget's sources. They lie as they
// are served, below the root of the service.
//
//go:embed widget/dist
var widgetFiles embed.FS

// widgetTypes are the files that the widget is made of. The types of media are said here
// rather than by the machine, whose table may lack some.
var widgetTypes = map[string]string{
	".js": "text/javascript; charset=utf-8", ".mjs": "text/javascript; charset=utf-8", ".json": "application/json; charset=utf-8", ".ts": "text/plain; charset=utf-8",
}

// handleWidget serves the files of the widget to pages of any origin. Browsers keep them
// for five minutes: so soon after an upgrade all pages have the new one.
func handleWidget(mux *http.ServeMux) error {
	const root = "widget/dist"
	return fs.WalkDir(widgetFiles, root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := widgetFiles.ReadFile(name)
		if err != nil {
			return err
		}
		mux.Handle("GET "+strings.TrimPrefix(name, root), packed(map[string]string{
			"Content-Type":                 widgetTypes[path.Ext(name)],
			"Cache-Control":                "public, max-age=300",
			"Access-Control-Allow-Origin":  "*",
			"Cross-Origin-Resource-Policy": "cross-origin",
		}, content))
		return nil
	})
}
