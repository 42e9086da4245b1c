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
		headers := header(name)
		headers["Content-Type"] = mediaTypes[path.Ext(name)]
		mux.Handle("GET "+name, compressible(headers, content))
		return nil
	})
}

// compressible serves an embedded file, compressed if the browser accepts that. Each form
// has its own ETag, because their bytes differ (RFC 9110, section 8.8.3).
func compressible(headers map[string]string, content []byte) http.Handler {
	// The file is compressed on the first request for it, so that the program starts faster.
	compress := sync.OnceValues(func() ([]byte, error) { return gzipped(content) })
	sum := sha256.Sum256(content)
	tag := hex.EncodeToString(sum[:16])
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		for name, value := range headers {
			h.Set(name, value)
		}
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Vary", "Accept-Encoding")
		body := content
		h.Set("ETag", `"`+tag+`"`)
		if acceptsGzip(r.Header.Values("Accept-Encoding")) {
			if compressed, err := compress(); err == nil {
				body = compressed
				h.Set("Content-Encoding", "gzip")
				h.Set("ETag", `"`+tag+`-gzip"`)
			}
		}
		r.Header.Del("Range") // serving thousands of ranges costs more than serving the whole file
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
	})
}

// gzipped compresses content with the best compression.
func gzipped(content []byte) ([]byte, error) {
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

// acceptsGzip reports whether the values of Accept-Encoding (RFC 9110, section 12.5.3) allow
// gzip.
func acceptsGzip(values []string) bool {
	for part := range strings.SplitSeq(strings.Join(values, ","), ",") {
		name, weight, hasWeight := strings.Cut(strings.ReplaceAll(part, " ", ""), ";q=")
		if strings.EqualFold(name, "gzip") {
			return !hasWeight || strings.Trim(weight, "0.") != ""
		}
	}
	return false
}
