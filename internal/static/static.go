// Package static serves content that does not change while the program runs.
package static

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"sync"
	"time"

	"gatherkit/internal/headers"
)

// Content serves content with fixed headers, compressed if the client accepts that. Each form has its
// own ETag, because their bytes differ (RFC 9110, section 8.8.3).
func Content(content []byte, fixed map[string]string) http.Handler {
	// The content is compressed on the first request for it, so that the program starts faster.
	compress := sync.OnceValues(func() ([]byte, error) { return compressed(content) })
	sum := sha256.Sum256(content)
	tag := hex.EncodeToString(sum[:16])
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		for name, value := range fixed {
			h.Set(name, value)
		}
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Vary", "Accept-Encoding")
		h.Set("ETag", `"`+tag+`"`)
		body := content
		if headers.AcceptsGzip(r.Header.Values("Accept-Encoding")) {
			if packed, err := compress(); err == nil {
				body = packed
				h.Set("Content-Encoding", "gzip")
				h.Set("ETag", `"`+tag+`-gzip"`)
			}
		}
		r.Header.Del("Range") // serving thousands of ranges costs more than serving the whole content
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
	})
}

// compressed compresses content as well as possible.
func compressed(content []byte) ([]byte, error) {
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
