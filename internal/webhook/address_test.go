package webhook_test

import (
	"strings"
	"testing"

	"gatherkit/internal/store/storetest"
	"gatherkit/internal/webhook"
)

// addresses are addresses of endpoints: "" if it is possible, or a part of what is wrong.
var addresses = map[string]string{
	"https://example.com":             "",
	"https://example.com/a?b=c":       "",
	"https://EXAMPLE.com:8443/":       "",
	"https://[2001:db8::1]/":          "",
	"https://10.0.0.1/":               "", // refused when it connects
	"http://example.com/":             "https://",
	"ftp://example.com/":              "https://",
	"javascript:alert(1)":             "such as https://example.com/webhook",
	"example.com":                     "such as",
	"/webhook":                        "such as",
	"//example.com/":                  "https://",
	"https:///a":                      "such as",
	"https:example.com":               "such as",
	"https://ada@example.com/":        "user name",
	"https://ada:secret@example.com/": "user name",
	"https://example.com/#a":          "fragment",
	"https://example.com/#":           "fragment",
	"https://example.com/a b":         "such as",
	"https://example.com:port/":       "such as",
	"https:":                          "such as",
	"https://":                        "such as",
	"https://:443/":                   "such as",
	"file:///etc/passwd":              "such as",
	"gopher://127.0.0.1:6379/_x":      "https://",
	"https://@example.com":            "user name",
	"https://example.com/\r\nX: 1":    "such as",
	"https://exa\x00mple.com":         "such as",
	"https://[::1":                    "such as",
	"https://example.com/%zz":         "such as",
	"https://bücher.example/":         "",
	"https://exa%zzmple.com/":         "such as",
	"https://example.com/" + strings.Repeat("a", 2_028): "",
	"https://example.com/" + strings.Repeat("a", 2_029): "2,048",
}

func TestCheckURL(t *testing.T) {
	r := storetest.NewRig(t, storetest.SQLite(t))
	strict, open := webhook.NewSender(r.Webhooks, webhook.Options{}), webhook.NewSender(r.Webhooks, webhook.Options{Allow: loopback})
	for address, want := range addresses {
		if err := strict.CheckURL(address); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%.80s: %v, want %q", address, err, want)
		}
	}
	if err := open.CheckURL("http://10.0.0.1/"); err != nil {
		t.Error(err)
	}
}

// FuzzCheckURL: an address that is accepted is one that http.NewRequest takes, and has https.
func FuzzCheckURL(f *testing.F) {
	for address := range addresses {
		f.Add(address)
	}
	s := webhook.NewSender(storetest.NewRig(f, storetest.SQLite(f)).Webhooks, webhook.Options{})
	f.Fuzz(func(t *testing.T, address string) {
		if s.CheckURL(address) != nil {
			return
		}
		if !strings.HasPrefix(strings.ToLower(address), "https://") || len(address) > 2_048 {
			t.Errorf("%q is accepted", address)
		}
	})
}
