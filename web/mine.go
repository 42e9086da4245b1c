package web

import (
	"net/http"
	"path"
	"strings"
	"time"

	"gatherkit/internal/portal"
	"gatherkit/internal/static"
)

// handleMine serves the files of the page /mine and of portals. The API serves the page itself, and those of mails.
func handleMine(mux *http.ServeMux, api http.Handler) {
	mux.Handle("GET /mine", api)
	mux.Handle("POST /mine", api)
	for _, page := range []string{"/mail/confirm", "/mail/stop"} { // which use the same files
		mux.Handle("GET "+page, api)
		mux.Handle("POST "+page, api)
	}
	for name, content := range map[string][]byte{
		"mine/style.css": portal.MineStyle, "mine/mine.js": portal.MineScript,
		"portal/style.css": portal.PortalStyle, "portal/portal.js": portal.PortalScript,
	} {
		headers := map[string]string{"Content-Type": mediaTypes[path.Ext(name)], "Cache-Control": "no-cache"}
		mux.Handle("GET /"+name, static.Content(content, headers))
	}
	brand := func(w http.ResponseWriter, r *http.Request) {
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
	}
	mux.HandleFunc("GET /mine/brand/{file}", brand)
	mux.HandleFunc("GET /portal/brand/{file}", brand)
}
