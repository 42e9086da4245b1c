package api

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"gatherkit/internal/feedback"
	"gatherkit/internal/store/storetest"
)

// Headers of raw requests.
const (
	jsonType = "Content-Type: application/json\r\n"
	formType = "Content-Type: application/x-www-form-urlencoded\r\n"
	gzipped  = "Content-Encoding: gzip\r\n"
	chunked  = "Transfer-Encoding: chunked\r\n"
)

// ask returns a raw request, after which the connection ends.
func ask(method, path, header, body string) string {
	return method + " " + path + " HTTP/1.1\r\nHost: h\r\nConnection: close\r\n" + header + "\r\n" + body
}

// hostile returns raw requests with the status and the code of the answer, which must be an
// envelope. {owner} and {key} are replaced.
func hostile() map[string]struct {
	raw    string
	status int
	code   string
} {
	type c = struct {
		raw    string
		status int
		code   string
	}
	post := func(operation, header, body string) string {
		return ask("POST", "/api/"+operation, fmt.Sprintf("%sContent-Length: %d\r\n", header, len(body)), body)
	}
	const bearer, key = "Authorization: Bearer {owner}\r\n", "X-API-Key: {key}\r\n"
	deep, tooLarge := nested("[", "", "]", 9000), "50000\r\n"+strings.Repeat("a", 0x50000)+"\r\n"
	create := func(body string) string { return post("apps-create", bearer+jsonType, body) }
	submit := func(body string) string { return post("widget-submit-request", key+jsonType, body) }
	list := func(body string) string { return post("requests-list", bearer+jsonType, body) }
	get := func(body string) string { return post("apps-get", bearer+jsonType, body) }
	return map[string]c{
		"not JSON":             {create("hello"), 400, "api.invalid_json"},
		"half an object":       {create(`{"name":`), 400, "api.invalid_json"},
		"trailing data":        {create(`{"name":"a"} x`), 400, "api.invalid_json"},
		"two objects":          {create(`{"name":"a"}{"name":"b"}`), 400, "api.invalid_json"},
		"duplicate key":        {create(`{"name":"a","name":"b"}`), 400, "api.invalid_json"},
		"duplicate deep":       {submit(`{"title":"t","description":"","metadata":{"a":1,"a":2}}`), 400, "api.invalid_json"},
		"an array":             {create(`["name"]`), 400, "api.invalid_json"},
		"a string":             {create(`"name"`), 400, "api.invalid_json"},
		"null":                 {create(`null`), 400, "api.invalid_json"},
		"a number":             {create(`1`), 400, "api.invalid_json"},
		"NaN":                  {list(`{"limit":NaN}`), 400, "api.invalid_json"},
		"invalid UTF-8":        {create("{\"name\":\"\xff\"}"), 400, "api.invalid_json"},
		"lone surrogate":       {create(`{"name":"\ud800"}`), 400, "api.invalid_json"},
		"byte order mark":      {create("\xef\xbb\xbf{\"name\":\"a\"}"), 400, "api.invalid_json"},
		"comment":              {create(`{"name":"a"} // x`), 400, "api.invalid_json"},
		"single quotes":        {create(`{'name':'a'}`), 400, "api.invalid_json"},
		"10k nested arrays":    {create(`{"name":` + nested("[", "", "]", 10001) + `}`), 400, "api.invalid_json"},
		"nested in metadata":   {submit(`{"title":"t","description":"","metadata":{"a":` + deep + `}}`), 400, "widget.invalid_metadata"},
		"many keys":            {create("{" + strings.TrimSuffix(manyKeys(20000), ",") + "}"), 400, "api.unknown_parameter"},
		"other case":           {create(`{"Name":"a"}`), 400, "api.unknown_parameter"},
		"unknown":              {create(`{"name":"a","admin":true}`), 400, "api.unknown_parameter"},
		"unknown with none":    {post("auth-me", bearer+jsonType, `{"a":1}`), 400, "api.unknown_parameter"},
		"NUL":                  {create(`{"name":"a\u0000b"}`), 400, "apps.invalid_name"},
		"NUL in a key":         {submit(`{"title":"t","description":"","metadata":{"\u0000":1}}`), 400, "widget.invalid_metadata"},
		"only white space":     {create(`{"name":" \t\n "}`), 400, "apps.invalid_name"},
		"too long":             {create(`{"name":"` + strings.Repeat("é", 101) + `"}`), 400, "apps.invalid_name"},
		"wrong type":           {create(`{"name":{"a":1}}`), 400, "apps.invalid_name"},
		"null for required":    {create(`{"name":null}`), 400, "apps.invalid_name"},
		"missing":              {create(`{}`), 400, "apps.invalid_name"},
		"empty body":           {create(``), 400, "apps.invalid_name"},
		"white space body":     {create(" \r\n "), 400, "apps.invalid_name"},
		"no UUID":              {get(`{"id":"1"}`), 400, "apps.invalid_id"},
		"UUID in braces":       {get(`{"id":"{01234567-89ab-7def-8123-456789abcdef}"}`), 400, "apps.invalid_id"},
		"urn UUID":             {get(`{"id":"urn:uuid:01234567-89ab-7def-8123-456789abcdef"}`), 400, "apps.invalid_id"},
		"SQL in an id":         {get(`{"id":"' OR 1=1 --"}`), 400, "apps.invalid_id"},
		"limit 0":              {list(`{"limit":0}`), 400, "requests.invalid_limit"},
		"limit -1":             {list(`{"limit":-1}`), 400, "requests.invalid_limit"},
		"limit 1.5":            {list(`{"limit":1.5}`), 400, "requests.invalid_limit"},
		"limit as text":        {list(`{"limit":"10"}`), 400, "requests.invalid_limit"},
		"limit 1e300":          {list(`{"limit":1e300}`), 200, "ok"},
		"limit 2^31":           {list(`{"limit":2147483648}`), 200, "ok"},
		"limit true":           {list(`{"limit":true}`), 400, "requests.invalid_limit"},
		"empty statuses":       {list(`{"status":[]}`), 400, "requests.invalid_status"},
		"odd status":           {list(`{"status":["opened",1]}`), 400, "requests.invalid_status"},
		"junk cursor":          {list(`{"cursor":"junk"}`), 400, "requests.invalid_cursor"},
		"null cursor":          {list(`{"cursor":null}`), 200, "ok"},
		"GET":                  {ask("GET", "/api/apps-list", "", ""), 405, "api.method_not_allowed"},
		"PUT":                  {ask("PUT", "/api/apps-list", "Content-Length: 0\r\n", ""), 405, "api.method_not_allowed"},
		"made-up method":       {ask("FETCH", "/api/apps-list", "", ""), 405, "api.method_not_allowed"},
		"unknown operation":    {post("apps-destroy", bearer, ""), 404, "api.unknown_operation"},
		"no operation":         {post("", bearer, ""), 404, "api.unknown_operation"},
		"slash after":          {post("apps-list/", bearer, ""), 404, "api.unknown_operation"},
		"double slash":         {post("/apps-list", bearer, ""), 404, "api.unknown_operation"},
		"dots":                 {post("x/../apps-list", bearer, ""), 404, "api.unknown_operation"},
		"upper case":           {post("APPS-LIST", bearer, ""), 404, "api.unknown_operation"},
		"encoded NUL":          {post("apps-list%00", bearer, ""), 404, "api.unknown_operation"},
		"text/plain":           {post("apps-create", bearer+"Content-Type: text/plain\r\n", `{"name":"a"}`), 415, "api.unsupported_media_type"},
		"form":                 {post("apps-create", bearer+formType, `name=a`), 415, "api.unsupported_media_type"},
		"no type":              {post("apps-create", bearer, `{"name":"a"}`), 415, "api.unsupported_media_type"},
		"gzip":                 {post("apps-create", bearer+jsonType+gzipped, "\x1f\x8b"), 415, "api.unsupported_media_type"},
		"type of an empty one": {post("auth-me", bearer+"Content-Type: text/plain\r\n", ""), 200, "ok"},
		"type with charset":    {post("auth-me", bearer+"Content-Type: application/json; charset=utf-8\r\n", "{}"), 200, "ok"},
		"too large":            {submit(`{"title":"` + strings.Repeat("a", 300<<10) + `"}`), 413, "api.body_too_large"},
		"too large, chunked":   {ask("POST", "/api/apps-create", bearer+chunked, tooLarge+"0\r\n\r\n"), 413, "api.body_too_large"},
		"broken chunk":         {ask("POST", "/api/apps-create", bearer+jsonType+chunked, "zz\r\n"), 400, "api.invalid_json"},
		"no token":             {post("apps-list", "", ""), 401, "auth.missing_token"},
		"basic":                {post("apps-list", "Authorization: Basic YTpi\r\n", ""), 401, "auth.missing_token"},
		"empty bearer":         {post("apps-list", "Authorization: Bearer \r\n", ""), 401, "auth.missing_token"},
		"junk bearer":          {post("apps-list", "Authorization: Bearer gat_x\r\n", ""), 401, "auth.invalid_token"},
		"key as bearer":        {post("apps-list", "Authorization: Bearer {key}\r\n", ""), 401, "auth.invalid_token"},
		"long bearer":          {post("apps-list", "Authorization: Bearer "+strings.Repeat("a", 20000)+"\r\n", ""), 401, "auth.invalid_token"},
		"no key":               {post("widget-submit-request", jsonType, "{}"), 401, "auth.missing_api_key"},
		"junk key":             {post("widget-submit-request", "X-API-Key: ' OR 1=1\r\n"+jsonType, "{}"), 401, "auth.invalid_api_key"},
		"guard before body":    {post("apps-create", "", strings.Repeat("a", 1000)), 401, "auth.missing_token"},
		"HTTP/1.0":             {"POST /api/auth-me HTTP/1.0\r\n" + bearer + "\r\n", 200, "ok"},
		"lower case bearer":    {post("auth-me", "authorization: bearer {owner}\r\n", ""), 200, "ok"},
	}
}

func manyKeys(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"k%d":1,`, i)
	}
	return b.String()
}

// raw sends text and reads one answer.
func raw(t testing.TB, address, text string) answer {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(storetest.Patience)); err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.WriteString(conn, text) }() // the server may answer before it has read everything
	method, _, _ := strings.Cut(text, " ")
	response, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		t.Fatalf("no answer: %v", err)
	}
	defer response.Body.Close() //nolint:errcheck // the connection is closed anyway
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{response.StatusCode, response.Header, body}
}

// TestHostile sends malformed and malicious requests.
func TestHostile(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s := newService(t, at)
		server := httptest.NewServer(s.api)
		t.Cleanup(server.Close)
		for name, c := range hostile() {
			t.Run(name, func(t *testing.T) {
				got := raw(t, server.Listener.Addr().String(), s.filled(c.raw))
				if code := got.code(t); got.status != c.status || code != c.code {
					t.Errorf("%d %s, want %d %s\n%s", got.status, code, c.status, c.code, got.body)
				}
				if got.header.Get("X-Request-Id") == "" || got.header.Get("Content-Type") != "application/json; charset=utf-8" {
					t.Errorf("headers %v", got.header)
				}
				if c.status == 405 && got.header.Get("Allow") != "POST" {
					t.Errorf("Allow: %q", got.header.Get("Allow"))
				}
			})
		}
	})
}

// TestSlowBody: the answer is 408 if the body does not arrive.
func TestSlowBody(t *testing.T) {
	s := newService(t, storetest.SQLite(t))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.api.ServeHTTP(impatient{w}, r)
	}))
	t.Cleanup(server.Close)
	got := raw(t, server.Listener.Addr().String(), s.filled("POST /api/apps-create HTTP/1.1\r\nHost: h\r\n"+
		"Authorization: Bearer {owner}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"))
	if got.status != 408 || got.code(t) != "api.request_timeout" {
		t.Errorf("%d %s", got.status, got.body)
	}
}

// impatient is a ResponseWriter whose read deadlines end almost at once.
type impatient struct{ http.ResponseWriter }

func (w impatient) SetReadDeadline(time.Time) error {
	return http.NewResponseController(w.ResponseWriter).SetReadDeadline(time.Now().Add(10 * time.Millisecond))
}

func (w impatient) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// TestPanic: after a panic, the answer is an envelope that does not reveal the cause.
func TestPanic(t *testing.T) {
	s := newService(t, storetest.SQLite(t))
	s.api.ops["auth-me"].call = nil
	got := s.call("auth-me", "owner", "")
	if got.status != 500 || got.code(t) != "api.internal" || bytes.Contains(got.body, []byte("nil")) {
		t.Errorf("%d %s", got.status, got.body)
	}
}

// TestDatabaseGone: without a database, the answer is 503 with Retry-After.
func TestDatabaseGone(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		clock := storetest.NewClock()
		s := &service{t: t, clock: clock, store: at.Open(t, clock.Now), names: newNames()}
		s.api = newAPI(t, s.store, clock)
		s.addUser("Acme", "owner", feedback.RoleOwner)
		s.names["key"] = s.must("apps-create", "owner", `{"name":"A"}`)["app"].(map[string]any)["api_key"].(string)
		if err := s.store.Close(); err != nil {
			t.Fatal(err)
		}
		for operation, who := range map[string]string{"apps-list": "owner", "widget-submit-request": "key", "auth-login": ""} {
			got := s.call(operation, who, sample(t, operation))
			if got.status != 503 || got.code(t) != "api.unavailable" || got.header.Get("Retry-After") == "" {
				t.Errorf("%s: %d %s", operation, got.status, got.body)
			}
		}
	})
}

// TestCORS: pages of any origin can call widget operations and no others.
func TestCORS(t *testing.T) {
	s := newService(t, storetest.SQLite(t))
	for operation, allowed := range map[string]string{"widget-submit-request": "https://shop.example", "apps-list": "", "nonsense": ""} {
		r := httptest.NewRequest(http.MethodOptions, "/api/"+operation, http.NoBody)
		r.Header.Set("Origin", "https://shop.example")
		r.Header.Set("Access-Control-Request-Method", "POST")
		r.Header.Set("Access-Control-Request-Headers", "content-type,x-api-key")
		if got := serve(s.api, r); got.status != 204 || got.header.Get("Access-Control-Allow-Origin") != allowed || len(got.body) > 0 ||
			allowed != "" && (got.header.Get("Access-Control-Max-Age") != "86400" ||
				!strings.Contains(got.header.Get("Vary"), "Origin") || got.header.Get("Access-Control-Allow-Credentials") != "") {
			t.Errorf("preflight of %s: %d %v", operation, got.status, got.header)
		}
		r = s.request(operation, "", "{}")
		r.Header.Set("Origin", "https://shop.example")
		if got := serve(s.api, r); got.header.Get("Access-Control-Allow-Origin") != allowed ||
			allowed != "" && got.header.Get("Access-Control-Expose-Headers") == "" {
			t.Errorf("call of %s: %d %v", operation, got.status, got.header)
		}
	}
}
