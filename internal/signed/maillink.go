package signed

import "gatherkit/internal/feedback"

// MailLink is a link in a mail with which its recipient decides about mail of an app. It never expires.
type MailLink struct {
	Purpose   Purpose
	AccountID feedback.ID
	AppID     feedback.ID
	Address   [16]byte    // hash of the recipient's address
	RequestID feedback.ID // zero for all requests
}

const mailLinkBytes = 1 + 4*16

// Text returns the signed text of the link.
func (l MailLink) Text(key []byte) string {
	payload := make([]byte, 0, mailLinkBytes)
	payload = append(payload, byte(l.Purpose))
	for _, part := range [][16]byte{l.AccountID, l.AppID, l.Address, l.RequestID} {
		payload = append(payload, part[:]...)
	}
	return Text(key, payload)
}

// ParseMailLink verifies and decodes the text of a link. It returns false if the link is for another purpose.
func ParseMailLink(key []byte, purpose Purpose, text string) (MailLink, bool) {
	payload, ok := Payload(key, text)
	if !ok || len(payload) != mailLinkBytes || payload[0] != byte(purpose) {
		return MailLink{}, false
	}
	part := func(n int) [16]byte { return [16]byte(payload[1+16*n:]) }
	return MailLink{purpose, part(0), part(1), part(2), part(3)}, true
}
