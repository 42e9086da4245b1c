package feedback

import "strings"

// Person is somebody who submitted or voted for a request. Unknown fields are nil.
type Person struct {
	Email      *string `json:"email"`
	Name       *string `json:"name"`
	ExternalID *string `json:"external_id"`
	// Verified is true if an identity token, signed by the customer's backend, proves who
	// the person is. ExternalID is then set.
	Verified bool `json:"verified"`
	// BrowserID is a random id that the browser stores. It identifies people of whom
	// nothing else is known.
	BrowserID *ID `json:"-"`
}

// Key returns the key that identifies a person among the voters of a request: the verified
// identity, or else the e-mail address however it is written, the id in the customer's product, the
// browser or the name however it is written. It is "" if nothing is known. An unverified person never has the key
// of a verified one.
func (p Person) Key() string {
	switch {
	case p.Verified && p.ExternalID != nil:
		return "v:" + *p.ExternalID
	case p.Email != nil:
		return "e:" + FoldEmail(*p.Email)
	case p.ExternalID != nil:
		return "x:" + *p.ExternalID
	case p.BrowserID != nil:
		return browserKey + p.BrowserID.String()
	case p.Name != nil:
		return "n:" + Fold(*p.Name)
	}
	return ""
}

// browserKey begins the keys of browsers.
const browserKey = "b:"

// BrowserOfKey returns the browser that a key identifies, or nil if it identifies somebody else.
func BrowserOfKey(key string) *ID {
	text, is := strings.CutPrefix(key, browserKey)
	id, err := ParseID(text)
	if !is || err != nil {
		return nil
	}
	return &id
}

// Label returns the name of a person, or what else is known of them.
func (p Person) Label() string {
	for _, known := range []*string{p.Name, p.Email, p.ExternalID} {
		if known != nil {
			return *known
		}
	}
	return "somebody who is not signed in"
}

// Person returns the submitter of the request and their key. The key of an anonymous
// submitter is derived from the id of the request.
func (r *Request) Person() (p Person, key string) {
	p = Person{Email: r.Submitter.Email, Name: r.Submitter.Name, ExternalID: r.Submitter.ExternalID, Verified: r.Submitter.Verified}
	if key = p.Key(); key == "" {
		key = "r:" + r.ID.String()
	}
	return p, key
}

// BlockedPerson is somebody who can no longer vote, comment or submit on the portal of an app.
type BlockedPerson struct {
	// Key is that of the person. It identifies a browser of which nothing else is known.
	Key string `json:"key"`
	Person
	BlockedAt Time `json:"blocked_at" format:"date-time"`
}
