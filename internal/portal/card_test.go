package portal

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"

	"golang.org/x/image/font"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
)

func decodeCard(t *testing.T, site Site, idea Idea) image.Image {
	t.Helper()
	text, err := Card(site, idea)
	if err != nil {
		t.Fatal(err)
	}
	picture, err := png.Decode(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if picture.Bounds() != image.Rect(0, 0, 1200, 630) || len(text) > 60<<10 {
		t.Errorf("%v, %d bytes", picture.Bounds(), len(text))
	}
	return picture
}

// inked counts the pixels of a part of a picture that do not have the color of its corner.
func inked(picture image.Image, part image.Rectangle) (n int) {
	for y := part.Min.Y; y < part.Max.Y; y++ {
		for x := part.Min.X; x < part.Max.X; x++ {
			if picture.At(x, y) != picture.At(0, 0) {
				n++
			}
		}
	}
	return n
}

var (
	cardHead  = image.Rect(80, 80, 1120, 170)
	cardTitle = image.Rect(80, 200, 1120, 520)
	cardFoot  = image.Rect(80, 530, 1120, 600)
)

func TestCard(t *testing.T) {
	site := testSite()
	long := strings.Repeat("A very long title with Ünïcödé ", 7)
	for title, drawn := range map[string]bool{
		"Dark mode": true, "Größe, Ελληνικά, Русский 🎉": true, long: true, strings.Repeat("W", 200): true, "cafe\u0301": true,
		"ダークモード": false, "الوضع الداكن": false, "Dark モード": false, "": false, "🎉": false, "a\u0328\u0330": false,
	} {
		picture := decodeCard(t, site, Idea{Title: title, Votes: 1204, Status: "planned"})
		if got := inked(picture, cardTitle) > 0; got != drawn {
			t.Errorf("%q is drawn: %v", title, got)
		}
		all := inked(picture, picture.Bounds())
		foot := inked(picture, cardFoot)
		if parts := inked(picture, cardHead) + inked(picture, cardTitle) + foot; parts != all || foot == 0 {
			t.Errorf("%q leaves its place: %d of %d", title, parts, all)
		}
	}
}

// TestCardColors: the ground has the color of the app, and the text the one with the higher contrast.
func TestCardColors(t *testing.T) {
	for ground, want := range map[string][2]color.RGBA{
		"#F5D90A": {{0xf5, 0xd9, 0x0a, 0xff}, {0, 0, 0, 0xff}},
		"#111827": {{0x11, 0x18, 0x27, 0xff}, {0xff, 0xff, 0xff, 0xff}},
		"red":     {{0x4f, 0x46, 0xe5, 0xff}, {0xff, 0xff, 0xff, 0xff}},
	} {
		site := testSite()
		site.Color = ground
		picture := decodeCard(t, site, Idea{Title: "Dark mode", Status: "planned"})
		inTile := picture.At(90, 110)
		if picture.At(0, 0) != want[0] || inTile != want[1] {
			t.Errorf("%s: %v, %v", ground, picture.At(0, 0), inTile)
		}
	}
	site := testSite()
	site.App, site.Locale = "アプリ", "ja"
	if picture := decodeCard(t, site, Idea{Title: "Dark mode", Status: "planned"}); inked(picture, cardHead) > 0 {
		t.Error("there are boxes instead of letters")
	}
}

func TestWrap(t *testing.T) {
	face, err := opentype.NewFace(bold, &opentype.FaceOptions{Size: 20, DPI: 72})
	if err != nil {
		t.Fatal(err)
	}
	width := font.MeasureString(face, "aaaa aaaa")
	for text, want := range map[string]string{
		"": "", "aaaa": "aaaa", "aaaa aaaa": "aaaa aaaa", "aaaa aaaa a": "aaaa aaaa|a", "aaaa a  aaaa": "aaaa a|aaaa",
		"aaaaaaaaaaaaaa": "aaaaaaaa|aaaaaa", strings.Repeat("aaaa ", 7): "aaaa aaaa|aaaa aaaa|aaaa aa…",
	} {
		lines := wrap(face, text, width+fixed.I(1), 3)
		if got := strings.Join(lines, "|"); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func BenchmarkCard(b *testing.B) {
	site, idea := testSite(), Idea{Title: strings.Repeat("A long title with Ünïcödé ", 8), Votes: 1204, Status: "planned"}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Card(site, idea); err != nil {
			b.Fatal(err)
		}
	}
}
