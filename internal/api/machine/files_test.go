package machine

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/png"
	"strings"
	"time"
)

// What the model knows of files: they are announced, sent, attached, opened and removed.

// upload is a file that was announced. Type and size are those of the announcement until
// the file arrives.
type upload struct {
	*app
	model           *model
	id, contentType string
	names           map[string]string // by the type of the content; "" before the file arrives
	size            int
	announced       time.Time
	target          string // the end of the link to which it is sent
	ready, gone     bool
	kept            string // the content that the service stores
	request         *request
	links           map[time.Time]string // the ends of its links by the time until which they work
}

// content is the content of a file as it is sent and as the service stores it.
type content struct{ sent, kept, contentType string }

var contents = []content{
	{"The list ends at row 7", "The list ends at row 7", "text/plain"},
	{onePixel("tEXtComment\x00taken at home"), onePixel(""), "image/png"},
}

// page looks like HTML, and is accepted only if it is announced as text.
const page = "<html>                "

// onePixel returns a PNG, with an additional chunk if it is not empty.
func onePixel(chunk string) string {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 1, 1))); err != nil {
		panic(err) // a buffer returns no error
	}
	const end, name = 12, 4
	if chunk == "" {
		return b.String()
	}
	head, tail := b.String()[:b.Len()-end], b.String()[b.Len()-end:]
	length := binary.BigEndian.AppendUint32(nil, uint32(len(chunk)-name))
	checksum := binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE([]byte(chunk)))
	return head + string(length) + chunk + string(checksum) + tail
}

// filenames has the names to draw from, and the names under which the service stores the file:
// before it arrives, for a text, and for a picture.
var filenames = map[string]map[string]string{
	"what I see.txt":      {"": "what I see.txt", "text/plain": "what I see.txt", "image/png": "what I see.txt.png"},
	`C:\temp\picture.png`: {"": "picture.png", "text/plain": "picture.png.txt", "image/png": "picture.png"},
	"../..":               {"": "file", "text/plain": "file.txt", "image/png": "file.png"},
	"é\u202efdp.txt":      {"": "éfdp.txt", "text/plain": "éfdp.txt", "image/png": "éfdp.txt.png"},
	`"a".TXT.`:            {"": `"a".TXT`, "text/plain": "_a_.TXT", "image/png": "_a_.TXT.png"},
	"nul":                 {"": "nul", "text/plain": "_nul.txt", "image/png": "_nul.png"},
}

func (m *model) createUpload(w who, in, got object) (string, object) {
	const all, ofAddress = 1 << 30, 128 << 20 // limits of an account, and of an address in an app; there is one address
	size := in["size"].(int)
	waiting, ofItsApp := max(size, 64<<10), max(size, 64<<10)
	for _, u := range m.uploads {
		if u.account == w.app.account && u.request == nil && !u.gone && (u.ready && u.within(25*time.Hour) || u.within(15*time.Minute)) {
			waiting += max(u.size, 64<<10)
			if u.app == w.app {
				ofItsApp += max(u.size, 64<<10)
			}
		}
	}
	switch {
	case !w.app.allows(w.origin):
		return "widget.origin_not_allowed", nil
	case !w.app.takesFiles():
		return "widget.uploads_not_allowed", nil
	case waiting > all || ofItsApp > ofAddress:
		return "api.rate_limited", nil
	}
	u := &upload{
		app: w.app, model: m, id: m.fresh(got, "id", "upload", "id"), names: filenames[in["filename"].(string)],
		contentType: in["content_type"].(string), size: size, announced: m.now(), links: map[time.Time]string{},
	}
	shown, _ := got["upload"].(object)
	u.target = m.freshLink(shown["url"], "file", uploadPath)
	m.uploads = append(m.uploads, u)
	return "ok", object{"upload": object{
		"id": u.id, "url": serviceURL + uploadPath + u.target, "method": "PUT", "headers": object{"Content-Type": u.contentType},
		"expires_at": u.announced.Add(15 * time.Minute).Format(timeForm),
	}}
}

func (a *app) takesFiles() bool { return a.settings["widget"].(object)["allow_file_uploads"] == true }

// within reports whether the file was announced at most d ago.
func (u *upload) within(d time.Duration) bool { return !u.announced.Before(u.model.now().Add(-d)) }

// name returns the name under which the file is stored.
func (u *upload) name() string {
	if !u.ready {
		return u.names[""]
	}
	return u.names[u.contentType]
}

// freshLink returns the random end of a link that the service has just created.
func (m *model) freshLink(url any, kind, path string) string {
	text, _ := url.(string)
	token, _ := strings.CutPrefix(text, serviceURL+path)
	return m.fresh(object{"token": token}, kind, "token")
}

// attachable returns the files with the given ids, and false if one of them cannot be attached.
func (m *model) attachable(a *app, ids []any) (files []*upload, all bool) {
	for _, id := range ids {
		u := find(m.uploads, func(u *upload) bool { return u.id == id })
		if u == nil || u.app != a || !u.waits() {
			return nil, false
		}
		files = append(files, u)
	}
	return files, true
}

// waits reports whether the file can be attached.
func (u *upload) waits() bool {
	return u.ready && !u.gone && u.request == nil && u.within(24*time.Hour)
}

// attach attaches files to a request.
func (r *request) attach(files []*upload) {
	r.attachments = files
	for _, u := range files {
		u.request = r
	}
}

// received returns the answer to a file that is sent to a link. broken means that the
// connection breaks half-way.
func (m *model) received(link, body string, broken bool) string {
	u := find(m.uploads, func(u *upload) bool { return u.target == link && !u.gone })
	switch {
	case u == nil || !m.now().Before(u.announced.Add(15*time.Minute)):
		return "uploads.not_found"
	case broken && len(body)/2 <= u.size: // a longer half is refused for its size first
		return "uploads.invalid_file"
	case u.ready:
		return "ok"
	}
	c := find(contents, func(c content) bool { return c.sent == body })
	if body == page && u.contentType == "text/plain" {
		c = content{page, page, "text/plain"}
	}
	if c.kept == "" || len(body) != u.size {
		u.gone = true
		return "uploads.invalid_file"
	}
	u.ready, u.kept, u.contentType, u.size = true, c.kept, c.contentType, len(c.kept)
	return "ok"
}

// linked returns the file that a link opens, or nil.
func (m *model) linked(link string) *upload {
	return find(m.uploads, func(u *upload) bool {
		for until, text := range u.links {
			if text == link {
				return u.request != nil && m.now().Before(until)
			}
		}
		return false
	})
}

// linksEnd returns the time until which the links work that the service returns now.
func (m *model) linksEnd() time.Time { return m.now().Truncate(time.Hour).Add(2 * time.Hour) }

// learn stores the links to files in an answer. They change every hour.
func (m *model) learn(got any) {
	switch got := got.(type) {
	case []any:
		for _, v := range got {
			m.learn(v)
		}
	case object:
		u := find(m.uploads, func(u *upload) bool { return u.id == got["id"] && u.request != nil })
		if u != nil && u.links[m.linksEnd()] == "" {
			u.links[m.linksEnd()] = m.freshLink(got["url"], "file", attachmentPath)
		}
		for _, v := range got {
			m.learn(v)
		}
	}
}

func (u *upload) shown() object {
	link := serviceURL + attachmentPath + u.links[u.model.linksEnd()]
	return object{"id": u.id, "filename": u.name(), "content_type": u.contentType, "size": u.size, "url": link}
}

// release detaches the files of requests that are gone, and returns them.
func (m *model) release(gone func(*request) bool) (released []*upload) {
	for _, u := range m.uploads {
		if u.request != nil && gone(u.request) {
			u.request = nil
			released = append(released, u)
		}
	}
	return released
}

// forgetFiles removes the files that the worker removes: those that were not attached, and
// those that never arrived.
func (m *model) forgetFiles() {
	for _, u := range m.uploads {
		u.gone = u.gone || u.request == nil && (!u.within(25*time.Hour) || !u.ready && !u.within(75*time.Minute))
	}
}
