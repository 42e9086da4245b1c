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
	Comments     int64        `json:"comments" doc:"Comments of all kinds."`
	AssigneeID   *ID          `json:"assignee_id" format:"uuid"`
	MergedIntoID *ID          `json:"merged_into_id" format:"uuid"`
	ETA          *string      `json:"eta" format:"date"`
	Attachments  []Attachment `json:"attachments"`
	Metadata     Metadata     `json:"metadata" doc:"Page URL, locale, user agent and the host page's own keys."`
	Source       string       `json:"source" enum:"widget,dashboard,api,import"`
	Version      int64        `json:"version" doc:"One more with each change."`
	CreatedAt    Time         `json:"created_at" format:"date-time"`
	UpdatedAt    Time         `json:"updated_at" format:"date-time"`

	// Box is where the request lies: among the live ones, in the bin, in quarantine.
	Box Box `json:"-"`
}

// Status is how far a request has come.
type Status string

// Opened is the status of a new request, Duplicate that of a merged one.
const (
	Opened    Status = "opened"
	Duplicate Status = "duplicate"
)

// Statuses lists every status in the order of a request's life.
func Statuses() []Status {
	return []Status{Opened, "under_review", "planned", "in_progress", "completed", "declined", Duplicate}
}

// Settable lists the statuses that people set; duplicate comes by merging only.
func Settable() []Status {
	return slices.DeleteFunc(Statuses(), func(s Status) bool { return s == Duplicate })
}

// Box says where a request lies.
type Box string

// The boxes. What is in the bin is found nowhere but there.
const (
	Live       Box = "live"
	Bin        Box = "bin"
	Quarantine Box = "quarantine"
)

// Submitter is who asked. Verified is true only for a person for whom the
// customer's own backend has vouched.
type Submitter struct {
	Email      *string `json:"email"`
	Name       *string `json:"name"`
	ExternalID *string `json:"external_id"`
	Verified   bool    `json:"verified"`
}

// Metadata is what the host page sends along: at most 8 KiB of JSON, two levels
// deep. Numbers keep their digits: other systems' ids exceed what a float holds.
type Metadata map[string]any

// UnmarshalJSON keeps numbers as they are written.
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

// MarshalJSON sorts the keys, and leaves <, > and & as they are: escaped, an
// address with parameters would take twice its length.
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

// Check refuses metadata that is too large or too deep.
func (m Metadata) Check() *Error {
	text, err := m.MarshalJSON()
	if err != nil || len(text) > maxMetadata || !flat(m) {
		return Invalid("widget", "metadata", "metadata must be a JSON object of at most 8 KiB and two levels.")
	}
	return nil
}

// flat reports whether nothing in m lies deeper than the second level.
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

// NewRequest is a request as it comes in: opened, and with its submitter as the
// one person behind it. The store gives it an id and its times.
func NewRequest(title, description string) Request {
	return Request{
		Title: title, Description: description, Status: Opened, Box: Live,
		Tags: []string{}, Votes: 1, Attachments: []Attachment{}, Metadata: Metadata{}, Version: 1,
	}
}

// Fingerprint sums up what a submitter sent, with the ids of the files, so that a
// repeated idempotency key can be told from a key that was used for two different requests.
func (r *Request) Fingerprint(files []ID) [sha256.Size]byte {
	// Each field is named here, so that a new one in Submitter does not change the
	// fingerprints that are stored. Strings and JSON values cannot fail to marshal.
	sent := []any{r.Title, r.Description, r.Submitter.Email, r.Submitter.Name, r.Submitter.ExternalID, r.Metadata}
	if len(files) > 0 { // without any, it is what it was before there were files
		sent = append(sent, files)
	}
	text, _ := json.Marshal(sent)
	return sha256.Sum256(text)
}

// RequestChange is a partial change of a request: nil keeps what is there.
type RequestChange struct {
	Title       *string
	Description *string
	Status      *Status
	Tags        *[]string
	AssigneeID  **ID // to nil clears it, and so does that of ETA
	ETA         **string
}

// Apply makes the change.
func (r *Request) Apply(c RequestChange) {
	set(&r.Title, c.Title)
	set(&r.Description, c.Description)
	set(&r.Status, c.Status)
	if c.Tags != nil {
		r.Tags = CleanTags(*c.Tags)
	}
	set(&r.AssigneeID, c.AssigneeID)
	set(&r.ETA, c.ETA)
}
