package web

import (
	"net/http"
	"strings"
	"testing"
)

// TestPreview checks the policy of the preview: it can send nothing, has an opaque origin, and
// only pages of the service can frame it.
func TestPreview(t *testing.T) {
	h := serve(t, nil)
	page := get(h, "/preview")
	policy := page.Header().Get("Content-Security-Policy")
	for _, part := range []string{
		"default-src 'none'", "connect-src data:", "form-action 'none'", "frame-ancestors 'self'",
		"require-trusted-types-for 'script'", "trusted-types 'none'", "sandbox allow-scripts allow-forms",
	} {
		if !strings.Contains(policy+";", part+";") {
			t.Errorf("the policy has no %s: %s", part, policy)
		}
	}
	if opener := page.Header().Get("Cross-Origin-Opener-Policy"); opener != "" {
		t.Errorf("browsers do not show the sandboxed page with Cross-Origin-Opener-Policy: %s", opener)
	}
	if opener := get(h, "/docs").Header().Get("Cross-Origin-Opener-Policy"); opener != "same-origin" {
		t.Errorf("/docs has Cross-Origin-Opener-Policy: %q", opener)
	}
	body := readAll(t, page.Body)
	for _, path := range []string{"preview/style.css", "preview/preview.js", "widget.js"} {
		if !strings.Contains(body, `"`+path+`"`) || get(h, "/"+path).Code != http.StatusOK {
			t.Errorf("the page does not load %s", path)
		}
	}
	if strings.Contains(body, "<script>") || strings.Contains(body, "style=") {
		t.Error("the page has what its policy forbids")
	}
}
