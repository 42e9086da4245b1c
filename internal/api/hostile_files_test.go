package api

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"gatherkit/internal/blob"
	"gatherkit/internal/store/storetest"
)

// hostileRouteRequests returns raw requests to the routes. {target} is the token of a link to
// upload five bytes, {link} that of a link to download a file, and {key} the app's API key.
func hostileRouteRequests() map[string]struct {
	raw    string
	status int
	code   string
	allow  string
} {
	type c = struct {
		raw    string
		status int
		code   string
		allow  string
	}
	const five, threeMillion = "Content-Length: 5\r\n", "Content-Length: 3000000\r\n"
	const preflight = "Origin: https://a.example\r\nAccess-Control-Request-Method: GET\r\n"
	put := func(path, header, body string) string { return ask("PUT", "/uploads/"+path, header, body) }
	get := func(path string) string { return ask("GET", path, "", "") }
	long, chunk := strings.Repeat("A", 8000), "10000\r\n"+strings.Repeat("a", 0x10000)+"\r\n"
	refusal := func(raw string) c { return c{raw, 404, "uploads.not_found", ""} }
	return map[string]c{
		"no token":                 refusal(put("", five, "words")),
		"junk token":               refusal(put("junk", five, "words")),
		"long token":               refusal(put(long, five, "words")),
		"token and more":           refusal(put("{target}A", five, "words")),
		"token and a line":         refusal(put("{target}%0a", five, "words")),
		"token and a path":         refusal(put("{target}/a", five, "words")),
		"token in a folder":        refusal(put("x/../{target}", five, "words")),
		"encoded slash":            refusal(put("..%2f..%2fetc%2fpasswd", five, "words")),
		"encoded NUL":              refusal(put("%00", five, "words")),
		"not UTF-8":                refusal(put("%ff%fe", five, "words")),
		"a link for opening":       refusal(put("{link}", five, "words")),
		"expects to go on":         refusal(put("junk", "Expect: 100-continue\r\n"+five, "")),
		"sent":                     {put("{target}", five, "words"), 200, "ok", ""},
		"sent without a length":    {put("{target}", chunked, "5\r\nwords\r\n0\r\n\r\n"), 200, "ok", ""},
		"nothing sent":             {put("{target}", "Content-Length: 0\r\n", ""), 400, "uploads.invalid_file", ""},
		"no body at all":           {put("{target}", "", ""), 400, "uploads.invalid_file", ""},
		"broken chunk":             {put("{target}", chunked, "5\r\nwor\r\nzz\r\n"), 400, "uploads.invalid_file", ""},
		"far too long":             {put("{target}", threeMillion, strings.Repeat("words", 600_000)), 400, "uploads.invalid_file", ""},
		"far too long, in chunks":  {put("{target}", chunked, strings.Repeat(chunk, 40)+"0\r\n\r\n"), 400, "uploads.invalid_file", ""},
		"POST of a file":           {ask("POST", "/uploads/{target}", five, "words"), 405, "api.method_not_allowed", "PUT"},
		"GET of a target":          {get("/uploads/{target}"), 405, "api.method_not_allowed", "PUT"},
		"DELETE of a target":       {ask("DELETE", "/uploads/{target}", "", ""), 405, "api.method_not_allowed", "PUT"},
		"made-up method":           {ask("FETCH", "/uploads/{target}", "", ""), 405, "api.method_not_allowed", "PUT"},
		"OPTIONS of nobody":        {ask("OPTIONS", "/uploads/{target}", "", ""), 405, "api.method_not_allowed", "PUT"},
		"upper case":               {ask("PUT", "/UPLOADS/{target}", five, "words"), 405, "api.method_not_allowed", "POST"},
		"no link":                  refusal(get("/attachments/")),
		"junk link":                refusal(get("/attachments/junk")),
		"long link":                refusal(get("/attachments/" + long)),
		"link and more":            refusal(get("/attachments/{link}=")),
		"link and a path":          refusal(get("/attachments/{link}/")),
		"link out of the folder":   refusal(get("/attachments/..%2f..%2fgatherkit.db")),
		"link to a target":         refusal(get("/attachments/{target}")),
		"PUT over a file":          {ask("PUT", "/attachments/{link}", five, "other"), 405, "api.method_not_allowed", "GET, HEAD"},
		"DELETE of a file":         {ask("DELETE", "/attachments/{link}", "", ""), 405, "api.method_not_allowed", "GET, HEAD"},
		"preflight of a file":      {ask("OPTIONS", "/attachments/{link}", preflight, ""), 405, "api.method_not_allowed", "GET, HEAD"},
		"no key":                   {get("/widget/config/"), 404, "apps.not_found", ""},
		"no key, but its ending":   {get("/widget/config/.json"), 404, "apps.not_found", ""},
		"junk key":                 {get("/widget/config/'%20OR%201=1.json"), 404, "apps.not_found", ""},
		"long key":                 {get("/widget/config/gk_" + long + ".json"), 404, "apps.not_found", ""},
		"NUL in a key":             {get("/widget/config/{key}%00.json"), 404, "apps.not_found", ""},
		"key without its ending":   {get("/widget/config/{key}"), 404, "apps.not_found", ""},
		"key and a path":           {get("/widget/config/{key}.json/"), 404, "apps.not_found", ""},
		"POST of settings":         {ask("POST", "/widget/config/{key}.json", five, "words"), 405, "api.method_not_allowed", "GET, HEAD"},
		"made-up method of a key":  {ask("FETCH", "/widget/config/{key}.json", "", ""), 405, "api.method_not_allowed", "GET, HEAD"},
		"settings of another path": {get("/widget/{key}.json"), 405, "api.method_not_allowed", "POST"},
	}
}

// TestHostileRouteRequests sends malformed and malicious requests to the routes.
func TestHostileRouteRequests(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s, link := withFile(t, at)
		server := httptest.NewServer(s.api)
		t.Cleanup(server.Close)
		s.names["link"] = link
		for name, c := range hostileRouteRequests() {
			t.Run(name, func(t *testing.T) {
				_, target := s.announce("key", "a.txt", 5)
				s.names["target"] = target[strings.LastIndex(target, "/")+1:]
				got := raw(t, server.Listener.Addr().String(), s.filled(c.raw))
				if code := got.code(t); got.status != c.status || code != c.code {
					t.Errorf("%d %s, want %d %s\n%s", got.status, code, c.status, c.code, got.body)
				}
				if got.header.Get("X-Request-Id") == "" ||
					got.header.Get("Content-Type") != "application/json; charset=utf-8" || got.header.Get("Allow") != c.allow {
					t.Errorf("headers %v", got.header)
				}
			})
		}
		if file := s.get(attachmentPath + link); string(file.body) != "words" {
			t.Errorf("the file is %q", file.body)
		}
	})
}

// withFile returns a service with an attached file, and the token of the file's link.
func withFile(t *testing.T, at storetest.Place) (s *service, link string) {
	t.Helper()
	s = newService(t, at)
	s.allowFiles(true)
	url := s.file(requestID(t, s.submitWith(`"`+s.send("key", "a.txt", "words")+`"`)))
	return s, url[strings.LastIndex(url, "/")+1:]
}

// TestPartsOfFiles: range and conditional requests get the whole file or configuration,
// because net/http would not answer with an envelope if it refused them.
func TestPartsOfFiles(t *testing.T) {
	s, link := withFile(t, storetest.SQLite(t))
	for _, path := range []string{attachmentPath + link, configPath + s.names["key"] + ".json"} {
		whole := s.get(path)
		for _, header := range [][2]string{
			{"Range", "bytes=1-2"},
			{"Range", "bytes=900-"},
			{"Range", "bytes=2-1"},
			{"Range", "junk"},
			{"Range", "bytes=0-0,1-1"},
			{"If-Match", `"other"`},
			{"If-Unmodified-Since", "Thu, 01 Jan 1970 00:00:00 GMT"},
		} {
			r := httptest.NewRequest(http.MethodGet, path, http.NoBody)
			r.Header.Set(header[0], header[1])
			if got := serve(s.api, r); got.status != http.StatusOK || !bytes.Equal(got.body, whole.body) ||
				got.header.Get("Accept-Ranges") == "bytes" {
				t.Errorf("%s with %v: %d %q", path, header, got.status, got.body)
			}
		}
		r := httptest.NewRequest(http.MethodHead, path, http.NoBody)
		if got := serve(s.api, r); got.status != http.StatusOK || len(got.body) > 0 || got.header.Get("ETag") != whole.header.Get("ETag") {
			t.Errorf("HEAD of %s: %d %q %v", path, got.status, got.body, got.header)
		}
		r = httptest.NewRequest(http.MethodGet, path, http.NoBody)
		r.Header.Set("If-None-Match", whole.header.Get("ETag"))
		if got := serve(s.api, r); got.status != http.StatusNotModified || len(got.body) > 0 {
			t.Errorf("%s, with a matching ETag: %d %q", path, got.status, got.body)
		}
	}
}

// TestPanicOverFiles: after a panic, the answer is an envelope that does not reveal the cause.
func TestPanicOverFiles(t *testing.T) {
	s, link := withFile(t, storetest.SQLite(t))
	_, target := s.announce("key", "a.txt", 5)
	s.api.Files = new(blob.Store) // without a bucket, it panics
	for what, got := range map[string]answer{"sent": s.put(target, strings.NewReader("words")), "opened": s.get(attachmentPath + link)} {
		if got.status != http.StatusInternalServerError || got.code(t) != "api.internal" || bytes.Contains(got.body, []byte("nil")) {
			t.Errorf("%s: %d %s", what, got.status, got.body)
		}
	}
}

// TestSlowFiles: the answer is 408 if the sender of a file pauses for too long, and if the
// whole file takes too long.
func TestSlowFiles(t *testing.T) {
	s := newService(t, storetest.SQLite(t))
	s.allowFiles(true)
	for name, handler := range map[string]http.HandlerFunc{
		"a piece": func(w http.ResponseWriter, r *http.Request) { s.api.ServeHTTP(impatient{w}, r) },
		"the whole": func(w http.ResponseWriter, r *http.Request) {
			ctx, cancel := context.WithTimeout(r.Context(), 2*time.Second) // on a busy machine, some of it passes before the body is read
			defer cancel()
			s.api.ServeHTTP(w, r.WithContext(ctx))
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(handler)
			t.Cleanup(server.Close)
			_, target := s.announce("key", "a.txt", 10<<20)
			from, to := io.Pipe()
			defer from.Close() //nolint:errcheck // ends the goroutine below
			go func() {
				for err := error(nil); err == nil; {
					_, err = to.Write([]byte("word "))
					if name == "a piece" {
						return
					}
				}
			}()
			tick := time.NewTicker(10 * time.Millisecond)
			defer tick.Stop()
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, server.URL+target[len(serviceURL):], paced{from, tick.C})
			if err != nil {
				t.Fatal(err)
			}
			response, err := server.Client().Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close() //nolint:errcheck // it was only read
			body, err := io.ReadAll(response.Body)
			got := answer{response.StatusCode, response.Header, body}
			if err != nil || got.status != http.StatusRequestTimeout || got.code(t) != "api.request_timeout" {
				t.Errorf("%d %s, %v", got.status, got.body, err)
			}
		})
	}
}

// paced reads once per tick.
type paced struct {
	from io.Reader
	tick <-chan time.Time
}

func (p paced) Read(b []byte) (int, error) {
	<-p.tick
	return p.from.Read(b)
}
