package index

import (
	"slices"
	"unicode/utf8"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
	"gatherkit/internal/search"
)

// condition is a part of a filter: a document matches if it has one of some terms.
type condition struct {
	part   facet
	terms  []string
	ranges []termRange
	// also are requests that match whatever their terms are.
	also []feedback.ID
	// wider is a term of all documents that have one in the first range, or "".
	wider string
}

// termRange is the range of terms from ≤ term < until.
type termRange struct{ from, until string }

// startingWith is the range of terms with a prefix.
func startingWith(prefix string) termRange { return termRange{prefix, prefix + afterAll} }

func (r termRange) has(term string) bool { return r.from <= term && term < r.until }

// where is the SQL condition that a term is in the range, and isOneOf that it is in a list.
func (r termRange) where(p *database.Parameters) string {
	return " AND term >= " + p.Add(r.from) + " AND term < " + p.Add(r.until)
}

func isOneOf(terms []string) func(*database.Parameters) string {
	return func(p *database.Parameters) string {
		return " AND term IN (" + database.List(p, database.Padded(terms)) + ")"
	}
}

// conditionsOf returns the conditions of a filter, words first. Apps, times and a person are not among
// them.
func conditionsOf(f Filter) (all []condition) {
	if f.Query != "" {
		words := search.Query(f.Query)
		if len(words) == 0 { // a query without words matches nothing
			all = append(all, condition{part: byWords})
		}
		for i, word := range words {
			c := condition{part: byWords}
			// A shorter beginning than maxBeginning is not sought in names: a list would have too
			// many strangers.
			switch letters := utf8.RuneCountInString(word); {
			case i < len(words)-1:
				c.terms = []string{word}
			case letters <= maxBeginning:
				c.terms = []string{beginMark + word}
			default:
				c.ranges = []termRange{startingWith(word)}
				c.wider = beginMark + string([]rune(word)[:maxBeginning])
			}
			if !f.Public {
				c.addPerson(word)
			}
			all = append(all, c)
		}
	}
	for _, of := range fields {
		chosen := of.chosen(f)
		if len(chosen) == 0 {
			continue
		}
		c := condition{part: of.part}
		for _, value := range chosen {
			if of.part == byTag {
				c.ranges = append(c.ranges, startingWith(byTag.term(tagPrefix(value))))
			} else {
				c.terms = append(c.terms, of.part.term(value))
			}
		}
		all = append(all, c)
	}
	return all
}

// addPerson has the condition match documents whose submitter has a word in their name or e-mail address.
func (c *condition) addPerson(word string) {
	if len(c.ranges) > 0 {
		c.ranges = append(c.ranges, startingWith(personMark+word))
		return
	}
	c.terms = append(c.terms, personMark+word)
}

// matches reports whether a document matches a condition.
func (c *condition) matches(d *document) bool {
	return slices.ContainsFunc(c.terms, d.has) || slices.Contains(c.also, d.id) ||
		slices.ContainsFunc(c.ranges, func(r termRange) bool { return d.hasIn(r.from, r.until) })
}

// period is the range of ids that a filter allows.
type period struct{ from, until feedback.ID }

// lastID sorts after every id.
var lastID = feedback.ID{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}

func periodOf(f Filter) period {
	p := period{until: lastID}
	if f.CreatedAfter != nil {
		p.from = feedback.FirstIDAt(f.CreatedAfter.Std())
	}
	if f.CreatedBefore != nil {
		p.until = feedback.FirstIDAt(f.CreatedBefore.Std())
	}
	return p
}

func (p period) contains(id feedback.ID) bool {
	return id.Compare(p.from) >= 0 && id.Compare(p.until) < 0
}
