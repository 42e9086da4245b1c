package feedback

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// Subject is the person whose data somebody asks for: everything that has the e-mail address, however it is written,
// or the id in the customer's product. The empty text stands for none.
type Subject struct{ Email, ExternalID string }

// Is reports whether a person is the subject. Nobody proves an unverified address, so everything that has it counts.
func (s Subject) Is(p Person) bool {
	return s.Email != "" && p.Email != nil && FoldEmail(*p.Email) == FoldEmail(s.Email) ||
		s.ExternalID != "" && p.ExternalID != nil && *p.ExternalID == s.ExternalID
}

// Hashes returns the SHA-256 of what identifies the subject: of the address in lower case, and of the id. Consumers of
// the log of changes compare them with the people that they know.
func (s Subject) Hashes() map[string]any {
	hashes := map[string]any{}
	for name, text := range map[string]string{"email_sha256": FoldEmail(s.Email), "external_id_sha256": s.ExternalID} {
		if text != "" {
			sum := sha256.Sum256([]byte(text))
			hashes[name] = hex.EncodeToString(sum[:])
		}
	}
	return hashes
}

// erasedName is the name of people whose data was erased, and erasedID begins their ids.
const (
	erasedName = "Erased person"
	erasedID   = "erased-"
)

// ErasedPattern matches the external ids of people whose data was erased, for LIKE.
const ErasedPattern = erasedID + "%"

// Erased returns who stands in the place of a person whose data is erased. The same person always becomes the same one
// with the same salt, so that their votes still count once. The salt must be random and is not stored.
func (p Person) Erased(salt ID) Person {
	mac := hmac.New(sha256.New, salt[:])
	mac.Write([]byte(p.Key()))
	const enough = 12 // bytes, so that two people never become the same one
	return Person{Name: new(erasedName), ExternalID: new(erasedID + hex.EncodeToString(mac.Sum(nil)[:enough]))}
}

// Known reports whether a name, an address or an id is known of a person whose data is not erased.
func (p Person) Known() bool {
	return (p.Email != nil || p.Name != nil || p.ExternalID != nil) && (p.ExternalID == nil || !strings.HasPrefix(*p.ExternalID, erasedID))
}

// PersonMention is a text that mentions a person.
type PersonMention struct {
	RequestID ID     `json:"request_id" format:"uuid"`
	Title     string `json:"title" doc:"Of the request."`
	CommentID *ID    `json:"comment_id" format:"uuid" doc:"The comment; null for a text of the request or of a vote."`
	Field     string `json:"field" enum:"title,description,comment,held_comment,vote"`
}

// The kinds of records.
const (
	MailRecord    = "mail"
	SessionRecord = "session"
	BlockRecord   = "block"
)

// PersonRecord is what else is stored about a person: a subscription to e-mail, a session on a portal, or a block.
type PersonRecord struct {
	Kind  string `json:"kind" enum:"mail,session,block"`
	AppID ID     `json:"app_id" format:"uuid"`
	Person
	State string `json:"state" doc:"For mail: asked, confirmed, stopped or bounced. Of addresses that are stopped or bounced, only a hash is stored."`
	// At is when the state began, or when a session ends.
	At Time `json:"at" format:"date-time" doc:"For mail and block: since when. For session: until when."`
}

// Mentions reports whether a text contains one of several words or addresses, in small or capital letters.
func Mentions(text string, folded []string) bool {
	text = strings.ToLower(text)
	for _, f := range folded {
		if strings.Contains(text, f) {
			return true
		}
	}
	return false
}
