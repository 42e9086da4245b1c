package machine

import (
	"database/sql"
	"fmt"
	"io"
	"maps"
	"mime"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing/iotest"

	"pgregory.net/rapid"

	"gatherkit/internal/feedback"
)

// How the machine sends and downloads files, and which ones must be stored in the end.

var largest = number("10485760")

// fileValue draws the properties of a file and the attachments of a request.
func (m *machine) fileValue(c aCall, name string) (any, bool) {
	switch name {
	case "filename":
		var names []any
		for _, text := range slices.Sorted(maps.Keys(filenames)) {
			names = append(names, text)
		}
		return m.either(name, names, []any{"", strings.Repeat("x", 201), "a\x00b", 7}), true
	case "content_type":
		return m.either(name, []any{"text/plain", "image/png", "application/pdf"}, []any{"text/html", "image/svg+xml", "", nil}), true
	case "size":
		var sizes []any
		for _, c := range contents {
			sizes = append(sizes, number(strconv.Itoa(len(c.sent))))
		}
		return m.either(name, append(slices.Repeat(sizes, 5), largest),
			[]any{number("0"), number("-1"), number("1.5"), number("10485761"), "5"}), true
	case "attachments":
		return m.either(name, []any{
			m.chosen(c.who, 1), m.chosen(c.who, 2), m.chosen(c.who, 5), m.chosen(c.who, 5),
			append(m.chosen(c.who, 1), m.anUpload(c.who)),
		}, []any{
			[]any{m.anyOf("{id")},
			[]any{nobodysID},
			[]any{"junk"},
			append(m.chosen(c.who, 1), m.chosen(c.who, 1)...), m.anySix(), "junk",
		}), true
	}
	return nil, false
}

// waiting returns the files that can be attached with an app's key, newest first.
func (m *machine) waiting(key string) []*upload {
	var waiting []*upload
	for _, u := range slices.Backward(m.uploads) {
		if u.key == key && u.waits() {
			waiting = append(waiting, u)
		}
	}
	return waiting
}

// chosen draws at most `most` of the waiting files, in any order.
func (m *machine) chosen(key string, most int) []any {
	ids := []any{}
	for _, u := range m.waiting(key) {
		ids = append(ids, u.id)
	}
	return rapid.Permutation(ids).Draw(m.t, "files")[:min(most, len(ids))]
}

// anUpload draws the id of any file, or of a waiting file of another app.
func (m *machine) anUpload(key string) string {
	others := rapid.Bool().Draw(m.t, "of another app")
	return one(m, "any file", m.uploads, func(u *upload) string { return u.id }, func(u *upload) bool {
		return !others || u.key != key && u.waits()
	})
}

// anySix returns six ids, which is one too many.
func (m *machine) anySix() []any {
	ids := []any{}
	for _, text := range m.services[0].seen {
		if strings.HasPrefix(text, "{id") {
			ids = append(ids, text)
		}
	}
	return ids[:6]
}

// wants reports whether a call should mostly have an optional parameter.
func (m *machine) wants(c aCall, name string) bool {
	switch {
	case name == "attachments":
		return len(m.waiting(c.who)) > 0
	case name == "query" && c.operation == "requests-list":
		return rapid.IntRange(0, 2).Draw(m.t, "by words") == 0
	case name == "sort" && c.in["query"] != nil:
		return rapid.Bool().Draw(m.t, "in an order")
	case name == "idempotency_key" && c.in["attachments"] != nil:
		return rapid.IntRange(0, 2).Draw(m.t, "with a key") == 0
	}
	return slices.Contains(usual[c.operation], name)
}

// bringFiles sends a few files to each app at the beginning.
func (m *machine) bringFiles() {
	for _, a := range m.apps {
		for _, c := range contents {
			before := len(m.uploads)
			m.do(aCall{operation: "widget-create-upload", who: a.key, in: object{
				"filename": "../..", "content_type": c.contentType, "size": number(strconv.Itoa(len(c.sent))),
			}})
			for _, u := range m.uploads[before:] {
				m.send(u)
			}
		}
	}
}

// moveFiles sends and opens files, and repeats a submission, sometimes with other files.
func (m *machine) moveFiles(c aCall) {
	if c.in["idempotency_key"] != nil {
		m.keyed = c
	}
	if len(m.uploads) > 0 && (c.operation == "widget-create-upload" && m.often("it comes at once") || !m.often("nothing is sent")) {
		m.send(m.uploads[len(m.uploads)-1])
	}
	if link := m.anyOf("{file"); link != "" && !m.often("no file is opened") {
		m.openFile(link)
	}
	if m.keyed.in != nil && !m.often("nothing is submitted again") {
		again := m.keyed
		again.in = maps.Clone(again.in)
		files, _ := again.in["attachments"].([]any)
		reversed := slices.Clone(files)
		slices.Reverse(reversed)
		again.in["attachments"] = draw[any](m, "again with", files, reversed, files[:len(files)/2], m.chosen(again.who, 1))
		m.do(again)
	}
}

// send sends a file, mostly with its own content and to its own link.
func (m *machine) send(u *upload) {
	link := u.target
	if !m.often("to its own link") {
		link = m.anyOf("{file")
	}
	right := find(contents, func(c content) bool { return len(c.sent) == u.size }).sent
	body := draw(m, "content", right, right, right, right, right, page, right+" ", strings.TrimSuffix(right, "7"), contents[0].sent)
	broken := m.rarely("it breaks off")
	said := m.both("sending "+u.id+" to "+link, func(s *service) string {
		from := io.Reader(strings.NewReader(body))
		if broken {
			from = io.MultiReader(strings.NewReader(body[:len(body)/2]), iotest.ErrReader(io.ErrUnexpectedEOF))
		}
		return s.mask(s.put(uploadPath+s.fill(link), from).Body.String())
	})
	code, _ := m.read("upload", said)
	if want := m.received(link, body, broken); code != want {
		m.t.Fatalf("sending %q (broken off: %v) to %s: %s, want %s", body, broken, link, said, want)
	}
}

// openFile downloads a file.
func (m *machine) openFile(link string) {
	said := m.both("the download of "+link, func(s *service) string {
		got := s.get(attachmentPath + s.fill(link))
		_, names, _ := mime.ParseMediaType(got.Header().Get("Content-Disposition"))
		return fmt.Sprintln(got.Code, got.Header().Get("Content-Type"), names["filename"]) + s.mask(got.Body.String())
	})
	u := m.linked(link)
	if u == nil {
		_, body, _ := strings.Cut(said, "\n")
		if code, _ := m.read("attachment-download", body); code != "uploads.not_found" {
			m.t.Fatalf("a link that should not work: %s", said)
		}
		return
	}
	m.tally.add("attachment-download", "ok")
	if want := fmt.Sprintln(200, u.contentType, u.name()) + u.kept; said != want {
		m.t.Fatalf("%s returns\n%q, want\n%q", link, said, want)
	}
}

// releaseOfApps forgets the changes of apps that the worker has purged, detaches their files, and checks
// that the links of these do not work.
func (m *machine) releaseOfApps() {
	left := m.both("apps that have requests", func(s *service) string {
		ids := s.ids(m.t, "SELECT app_id FROM requests GROUP BY app_id")
		slices.Sort(ids)
		return strings.Join(ids, " ")
	})
	for _, a := range m.apps {
		a.purged = a.deleted && !strings.Contains(left, a.id)
	}
	m.forgetApps()
	for _, u := range m.release(func(r *request) bool { return r.purged }) {
		if link := u.links[m.linksEnd()]; link != "" {
			m.openFile(link)
		}
	}
}

// checkFiles compares the records of files and the files themselves with the model.
func (m *machine) checkFiles() {
	var want []string
	for _, u := range m.uploads {
		if u.gone {
			continue
		}
		request := "-"
		if u.request != nil {
			request = u.request.id
		}
		want = append(want, fmt.Sprintln(u.id, u.app.id, request, u.name(), u.contentType, u.size, u.ready))
		if u.ready {
			want = append(want, fmt.Sprintln("files", u.id))
		}
	}
	slices.Sort(want)
	got := m.both("the files", func(s *service) string {
		lines := append(s.records(m), s.stored(m)...)
		slices.Sort(lines)
		return strings.Join(lines, "")
	})
	if got != strings.Join(want, "") {
		m.t.Fatalf("the files are\n%s\nwant\n%s", got, strings.Join(want, ""))
	}
}

// records returns the rows of uploads.
func (s *service) records(m *machine) (lines []string) {
	rows, err := s.db.Query("SELECT id, app_id, request_id, filename, content_type, size, ready FROM uploads")
	if err != nil {
		m.t.Fatal(err)
	}
	defer rows.Close() //nolint:errcheck // Err returns all errors that matter
	for rows.Next() {
		var id, app feedback.ID
		var request sql.Null[feedback.ID]
		var name, contentType string
		var size int
		var ready bool
		if err := rows.Scan(&id, &app, &request, &name, &contentType, &size, &ready); err != nil {
			m.t.Fatal(err)
		}
		lines = append(lines, s.mask(fmt.Sprintln(id, app, idOrNone(request), name, contentType, size, ready)))
	}
	if err := rows.Err(); err != nil {
		m.t.Fatal(err)
	}
	return lines
}

// stored returns the names of the stored files.
func (s *service) stored(m *machine) (lines []string) {
	files, err := filepath.Glob(filepath.Join(s.files, "*", "*"))
	if err != nil {
		m.t.Fatal(err)
	}
	for _, file := range files {
		lines = append(lines, s.mask(fmt.Sprintln(filepath.Base(filepath.Dir(file)), filepath.Base(file))))
	}
	return lines
}
