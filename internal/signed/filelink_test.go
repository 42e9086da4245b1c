package signed_test

import (
	"testing"
	"time"

	"gatherkit/internal/feedback"
	"gatherkit/internal/signed"
)

// TestFileLinks: a link is valid for its purpose, with the key that signed it, and until it expires.
func TestFileLinks(t *testing.T) {
	key, now := []byte("0123456789abcdef0123456789abcdef"), time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	link := signed.FileLink{
		Purpose: signed.ForUpload, AccountID: feedback.ID{1}, FileID: feedback.ID{2}, Until: feedback.At(now.Add(time.Minute)),
	}
	text := link.Text(key)
	if got, ok := signed.ParseFileLink(key, signed.ForUpload, text, now); !ok || got != link {
		t.Errorf("%+v, %v, want %+v", got, ok, link)
	}
	for name, c := range map[string]struct {
		key     []byte
		purpose signed.Purpose
		text    string
		now     time.Time
	}{
		"another purpose": {key, signed.ForDownload, text, now},
		"expired":         {key, signed.ForUpload, text, now.Add(time.Minute)},
		"another key":     {[]byte("another"), signed.ForUpload, text, now},
		"changed":         {key, signed.ForUpload, "B" + text[1:], now},
		"a line break":    {key, signed.ForUpload, text[:9] + "\n" + text[9:], now},
		"shorter":         {key, signed.ForUpload, signed.Text(key, []byte{byte(signed.ForUpload)}), now},
		"empty":           {key, signed.ForUpload, "", now},
	} {
		if got, ok := signed.ParseFileLink(c.key, c.purpose, c.text, c.now); ok {
			t.Errorf("%s: accepted as %+v", name, got)
		}
	}
}
