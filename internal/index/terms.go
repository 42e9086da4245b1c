package index

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
	"gatherkit/internal/search"
)

// A request is indexed under terms: its words, the words of its submitter, the submitter's key as a
// person, and the values of fields. A mark that no word begins with tells the kinds apart.
const (
	personMark = "@"
	keyMark    = "#"
	// beginMark marks what words begin with: their first letter, and their first two.
	beginMark = "~"
	// firstValue and lastValue enclose the terms of fields.
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
func documentColumns(words bool) string {
	columns := "id, app_id, submitter_name, submitter_email, submitter_external_id, submitter_verified"
	for _, of := range fields {
		columns += ", " + of.column
	}
	if words {
		columns += ", title, description"
	}
	return columns
}

// scanDocument reads a request and computes its terms, those of its words only if words is true.
// It returns nil for a request of another app. Only live requests have words, so that spam in
// quarantine does not get into the vocabulary.
func scanDocument(r database.Row, ofApp func(feedback.ID) bool, words bool) (*document, error) {
	var d document
	var title, description string
	var submitter feedback.Person
	values := make([][]byte, len(fields))
	into := []any{&d.id, &d.appID, &submitter.Name, &submitter.Email, &submitter.ExternalID, &submitter.Verified}
	for i := range values {
		into = append(into, &values[i])
	}
	if words {
		into = append(into, &title, &description)
	}
	if err := r.Scan(into...); err != nil || !ofApp(d.appID) {
		return nil, err
	}
	for i, of := range fields {
		found, err := of.values(values[i])
		if err != nil {
			return nil, err
		}
		for _, value := range found {
			d.terms = append(d.terms, of.part.term(value))
		}
	}
	if key := submitter.Key(); key != "" {
		d.terms = append(d.terms, keyTerm(key))
	}
	if words && slices.Contains(d.terms, byBox.term(string(feedback.Live))) {
		d.terms = append(d.terms, wordTerms(title, description, submitter.Name, submitter.Email)...)
	}
	d.terms = withBeginnings(d.terms)
	return &d, nil
}

// Terms returns the terms under which a request is to be indexed: those that are stored with it,
// and all.
func Terms(ctx context.Context, q database.Queryer, accountID, id feedback.ID) (stored, all []string, err error) {
	found, err := read(ctx, q, []idsOf{{accountID, []feedback.ID{id}}}, anyApp, true)
	d := found[0][id]
	if err != nil || d == nil {
		return nil, nil, err
	}
	return withoutBeginnings(d.terms), d.terms, nil
}

// maxBeginning is up to how many letters the beginnings of words are terms. A shorter
// beginning would be that of too many words to read the list of each.
const maxBeginning = 2

// withBeginnings returns terms with the beginnings of their words, sorted.
func withBeginnings(terms []string) []string {
	for _, term := range terms {
		if !isWord(term) {
			continue
		}
		letters := 0
		for i := range term {
			if letters > 0 {
				terms = append(terms, beginMark+term[:i])
			}
			letters++
			if letters > maxBeginning {
				break
			}
		}
		if letters <= maxBeginning {
			terms = append(terms, beginMark+term)
		}
	}
	slices.Sort(terms)
	return slices.Compact(terms)
}

// withoutBeginnings returns the terms that are stored with a document.
func withoutBeginnings(terms []string) []string {
	return slices.DeleteFunc(slices.Clone(terms), func(term string) bool { return strings.HasPrefix(term, beginMark) })
}

// wordTerms returns the terms of a request's words and of its submitter's.
func wordTerms(title, description string, name, email *string) []string {
	terms := search.Words(title, description)
	for _, word := range search.Person(deref(name), deref(email)) {
		terms = append(terms, personMark+word)
	}
	return terms
}

func deref(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// term returns the term of a field's value.
func (f facet) term(value string) string { return string(f) + value }

// oneValue is the value of a column that has one.
func oneValue(column []byte) ([]string, error) { return []string{string(column)}, nil }

// boolValue is the value of a column of booleans, which SQLite stores as 0 and 1.
func boolValue(column []byte) ([]string, error) {
	v, err := strconv.ParseBool(string(column))
	return []string{strconv.FormatBool(v)}, err
}

// assigneeValues is the value of the column assignee_id, and assigneeValue that of an assignee.
func assigneeValues(column []byte) ([]string, error) {
	if column == nil {
		return []string{assigneeValue(nil)}, nil
	}
	var id feedback.ID
	err := id.Scan(column)
	return []string{assigneeValue(&id)}, err
}

func assigneeValue(id *feedback.ID) string {
	if id == nil {
		return feedback.Nobody
	}
	return id.String()
}

// answerTimes are the classes of the time to the first answer.
var answerTimes = []struct {
	name   string
	within time.Duration
}{{"hour", time.Hour}, {"day", day}, {"week", 7 * day}, {"month", 30 * day}, {"longer", math.MaxInt64}}

// answerValues is the class of the column answered_after, which has microseconds. A request without an answer has none.
func answerValues(column []byte) ([]string, error) {
	if column == nil {
		return nil, nil
	}
	after, err := strconv.ParseInt(string(column), 10, 64)
	for _, t := range answerTimes {
		if after < t.within.Microseconds() {
			return []string{t.name}, err
		}
	}
	return nil, err
}

// tagValues are the values of the column tags: each is a folded tag and its spelling.
func tagValues(column []byte) (values []string, err error) {
	var tags []string
	err = json.Unmarshal(column, &tags)
	for _, tag := range tags {
		values = append(values, tagPrefix(feedback.Fold(tag))+plain(tag))
	}
	return values, err
}

// tagPrefix is what the values of a folded tag begin with, in any spelling.
func tagPrefix(folded string) string { return plain(folded) + spelled }

// keyTerm returns the term of a person's key.
func keyTerm(person string) string { return keyMark + plain(person) }

// plain replaces the separators in a text, such as an old tag.
func plain(text string) string {
	return strings.NewReplacer(spelled, " ", separator, " ").Replace(text)
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
	return !strings.HasPrefix(term, firstValue) && !strings.HasPrefix(term, personMark) &&
		!strings.HasPrefix(term, keyMark) && !strings.HasPrefix(term, beginMark)
}
