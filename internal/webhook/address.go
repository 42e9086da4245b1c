package webhook

import (
	"net/url"
	"strings"

	"gatherkit/internal/feedback"
)

// maxURL is the maximum length of an address. Those of Teams have more than 255 characters.
const maxURL = 2_048

// CheckURL returns an error about the field url if deliveries to an address are not possible. It does not
// look up the name: what counts is where it leads when a delivery connects.
func (s *Sender) CheckURL(address string) error {
	invalid := func(message string) error { return feedback.Invalid("webhooks", "url", message) }
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Hostname() == "" || u.Opaque != "" || strings.ContainsAny(address, " \t\r\n"):
		return invalid("url must be an address such as https://example.com/webhook.")
	case u.Scheme != "https" && (u.Scheme != "http" || !s.plain):
		return invalid("url must begin with https://.")
	case u.User != nil:
		return invalid("url must not contain a user name or a password.")
	case u.Fragment != "" || strings.HasSuffix(address, "#"):
		return invalid("url must not contain a fragment, which begins with #.")
	case len(address) > maxURL:
		return invalid("url must have at most 2,048 characters.")
	}
	return nil
}
