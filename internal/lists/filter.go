package lists

import (
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"gatherkit/internal/feedback"
	"gatherkit/internal/index"
	"gatherkit/internal/params"
)

// StatusFilter is one or several statuses.
type StatusFilter []feedback.Status

// Schema implements huma.SchemaProvider.
func (StatusFilter) Schema(huma.Registry) *huma.Schema {
	one := &huma.Schema{Type: huma.TypeString}
	for _, status := range feedback.Statuses() {
		one.Enum = append(one.Enum, string(status))
	}
	one.PrecomputeMessages()
	least, most := 1, len(one.Enum)
	several := &huma.Schema{Type: huma.TypeArray, Items: one, MinItems: &least, MaxItems: &most}
	several.PrecomputeMessages()
	return &huma.Schema{OneOf: []*huma.Schema{one, several}}
}

// UnmarshalJSON accepts a string or an array of strings.
func (s *StatusFilter) UnmarshalJSON(text []byte) error {
	statuses, err := params.OneOrMore[feedback.Status](text)
	slices.Sort(statuses)
	*s = slices.Compact(statuses)
	return err
}

// RequestsWhere are the parameters of a filter.
type RequestsWhere struct {
	Status        StatusFilter   `json:"status,omitempty" doc:"Only requests with this status, or with one of these statuses."`
	AppID         *feedback.ID   `json:"app_id,omitempty" format:"uuid" doc:"Only requests of this app."`
	Tag           string         `json:"tag,omitempty" lines:"many" minLength:"1" maxLength:"40" doc:"Only requests with this tag."`
	AssigneeID    string         `json:"assignee_id,omitempty" doc:"Only requests that are assigned to this user; none: unassigned."`
	Query         string         `json:"query,omitempty" lines:"many" maxLength:"200" doc:"Only live requests with all of these words. See Words."`
	Source        string         `json:"source,omitempty" enum:"widget,portal,dashboard,api,import" doc:"Only requests from this source."`
	Person        *WantedPerson  `json:"person,omitempty" doc:"Only requests that this person submitted or voted for. Send what a submitter or a vote says of them."`
	Hidden        *bool          `json:"hidden,omitempty" doc:"true: only hidden requests; false: only those that are not hidden."`
	CreatedAfter  *feedback.Time `json:"created_after,omitempty" format:"date-time" doc:"Only requests created at this time or later."`
	CreatedBefore *feedback.Time `json:"created_before,omitempty" format:"date-time" doc:"Only requests created before this time."`
	Box           feedback.Box   `json:"box,omitempty" enum:"live,bin,quarantine" doc:"Only requests in this box; live by default."`
}

// WantedPerson is a person as a submitter or a vote has them.
type WantedPerson struct {
	Email      string `json:"email,omitempty" maxLength:"254"`
	Name       string `json:"name,omitempty" maxLength:"200"`
	ExternalID string `json:"external_id,omitempty" maxLength:"200"`
	Verified   bool   `json:"verified,omitzero"`
}

// key returns the key of the person, or "" if p does not identify anybody.
func (p *WantedPerson) key() string {
	if p.Verified && p.ExternalID == "" {
		return ""
	}
	return feedback.Person{
		Email: params.OrNil(p.Email), Name: params.OrNil(p.Name), ExternalID: params.OrNil(p.ExternalID), Verified: p.Verified,
	}.Key()
}

// Filter returns the filter. area is that of the operation, and prefix precedes the names of parameters
// in messages.
func (w RequestsWhere) Filter(area, prefix string) (RequestsFilter, error) {
	fault := func(name, text string) error {
		parameter, _, _ := strings.Cut(prefix+name, ".")
		return feedback.Invalid(area, parameter, prefix+name+text)
	}
	if _, err := feedback.ParseID(w.AssigneeID); err != nil && w.AssigneeID != feedback.Nobody && w.AssigneeID != "" {
		return RequestsFilter{}, fault("assignee_id", " must be a UUID, or none for unassigned requests.")
	}
	person := ""
	if w.Person != nil {
		if person = w.Person.key(); person == "" {
			return RequestsFilter{}, fault("person", " needs an email, a name or an external_id; a verified person needs an external_id.")
		}
	}
	if w.Query != "" && w.Box != "" && w.Box != feedback.Live {
		return RequestsFilter{}, fault("query", " finds only live requests; omit box.")
	}
	return RequestsFilter{
		Query: w.Query, Statuses: w.Status, AppID: w.AppID, Tag: feedback.Fold(w.Tag), AssigneeID: w.AssigneeID, Source: w.Source,
		Person: person, Hidden: w.Hidden, CreatedAfter: w.CreatedAfter, CreatedBefore: w.CreatedBefore, Box: w.Box,
	}, nil
}

// RequestsFilter is the filter and sort order as cursors contain it.
type RequestsFilter struct {
	Statuses      []feedback.Status `json:"s,omitempty"`
	AppID         *feedback.ID      `json:"p,omitempty"`
	Tag           string            `json:"t,omitempty"`
	AssigneeID    string            `json:"u,omitempty"`
	Source        string            `json:"w,omitempty"`
	Query         string            `json:"y,omitempty"`
	Person        string            `json:"k,omitempty"`
	Hidden        *bool             `json:"h,omitempty"`
	CreatedAfter  *feedback.Time    `json:"a,omitempty"`
	CreatedBefore *feedback.Time    `json:"b,omitempty"`
	Box           feedback.Box      `json:"x,omitempty"`
	Sort          index.Sort        `json:"o,omitempty"`
}

// Index returns the filter for the index.
func (f RequestsFilter) Index() index.Filter {
	filter := index.Filter{
		AppID: f.AppID, Statuses: f.Statuses, Box: f.Box, Tag: f.Tag, Source: f.Source, Query: f.Query, Person: f.Person, Hidden: f.Hidden,
		CreatedAfter: f.CreatedAfter, CreatedBefore: f.CreatedBefore, Unassigned: f.AssigneeID == feedback.Nobody,
	}
	if id, err := feedback.ParseID(f.AssigneeID); err == nil {
		filter.AssigneeID = &id
	}
	return filter
}

// Contradicts reports whether a field that is set in f differs from that of other.
func (f RequestsFilter) Contradicts(other RequestsFilter) bool {
	mine, theirs := reflect.ValueOf(f), reflect.ValueOf(other)
	for i := range mine.NumField() {
		if !mine.Field(i).IsZero() && !reflect.DeepEqual(mine.Field(i).Interface(), theirs.Field(i).Interface()) {
			return true
		}
	}
	return false
}
