package main

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"gatherkit/internal/config"
	"gatherkit/internal/feedback"
)

func TestOneLine(t *testing.T) {
	for text, want := range map[string]string{
		"it is broken":                        "it is broken",
		"cannot connect:\n\tone\n\tone\n two": "cannot connect: one; two",
		"first\nsecond\n":                     "first; second",
	} {
		if got := oneLine(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestBaseURL(t *testing.T) {
	public := config.PublicURL{URL: &url.URL{Scheme: "https", Host: "feedback.example.com", Path: "/x"}}
	for _, test := range []struct {
		c             config.Serve
		address, want string
	}{
		{config.Serve{}, "127.0.0.1:8080", "http://127.0.0.1:8080"},
		{config.Serve{}, "[::]:8080", "http://localhost:8080"},
		{config.Serve{}, "0.0.0.0:80", "http://localhost:80"},
		{config.Serve{}, "[::1]:8080", "http://[::1]:8080"},
		{config.Serve{PublicURL: public}, "[::]:8080", "https://feedback.example.com/x"},
	} {
		if got := baseURL(test.c, test.address); got != test.want {
			t.Errorf("%s: %q, want %q", test.address, got, test.want)
		}
	}
}

func TestLoopbackHint(t *testing.T) {
	const hint = "accepting connections only from this machine; use --listen :8080 to accept them from other machines"
	public := config.PublicURL{URL: &url.URL{Scheme: "https", Host: "feedback.example.com"}}
	for _, test := range []struct {
		c             config.Serve
		address, want string
	}{
		{config.Serve{}, "127.0.0.1:8080", hint},
		{config.Serve{}, "[::1]:8080", hint},
		{config.Serve{}, "[::]:8080", ""},
		{config.Serve{}, "203.0.113.1:8080", ""},
		{config.Serve{PublicURL: public}, "127.0.0.1:8080", ""},
		{config.Serve{TrustedProxies: config.Networks{netip.MustParsePrefix("127.0.0.1/32")}}, "127.0.0.1:8080", ""},
	} {
		if got := loopbackHint(test.c, test.address); got != test.want {
			t.Errorf("%s: %q, want %q", test.address, got, test.want)
		}
	}
}

func TestValidName(t *testing.T) {
	for name, want := range map[string]bool{
		"Ada": true, "": false, "  ": false, strings.Repeat("é", 100): true, strings.Repeat("é", 101): false,
		" " + strings.Repeat("é", 100) + " ": true, "a\x00b": false, "a\xffb": false,
		"a\tb": false, "a\u202eb": false, "Ada\n": true, "می\u200cخواهم": true,
	} {
		if got := validName(name); got != want {
			t.Errorf("%q: %v, want %v", name, got, want)
		}
	}
}

func TestPrintable(t *testing.T) {
	for text, want := range map[string]string{
		"Ada": "Ada", "Zoë (she)": "Zoë (she)", "العربية": "العربية", "": "",
		"a\x1b[2Jb": `"a\x1b[2Jb"`, "a\nb": `"a\nb"`, "a\u202eb": `"a\u202eb"`, "a\u009bb": `"a\u009bb"`, `"Ada"`: `"\"Ada\""`,
	} {
		if got := printable(text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// TestFreeAddress checks that freeAddress skips a port that is in use.
func TestFreeAddress(t *testing.T) {
	p := &program{ctx: t.Context()}
	first, err := p.freeAddress()
	if err != nil {
		t.Fatal(err)
	}
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", first)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // nothing was sent
	second, err := p.freeAddress()
	if err != nil {
		t.Fatal(err)
	}
	if second == first || !regexp.MustCompile(`^127\.0\.0\.1:8\d{3}$`).MatchString(second) {
		t.Errorf("%s, then %s", first, second)
	}
}

func TestOnlyLocal(t *testing.T) {
	for address, want := range map[string]bool{
		"127.0.0.1:8080": true, "127.1.2.3:1": true, "[::1]:8080": true, "localhost:8080": true,
		":8080": false, "0.0.0.0:8080": false, "[::]:8080": false, "192.168.1.2:8080": false, "localhost.example.com:1": false, "8080": false,
	} {
		if got := onlyLocal(address); got != want {
			t.Errorf("%s: %v, want %v", address, got, want)
		}
	}
}

// TestDemoIdeas checks that the API would accept the ideas of the example.
func TestDemoIdeas(t *testing.T) {
	titles := map[string]bool{}
	open := 0
	for _, it := range demoIdeas() {
		if titles[it.title] {
			t.Errorf("%q is there twice", it.title)
		}
		titles[it.title] = true
		if n := utf8.RuneCountInString(it.title); n > 200 || strings.Contains(it.title+it.description, "%s") {
			t.Errorf("%q, %q", it.title, it.description)
		}
		if it.submitter.Email != nil && !feedback.ValidEmail(*it.submitter.Email) {
			t.Errorf("%q is not an e-mail address", *it.submitter.Email)
		}
		if it.status == feedback.Opened {
			open++
		}
	}
	if len(titles) < 200 || open == 0 || open == len(titles) {
		t.Errorf("%d ideas, %d of them open", len(titles), open)
	}
}

// TestRunEndsWithItsContext starts the service and the demo, and stops each as soon as it
// has printed something.
func TestRunEndsWithItsContext(t *testing.T) {
	for _, args := range [][]string{{"serve", "--listen=127.0.0.1:0", "--data=" + t.TempDir()}, {"demo"}} {
		t.Run(args[0], func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			stdout := &cancelingWriter{cancel: cancel}
			var stderr strings.Builder
			if code := run(ctx, args, strings.NewReader(""), stdout, &stderr); code != 0 {
				t.Errorf("exit %d\n%s", code, stderr.String())
			}
			if hinted := strings.Contains(stderr.String(), "connections only from this machine"); hinted != (args[0] == "serve") {
				t.Errorf("%s logs %s", args[0], stderr.String())
			}
			want := map[string]string{"serve": "/setup#gst_", "demo": "connections only from this machine"}[args[0]]
			if !strings.Contains(stdout.text.String(), want) {
				t.Errorf("%s prints %q", args[0], stdout.text.String())
			}
		})
	}
}

// cancelingWriter cancels the program's context as soon as the program prints something.
type cancelingWriter struct {
	text   strings.Builder
	cancel func()
}

func (c *cancelingWriter) Write(b []byte) (int, error) {
	defer c.cancel()
	return fmt.Fprint(&c.text, string(b))
}
