package web

import (
	"embed"
	"io/fs"
	"net/http"
	"path"
	"strings"

	"gatherkit/internal/static"
)

// mediaTypes are the media types of the files in dist. Package mime is not used, because its
// table depends on the machine.
var mediaTypes = map[string]string{
	".js": "text/javascript; charset=utf-8", ".mjs": "text/javascript; charset=utf-8", ".ts": "text/plain; charset=utf-8",
	".json": "application/json; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml",
}

// handleFiles serves the files below root, except HTML pages, which need a policy. header
// returns the headers of a file besides Content-Type.
func handleFiles(mux *http.ServeMux, files embed.FS, root string, header func(name string) map[string]string) error {
	return fs.WalkDir(files, root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path.Ext(name) == ".html" {
			return err
		}
		content, err := files.ReadFile(name)
		if err != nil {
			return err
		}
		name = strings.TrimPrefix(name, root)
		fixed := header(name)
		fixed["Content-Type"] = mediaTypes[path.Ext(name)]
		mux.Handle("GET "+name, static.Content(content, fixed))
		return nil
	})
}
