// Package web serves what browsers and probes look at: the dashboard, the documentation, the
// widget, the example's page, the health checks, and the API beside them.
package web

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	"gatherkit/docs"
)

var (
	//go:embed docs.html
	docsPage string
	//go:embed docs.css
	docsStyle []byte
)

// docsPolicy lets the documentation run nothing.
const docsPolicy = "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"

// readyTime bounds the question whether the database answers.
const readyTime = 2 * time.Second

// apiPaths are the paths that the API answers. It gets them untouched, as ServeMux would
// answer some of them itself.
var apiPaths = []string{"/api/", "/exports/", "/uploads/", "/attachments/", "/widget/config/"}

// New returns the handler of the whole service; ready says whether calls can be answered.
// demo is nil but for the example, which has a page of its own.
func New(api http.Handler, ready func(context.Context) error, demo *Demo) (http.Handler, error) {
	page, err := renderDocs(docs.API)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("GET /docs", asset("text/html; charset=utf-8", page, docsPolicy))
	mux.Handle("GET /docs/style.css", asset("text/css; charset=utf-8", docsStyle, docsPolicy))
	if err := handleWidget(mux); err != nil {
		return nil, err
	}
	if err := handleDashboard(mux); err != nil {
		return nil, err
	}
	handlePreview(mux)
	if demo != nil {
		if err := demo.handle(mux); err != nil {
			return nil, err
		}
	}
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { health(w, nil) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), readyTime)
		defer cancel()
		health(w, ready(ctx))
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api" || slices.ContainsFunc(apiPaths, func(p string) bool { return strings.HasPrefix(r.URL.Path, p) }) {
			api.ServeHTTP(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	}), nil
}

// health answers a probe. What is wrong stands in the log, not in the answer.
func health(w http.ResponseWriter, err error) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	if err != nil {
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = w.Write([]byte("not ready\n"))
		return
	}
	_, _ = w.Write([]byte("ok\n"))
}

// asset serves a page or a file that is a part of the program. Browsers ask each
// time whether it has changed, so that an upgrade shows at once.
func asset(mediaType string, content []byte, policy string) http.Handler {
	sum := sha256.Sum256(content)
	tag := fmt.Sprintf("%q", hex.EncodeToString(sum[:16]))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		setPageHeader(w.Header(), mediaType, policy)
		w.Header().Set("ETag", tag)
		r.Header.Del("Range") // thousands of parts cost more than the whole
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
	})
}

func setPageHeader(h http.Header, mediaType, policy string) {
	h.Set("Content-Type", mediaType)
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Content-Security-Policy", policy)
	if !strings.Contains(policy, "sandbox") { // browsers show no sandboxed page with it
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
	}
}

// heading is an entry of the page's table of contents.
type heading struct{ ID, Text string }

// section is a heading of the second level with those below it.
type section struct {
	heading
	Below []heading
}

func renderDocs(markdown []byte) ([]byte, error) {
	md := goldmark.New(goldmark.WithExtensions(extension.Table), goldmark.WithParserOptions(parser.WithAutoHeadingID()))
	root := md.Parser().Parse(text.NewReader(markdown))
	var sections []section
	for node := root.FirstChild(); node != nil; node = node.NextSibling() {
		h, ok := node.(*ast.Heading)
		if !ok {
			continue
		}
		id, _ := h.AttributeString("id")
		name, _ := id.([]byte)
		entry := heading{ID: string(name), Text: string(plain(h, markdown))}
		switch {
		case h.Level == 2:
			sections = append(sections, section{heading: entry})
		case h.Level == 3 && len(sections) > 0:
			last := &sections[len(sections)-1]
			last.Below = append(last.Below, entry)
		}
	}
	var body, page bytes.Buffer
	if err := md.Renderer().Render(&body, markdown, root); err != nil {
		return nil, err
	}
	t, err := template.New("docs").Parse(docsPage)
	if err != nil {
		return nil, err
	}
	err = t.Execute(&page, map[string]any{
		"Sections": sections,
		"Body":     template.HTML(body.String()), //nolint:gosec // goldmark escapes raw HTML; the text is our own
	})
	return page.Bytes(), err
}

// plain is a heading's text without its mark-up.
func plain(node ast.Node, source []byte) []byte {
	var b []byte
	for child := node.FirstChild(); child != nil; child = child.NextSibling() {
		if t, ok := child.(*ast.Text); ok {
			b = append(b, t.Segment.Value(source)...)
		} else {
			b = append(b, plain(child, source)...)
		}
	}
	return b
}
