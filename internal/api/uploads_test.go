package api

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"gatherkit/internal/store/storetest"
)

// allowFiles allows or forbids file uploads for the app.
func (s *service) allowFiles(allow bool) {
	s.t.Helper()
	s.must("apps-update-settings", "owner", fmt.Sprintf(`{"id":%q,"settings":{"widget":{"allow_file_uploads":%t}}}`, s.names["app"], allow))
}

// announce announces a file and returns its id and the URL to send it to.
func (s *service) announce(key, name string, size int) (id, url string) {
	s.t.Helper()
	body := fmt.Sprintf(`{"filename":%q,"content_type":"text/plain","size":%d}`, name, size)
	target := s.must("widget-create-upload", key, body)["upload"].(map[string]any)
	return target["id"].(string), target["url"].(string)
}

func (s *service) put(url string, body io.Reader) answer {
	return serve(s.api, httptest.NewRequest(http.MethodPut, url, body))
}

// send sends a file and returns its id.
func (s *service) send(key, name, content string) string {
	s.t.Helper()
	id, url := s.announce(key, name, len(content))
	if got := s.put(url, strings.NewReader(content)); got.code(s.t) != "ok" {
		s.t.Fatalf("%d %s", got.status, got.body)
	}
	return id
}

func (s *service) submitWith(ids string) answer {
	return s.call("widget-submit-request", "key", fmt.Sprintf(`{"title":"T","description":"","idempotency_key":"k","attachments":[%s]}`, ids))
}

// file returns the URL of a request's only attachment.
func (s *service) file(requestID string) (url string) {
	s.t.Helper()
	request := s.must("requests-get", "owner", `{"id":"`+requestID+`"}`)["request"].(map[string]any)
	return request["attachments"].([]any)[0].(map[string]any)["url"].(string)
}

// renew logs in a user whose access token has expired.
func (s *service) renew(who string) {
	s.t.Helper()
	tokens := s.must("auth-refresh", "", s.filled(`{"refresh_token":"{`+who+`_refresh}"}`))
	s.names[who], s.names[who+"_refresh"] = tokens["access_token"].(string), tokens["refresh_token"].(string)
}

// logIn logs in a user whose session has ended.
func (s *service) logIn(who string) {
	s.t.Helper()
	tokens := s.must("auth-login", "", fmt.Sprintf(`{"email":%q,"password":%q}`, who+"@"+s.names["domain"], testPassword))
	s.names[who], s.names[who+"_refresh"] = tokens["access_token"].(string), tokens["refresh_token"].(string)
}

func (s *service) get(url string) answer {
	return serve(s.api, httptest.NewRequest(http.MethodGet, url, http.NoBody))
}

func requestID(t *testing.T, a answer) string {
	t.Helper()
	if a.status != http.StatusOK {
		t.Fatalf("%d %s", a.status, a.body)
	}
	return lookUp(t, a, "result.request.id")
}

func TestUploads(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s := newService(t, at)
		announcement := `{"filename":"a","content_type":"text/plain","size":1}`
		if got := s.call("widget-create-upload", "key", announcement); got.code(t) != "widget.uploads_not_allowed" {
			t.Errorf("not allowed: %s", got.body)
		}
		s.allowFiles(true)
		first := s.send("key", `C:\temp\..\..\e"vil`+"\u202e"+`fdp.txt`, "words")
		got := s.submitWith(`"` + first + `"`)
		id := requestID(t, got)
		if again := s.submitWith(`"` + first + `"`); requestID(t, again) != id {
			t.Errorf("sent again: %s", again.body)
		}
		if other := s.submitWith(""); other.code(t) != "widget.idempotency_mismatch" {
			t.Errorf("other files are other content: %s", other.body)
		}
		file := s.get(s.file(id))
		for name, want := range map[string]string{
			"Content-Type": "text/plain", "Content-Disposition": `attachment; filename=e_vilfdp.txt`, "X-Content-Type-Options": "nosniff",
			"Content-Security-Policy": "sandbox; default-src 'none'",
		} {
			if file.header.Get(name) != want {
				t.Errorf("%s: %q", name, file.header.Get(name))
			}
		}
		if string(file.body) != "words" {
			t.Errorf("%q", file.body)
		}
		listed := s.must("requests-list", "owner", "{}")["requests"].([]any)[0].(map[string]any)["attachments"].([]any)
		if len(listed) != 1 || listed[0].(map[string]any)["url"] != s.file(id) {
			t.Errorf("%v", listed)
		}
		// Files cannot be attached after uploads were forbidden.
		second := s.send("key", "b.txt", "other")
		s.allowFiles(false)
		late := `{"title":"T","description":"","attachments":["` + second + `"]}`
		if got := s.call("widget-submit-request", "key", late); got.code(t) != "widget.uploads_not_allowed" {
			t.Errorf("%s", got.body)
		}
	})
}

// TestWhoseFiles tries to attach files that cannot be attached.
func TestWhoseFiles(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s := newService(t, at)
		s.allowFiles(true)
		other := s.must("apps-create", "stranger", `{"name":"Other"}`)["app"].(map[string]any)
		s.names["foreign"] = other["api_key"].(string)
		s.must("apps-update-settings", "stranger", `{"id":"`+other["id"].(string)+`","settings":{"widget":{"allow_file_uploads":true}}}`)
		attached := s.send("key", "a", "words")
		requestID(t, s.submitWith(`"`+attached+`"`))
		unsent, _ := s.announce("key", "a", 5)
		old := s.send("key", "a", "words")
		s.clock.Move(24*time.Hour + time.Second)
		good := s.send("key", "a", "words")
		for name, ids := range map[string]string{
			"of another account": `"` + s.send("foreign", "a", "words") + `"`, "attached already": `"` + attached + `"`,
			"never sent": `"` + unsent + `"`, "too old": `"` + old + `"`, "of nobody": `"01a2b3c4-0000-7000-8000-000000000000"`,
			"one of two": `"` + good + `","` + unsent + `"`, "twice": `"` + good + `","` + good + `"`,
		} {
			got := s.call("widget-submit-request", "key", `{"title":"T","description":"","attachments":[`+ids+`]}`)
			if got.code(t) != "widget.invalid_attachments" {
				t.Errorf("%s: %s", name, got.body)
			}
		}
		s.renew("owner")
		if n := s.must("requests-list", "owner", "{}")["total_count"]; n != 1.0 {
			t.Errorf("%v requests", n)
		}
		requestID(t, s.call("widget-submit-request", "key", `{"title":"T","description":"","attachments":["`+good+`"]}`))
	})
}

func TestFilesThatAreRefused(t *testing.T) {
	s := newService(t, storetest.SQLite(t))
	s.allowFiles(true)
	for name, test := range map[string]struct {
		body io.Reader
		size int
		code string
	}{
		"archive":    {strings.NewReader("PK\x03\x04" + strings.Repeat("\x00", 9)), 13, "uploads.invalid_file"},
		"shorter":    {strings.NewReader("word"), 5, "uploads.invalid_file"},
		"longer":     {strings.NewReader("words and more"), 5, "uploads.invalid_file"},
		"broken off": {io.MultiReader(strings.NewReader("wo"), iotest.ErrReader(io.ErrUnexpectedEOF)), 5, "uploads.invalid_file"},
	} {
		id, url := s.announce("key", "picture.png", test.size)
		if got := s.put(url, test.body); got.code(t) != test.code {
			t.Errorf("%s: %s", name, got.body)
		}
		if got := s.submitWith(`"` + id + `"`); got.code(t) != "widget.invalid_attachments" {
			t.Errorf("%s: attached: %s", name, got.body)
		}
	}
	id, url := s.announce("key", "a.txt", 5)
	for _, test := range []struct {
		body io.Reader
		code string
	}{
		{strings.NewReader("words"), "ok"},
		// Sent again, but the connection breaks.
		{io.MultiReader(strings.NewReader("wo"), iotest.ErrReader(io.ErrUnexpectedEOF)), "uploads.invalid_file"},
		{strings.NewReader("words"), "ok"},
	} {
		if got := s.put(url, test.body); got.code(t) != test.code {
			t.Errorf("%s, want %s", got.body, test.code)
		}
	}
	requestID(t, s.submitWith(`"`+id+`"`))
	for body, code := range map[string]string{
		`{"filename":"a","content_type":"text/html","size":1}`:         "widget.invalid_content_type",
		`{"filename":"a","content_type":"image/svg+xml","size":1}`:     "widget.invalid_content_type",
		`{"filename":"a","content_type":"text/plain","size":10485761}`: "widget.invalid_size",
		`{"filename":"a","content_type":"text/plain","size":0}`:        "widget.invalid_size",
		`{"filename":"","content_type":"text/plain","size":1}`:         "widget.invalid_filename",
	} {
		if got := s.call("widget-create-upload", "key", body); got.code(t) != code {
			t.Errorf("%s: %s", body, got.body)
		}
	}
}

// TestLinksToFiles tries links with an invalid signature or for another purpose.
func TestLinksToFiles(t *testing.T) {
	s := newService(t, storetest.SQLite(t))
	s.allowFiles(true)
	id, sendTo := s.announce("key", "a", 5)
	if got := s.put(sendTo, strings.NewReader("words")); got.code(t) != "ok" {
		t.Fatal(string(got.body))
	}
	unattached := strings.Replace(sendTo, "/uploads/", "/attachments/", 1)
	if got := s.get(unattached); got.code(t) != "uploads.not_found" {
		t.Errorf("a link for sending opens: %s", got.body)
	}
	url := s.file(requestID(t, s.submitWith(`"`+id+`"`)))
	if got := s.put(strings.Replace(url, "/attachments/", "/uploads/", 1), strings.NewReader("other")); got.code(t) != "uploads.not_found" {
		t.Errorf("a link for opening sends: %s", got.body)
	}
	if got := s.put(sendTo, strings.NewReader("other")); got.code(t) != "ok" || string(s.get(url).body) != "words" {
		t.Errorf("sent again: %s, then %s", got.body, s.get(url).body)
	}
	at := strings.LastIndex(url, "/") + 1
	for i := at; i < len(url); i++ {
		for _, c := range "A_" {
			if broken := url[:i] + string(c) + url[i+1:]; broken != url && s.get(broken).status != http.StatusNotFound {
				t.Errorf("%s opens", broken)
			}
		}
	}
	for path, allowed := range map[string]string{url: "GET, HEAD", sendTo: "PUT"} {
		got := serve(s.api, httptest.NewRequest(http.MethodPost, path, http.NoBody))
		if got.code(t) != "api.method_not_allowed" || got.header.Get("Allow") != allowed {
			t.Errorf("%s", got.body)
		}
	}
	s.clock.Move(2 * time.Hour)
	if got := s.get(url); got.code(t) != "uploads.not_found" {
		t.Errorf("opened after its time: %d", got.status)
	}
	if got := s.put(sendTo, strings.NewReader("words")); got.code(t) != "uploads.not_found" {
		t.Errorf("sent after its time: %s", got.body)
	}
}

// TestUploadsFromOtherOrigins: pages of any origin may send files.
func TestUploadsFromOtherOrigins(t *testing.T) {
	s := newService(t, storetest.SQLite(t))
	s.allowFiles(true)
	_, url := s.announce("key", "a", 5)
	r := httptest.NewRequest(http.MethodOptions, url, http.NoBody)
	r.Header.Set("Origin", "https://shop.example")
	r.Header.Set("Access-Control-Request-Method", "PUT")
	r.Header.Set("Access-Control-Request-Headers", "content-type")
	got := serve(s.api, r)
	if got.status != http.StatusNoContent || got.header.Get("Access-Control-Allow-Origin") == "" ||
		got.header.Get("Access-Control-Allow-Methods") != "PUT" {
		t.Errorf("%d %v", got.status, got.header)
	}
	r = httptest.NewRequest(http.MethodPut, url, strings.NewReader("words"))
	r.Header.Set("Origin", "https://shop.example")
	if got := serve(s.api, r); got.status != http.StatusOK || got.header.Get("Access-Control-Allow-Origin") == "" {
		t.Errorf("%d %v", got.status, got.header)
	}
}

// TestFilesGo: files are removed if they are not attached for too long, or when their request is
// removed.
func TestFilesGo(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s := newService(t, at)
		s.allowFiles(true)
		ctx := t.Context()
		attached := s.send("key", "a", "words")
		id := requestID(t, s.submitWith(`"`+attached+`"`))
		s.send("key", "b", "words")
		s.announce("key", "c", 5)
		count := func() (n int) {
			t.Helper()
			if err := s.store.Sweep(ctx); err != nil {
				t.Fatal(err)
			}
			if err := at.Raw(t).QueryRowContext(ctx, "SELECT COUNT(*) FROM uploads").Scan(&n); err != nil {
				t.Fatal(err)
			}
			return n
		}
		if n := count(); n != 3 {
			t.Errorf("%d at first", n)
		}
		s.clock.Move(26 * time.Hour)
		if n := count(); n != 1 {
			t.Errorf("%d after a day", n)
		}
		s.renew("owner")
		if string(s.get(s.file(id)).body) != "words" {
			t.Error("the attached one is gone, too")
		}
		s.must("requests-delete", "owner", `{"id":"`+id+`"}`)
		s.clock.Move(31 * 24 * time.Hour)
		if n := count(); n != 0 {
			t.Errorf("%d after the request", n)
		}
	})
}

func TestWidgetConfig(t *testing.T) {
	s := newService(t, storetest.SQLite(t))
	open := func(path, origin, etag string) answer {
		r := httptest.NewRequest(http.MethodGet, "/widget/config/"+path, http.NoBody)
		r.Header.Set("Origin", origin)
		r.Header.Set("If-None-Match", etag)
		return serve(s.api, r)
	}
	s.allowFiles(true)
	good := s.names["key"] + ".json"
	got := open(good, "https://shop.example", "")
	want := `{"app_id":"` + s.names["app"] + `","widget":{"primary_color":"#4F46E5","position":"bottom-right",` +
		`"button_text":"Feedback","show_email_field":true,"require_email":false,"allow_file_uploads":true},"sharing":"none",` +
		`"uploads":{"max_size":10485760,"max_count":5,` +
		`"content_types":["image/png","image/jpeg","image/gif","image/webp","application/pdf","text/plain"]},"mail":true,"latest_entry":null}`
	if strings.TrimSpace(string(got.body)) != want || got.header.Get("Cache-Control") != "public, max-age=60" ||
		got.header.Get("Access-Control-Allow-Origin") == "" || got.header.Get("Vary") != "Origin" {
		t.Errorf("%s %v", got.body, got.header)
	}
	if again := open(good, "https://shop.example", got.header.Get("ETag")); again.status != http.StatusNotModified {
		t.Errorf("%d", again.status)
	}
	entry := s.entry("owner", s.names["app"])
	s.must("entries-publish", "owner", `{"id":"`+entry+`"}`)
	again := open(good, "https://shop.example", got.header.Get("ETag"))
	if again.status != http.StatusOK || !strings.Contains(string(again.body), `"latest_entry":"`+entry+`"`) {
		t.Errorf("after an entry was published: %d %s", again.status, again.body)
	}
	for _, path := range []string{"", "x.json", s.names["key"], "../" + good} {
		got := open(path, "https://shop.example", "")
		if got.code(t) != "apps.not_found" || got.status != http.StatusNotFound || got.header.Get("Access-Control-Allow-Origin") == "" {
			t.Errorf("%q: %d %s", path, got.status, got.body)
		}
	}
	s.must("apps-update-settings", "owner", `{"id":"`+s.names["app"]+`","settings":{"allowed_origins":["https://shop.example"]}}`)
	if got := open(good, "https://other.example", ""); got.code(t) != "widget.origin_not_allowed" {
		t.Errorf("%s", got.body)
	}
	if got := open(good, "https://shop.example", ""); got.status != http.StatusOK {
		t.Errorf("%s", got.body)
	}
	s.api.Files = nil
	if got := open(good, "https://shop.example", ""); !strings.Contains(string(got.body), `"allow_file_uploads":false`) {
		t.Errorf("%s", got.body)
	}
}
