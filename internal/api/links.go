package api

import (
	"strings"
	"time"

	"gatherkit/internal/feedback"
	"gatherkit/internal/signed"
)

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
	for _, r := range requests {
		for i := range r.Attachments {
			file := &r.Attachments[i]
			file.URL = a.link(a.filePath(accountID, file.ID))
			file.Filename = feedback.SafeFilename(file.Filename, file.ContentType) // older versions stored the name as it was sent
		}
	}
	return requests
}

// filePath returns the path of a file of an account. It is the same for an hour, so that browsers can cache the file.
func (a *API) filePath(accountID, id feedback.ID) string {
	until := feedback.At(a.Now().Truncate(time.Hour).Add(2 * time.Hour))
	link := signed.FileLink{Purpose: signed.ForDownload, AccountID: accountID, FileID: id, Until: until}
	return attachmentPath + link.Text(a.linkKey)
}
