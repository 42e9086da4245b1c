package feedback

import (
	"path"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Attachment is a file that somebody sent along with a request.
type Attachment struct {
	ID          ID     `json:"id" format:"uuid"`
	Filename    string `json:"filename"`
	ContentType string `json:"content_type" enum:"image/png,image/jpeg,image/gif,image/webp,application/pdf,text/plain"`
	Size        int64  `json:"size" doc:"In bytes."`
	URL         string `json:"url" doc:"Where it can be downloaded without credentials, for an hour at least. Relative to the service's origin unless the operator has set its public URL."`
}

// Upload is a file that is not attached yet, or an attachment's own record.
type Upload struct {
	Attachment
	AppID     ID
	Sender    int64 // stands for the address that announced it, while it waits
	Ready     bool  // whether it has come, and passed
	RequestID *ID   // to which it is attached
}

const (
	// MaxUpload is how large a file may be, in bytes.
	MaxUpload = 10 << 20
	// MaxAttachments is how many files a request may have.
	MaxAttachments = 5
	// SendLife is how long a file may be sent after it was announced.
	SendLife = 15 * time.Minute
	// UploadLife is how long a file waits to be attached.
	UploadLife = 24 * time.Hour
)

// UploadTypes lists what files may be.
func UploadTypes() []string {
	return []string{"image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf", "text/plain"}
}

// CleanFilename is a name without a path and without characters that do not print or that
// change the direction of text; "file" if nothing is left.
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

// maxFilename is how many characters a name has at most.
const maxFilename = 200

// extensions are those that files of a type may have. The first is given to a file that has
// none of them.
var extensions = map[string][]string{
	"image/png":       {".png"},
	"image/jpeg":      {".jpg", ".jpeg"},
	"image/gif":       {".gif"},
	"image/webp":      {".webp"},
	"application/pdf": {".pdf"},
	"text/plain":      {".txt", ".log"},
}

// SafeFilename is a clean name under which a file of a type can be saved and opened: its
// extension is one of the type, so that no system runs the file, and Windows takes it
// neither for a device nor for a part of another file.
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
	if stem := []rune(strings.TrimSuffix(name, ext)); len(stem)+len(ext) > maxFilename {
		name = string(stem[:maxFilename-len(ext)]) + ext
	}
	return name
}

// isDevice reports whether Windows takes a name for a device, whatever its extension.
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
