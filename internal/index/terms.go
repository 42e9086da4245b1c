package index

import (
	"encoding/json"
	"slices"
	"strings"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
	"gatherkit/internal/search"
)

// A request is indexed under terms: its words, the words of its submitter, and the values
// by which lists are filtered. A mark that no word begins with tells the kinds apart.
const (
	boxMark      = "!box "
	statusMark   = "!status "
	assigneeMark = "!assignee "
	sourceMark   = "!source "
	tagMark      = "!tag "
	personMark   = "@"
	// firstValue and lastValue enclose the terms that are values.
	firstValue, lastValue = "!", `"`
	// spelled separates a folded tag from its spelling, and separator separates the terms of
	// a document.
	spelled, separator = "\x1e", "\x1f"
)

// afterAll sorts after every character of a term.
const afterAll = "\U0010ffff"

// document is what the index knows of a request.
type document struct {
	id, appID feedback.ID
	ordinal   int64
	terms     []string // sorted
}

// documentColumns are the columns that scanDocument reads.
const documentColumns = "id, app_id, box, status, title, description, submitter_name, submitter_email, assignee_id, tags, source"

// scanDocument reads a request and computes its terms. Only live requests have words, so
// that spam in quarantine does not get into the vocabulary.
func scanDocument(r database.Row) (d document, err error) {
	var box, status, title, description, tags, source string
	var name, email *string
	var assignee *feedback.ID
	err = r.Scan(&d.id, &d.appID, &box, &status, &title, &description, &name, &email, &assignee, &tags, &source)
	if err != nil {
		return d, err
	}
	d.terms = []string{boxMark + box, statusMark + status, sourceMark + source, assigneeTerm(assignee)}
	var labels []string
	if err := json.Unmarshal([]byte(tags), &labels); err != nil {
		return d, err
	}
	for _, label := range labels {
		d.terms = append(d.terms, tagPrefix(feedback.FoldTag(label))+plain(label))
	}
	if box == string(feedback.Live) {
		d.terms = append(d.terms, search.Words(title, description)...)
		for _, word := range search.Person(deref(name), deref(email)) {
			d.terms = append(d.terms, personMark+word)
		}
	}
	slices.Sort(d.terms)
	d.terms = slices.Compact(d.terms)
	return d, nil
}

func deref(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

func assigneeTerm(id *feedback.ID) string {
	if id == nil {
		return assigneeMark + feedback.Nobody
	}
	return assigneeMark + id.String()
}

// tagPrefix is what the terms of a folded tag begin with, in any spelling.
func tagPrefix(folded string) string { return tagMark + plain(folded) + spelled }

// plain replaces the separators in a tag, which old tags may contain.
func plain(tag string) string {
	return strings.NewReplacer(spelled, " ", separator, " ").Replace(tag)
}

// has reports whether a document has a term.
func (d *document) has(term string) bool {
	_, found := slices.BinarySearch(d.terms, term)
	return found
}

// hasIn reports whether a document has a term in from ≤ term < until.
func (d *document) hasIn(from, until string) bool {
	at, _ := slices.BinarySearch(d.terms, from)
	return at < len(d.terms) && d.terms[at] < until
}

// isWord reports whether a term is a word of a request's text.
func isWord(term string) bool {
	return !strings.HasPrefix(term, firstValue) && !strings.HasPrefix(term, personMark)
}
