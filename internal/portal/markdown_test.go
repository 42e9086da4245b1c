package portal

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"html"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestMarkdown(t *testing.T) {
	for source, want := range map[string]string{
		"**a** _b_ ~~c~~ `d`":                    "<p><strong>a</strong> <em>b</em> <del>c</del> <code>d</code></p>",
		"a\nb":                                   "<p>a<br>\nb</p>",
		"# a\n### b\n## c":                       "<h3>a</h3>\n<h4>b</h4>\n<h4>c</h4>",
		"###### a":                               "<h3>a</h3>",
		"> a\n\n- b\n- c":                        "<blockquote>\n<p>a</p>\n</blockquote>\n<ul>\n<li>b</li>\n<li>c</li>\n</ul>",
		"```go\n<b>\n```":                        "<pre><code>&lt;b&gt;\n</code></pre>",
		"a <b>c</b> &amp; &x":                    "<p>a &lt;b&gt;c&lt;/b&gt; &amp;amp; &amp;x</p>",
		"<script>\nx":                            "<p>&lt;script&gt;<br>\nx</p>",
		"[a](https://b.c/?d=e&f \"g\")":          `<p><a href="https://b.c/?d=e&amp;f" rel="nofollow noreferrer">a</a></p>`,
		"see https://b.c/d.":                     `<p>see <a href="https://b.c/d" rel="nofollow noreferrer">https://b.c/d</a>.</p>`,
		"<a@b.cd>":                               `<p><a href="mailto:a@b.cd" rel="nofollow noreferrer">a@b.cd</a></p>`,
		"[a](javascript:alert(1))":               "<p>a</p>",
		"[a](JaVaScRiPt:x) [b](//c.d)":           "<p>a b</p>",
		"[a](data:text/html,x)":                  "<p>a</p>",
		"<javascript:alert(1)>":                  "<p>javascript:alert(1)</p>",
		"[a](vbscript:x) [b](/c)":                "<p>a b</p>",
		"![a *b*](https://c.d/e.png)":            "<p>a <em>b</em></p>",
		"[![a](https://b.c/d.png)](https://e.f)": `<p><a href="https://e.f" rel="nofollow noreferrer">a</a></p>`,
		"[a]: https://b.c\n\n[a]":                "<p>[a]: <a href=\"https://b.c\" rel=\"nofollow noreferrer\">https://b.c</a></p>\n<p>[a]</p>",
	} {
		got, err := markdown(source, 2)
		if err != nil || strings.TrimSpace(string(got)) != want {
			t.Errorf("%q: %q, %v, want %q", source, got, err, want)
		}
	}
}

// TestMarkdownEverywhere: what the dashboard, the widget and pages all know of Markdown looks the same in them.
// The tests of the dashboard and the widget read the same cases.
func TestMarkdownEverywhere(t *testing.T) {
	file, err := os.ReadFile("testdata/markdown.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases [][2]string
	if err := json.Unmarshal(file, &cases); err != nil || len(cases) == 0 {
		t.Fatal(err, len(cases))
	}
	short := strings.NewReplacer(
		"<br>\n", "/", "<h3>", "<h>", "</h3>", "</h>", "<pre><code>", "<pre>", "\n</code></pre>", "</pre>",
		"<blockquote>\n<p>", "<quote>", "</p>\n</blockquote>", "</quote>",
		`<ol start="`, "<ol ", `<a href="`, "<a ", `" rel="nofollow noreferrer">`, ">",
		`">`, ">", "</p>\n", "</p>", "</li>\n", "</li>", "<ul>\n", "<ul>",
	)
	between := regexp.MustCompile(`(</?(?:h|pre|quote|ul|ol[^>]*)>)\n`)
	for _, one := range cases {
		source, want := one[0], one[1]
		made, err := markdown(source, 2)
		got := strings.TrimSpace(html.UnescapeString(between.ReplaceAllString(short.Replace(string(made)), "$1")))
		if err != nil || got != want {
			t.Errorf("%q: %q, %v, want %q", source, got, err, want)
		}
	}
}

// TestMarkdownAddresses: an address ends before punctuation of all scripts.
func TestMarkdownAddresses(t *testing.T) {
	link := func(href, text string) string {
		return `<a href="https://b.c/` + href + `" rel="nofollow noreferrer">https://b.c/` + text + `</a>`
	}
	for source, want := range map[string]string{
		"see https://b.c/ü/例。谢谢":              "see " + link("%C3%BC/%E4%BE%8B", "ü/例") + "。谢谢",
		"see https://b.c/d” (https://b.c/e)؟": "see " + link("d", "d") + "” (" + link("e", "e") + ")؟",
		"(https://b.c/e_(f)), https://.":      "(" + link("e_(f)", "e_(f)") + "), https://.",
	} {
		if got, err := markdown(source, 2); err != nil || strings.TrimSpace(string(got)) != "<p>"+want+"</p>" {
			t.Errorf("%q: %q, %v", source, got, err)
		}
	}
}

// allowed are the elements of a text of the team, with their attributes.
var allowed = map[string][]string{
	"p": nil, "br": nil, "strong": nil, "em": nil, "del": nil, "code": nil, "pre": nil, "blockquote": nil, "hr": nil, "h3": nil, "h4": nil,
	"h5": nil, "h6": nil, "ul": nil, "ol": {"start"}, "li": nil, "a": {"href", "rel"},
}

func FuzzMarkdown(f *testing.F) {
	for _, seed := range []string{
		"# a\n**b** [c](https://d.e)", "<img src=x onerror=alert(1)>", "[a](javascript:x)", "![a](b)", "<a href='x'>",
		"[a](<b> 'c\" onclick=\"d')",
		"&lt;script&gt;", "```\"><script>\n```", "- > - > a", "[a](http://b\" onclick=c)", "[[a](http://b)](http://c)", "1) a\n{#id .class}",
		"http://a.bc/\"onclick", "\x00[a](\x01javascript:x)", "[a](&#106;avascript:x)", "[a](java\nscript:x)",
	} {
		f.Add(seed)
	}
	link := regexp.MustCompile(`^(?i:https?://|mailto:)`)
	f.Fuzz(func(t *testing.T, source string) {
		made, err := markdown(source, 2)
		if err != nil {
			t.Fatal(err)
		}
		decoder := xml.NewDecoder(strings.NewReader(strings.ToValidUTF8(control.ReplaceAllString(string(made), ""), "")))
		decoder.Strict, decoder.Entity = false, xml.HTMLEntity
		for {
			token, err := decoder.RawToken()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%q: %v in %s", source, err, made)
			}
			e, ok := token.(xml.StartElement)
			if !ok {
				continue
			}
			attributes, known := allowed[e.Name.Local]
			if !known {
				t.Errorf("%q: <%s> in %s", source, e.Name.Local, made)
			}
			for _, a := range e.Attr {
				if !slices.Contains(attributes, a.Name.Local) || a.Name.Local == "href" && !link.MatchString(a.Value) {
					t.Errorf("%q: %s=%q in %s", source, a.Name.Local, a.Value, made)
				}
			}
		}
	})
}

// control matches what XML does not allow.
var control = regexp.MustCompile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")

// hostileMarkdown are texts of 10,000 characters that parsers take long for.
func hostileMarkdown() (list []string) {
	for _, part := range []string{
		">", "> ", "[", "![", "[a](", "![a](b", "[a](<b", "[[]", "[a](b) ", "](", "*a ", "**a ", "**_a", "*a_b", "_*", "***a ***b ", "~~a ",
		"`", "` ``", "```\n", "- ", "1. ", "- a\n", "- - > ", "# ", "<", "<a@", " a@b.c", "www.", "http://a.a(", "&amp;", "\\", "*a`", "a\n",
		"例http://a.a", "例http://a.a ", "xhttp://a.a",
	} {
		list = append(list, strings.Repeat(part, 10_000/len(part)))
	}
	return list
}

func BenchmarkHostileMarkdown(b *testing.B) {
	texts := hostileMarkdown()
	for b.Loop() {
		for _, source := range texts {
			if _, err := markdown(source, 2); err != nil {
				b.Fatal(err)
			}
		}
	}
}
