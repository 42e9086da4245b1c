package web

import (
	"bytes"
	_ "embed"
	"html/template"
	"net/http"
)

var (
	//go:embed demo/page.html
	demoPage string
	//go:embed demo/style.css
	demoStyle []byte
	//go:embed demo/dist/demo.js
	demoScript []byte
)

// demoPolicy lets the page run its own script and the widget's, and call the API.
const demoPolicy = "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// Demo is the page /demo of the example: a product's page with the widget, whose settings
// can be tried, and the requests as they arrive. It logs in with the owner's password,
// which only the example may give away.
type Demo struct {
	AppID, AppName, Key, Email, Password string
}

// handle adds the page. Its script is built beside the widget's.
func (d Demo) handle(mux *http.ServeMux) error {
	t, err := template.New("demo").Parse(demoPage)
	if err != nil {
		return err
	}
	var page bytes.Buffer
	if err := t.Execute(&page, d); err != nil {
		return err
	}
	mux.Handle("GET /demo", asset("text/html; charset=utf-8", page.Bytes(), demoPolicy))
	mux.Handle("GET /demo/style.css", asset("text/css; charset=utf-8", demoStyle, demoPolicy))
	mux.Handle("GET /demo/demo.js", asset("text/javascript; charset=utf-8", demoScript, demoPolicy))
	return nil
}
