package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"
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
		packed, err := pack(content)
		if err != nil {
			return err
		}
		mux.Handle("GET "+strings.TrimPrefix(name, root), script(widgetTypes[path.Ext(name)], content, packed))
		return nil
	})
}

// pack compresses what never changes once and as far as it goes.
func pack(content []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(content); err != nil {
		return nil, err
	}
	err = w.Close()
	return b.Bytes(), err
}

// script serves a file to pages of other origins, compressed where the browser can read
// that. Each form has a tag of its own, as they differ byte by byte (RFC 9110, 8.8.3).
func script(mediaType string, content, packed []byte) http.Handler {
	sum := sha256.Sum256(content)
	tag := hex.EncodeToString(sum[:16])
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Type", mediaType)
		h.Set("Cache-Control", "public, max-age=300")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Access-Control-Allow-Origin", "*")
		h.Set("Cross-Origin-Resource-Policy", "cross-origin")
		h.Set("Vary", "Accept-Encoding")
		body := content
		h.Set("ETag", `"`+tag+`"`)
		if acceptsGzip(r.Header.Values("Accept-Encoding")) {
			body = packed
			h.Set("Content-Encoding", "gzip")
			h.Set("ETag", `"`+tag+`-gzip"`)
		}
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
	})
}

// acceptsGzip reads Accept-Encoding (RFC 9110, 12.5.3), of which only this matters here.
func acceptsGzip(values []string) bool {
	for part := range strings.SplitSeq(strings.Join(values, ","), ",") {
		name, weight, weighed := strings.Cut(strings.ReplaceAll(part, " ", ""), ";q=")
		if strings.EqualFold(name, "gzip") {
			return !weighed || strings.Trim(weight, "0.") != ""
		}
	}
	return false
}
