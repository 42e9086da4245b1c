package feedback

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestSafeFilename(t *testing.T) {
	const png, jpeg, text, pdf = "image/png", "image/jpeg", "text/plain", "application/pdf"
	long := strings.Repeat("é", 250)
	for _, c := range []struct{ name, contentType, want string }{
		{"shot.png", png, "shot.png"},
		{"SHOT.PNG", png, "SHOT.PNG"},
		{"photo.jpeg", jpeg, "photo.jpeg"},
		{"server.log", text, "server.log"},
		{"what I see", png, "what I see.png"},
		{"v1.2", pdf, "v1.2.pdf"},
		{"👩\u200d💻.png", png, "👩\u200d💻.png"},

		{"invoice.bat", text, "invoice.bat.txt"},
		{"shot.png.vbs", png, "shot.png.vbs.png"},
		{"x.svg", text, "x.svg.txt"},
		{"x.html", png, "x.html.png"},
		{"report.pdf", png, "report.pdf.png"},
		{"list.csv", text, "list.csv.txt"},

		{"shot.vbs. . ", png, "shot.vbs.png"},
		{"shot.png .", png, "shot.png"},
		{".htaccess", text, "htaccess.txt"},
		{"...", text, "file.txt"},
		{"../../etc/passwd", text, "passwd.txt"},
		{`C:\temp\run.exe`, png, "run.exe.png"},
		{"in\u202egnp.exe", png, "ingnp.exe.png"},
		{"a\x00b\nc.png", png, "abc.png"},
		{"run.exe:shot.png", png, "run.exe_shot.png"},
		{`a<b>"c"|d?e*.png`, png, "a_b__c__d_e_.png"},

		{"con", text, "_con.txt"},
		{"CON.png", png, "_CON.png"},
		{"nul.tar.gz", text, "_nul.tar.gz.txt"},
		{"Aux .png", png, "_Aux .png"},
		{"com1.png", png, "_com1.png"},
		{"LPT².png", png, "_LPT².png"},
		{"com10.png", png, "com10.png"},
		{"com.png", png, "com.png"},
		{"console.png", png, "console.png"},
		{"/", png, "file.png"},

		{long, png, long[:2*196] + ".png"},
		{long + ".jpeg", jpeg, long[:2*195] + ".jpeg"},
		{long + ".exe", png, long[:2*196] + ".png"},
	} {
		if got := SafeFilename(c.name, c.contentType); got != c.want {
			t.Errorf("%q as %s: %q, want %q", c.name, c.contentType, got, c.want)
		}
	}
}

// TestSafeFilenames checks that every name gets an extension of its type, and that safe names
// do not change.
func TestSafeFilenames(t *testing.T) {
	part := rapid.SampledFrom([]string{
		".", " ", "a", "con", "lpt1", ".png", ".exe", "/", `\`, ":", "\u202e", "\x00", strings.Repeat("é", 99),
	})
	rapid.Check(t, func(t *rapid.T) {
		name := strings.Join(rapid.SliceOf(part).Draw(t, "parts"), "") + rapid.String().Draw(t, "end")
		contentType := rapid.SampledFrom(UploadTypes()).Draw(t, "type")
		got := SafeFilename(name, contentType)
		if !slices.ContainsFunc(extensions[contentType], func(ext string) bool { return strings.HasSuffix(strings.ToLower(got), ext) }) {
			t.Fatalf("%q has not the extension of %s", got, contentType)
		}
		if SafeFilename(got, contentType) != got || !SingleLine(got) || utf8.RuneCountInString(got) > maxFilename ||
			strings.ContainsAny(got, `/\:`) {
			t.Fatalf("%q becomes %q, and that %q", name, got, SafeFilename(got, contentType))
		}
	})
}

func TestEveryTypeHasItsExtension(t *testing.T) {
	for _, contentType := range UploadTypes() {
		if len(extensions[contentType]) == 0 {
			t.Errorf("%s has no extension", contentType)
		}
	}
}
