package portal

import (
	"bytes"
	"encoding/xml"

	"gatherkit/internal/feedback"
)

// The elements of a feed (RFC 4287).
type atomFeed struct {
	XMLName  xml.Name    `xml:"http://www.w3.org/2005/Atom feed"`
	Language string      `xml:"xml:lang,attr"`
	ID       string      `xml:"id"`
	Title    string      `xml:"title"`
	Updated  string      `xml:"updated"`
	Links    []atomLink  `xml:"link"`
	Author   string      `xml:"author>name"`
	Entries  []atomEntry `xml:"entry"`
}

type atomEntry struct {
	ID         string         `xml:"id"`
	Title      string         `xml:"title"`
	Published  string         `xml:"published"`
	Updated    string         `xml:"updated"`
	Links      []atomLink     `xml:"link"`
	Categories []atomCategory `xml:"category"`
	Content    atomContent    `xml:"content"`
}

type atomLink struct {
	Rel  string `xml:"rel,attr"`
	Type string `xml:"type,attr"`
	Href string `xml:"href,attr"`
}

type atomCategory struct {
	Term string `xml:"term,attr"`
}

type atomContent struct {
	Type string `xml:"type,attr"`
	Text string `xml:",chardata"`
}

// Atom returns the feed of the changelog, in the language of the portal or in English.
func (c Changelog) Atom() ([]byte, error) {
	const page = "text/html"
	t := c.texts("")
	feed := atomFeed{
		Language: t.Lang, ID: urn(c.ID), Title: plain(fill(t.Portal.NewsHeading, "app", c.App)), Author: c.App,
		Links: []atomLink{
			{Rel: "self", Type: "application/atom+xml", Href: c.URL("changelog.atom")},
			{Rel: "alternate", Type: page, Href: c.URL("changelog")},
		},
	}
	var updated feedback.Time
	for _, e := range c.Entries {
		const above = 1 // programs show the title as a heading
		text, err := markdown(e.Body, above)
		if err != nil {
			return nil, err
		}
		entry := atomEntry{
			ID: urn(e.ID), Title: e.Title, Published: stamp(e.At), Updated: stamp(e.UpdatedAt),
			Links: []atomLink{{Rel: "alternate", Type: page, Href: c.URL(EntryPath(e))}}, Content: atomContent{"html", string(text)},
		}
		for _, label := range e.Labels {
			entry.Categories = append(entry.Categories, atomCategory{label})
		}
		feed.Entries = append(feed.Entries, entry)
		updated = max(updated, e.UpdatedAt)
	}
	feed.Updated = stamp(updated)
	return xmlDocument(feed)
}

func urn(id feedback.ID) string { return "urn:uuid:" + id.String() }

func stamp(t feedback.Time) string {
	text, _ := t.MarshalText() // it cannot fail
	return string(text)
}

// xmlDocument returns a value as an XML document.
func xmlDocument(value any) ([]byte, error) {
	var out bytes.Buffer
	out.WriteString(xml.Header)
	err := xml.NewEncoder(&out).Encode(value)
	out.WriteByte('\n')
	return out.Bytes(), err
}
