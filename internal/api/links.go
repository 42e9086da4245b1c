package api

import (
	"encoding/binary"
	"strings"
	"time"

	"gatherkit/internal/feedback"
)

// fileLink leads to a file without credentials until its time is over. What it says
// stands in the link itself, signed.
type fileLink struct {
	purpose   byte
	accountID feedback.ID
	fileID    feedback.ID
	until     feedback.Time
}

// What a link can be for.
const (
	toSend byte = iota + 1
	toDownload
)

const linkBytes = 1 + 16 + 16 + 8

// sign makes the link's text.
func (l fileLink) sign(key []byte) string {
	payload := make([]byte, 0, linkBytes+macBytes)
	payload = append(payload, l.purpose)
	payload = append(append(payload, l.accountID[:]...), l.fileID[:]...)
	payload = binary.BigEndian.AppendUint64(payload, uint64(l.until)) //nolint:gosec // and back again as it was
	return cursorText.EncodeToString(append(payload, mac(key, payload)...))
}

// parseLink reads a link that sign has made with the same key for the same purpose, and
// whose time is not over.
func parseLink(key []byte, purpose byte, text string, now time.Time) (fileLink, bool) {
	payload, ok := unsealed(key, text)
	if !ok || len(payload) != linkBytes || payload[0] != purpose {
		return fileLink{}, false
	}
	l := fileLink{purpose: purpose, accountID: feedback.ID(payload[1:17]), fileID: feedback.ID(payload[17:33])}
	l.until = feedback.Time(binary.BigEndian.Uint64(payload[33:])) //nolint:gosec // likewise
	return l, l.until > feedback.At(now)
}

// link is an address of this service as others may open it.
func (a *API) link(path string) string {
	if a.PublicURL == nil {
		return path
	}
	return strings.TrimSuffix(a.PublicURL.String(), "/") + path
}

// linked gives the attachments of requests their links, which are the same for an hour,
// so that browsers need not load a file again with each list.
func (a *API) linked(accountID feedback.ID, requests ...feedback.Request) []feedback.Request {
	until := feedback.At(a.Now().Truncate(time.Hour).Add(2 * time.Hour))
	for _, r := range requests {
		for i := range r.Attachments {
			file := &r.Attachments[i]
			file.URL = a.link(attachmentPath + fileLink{toDownload, accountID, file.ID, until}.sign(a.linkKey))
			file.Filename = feedback.SafeFilename(file.Filename, file.ContentType) // versions before stored it as it was sent
		}
	}
	return requests
}
