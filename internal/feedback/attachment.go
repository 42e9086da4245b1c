package feedback

import (
	"path"
	"strings"
	"time"
	"unicode"
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
	Ready     bool // whether it has come, and passed
	RequestID *ID  // to which it is attached
}

const (
	// MaxUpload is how large a file may be, in bytes.
	MaxUpload = 10 << 20
	// MaxAttachments is how many files a request may have.
	MaxAttachments = 5
	// UploadLife is how long a file waits to be attached.
	UploadLife = 24 * time.Hour
)

// UploadTypes lists what files may be.
func UploadTypes() []string {
	return []string{"image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf", "text/plain"}
}

// CleanFilename is a name without a path and without characters that do not print or
// turn the direction of what follows; "file" if nothing is left.
func CleanFilename(name string) string {
	name = path.Base(strings.ReplaceAll(name, `\`, "/"))
	name = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) { // the controls of direction do not
			return -1
		}
		return r
	}, name)
	if name = strings.TrimSpace(name); strings.Trim(name, "./") == "" {
		return "file"
	}
	return name
}
