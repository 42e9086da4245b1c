// Package row says in which columns a request is stored, once for every statement that
// reads or writes one.
package row

import (
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
)

type request = feedback.Request

// requestColumns has a line for each field of a request. The order is that of Columns,
// Values and Scan; the database does not depend on it.
var requestColumns = []column{
	field("id", func(r *request) *feedback.ID { return &r.ID }),
	field("app_id", func(r *request) *feedback.ID { return &r.AppID }),
	field("box", func(r *request) *string { return (*string)(&r.Box) }),
	field("status", func(r *request) *string { return (*string)(&r.Status) }),
	field("title", func(r *request) *string { return &r.Title }),
	field("description", func(r *request) *string { return &r.Description }),
	field("submitter_email", func(r *request) **string { return &r.Submitter.Email }),
	field("submitter_name", func(r *request) **string { return &r.Submitter.Name }),
	field("submitter_external_id", func(r *request) **string { return &r.Submitter.ExternalID }),
	field("submitter_verified", func(r *request) *bool { return &r.Submitter.Verified }),
	asJSON("tags", "[]", func(r *request) *[]string { return &r.Tags }),
	field("votes", func(r *request) *int64 { return &r.Votes }),
	field("heat", func(r *request) *int64 { return &r.Heat }),
	field("comments", func(r *request) *int64 { return &r.Comments }),
	field("assignee_id", func(r *request) **feedback.ID { return &r.AssigneeID }),
	field("merged_into_id", func(r *request) **feedback.ID { return &r.MergedIntoID }),
	field("hidden", func(r *request) *bool { return &r.Hidden }),
	field("eta", func(r *request) **string { return &r.ETA }),
	asJSON("attachments", "[]", func(r *request) *[]feedback.Attachment { return &r.Attachments }),
	asJSON("metadata", "{}", func(r *request) *feedback.Metadata { return &r.Metadata }),
	field("source", func(r *request) *string { return &r.Source }),
	field("version", func(r *request) *int64 { return &r.Version }),
	field("created_at", func(r *request) *feedback.Time { return &r.CreatedAt }),
	field("updated_at", func(r *request) *feedback.Time { return &r.UpdatedAt }),
	field("reply_at", func(r *request) **feedback.Time { return &r.ReplyAt }),
}

// Columns are the names of a request's columns, as a SELECT or an INSERT lists them.
var Columns = names()

func names() string {
	list := make([]string, len(requestColumns))
	for i, c := range requestColumns {
		list[i] = c.name
	}
	return strings.Join(list, ", ")
}

// Scan reads a request from a row that has Columns. Its tags, attachments and metadata
// are empty rather than nil.
func Scan(from database.Row) (feedback.Request, error) {
	r := feedback.Request{Tags: []string{}, Attachments: []feedback.Attachment{}, Metadata: feedback.Metadata{}}
	into := make([]any, len(requestColumns))
	for i, c := range requestColumns {
		into[i] = c.into(&r)
	}
	return r, from.Scan(into...)
}

// Values appends what an INSERT into Columns stores.
func Values(args []any, r *feedback.Request) []any {
	for _, c := range requestColumns {
		args = append(args, c.value(r))
	}
	return args
}

// Assign returns the assignments of an UPDATE that stores the named columns of a request.
// It panics if there is no such column.
func Assign(p *database.Parameters, r *feedback.Request, named ...string) string {
	assignments := make([]string, len(named))
	for i, name := range named {
		at := slices.IndexFunc(requestColumns, func(c column) bool { return c.name == name })
		if at < 0 {
			panic("requests has no column " + name)
		}
		assignments[i] = name + " = " + p.Add(requestColumns[at].value(r))
	}
	return strings.Join(assignments, ", ")
}

// column is a column of the table: what it stores of a request, and where it is scanned.
type column struct {
	name  string
	value func(*feedback.Request) any
	into  func(*feedback.Request) any
}

// field is a column that stores a field as it is.
func field[T any](name string, of func(*feedback.Request) *T) column {
	return column{
		name:  name,
		value: func(r *feedback.Request) any { return *of(r) },
		into:  func(r *feedback.Request) any { return of(r) },
	}
}

// asJSON is a column that stores a field as JSON. Most rows store the empty text, which
// is left unparsed: parsing took a tenth of the time of a list.
func asJSON[T any](name, empty string, of func(*feedback.Request) *T) column {
	return column{
		name:  name,
		value: func(r *feedback.Request) any { return jsonText{of(r), empty} },
		into:  func(r *feedback.Request) any { return jsonText{of(r), empty} },
	}
}

type jsonText struct {
	at    any // a pointer
	empty string
}

// Value implements driver.Valuer. It calls MarshalJSON itself where there is one, because
// json.Marshal would escape the result once more.
func (j jsonText) Value() (driver.Value, error) {
	if m, ok := j.at.(json.Marshaler); ok {
		text, err := m.MarshalJSON()
		return string(text), err
	}
	text, err := json.Marshal(j.at)
	return string(text), err
}

// Scan implements sql.Scanner.
func (j jsonText) Scan(from any) error {
	switch text := from.(type) {
	case string:
		if text == j.empty {
			return nil
		}
		return json.Unmarshal([]byte(text), j.at)
	case []byte:
		if string(text) == j.empty {
			return nil
		}
		return json.Unmarshal(text, j.at)
	}
	return fmt.Errorf("JSON is stored as text, not as %T", from)
}
