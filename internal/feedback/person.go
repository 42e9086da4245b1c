package feedback

import "strings"

// Person is somebody who wants a request, as far as is known of them.
type Person struct {
	Email      *string `json:"email"`
	Name       *string `json:"name"`
	ExternalID *string `json:"external_id"`
	// Verified says that the customer's own backend has vouched for the person; then
	// ExternalID is set.
	Verified bool `json:"verified"`
	// BrowserID is kept by a browser for somebody of whom nothing else is known.
	BrowserID *ID `json:"-"`
}

// Key is what makes a person the same one on one request: the verified identity, else
// the e-mail whatever its spelling, else the id in the customer's product, else the
// browser, else the name. Unverified people never have the key of a verified one. It
// is empty when nothing is known.
func (p Person) Key() string {
	switch {
	case p.Verified && p.ExternalID != nil:
		return "v:" + *p.ExternalID
	case p.Email != nil:
		return "e:" + FoldEmail(*p.Email)
	case p.ExternalID != nil:
		return "x:" + *p.ExternalID
	case p.BrowserID != nil:
		return "b:" + p.BrowserID.String()
	case p.Name != nil:
		return "n:" + strings.ToLower(*p.Name)
	}
	return ""
}

// Person is who submitted the request. Of an anonymous submitter the request itself is
// all that is known: the key is its id's.
func (r *Request) Person() (p Person, key string) {
	p = Person{Email: r.Submitter.Email, Name: r.Submitter.Name, ExternalID: r.Submitter.ExternalID, Verified: r.Submitter.Verified}
	if key = p.Key(); key == "" {
		key = "r:" + r.ID.String()
	}
	return p, key
}
