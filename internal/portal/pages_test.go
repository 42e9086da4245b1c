package portal

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func renderPage(t *testing.T, page rendered, accept string) []byte {
	t.Helper()
	text, err := page.Render(accept)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestPortalPages checks what holds for each page in each state and language.
func TestPortalPages(t *testing.T) {
	for name, page := range samples("Text") {
		for _, l := range locales {
			t.Run(name+" "+l.Lang, func(t *testing.T) {
				text := renderPage(t, page, l.Lang)
				if !bytes.Equal(text, renderPage(t, page, l.Lang)) {
					t.Error("two equal pages differ")
				}
				d := parse(t, text)
				if root := d.elements[0]; attribute(root, "lang") != l.Lang || attribute(root, "dir") != l.Dir {
					t.Errorf("%v", root)
				}
				if open := regexp.MustCompile(`\{\w*\}`).FindString(d.text); open != "" {
					t.Errorf("%s is not filled in", open)
				}
				checkIDs(t, d)
				checkAddresses(t, d)
				checkOutline(t, d)
				for _, e := range d.all("script") {
					if attribute(e, "type") != "application/ld+json" && attribute(e, "src") != "/portal/portal.js" {
						t.Errorf("%v", e)
					}
				}
				if n := len(d.all("main")); n != 1 || len(d.all("style")) > 0 {
					t.Errorf("%d main parts, %d styles", n, len(d.all("style")))
				}
				checkNames(t, text)
			})
		}
	}
}

// checkIDs checks that an id is there once, that what refers to it finds it, and that each field has a label.
func checkIDs(t *testing.T, d document) {
	t.Helper()
	ids, refers, labels := map[string]bool{}, []string{}, map[string]bool{}
	for _, e := range d.elements {
		for _, a := range e.Attr {
			switch a.Name.Local {
			case "id":
				if ids[a.Value] {
					t.Errorf("the id %s is there twice", a.Value)
				}
				ids[a.Value] = true
			case "for":
				labels[a.Value] = true
			case "aria-labelledby", "aria-describedby":
				refers = append(refers, strings.Fields(a.Value)...)
			}
		}
		if href := attribute(e, "href"); strings.HasPrefix(href, "#") {
			refers = append(refers, href[1:])
		}
	}
	for _, id := range slices.Concat(refers, slices.Collect(maps.Keys(labels))) {
		if !ids[id] {
			t.Errorf("nothing has the id %s", id)
		}
	}
	for _, e := range slices.Concat(d.all("input"), d.all("textarea")) {
		if attribute(e, "type") != "hidden" && !labels[attribute(e, "id")] {
			t.Errorf("%v has no label", e)
		}
		if attribute(e, "aria-invalid") != "" && (attribute(e, "aria-describedby") == "" || !slices.ContainsFunc(e.Attr, func(a xml.Attr) bool {
			return a.Name.Local == "autofocus"
		})) {
			t.Errorf("%v does not say what is wrong", e)
		}
	}
}

// checkAddresses checks that the page loads nothing from elsewhere, and that only marked links lead there.
func checkAddresses(t *testing.T, d document) {
	t.Helper()
	for _, e := range d.elements {
		for _, a := range e.Attr {
			local := strings.HasPrefix(a.Value, "/") && !strings.HasPrefix(a.Value, "//") || strings.HasPrefix(a.Value, "#")
			switch key := a.Name.Local; {
			case key == "style" || strings.HasPrefix(key, "on"):
				t.Errorf("%v is against the policy", e)
			case key == "href" && attribute(e, "rel") == "canonical" && strings.HasPrefix(a.Value, "https://ideas.example.com/p/acme/"):
			case key == "href" && e.Name.Local == "a" && !local:
				if !strings.Contains(attribute(e, "rel"), "nofollow") {
					t.Errorf("%v leads elsewhere", e)
				}
			case (key == "href" || key == "src" || key == "action" || key == "formaction") && !local:
				t.Errorf("%v is elsewhere", e)
			}
		}
		if e.Name.Local == "form" && attribute(e, "method") != "post" && attribute(e, "role") != "search" {
			t.Errorf("%v", e)
		}
	}
}

// checkOutline checks that there is one heading of the page, and that no level is left out.
func checkOutline(t *testing.T, d document) {
	t.Helper()
	last, pages := 0, 0
	for _, e := range d.elements {
		name := e.Name.Local
		if len(name) != 2 || name[0] != 'h' || name[1] < '1' || name[1] > '6' {
			continue
		}
		level := int(name[1] - '0')
		if level > last+1 {
			t.Errorf("<%s> follows h%d", name, last)
		}
		if level == 1 {
			pages++
		}
		last = level
	}
	if pages != 1 {
		t.Errorf("%d headings of the page", pages)
	}
}

// checkNames checks that each link, button, heading and label has a text, or a picture with one.
func checkNames(t *testing.T, page []byte) {
	t.Helper()
	decoder := xml.NewDecoder(bytes.NewReader(page))
	decoder.Strict, decoder.Entity = false, xml.HTMLEntity
	named := []string{"a", "button", "h1", "h2", "h3", "label", "title"}
	var open []*string // texts of the open ones
	for {
		token, err := decoder.RawToken()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		add := func(text string) {
			for _, one := range open {
				*one += text
			}
		}
		switch token := token.(type) {
		case xml.StartElement:
			add(attribute(token, "alt"))
			if slices.Contains(named, token.Name.Local) {
				open = append(open, new(string))
			}
		case xml.CharData:
			add(string(token))
		case xml.EndElement:
			if slices.Contains(named, token.Name.Local) {
				if text := open[len(open)-1]; strings.TrimSpace(*text) == "" {
					t.Errorf("an empty <%s>: %s", token.Name.Local, page)
				}
				open = open[:len(open)-1]
			}
		}
	}
}

// TestHostilePages checks that what people write stays text.
func TestHostilePages(t *testing.T) {
	const markup = `</textarea></title></script><script>alert(1)</script><img src=x onerror=alert(1)>"'>{{.}} javascript:alert(1)`
	names := func(page rendered) (names []string) {
		for _, e := range parse(t, renderPage(t, page, "en")).elements {
			names = append(names, e.Name.Local)
		}
		return names
	}
	plainPages := samples("Text")
	for _, text := range []string{
		markup, "\u202e\u2066" + markup + "\u2069", "\u2028\u0085\u200b\u202e", strings.Repeat("a", 10_000), strings.Repeat("語", 10_000),
	} {
		for name, page := range samples(text) {
			if diff := cmp.Diff(names(plainPages[name]), names(page)); diff != "" {
				t.Errorf("%s with %.20q: %s", name, text, diff)
			}
		}
	}
}

// TestPortalText compares what all pages say in English with testdata/portal.txt, which -update writes.
func TestPortalText(t *testing.T) {
	data := regexp.MustCompile(`(?s)<script.*?</script>`)
	var got strings.Builder
	pages := samples("Text")
	for _, name := range slices.Sorted(maps.Keys(pages)) {
		fmt.Fprintf(&got, "=== %s\n", name)
		for line := range strings.Lines(parse(t, data.ReplaceAll(renderPage(t, pages[name], "en"), nil)).text) {
			if line = strings.TrimSpace(line); line != "" {
				got.WriteString(line + "\n")
			}
		}
	}
	compareFile(t, "testdata/portal.txt", "the pages", got.String())
}

// TestSearchEngines checks what pages say to search engines and to other sites.
func TestSearchEngines(t *testing.T) {
	meta := func(d document, name string) string {
		for _, e := range d.all("meta") {
			if attribute(e, "name") == name || attribute(e, "property") == name {
				return attribute(e, "content")
			}
		}
		return ""
	}
	listed := []string{"board", "board, closed", "board, first", "board, no match", "board, strict", "roadmap", "changelog, empty", "entry"}
	for name, page := range samples("Text") {
		d := parse(t, renderPage(t, page, "en"))
		want := slices.Contains(listed, name) || strings.HasPrefix(name, "idea") && name != "idea, off"
		links := slices.DeleteFunc(d.all("link"), func(e xml.StartElement) bool { return attribute(e, "rel") != "canonical" })
		if noindex := meta(d, "robots") == "noindex"; noindex == want || len(links) == 1 != want {
			t.Errorf("%s: %v, %v", name, noindex, links)
		}
		if meta(d, "og:title") == "" || strings.ContainsAny(meta(d, "og:title")+meta(d, "og:description"), "\u2068\u2069") {
			t.Errorf("%s: %q, %q", name, meta(d, "og:title"), meta(d, "og:description"))
		}
	}
	page := samples("</script><b>")["idea"]
	d := parse(t, renderPage(t, page, "en"))
	const address = "https://ideas.example.com/p/acme/"
	if got := meta(d, "og:image"); got != address+"card/"+testID(10).String()+".png" {
		t.Error(got)
	}
	_, data, _ := strings.Cut(string(renderPage(t, page, "en")), `<script type="application/ld+json">`)
	data, _, _ = strings.Cut(data, "</script>")
	var posting struct {
		Type     string `json:"@type"`
		URL      string `json:"url"`
		Headline string `json:"headline"`
		Text     string `json:"text"`
		Author   struct {
			Name string `json:"name"`
		} `json:"author"`
		Published string `json:"datePublished"`
	}
	if err := json.Unmarshal([]byte(data), &posting); err != nil {
		t.Fatal(err)
	}
	if posting.Type != "DiscussionForumPosting" || posting.URL != address+"r/"+testID(10).String()+"/script-b" ||
		posting.Headline != "</script><b>" || posting.Text != posting.Headline || posting.Author.Name != posting.Headline ||
		posting.Published != "2026-03-01T23:30:00.000Z" {
		t.Errorf("%+v", posting)
	}
}

func zipped(t *testing.T, text []byte) int {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Len()
}

// TestPortalWeight checks that pages load little.
func TestPortalWeight(t *testing.T) {
	words := strings.Fields("we would like to see each order with its total and the name of who sent it before it is paid or changed")
	board := Board{Site: testSite(), Order: Top, Total: 30}
	for i := range 30 {
		idea := testIdeas(fmt.Sprintf("Title %d of an idea with some words", i), "")[i%6]
		idea.ID = testID(uint64(1000 + 7919*i))
		for n := 0; len(idea.Description) < 300; n++ {
			idea.Description += words[(n*n+i*7)%len(words)] + " "
		}
		board.Ideas = append(board.Ideas, idea)
	}
	page := renderPage(t, board, "en")
	if len(page) > 50<<10 || zipped(t, page) > 12<<10 {
		t.Errorf("the board has %d bytes, %d gzipped", len(page), zipped(t, page))
	}
	if n := zipped(t, PortalStyle); n > 8<<10 {
		t.Errorf("the style has %d bytes, gzipped", n)
	}
	t.Logf("board: %d bytes, %d gzipped; style: %d, %d gzipped", len(page), zipped(t, page), len(PortalStyle), zipped(t, PortalStyle))
}
