package api

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/png"
	"net/http"
	"strings"
	"testing"

	"gatherkit/internal/store/storetest"
)

// TestPortalLogo: a portal shows its logo as it was sent, to people who see the portal and to nobody else.
func TestPortalLogo(t *testing.T) {
	s := newService(t, storetest.SQLite(t))
	s.publicPortal()
	set := func(portal string) answer {
		return s.call("apps-update-settings", "owner", s.filled(`{"id":"{app}","settings":{"portal":{`+portal+`}}}`))
	}
	logo := func(text string) answer { return set(fmt.Sprintf(`"logo":%q`, text)) }

	square, wide := picture(t, 512, 512), picture(t, 513, 1)
	for name, text := range map[string]string{
		"no base64": "!", "no picture": "R0lG", "too wide": encoded(wide), "cut off": encoded(square[:len(square)/2]),
		"too long": strings.Repeat("A", 16_001),
	} {
		if got := logo(text); got.status != http.StatusBadRequest || got.code(t) != "apps.invalid_settings" {
			t.Errorf("%s: %d %.200s", name, got.status, got.body)
		}
	}
	address := func() string {
		_, rest, _ := strings.Cut(string(s.guest().get("").body), `<img class="tile" src="`+portalHome)
		path, _, _ := strings.Cut(rest, `"`)
		return path
	}
	if got := address(); got != "" {
		t.Errorf("a portal without a logo has %s", got)
	}

	if got := logo(encoded(square)); got.status != http.StatusOK {
		t.Fatalf("%d %s", got.status, got.body)
	}
	first := address()
	got := s.guest().get(first)
	if got.status != http.StatusOK || !bytes.Equal(got.body, square) || got.header.Get("Content-Type") != "image/png" {
		t.Errorf("%s: %d %v", first, got.status, got.header)
	}
	if policy := got.header.Get("Cache-Control"); policy != "private, max-age=31536000, immutable" {
		t.Errorf("it is kept as %s", policy)
	}
	tag := got.header.Get("ETag")
	log := s.call("audit-list", "owner", "").body
	if bytes.Contains(log, []byte(encoded(square)[:200])) || !bytes.Contains(log, []byte(first)) {
		t.Errorf("the log of changes has the picture, or not its name: %.2000s", log)
	}

	if got := logo(encoded(picture(t, 96, 96))); got.status != http.StatusOK {
		t.Fatalf("%d %s", got.status, got.body)
	}
	second := address()
	if got := s.guest().get(first); second == first || got.status != http.StatusNotFound {
		t.Errorf("the logo before: %d, at %s as the one after", got.status, first)
	}
	for _, access := range []string{"link", "signed_in", "off"} {
		if got := set(`"access":"` + access + `"`); got.status != http.StatusOK {
			t.Fatalf("%d %s", got.status, got.body)
		}
		if got := s.guest().get(second, "If-None-Match", tag); got.status != http.StatusNotFound && got.status != http.StatusUnauthorized {
			t.Errorf("with the access %s: %d", access, got.status)
		}
	}
	if got := set(`"access":"public","logo":""`); got.status != http.StatusOK || address() != "" {
		t.Errorf("a removed logo is still shown: %d %s", got.status, got.body)
	}
}

// picture returns an empty picture as PNG.
func picture(t *testing.T, width, height int) []byte {
	t.Helper()
	var file bytes.Buffer
	if err := png.Encode(&file, image.NewGray(image.Rect(0, 0, width, height))); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

func encoded(file []byte) string { return base64.StdEncoding.EncodeToString(file) }
