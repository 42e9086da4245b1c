package api

import (
	"fmt"
	"image"
	"image/png"
	"mime"
	"strings"
	"testing"

	"gatherkit/internal/store/storetest"
)

// savedAs returns the names of a request's only attachment in the request, in an export and
// in the download.
func (s *service) savedAs(requestID string) [3]string {
	s.t.Helper()
	shown := s.must("requests-get", "owner", `{"id":"`+requestID+`"}`)["request"].(map[string]any)["attachments"].([]any)[0].(map[string]any)
	file := s.get(shown["url"].(string))
	_, disposition, err := mime.ParseMediaType(file.header.Get("Content-Disposition"))
	if err != nil {
		s.t.Fatalf("%q: %v", file.header.Get("Content-Disposition"), err)
	}
	exported := s.must("requests-export", "owner", `{"format":"jsonl"}`)
	_, line, _ := strings.Cut(string(s.get(exported["url"].(string)).body), `"filename":"`)
	inExport, _, _ := strings.Cut(line, `"`)
	return [3]string{shown["filename"].(string), inExport, disposition["filename"]}
}

// attached submits a request with one file.
func (s *service) attached(file string) (requestID string) {
	s.t.Helper()
	got := s.must("widget-submit-request", "key", fmt.Sprintf(`{"title":"T","description":"","attachments":[%q]}`, file))
	return got["request"].(map[string]any)["id"].(string)
}

// TestNamesFollowTheType: a downloaded file does not have an extension that makes it run.
func TestNamesFollowTheType(t *testing.T) {
	var picture strings.Builder
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 1, 1))); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, content, want string }{
		{"invoice.bat", "words", "invoice.bat.txt"},
		{"shot.png.vbs", picture.String(), "shot.png.vbs.png"},
		{"x.svg . ", "words", "x.svg.txt"},
		{"con.txt", "words", "_con.txt"},
		{"shot.png", picture.String(), "shot.png"},
	} {
		s := newService(t, storetest.SQLite(t))
		s.allowFiles(true)
		id := s.attached(s.send("key", c.name, c.content))
		if got := s.savedAs(id); got != [3]string{c.want, c.want, c.want} {
			t.Errorf("%q is saved as %q, want %q", c.name, got, c.want)
		}
	}
}

// TestStoredNamesAreSafe: names that older versions stored unchanged are made safe as well.
func TestStoredNamesAreSafe(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s := newService(t, at)
		s.allowFiles(true)
		file := s.send("key", "a.txt", "words")
		raw := at.Raw(t)
		var stored string
		if err := raw.QueryRowContext(t.Context(), "SELECT filename FROM uploads").Scan(&stored); err != nil || stored != "a.txt" {
			t.Fatalf("%q is stored, %v", stored, err)
		}
		id := s.attached(file)
		for _, statement := range []string{
			"UPDATE uploads SET filename = 'run.exe'",
			"UPDATE requests SET attachments = REPLACE(attachments, 'a.txt', 'run.exe')",
		} {
			if _, err := raw.ExecContext(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
		if got := s.savedAs(id); got != [3]string{"run.exe.txt", "run.exe.txt", "run.exe.txt"} {
			t.Errorf("%q", got)
		}
	})
}

// TestNamesAreStoredSafe: the database contains only the safe name.
func TestNamesAreStoredSafe(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s := newService(t, at)
		s.allowFiles(true)
		s.attached(s.send("key", "run.exe", "words"))
		var inUploads, inRequests string
		raw := at.Raw(t)
		if err := raw.QueryRowContext(t.Context(), "SELECT filename FROM uploads").Scan(&inUploads); err != nil {
			t.Fatal(err)
		}
		if err := raw.QueryRowContext(t.Context(), "SELECT attachments FROM requests").Scan(&inRequests); err != nil {
			t.Fatal(err)
		}
		if inUploads != "run.exe.txt" || !strings.Contains(inRequests, `"run.exe.txt"`) {
			t.Errorf("%q, %s", inUploads, inRequests)
		}
	})
}
