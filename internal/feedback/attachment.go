package feedback

import (
	"path"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Attachment is a file that is attached to a request.
type Attachment struct {
	ID          ID     `json:"id" format:"uuid"`
	Filename    string `json:"filename"`
	ContentType string `json:"content_type" enum:"image/png,image/jpeg,image/gif,image/webp,application/pdf,text/plain"`
	Size        int64  `json:"size" doc:"In bytes."`
	URL         string `json:"url" doc:"Download link that needs no credentials and works for at least an hour. Relative to the service's origin unless the operator has set the public URL."`
}

// Upload is the record of a file, whether it is attached to a request yet or not.
type Upload struct {
	Attachment
	AppID     ID
	Sender    int64  // keyed hash of the address that announced it, until it is attached
	Ready     bool   // whether it has arrived and passed inspection
	SHA256    []byte // of its content; nil if it is not ready, or arrived before the hash was stored
	RequestID *ID    // the request that it is attached to, or nil
}

const (
	// MaxUpload is the maximum size of a file, in bytes.
	MaxUpload = 10 << 20
	// MaxAttachments is the maximum number of files per request.
	MaxAttachments = 5
	// SendLife is how long after its announcement a file may be sent.
	SendLife = 15 * time.Minute
	// UploadLife is how long a file is kept without being attached to a request.
	UploadLife = 24 * time.Hour
)

// UploadTypes lists the content types of files that the service accepts.
func UploadTypes() []string {
	return []string{"image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf", "text/plain"}
}

// CleanFilename returns the name without a path, unprintable characters and characters that
// change the direction of text, or "file" if nothing is left.
func CleanFilename(name string) string {
	name = path.Base(strings.ReplaceAll(name, `\`, "/"))
	name = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) && !unicode.Is(unicode.Join_Control, r) {
			return -1
		}
		return r
	}, name)
	if name = strings.Trim(name, "./ "); name == "" {
		return "file"
	}
	return name
}

// maxFilename is the maximum length of a file name, in characters.
const maxFilename = 200

// extensions lists the file name extensions of each content type. Files with another
// extension get the first one appended.
var extensions = map[string][]string{
	"image/png":       {".png"},
	"image/jpeg":      {".jpg", ".jpeg"},
	"image/gif":       {".gif"},
	"image/webp":      {".webp"},
	"application/pdf": {".pdf"},
	"text/plain":      {".txt", ".log"},
}

// SafeFilename returns a clean name under which a file of the given content type can be
// saved and opened. The extension matches the type, so that no system executes the file.
// Windows does not treat the name as a device or as a stream of another file.
func SafeFilename(name, contentType string) string {
	name = strings.Map(func(r rune) rune {
		if strings.ContainsRune(`<>:"|?*`, r) {
			return '_'
		}
		return r
	}, CleanFilename(name))
	if isDevice(name) {
		name = "_" + name
	}
	known := extensions[contentType]
	ext := path.Ext(name)
	if len(known) > 0 && !slices.Contains(known, strings.ToLower(ext)) {
		ext = known[0]
		name += ext
	}
	return FirstCharacters(strings.TrimSuffix(name, ext), maxFilename-len(ext)) + ext
}

// isDevice reports whether Windows treats a name as a device, regardless of its extension.
func isDevice(name string) bool {
	stem, _, _ := strings.Cut(strings.ToUpper(name), ".")
	stem = strings.TrimRight(stem, " ")
	switch stem {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$":
		return true
	}
	number, ok := strings.CutPrefix(stem, "COM")
	if !ok {
		number, ok = strings.CutPrefix(stem, "LPT")
	}
	digit, length := utf8.DecodeRuneInString(number)
	return ok && length == len(number) && strings.ContainsRune("0123456789¹²³", digit)
}
