package feedback

import (
	"crypto/sha256"
	"database/sql/driver"
	"encoding/hex"
	"fmt"
)

// Reader is who hears back without an account: a browser with a secret of its own, or a verified person. It
// is nil if there is nobody. Only its hash is stored, which begins with a time, so that new rows are
// neighbors in the index of readers: entries at random places double the log that SQLite writes.
type Reader []byte

const (
	readerBytes = 32
	readerTime  = 6 // bytes of a secret that are its time in milliseconds since 1970
	// MaxReader is the length of a secret in hex digits.
	MaxReader = 2 * readerBytes
)

// verifiedReader begins the readers of verified people. No secret can have this time.
var verifiedReader = []byte{0xff, 0xff}

// ReaderOfSecret returns the reader of an app that has a secret. It returns false if the secret is not 64
// lower-case hex digits, or begins like the reader of a verified person.
func ReaderOfSecret(appID ID, secret string) (Reader, bool) {
	var raw [readerBytes]byte
	if n, err := hex.Decode(raw[:], []byte(secret[:min(len(secret), MaxReader)])); err != nil || n != readerBytes ||
		hex.EncodeToString(raw[:]) != secret || raw[0] == verifiedReader[0] && raw[1] == verifiedReader[1] {
		return nil, false
	}
	sum := sha256.Sum256(append(appID[:], raw[:]...))
	return append(Reader(nil), append(raw[:readerTime:readerTime], sum[:readerBytes-readerTime]...)...), true
}

// ReaderOfPerson returns the reader of an app that is the verified person with an id in the customer's product.
func ReaderOfPerson(appID ID, externalID string) Reader {
	sum := sha256.Sum256(append(appID[:], externalID...))
	return append(append(Reader(nil), verifiedReader...), sum[:readerBytes-len(verifiedReader)]...)
}

// Value implements driver.Valuer.
func (r Reader) Value() (driver.Value, error) {
	if r == nil {
		return nil, nil //nolint:nilnil // NULL
	}
	return []byte(r), nil
}

// Scan implements sql.Scanner.
func (r *Reader) Scan(from any) error {
	switch v := from.(type) {
	case nil:
		*r = nil
	case []byte:
		*r = append(Reader(nil), v...)
	default:
		return fmt.Errorf("a reader is stored as bytes, not as %T", from)
	}
	return nil
}

// Audience is who sees a change of a request: the browsers of those who submitted it or a request that is
// merged into it, those that voted for it, and the links that the team has made.
type Audience struct {
	Askers int64 `json:"askers" doc:"Browsers and verified people that submitted it, or a request that is merged into it. They see its status and public comments."`
	// Submitter is true if the one who submitted it is among them.
	Submitter bool `json:"submitter" doc:"Whether the submitter is one of the askers."`

	Voters int64 `json:"voters" doc:"Others that voted for it. They see its status; 0 unless the app shares the request."`
	Links  int64 `json:"links" doc:"Links of requests-status-link that work."`
}

// Count returns how many people and links the audience has.
func (a Audience) Count() int64 { return a.Askers + a.Voters + a.Links }
