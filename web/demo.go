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

// demoPolicy lets the page run its own script and that of the widget, and call the API.
const demoPolicy = "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; img-src 'self' data:; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// Demo is the page /demo of the example. It shows a product page with the widget, lets
// visitors try the widget's settings, and lists requests as they arrive. With the owner's Password,
// the page logs visitors in, and the dashboard's login is filled in. Without it, they need a link to
// the page that has the password as its fragment.
type Demo struct {
	AppID, AppName, Key, Email, Password string
	WebhookSecret                        string // of the webhook that delivers to DemoWebhookPath
}

// demoLogin is what the dashboard's login page reads. Its names are in LoginPage.tsx.
var demoLogin = template.Must(template.New("login").Parse(
	`<meta name="demo-email" content="{{.Email}}"><meta name="demo-password" content="{{.Password}}">`))

// fillLogin adds the owner's e-mail and password to the page of the dashboard. d may be nil, as it is
// for every service but the example.
func (d *Demo) fillLogin(page []byte) ([]byte, error) {
	if d == nil || d.Password == "" {
		return page, nil
	}
	var login bytes.Buffer
	if err := demoLogin.Execute(&login, d); err != nil {
		return nil, err
	}
	login.WriteString("</head>")
	return bytes.Replace(page, []byte("</head>"), login.Bytes(), 1), nil
}

// handle adds the page to mux. Its script is built together with the widget.
func (d *Demo) handle(mux *http.ServeMux) error {
	t, err := template.New("demo").Parse(demoPage)
	if err != nil {
		return err
	}
	var page bytes.Buffer
	if err := t.Execute(&page, d); err != nil {
		return err
	}
	mux.Handle("GET /demo", asset("text/html; charset=utf-8", page.Bytes(), demoPolicy))
	received := &deliveries{secret: d.WebhookSecret}
	mux.HandleFunc("POST "+DemoWebhookPath, received.receive)
	mux.HandleFunc("GET "+DemoWebhookPath, received.list)
	mux.Handle("GET /demo/style.css", asset("text/css; charset=utf-8", demoStyle, demoPolicy))
	mux.Handle("GET /demo/demo.js", asset("text/javascript; charset=utf-8", demoScript, demoPolicy))
	return nil
}
