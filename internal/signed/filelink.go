package signed

import (
	"encoding/binary"
	"time"

	"gatherkit/internal/feedback"
)

// FileLink is a link that gives access to a file without credentials until it expires. Nothing about it
// is stored.
type FileLink struct {
	Purpose   Purpose
	AccountID feedback.ID
	FileID    feedback.ID
	Until     feedback.Time
}

// Purpose is what a link is for.
type Purpose byte

// The purposes of links.
const (
	ForUpload Purpose = iota + 1
	ForDownload
	ForConfirm // the recipient of a mail wants more
	ForStop
)

const linkBytes = 1 + 16 + 16 + 8

// Text returns the signed text of the link.
func (l FileLink) Text(key []byte) string {
	payload := make([]byte, 0, linkBytes)
	payload = append(payload, byte(l.Purpose))
	payload = append(append(payload, l.AccountID[:]...), l.FileID[:]...)
	payload = binary.BigEndian.AppendUint64(payload, uint64(l.Until)) //nolint:gosec // ParseFileLink converts it back
	return Text(key, payload)
}

// ParseFileLink verifies and decodes the text of a link. It returns false if the link is for another
// purpose or has expired.
func ParseFileLink(key []byte, purpose Purpose, text string, now time.Time) (FileLink, bool) {
	payload, ok := Payload(key, text)
	if !ok || len(payload) != linkBytes || payload[0] != byte(purpose) {
		return FileLink{}, false
	}
	l := FileLink{Purpose: purpose, AccountID: feedback.ID(payload[1:17]), FileID: feedback.ID(payload[17:33])}
	l.Until = feedback.Time(binary.BigEndian.Uint64(payload[33:])) //nolint:gosec // Text converted it
	return l, l.Until > feedback.At(now)
}
