package web

import (
	"net/http"
	"path"
	"strings"
	"time"

	"gatherkit/internal/portal"
)

// handleMine serves the files of the page /mine. The API serves the page itself, and those of mails.
func handleMine(mux *http.ServeMux, api http.Handler) {
	mux.Handle("GET /mine", api)
	mux.Handle("POST /mine", api)
	for _, page := range []string{"/mail/confirm", "/mail/stop"} { // which use the same files
		mux.Handle("GET "+page, api)
		mux.Handle("POST "+page, api)
	}
	for name, content := range map[string][]byte{"style.css": portal.MineStyle, "mine.js": portal.MineScript} {
		headers := map[string]string{"Content-Type": mediaTypes[path.Ext(name)], "Cache-Control": "no-cache"}
		mux.Handle("GET /mine/"+name, compressible(headers, content))
	}
	mux.HandleFunc("GET /mine/brand/{file}", func(w http.ResponseWriter, r *http.Request) {
		name := r.PathValue("file")
		content := portal.Brand(name)
		if content == "" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", mediaTypes[path.Ext(name)])
		w.Header().Set("Cache-Control", "public, max-age=86400")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Content-Security-Policy", "default-src 'none'; sandbox") // an SVG image is also a document
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader(content))
	})
}
