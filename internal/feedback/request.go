package feedback

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"slices"
)

// Request is a feature request.
type Request struct {
	ID           ID           `json:"id" format:"uuid"`
	AppID        ID           `json:"app_id" format:"uuid"`
	Title        string       `json:"title"`
	Description  string       `json:"description"`
	Status       Status       `json:"status" enum:"opened,under_review,planned,in_progress,completed,declined,duplicate"`
	Submitter    Submitter    `json:"submitter"`
	Tags         []string     `json:"tags"`
	Votes        int64        `json:"votes" doc:"Distinct people behind the request, the submitter included."`
	Comments     int64        `json:"comments" doc:"Internal and public comments."`
	AssigneeID   *ID          `json:"assignee_id" format:"uuid"`
	MergedIntoID *ID          `json:"merged_into_id" format:"uuid"`
	Hidden       bool         `json:"hidden" doc:"Hidden from everyone outside the account except its submitter."`
	ETA          *string      `json:"eta" doc:"The expected day, month or quarter: YYYY-MM-DD, YYYY-MM or YYYY-Qn."`
	Attachments  []Attachment `json:"attachments"`
	Metadata     Metadata     `json:"metadata" doc:"Page URL, locale, user agent, and keys that the host page adds."`
	Source       string       `json:"source" enum:"widget,portal,dashboard,api,import"`
	Version      int64        `json:"version" doc:"Increases by one with each change."`
	CreatedAt    Time         `json:"created_at" format:"date-time"`
	UpdatedAt    Time         `json:"updated_at" format:"date-time"`
	ReplyAt      *Time        `json:"reply_at" format:"date-time" doc:"When the submitter last wrote a comment that no public comment of the team has followed; null for never."`

	// Box says whether the request is live, in the bin or in quarantine.
	Box Box `json:"-"`
	// Heat is how much people have voted for the request lately, see Heat.
	Heat int64 `json:"-"`
}

// Status is the progress of a request.
type Status string

// Opened is the status of new requests, and Duplicate that of merged ones.
const (
	Opened    Status = "opened"
	Duplicate Status = "duplicate"
)

// Statuses returns all statuses in the order of a request's life cycle.
func Statuses() []Status {
	return []Status{Opened, "under_review", "planned", "in_progress", "completed", "declined", Duplicate}
}

// Settable returns the statuses that users can set. Only merging sets duplicate.
func Settable() []Status {
	return slices.DeleteFunc(Statuses(), func(s Status) bool { return s == Duplicate })
}

// Box is the part of an account's requests that a request belongs to.
type Box string

// The boxes. Requests in the bin appear in no list but that of the bin.
const (
	Live       Box = "live"
	Bin        Box = "bin"
	Quarantine Box = "quarantine"
)

// Boxes returns all boxes.
func Boxes() []Box { return []Box{Live, Bin, Quarantine} }

// Submitter is the person who submitted a request. Verified is true only if an identity
// token, signed by the customer's backend, proves who the person is.
type Submitter struct {
	Email      *string `json:"email"`
	Name       *string `json:"name"`
	ExternalID *string `json:"external_id"`
	Verified   bool    `json:"verified"`
}

// Metadata is data that the host page sends with a request: at most 8 KiB of JSON, at most
// two levels deep. Numbers are kept as written, because ids of other systems can exceed the
// precision of a float64.
type Metadata map[string]any

// UnmarshalJSON decodes a JSON object and keeps numbers as json.Number.
func (m *Metadata) UnmarshalJSON(text []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var object map[string]any
	if err := decoder.Decode(&object); err != nil {
		return err
	}
	*m = object
	return nil
}

// MarshalJSON encodes m with sorted keys. It does not escape <, > and &, because that
// would double the length of URLs with many parameters.
func (m Metadata) MarshalJSON() ([]byte, error) {
	if m == nil {
		return []byte("{}"), nil
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(map[string]any(m)); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), nil
}

const maxMetadata = 8 << 10

// Check returns an error with the code widget.invalid_metadata if m is too large or nested
// too deeply.
func (m Metadata) Check() *Error {
	text, err := m.MarshalJSON()
	if err != nil || len(text) > maxMetadata || !flat(m) {
		return Invalid("widget", "metadata", "metadata must be a JSON object of at most 8 KiB and two levels.")
	}
	return nil
}

// flat reports whether m has at most two levels.
func flat(m Metadata) bool {
	for _, v := range m {
		switch v := v.(type) {
		case map[string]any:
			for _, inner := range v {
				if nested(inner) {
					return false
				}
			}
		case []any:
			if slices.ContainsFunc(v, nested) {
				return false
			}
		}
	}
	return true
}

func nested(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return true
	}
	return false
}

// NewRequest returns a new request with one vote, that of its submitter. The store sets
// its id and times.
func NewRequest(title, description string) Request {
	return Request{
		Title: title, Description: description, Status: Opened, Box: Live,
		Tags: []string{}, Votes: 1, Attachments: []Attachment{}, Metadata: Metadata{}, Version: 1,
	}
}

// Fingerprint returns a hash of what the submitter sent, including the ids of the files. It
// distinguishes a repeated submission from an idempotency key that is reused for another
// request.
func (r *Request) Fingerprint(files []ID) [sha256.Size]byte {
	// The fields are listed one by one, so that a new field in Submitter does not change
	// stored fingerprints. Strings and JSON values cannot fail to marshal.
	sent := []any{r.Title, r.Description, r.Submitter.Email, r.Submitter.Name, r.Submitter.ExternalID, r.Metadata}
	if len(files) > 0 { // keeps fingerprints from before there were files valid
		sent = append(sent, files)
	}
	text, _ := json.Marshal(sent)
	return sha256.Sum256(text)
}

// RequestChange is a partial change of a request. Nil fields keep their values.
type RequestChange struct {
	Title       *string
	Description *string
	Status      *Status
	Tags        *[]string
	Hidden      *bool
	AssigneeID  **ID     // a pointer to nil removes the assignee
	ETA         **string // a pointer to nil removes the ETA
}

// Apply applies the change.
func (r *Request) Apply(c RequestChange) {
	set(&r.Title, c.Title)
	set(&r.Description, c.Description)
	set(&r.Status, c.Status)
	set(&r.Hidden, c.Hidden)
	if c.Tags != nil {
		r.Tags = CleanTags(*c.Tags)
	}
	set(&r.AssigneeID, c.AssigneeID)
	set(&r.ETA, c.ETA)
}

// maxBeginning is how many characters of a description are its beginning.
const maxBeginning = 500

// Beginning returns the beginning of a description, as lists for people outside have it.
func Beginning(description string) string { return FirstCharacters(description, maxBeginning) }
