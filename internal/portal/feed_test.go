package portal

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"gatherkit/internal/feedback"
)

func TestAtom(t *testing.T) {
	at := feedback.At(time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC))
	entries := []Entry{
		{
			ID: testID(2), Title: "Faster </title>", Body: "# Now\n**Quick** <script>\x01", Labels: []string{"New & <b>"},
			At: at, UpdatedAt: at + 1_000_000,
		},
		{ID: testID(3), Title: "Older", At: at - 9_000_000, UpdatedAt: at + 2_000_000},
	}
	text, err := Changelog{Site: testSite(), Entries: entries}.Atom()
	if err != nil {
		t.Fatal(err)
	}
	var feed struct {
		XMLName xml.Name `xml:"http://www.w3.org/2005/Atom feed"`
		Lang    string   `xml:"http://www.w3.org/XML/1998/namespace lang,attr"`
		ID      string   `xml:"id"`
		Title   string   `xml:"title"`
		Updated string   `xml:"updated"`
		Author  string   `xml:"author>name"`
		Links   []struct {
			Rel  string `xml:"rel,attr"`
			Href string `xml:"href,attr"`
		} `xml:"link"`
		Entries []struct {
			ID        string `xml:"id"`
			Title     string `xml:"title"`
			Published string `xml:"published"`
			Updated   string `xml:"updated"`
			Link      struct {
				Href string `xml:"href,attr"`
			} `xml:"link"`
			Category struct {
				Term string `xml:"term,attr"`
			} `xml:"category"`
			Content struct {
				Type string `xml:"type,attr"`
				Text string `xml:",chardata"`
			} `xml:"content"`
		} `xml:"entry"`
	}
	if err := xml.Unmarshal(text, &feed); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	const address = "https://ideas.example.com/p/acme/"
	if feed.Lang != "en" || feed.ID != "urn:uuid:"+testID(1).String() || feed.Title != "What is new in Acme & Co" ||
		feed.Author != "Acme & Co" || feed.Updated != "2026-11-22T08:00:02.000Z" || len(feed.Links) != 2 ||
		feed.Links[0].Href != address+"changelog.atom" ||
		feed.Links[0].Rel != "self" || feed.Links[1].Href != address+"changelog" || len(feed.Entries) != 2 {
		t.Errorf("%+v", feed)
	}
	first := feed.Entries[0]
	if first.ID != "urn:uuid:"+testID(2).String() || first.Title != entries[0].Title || first.Published != "2026-11-22T08:00:00.000Z" ||
		first.Updated != "2026-11-22T08:00:01.000Z" || first.Link.Href != address+"changelog/"+testID(2).String()+"/faster-title" ||
		first.Category.Term != "New & <b>" || first.Content.Type != "html" ||
		first.Content.Text != "<h2>Now</h2>\n<p><strong>Quick</strong> &lt;script&gt;\ufffd</p>\n" {
		t.Errorf("%+v", first)
	}
	site := testSite()
	site.Locale, site.Address = "de", ""
	if text, err = (Changelog{Site: site}).Atom(); err != nil || !strings.Contains(string(text), `href="/p/acme/changelog"`) ||
		!strings.Contains(string(text), "Neues bei Acme &amp; Co") || !strings.Contains(string(text), "<updated>1970-01-01T00:00:00.000Z<") {
		t.Errorf("%s, %v", text, err)
	}
}

// locations returns the texts of the elements loc of a sitemap.
func locations(t *testing.T, text []byte, root string) (list []string) {
	t.Helper()
	decoder := xml.NewDecoder(bytes.NewReader(text))
	inside := ""
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			if token.Name.Space != "http://www.sitemaps.org/schemas/sitemap/0.9" || inside == "" && token.Name.Local != root {
				t.Errorf("%v in %s", token, text)
			}
			inside = token.Name.Local
		case xml.CharData:
			if inside == "loc" {
				list = append(list, string(token))
			}
		case xml.EndElement:
			inside = "-"
		}
	}
}

func TestSitemaps(t *testing.T) {
	const address = "https://ideas.example.com/p/acme/"
	text, err := Sitemaps(testSite(), []string{"2026-11", "2026-10"})
	if want := []string{address + "sitemap-2026-11.xml", address + "sitemap-2026-10.xml"}; err != nil ||
		!slices.Equal(locations(t, text, "sitemapindex"), want) {
		t.Errorf("%s, %v", text, err)
	}
	text, err = Sitemap(testSite(), []Idea{{ID: testID(1), Title: "Größe & <b>"}, {ID: testID(2)}})
	want := []string{address + "r/" + testID(1).String() + "/gr%C3%B6%C3%9Fe-b", address + "r/" + testID(2).String() + "/idea"}
	if err != nil || !slices.Equal(locations(t, text, "urlset"), want) {
		t.Errorf("%s, %v", text, err)
	}
}

func TestRobots(t *testing.T) {
	site := testSite()
	site.Home, site.Address = "/", "https://ideas.example.com"
	want := "User-agent: *\nDisallow: /*?q=\nDisallow: /*&q=\nDisallow: /sign-in\n\nSitemap: https://ideas.example.com/sitemap.xml\n"
	if got := string(Robots(site)); got != want {
		t.Errorf("%q", got)
	}
	site.Indexed = false
	if got := string(Robots(site)); got != "User-agent: *\nDisallow: /\n" {
		t.Errorf("%q", got)
	}
}

func TestSiteHeaders(t *testing.T) {
	site := testSite()
	for _, test := range []struct {
		indexed bool
		embed   []string
		want    string
	}{
		{true, nil, "frame-ancestors 'none';"},
		{false, []string{"https://a.example", "https://b.example"}, "frame-ancestors https://a.example https://b.example;"},
	} {
		site.Indexed = test.indexed
		headers := site.Headers(test.embed)
		policy := strings.Join(headers["Content-Security-Policy"], "")
		if !strings.Contains(policy, test.want) || !strings.HasPrefix(policy, "default-src 'none'; ") || strings.Contains(policy, "unsafe") ||
			(headers["X-Robots-Tag"] == nil) != test.indexed || headers["Referrer-Policy"][0] != "same-origin" {
			t.Errorf("%v", headers)
		}
	}
	if Headers()["X-Robots-Tag"] == nil {
		t.Error("other pages may be listed")
	}
}
