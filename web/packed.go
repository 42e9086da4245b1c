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
	"sync"
	"time"
)

// mediaTypes are those of the files that builds leave in dist. They are said here rather than
// by the machine, whose table may lack some.
var mediaTypes = map[string]string{
	".js": "text/javascript; charset=utf-8", ".mjs": "text/javascript; charset=utf-8", ".ts": "text/plain; charset=utf-8",
	".json": "application/json; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml",
}

// handleFiles serves the files below root as they lie there, but for pages, which need a
// policy. header is what goes with a file beside its type.
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
		with := header(name)
		with["Content-Type"] = mediaTypes[path.Ext(name)]
		mux.Handle("GET "+name, packed(with, content))
		return nil
	})
}

// packed serves a file that is a part of the program, compressed where the browser can read
// that. Each form has a tag of its own, as they differ byte by byte (RFC 9110, 8.8.3).
func packed(header map[string]string, content []byte) http.Handler {
	small := sync.OnceValues(func() ([]byte, error) { return pack(content) }) // when it is first asked for, not at the start
	sum := sha256.Sum256(content)
	tag := hex.EncodeToString(sum[:16])
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		for name, value := range header {
			h.Set(name, value)
		}
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Vary", "Accept-Encoding")
		body := content
		h.Set("ETag", `"`+tag+`"`)
		if acceptsGzip(r.Header.Values("Accept-Encoding")) {
			if compressed, err := small(); err == nil {
				body = compressed
				h.Set("Content-Encoding", "gzip")
				h.Set("ETag", `"`+tag+`-gzip"`)
			}
		}
		r.Header.Del("Range") // thousands of parts cost more than the whole
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
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
