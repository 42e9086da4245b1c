package api

import (
	"encoding/binary"
	"strings"
	"time"

	"gatherkit/internal/feedback"
)

// fileLink is a signed link that gives access to a file without credentials until it
// expires. Nothing about it is stored.
type fileLink struct {
	purpose   byte
	accountID feedback.ID
	fileID    feedback.ID
	until     feedback.Time
}

// The purposes of links.
const (
	forUpload byte = iota + 1
	forDownload
)

const linkBytes = 1 + 16 + 16 + 8

// sign returns the signed text of the link.
func (l fileLink) sign(key []byte) string {
	payload := make([]byte, 0, linkBytes+macBytes)
	payload = append(payload, l.purpose)
	payload = append(append(payload, l.accountID[:]...), l.fileID[:]...)
	payload = binary.BigEndian.AppendUint64(payload, uint64(l.until)) //nolint:gosec // parseLink converts it back
	return tokenEncoding.EncodeToString(append(payload, mac(key, payload)...))
}

// parseLink verifies and decodes the text of a link. It returns false if the link is for
// another purpose or has expired.
func parseLink(key []byte, purpose byte, text string, now time.Time) (fileLink, bool) {
	payload, ok := verify(key, text)
	if !ok || len(payload) != linkBytes || payload[0] != purpose {
		return fileLink{}, false
	}
	l := fileLink{purpose: purpose, accountID: feedback.ID(payload[1:17]), fileID: feedback.ID(payload[17:33])}
	l.until = feedback.Time(binary.BigEndian.Uint64(payload[33:])) //nolint:gosec // sign converted it
	return l, l.until > feedback.At(now)
}

// link returns the URL of a path of this service, which is relative without a public URL.
func (a *API) link(path string) string {
	if a.PublicURL == nil {
		return path
	}
	return strings.TrimSuffix(a.PublicURL.String(), "/") + path
}

// withLinks sets the links of the attachments of requests. They stay the same for an hour,
// so that browsers can cache the files.
func (a *API) withLinks(accountID feedback.ID, requests ...feedback.Request) []feedback.Request {
	until := feedback.At(a.Now().Truncate(time.Hour).Add(2 * time.Hour))
	for _, r := range requests {
		for i := range r.Attachments {
			file := &r.Attachments[i]
			file.URL = a.link(attachmentPath + fileLink{forDownload, accountID, file.ID, until}.sign(a.linkKey))
			file.Filename = feedback.SafeFilename(file.Filename, file.ContentType) // older versions stored the name as it was sent
		}
	}
	return requests
}
