package api

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"gatherkit/internal/store/storetest"
)

// TestPortalByKey: calls with the API key let in whom the portal lets in, and people who are blocked are nobody.
func TestPortalByKey(t *testing.T) {
	s := newService(t, storetest.SQLite(t))
	s.publicPortal()
	id := s.submit("Dark mode")
	proof := s.proof("ada", "")
	s.must("widget-vote", "key", fmt.Sprintf(`{"request_id":%q,"identity_token":%q}`, id, proof))
	as := map[string]string{
		"a browser": `"voter":"0c9f5e9a-6d0c-4f53-9f0a-3b1f0f6f5a11"`, "ada": fmt.Sprintf(`"identity_token":%q`, proof),
	}
	n := 0
	try := func(access, who, want string) {
		t.Helper()
		s.openPortal("all", `{"access":"`+access+`"}`)
		n++
		for op, body := range map[string]string{
			"widget-board": "{" + as[who] + "}", "widget-request": fmt.Sprintf(`{"id":%q,%s}`, id, as[who]),
			"widget-comment": fmt.Sprintf(`{"request_id":%q,"body":"Comment %d",%s}`, id, n, as[who]),
		} {
			if got := s.call(op, "key", body); (got.status == http.StatusOK) != (want == "") || want != "" && got.code(t) != want {
				t.Errorf("%s with %s as %s: %d %s", op, access, who, got.status, got.body)
			}
		}
	}
	try("public", "a browser", "")
	try("public", "ada", "")
	try("signed_in", "a browser", "portal.sign_in_needed")
	try("signed_in", "ada", "")
	try("link", "ada", "portal.not_found")
	try("off", "ada", "portal.not_found")

	s.openPortal("all", `{"access":"public","moderation":"all"}`)
	voted := func() bool {
		return strings.Contains(string(s.call("widget-board", "key", "{"+as["ada"]+"}").body), `"voted":true`)
	}
	if !voted() {
		t.Error("the board does not know what ada voted for")
	}
	s.must("widget-comment", "key", fmt.Sprintf(`{"request_id":%q,"body":"Held",%s}`, id, as["ada"]))
	held := s.must("comments-held", "member", "")["comments"].([]any)[0].(map[string]any)["id"].(string)
	s.must("comments-block", "member", `{"id":"`+held+`","person":true}`)
	if voted() {
		t.Error("the board knows somebody who is blocked")
	}
	s.openPortal("all", `{"access":"signed_in"}`)
	if got := s.call("widget-board", "key", "{"+as["ada"]+"}"); got.code(t) != "portal.sign_in_needed" {
		t.Errorf("somebody who is blocked sees %d %s", got.status, got.body)
	}
}
