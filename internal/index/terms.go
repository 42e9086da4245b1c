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
	// beginMark marks what words begin with: their first letter, and their first two.
	beginMark = "~"
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
		d.terms = append(d.terms, wordTerms(title, description, name, email)...)
	}
	d.terms = withBeginnings(d.terms)
	return d, nil
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
	return !strings.HasPrefix(term, firstValue) && !strings.HasPrefix(term, personMark) && !strings.HasPrefix(term, beginMark)
}
