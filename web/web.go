// Package web serves the dashboard, the documentation, the widget, the page of the example,
// the health checks, and the API.
package web

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
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
	"gatherkit/internal/deadline"
	"gatherkit/internal/static"
)

var (
	//go:embed docs.html
	docsPage string
	//go:embed docs.css
	docsStyle []byte
)

// docsPolicy does not let the documentation run scripts.
const docsPolicy = "default-src 'none'; style-src 'self'; img-src 'self' data:; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"

// readyTime is how long /readyz waits for the database.
var readyTime = deadline.Of(2 * time.Second)

// apiPaths are the prefixes of the paths that the API handles. They do not go through
// ServeMux, because it would redirect some of them.
var apiPaths = []string{"/api/", "/exports/", "/uploads/", "/attachments/", "/widget/config/", "/p/", "/portal-hosts/"}

// New returns the handler of the whole service. ready returns an error if the service cannot
// answer calls; /readyz calls it. demo is the page of the example, and nil otherwise. New
// fails if the embedded documentation or pages cannot be rendered.
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
	if err := handleDashboard(mux, demo); err != nil {
		return nil, err
	}
	handlePreview(mux)
	if demo != nil {
		if err := demo.handle(mux); err != nil {
			return nil, err
		}
	}
	handleMine(mux, api)
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { health(w, nil) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), readyTime)
		defer cancel()
		health(w, ready(ctx))
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		isPrefix := func(prefix string) bool { return strings.HasPrefix(r.URL.Path, prefix) }
		if r.URL.Path == "/api" || slices.ContainsFunc(apiPaths, isPrefix) {
			api.ServeHTTP(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	}), nil
}

// Starting returns the handler while the service starts, for as long as a migration may take: /livez answers 200, and
// everything else 503. api answers calls of operations.
func Starting(api http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/livez":
			health(w, nil)
		case r.URL.Path == "/readyz":
			health(w, errStarting)
		case strings.HasPrefix(r.URL.Path, "/api/"):
			api.ServeHTTP(w, r)
		default:
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			w.Header().Set("Cache-Control", "no-store")
			w.Header().Set("Retry-After", "1")
			w.Header().Set("Refresh", "2") // browsers load the page again
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = w.Write([]byte("The service is starting. This page reloads by itself.\n"))
		}
	})
}

var errStarting = errors.New("the service is starting")

// health answers a probe. The answer does not say what is wrong; the log does.
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

// asset serves an embedded page or file. Browsers check each time whether it has changed, so
// that an upgrade takes effect at once.
func asset(mediaType string, content []byte, policy string) http.Handler {
	return static.Content(content, pageHeader(mediaType, policy))
}

// pageHeader returns the headers of a page or of a file that belongs to one.
func pageHeader(mediaType, policy string) map[string]string {
	h := map[string]string{
		"Content-Type": mediaType, "Cache-Control": "no-cache", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
		"Content-Security-Policy": policy,
	}
	if !strings.Contains(policy, "sandbox") { // with this header, browsers do not show sandboxed pages
		h["Cross-Origin-Opener-Policy"] = "same-origin"
	}
	return h
}

// heading is an entry in the table of contents.
type heading struct{ ID, Text string }

// section is a second-level heading with the headings below it.
type section struct {
	heading
	Below []heading
}

// renderDocs renders Markdown as a page with a table of contents.
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
		"Body":     template.HTML(body.String()), //nolint:gosec // goldmark escapes raw HTML, and the text is embedded
	})
	return page.Bytes(), err
}

// plain returns the text of a node without markup.
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
