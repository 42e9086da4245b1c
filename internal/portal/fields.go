package portal

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// The most characters of what visitors write. The forms and what takes them agree.
const (
	MaxTitle = 200
	MaxText  = 10_000
	MaxName  = 200
	maxEmail = 254
)

// field is a field of a form. Its id is its name.
type field struct {
	ID       string
	Label    string
	Optional string // says that it may stay empty
	Hint     string
	Type     string // of an input
	Rows     int    // of a textarea; 0 for an input
	Most     int    // characters
	Value    string
	Complete string // what browsers fill in
	Required bool
	Long     string // says that a text is too long, with {count}
	Alert    string // what is wrong, or ""
	Focus    bool
}

// check says in the field what is wrong with it if it was refused.
func (f field) check(t *locale, r *Refusal, text string) field {
	f.Long = text + t.excess("{count}")
	if r != nil && r.Field == f.ID {
		f.Alert, f.Focus = text+t.tooLong(f.Value, f.Most), true
	}
	return f
}

// tooLong says how many characters of a text are too many, after a space, or returns "".
func (t *locale) tooLong(text string, most int) string {
	n := utf8.RuneCountInString(strings.TrimSpace(text)) - most
	if n <= 0 {
		return ""
	}
	return t.excess(n)
}

// excess says how many characters are too many, after a space.
func (t *locale) excess(count any) string { return " " + fill(t.Excess, "count", count) }

// alerted reports whether one of the fields says what is wrong with it.
func alerted(fields ...field) bool {
	return slices.ContainsFunc(fields, func(f field) bool { return f.Alert != "" })
}

// Described are the ids of the texts that describe the field.
func (f field) Described() string {
	var ids []string
	if f.Hint != "" {
		ids = append(ids, "hint-"+f.ID)
	}
	if f.Alert != "" {
		ids = append(ids, "alert-"+f.ID)
	}
	return strings.Join(ids, " ")
}

func (p *page) nameField(d Draft) field {
	t := p.T.Portal
	return field{
		ID: "name", Label: t.YourName, Optional: t.Optional, Type: "text", Most: MaxName, Value: d.Name, Complete: "name",
	}.check(p.T, d.Refusal, t.NameInvalid)
}

// reason says why something was refused.
type reason struct {
	Text   string
	SignIn *option // the link to the page on which the visitor signs in first, or nil
}

// reason returns nil if nothing was refused. What was refused for now has failed.
func (p *page) reason(r *Refusal, refused, failed string) *reason {
	const temporary = 429 // or higher
	switch {
	case r == nil:
		return nil
	case r.SignIn && p.SignIn:
		return &reason{p.T.Portal.SignInFirst, &option{Name: p.T.Portal.SignIn, Link: p.SignInPath(p.At)}}
	case r.Error != nil && r.Error.Status < temporary:
		return &reason{Text: refused}
	}
	return &reason{Text: failed}
}
