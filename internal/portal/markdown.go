package portal

import (
	"bytes"
	"html/template"
	"regexp"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// teamText reads what the team writes, as the dashboard does: tags are text, and every line break counts.
// The depth of lists and quotes and the number of marks are limited, so that no text takes long.
var teamText = goldmark.New(
	goldmark.WithParser(parser.NewParser(
		parser.WithBlockParsers(
			util.Prioritized(parser.NewThematicBreakParser(), 200),
			util.Prioritized(shallow{parser.NewListParser()}, 300),
			util.Prioritized(parser.NewListItemParser(), 400),
			util.Prioritized(parser.NewATXHeadingParser(), 600),
			util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
			util.Prioritized(shallow{parser.NewBlockquoteParser()}, 800),
			util.Prioritized(parser.NewParagraphParser(), 1000),
		),
		parser.WithInlineParsers(
			util.Prioritized(parser.NewCodeSpanParser(), 100),
			util.Prioritized(limited{parser.NewLinkParser()}, 200),
			util.Prioritized(parser.NewAutoLinkParser(), 300),
			util.Prioritized(limited{parser.NewEmphasisParser()}, 500),
			util.Prioritized(limited{extension.NewStrikethroughParser()}, 500),
			util.Prioritized(extension.NewLinkifyParser(
				extension.WithLinkifyAllowedProtocols([]string{"http:", "https:"}), extension.WithLinkifyURLRegexp(linkified)), 999),
		),
	)),
	goldmark.WithRendererOptions(
		html.WithHardWraps(), html.WithWriter(literal{html.DefaultWriter}),
		renderer.WithNodeRenderers(util.Prioritized(extension.NewStrikethroughHTMLRenderer(), 500)),
	),
)

// literal writes entities as they were typed.
type literal struct{ html.Writer }

// Write writes text.
func (l literal) Write(w util.BufWriter, source []byte) {
	l.RawWrite(w, util.UnescapePunctuations(source))
}

// linkified is an address at the beginning of a text of the team. goldmark leaves out the punctuation after it.
var linkified = regexp.MustCompile("^" + pattern)

// shallow is a parser of blocks with others in them. What is deeper than the deepest is a paragraph.
type shallow struct{ parser.BlockParser }

// Open begins a block.
func (s shallow) Open(parent ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	const deepest = 12 // a list takes two
	depth := 0
	for n := parent; n != nil; n = n.Parent() {
		depth++
	}
	if depth > deepest {
		return nil, parser.NoChildren
	}
	return s.BlockParser.Open(parent, reader, pc)
}

// limited is a parser of marks that pairs them, for which goldmark takes time that grows with the square of
// their number. What follows after too many is text.
type limited struct{ parser.InlineParser }

var spentKey = parser.NewContextKey()

// Parse reads a mark.
func (l limited) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	const budget, scan = 2000, 50 // scan is the price of looking for the end of an address in vain
	spent, _ := pc.Get(spentKey).(int)
	if spent >= budget {
		return nil
	}
	line, _ := block.PeekLine()
	node := l.InlineParser.Parse(parent, block, pc)
	spent++
	if node == nil && bytes.HasPrefix(line, []byte("](")) {
		spent += scan
	}
	pc.Set(spentKey, spent)
	return node
}

// CloseBlock ends the block.
func (l limited) CloseBlock(parent ast.Node, block text.Reader, pc parser.Context) {
	if closer, ok := l.InlineParser.(parser.CloseBlocker); ok {
		closer.CloseBlock(parent, block, pc)
	}
}

// safeLink matches the addresses to which a text of the team may link.
var safeLink = regexp.MustCompile(`^(?i:https?://|mailto:)`)

var teamRel = []byte("nofollow noreferrer")

// linkInside makes a link of the first address in a text that follows a character outside ASCII. goldmark finds only those
// at its start, because it expects a space before an address, which other scripts do not have.
func linkInside(n *ast.Text, from []byte) {
	whole := n.Segment
	for at := whole.Start; ; {
		found := address.FindIndex(from[at:whole.Stop])
		if found == nil {
			return
		}
		begin, end := at+found[0], at+found[1]
		at = end
		if before, _ := utf8.DecodeLastRune(from[whole.Start:begin]); before < utf8.RuneSelf || begin == whole.Start {
			continue
		}
		n.Segment = whole.WithStop(begin)
		rest := ast.NewTextSegment(whole.WithStart(end))
		rest.SetSoftLineBreak(n.SoftLineBreak())
		rest.SetHardLineBreak(n.HardLineBreak())
		n.SetSoftLineBreak(false)
		n.SetHardLineBreak(false)
		link := ast.NewAutoLink(ast.AutoLinkURL, ast.NewTextSegment(text.NewSegment(begin, end)))
		n.Parent().InsertAfter(n.Parent(), n, link)
		n.Parent().InsertAfter(n.Parent(), link, rest)
		return
	}
}

// comment returns a comment of the team as elements, below a heading of the second level.
func comment(source string) (template.HTML, error) { return markdown(source, 2) }

// markdown returns a text of the team as elements. Its headings come below a heading of the level above.
// Images are their descriptions, because other sites would learn who reads the page.
func markdown(source string, above int) (template.HTML, error) {
	from := []byte(source)
	document := teamText.Parser().Parse(text.NewReader(from))
	var unwanted []ast.Node // which their content replaces
	level := above          // of the last heading
	inLinks := 0
	err := ast.Walk(document, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			if n.Kind() == ast.KindLink {
				inLinks--
			}
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			const lowest = 6
			level = min(above+n.Level, level+1, lowest)
			n.Level = level
		case *ast.FencedCodeBlock:
			n.Info = nil
		case *ast.Image:
			unwanted = append(unwanted, n)
		case *ast.Link:
			n.Title = nil
			n.SetAttributeString("rel", teamRel)
			if inLinks > 0 || !safeLink.Match(n.Destination) {
				unwanted = append(unwanted, n)
			}
			inLinks++
		case *ast.Text:
			if inLinks == 0 && n.Parent().Kind() != ast.KindCodeSpan {
				linkInside(n, from)
			}
		case *ast.AutoLink:
			n.SetAttributeString("rel", teamRel)
			if inLinks > 0 || n.AutoLinkType == ast.AutoLinkURL && !safeLink.Match(n.URL(from)) {
				n.AppendChild(n, ast.NewString(n.Label(from)))
				unwanted = append(unwanted, n)
				return ast.WalkSkipChildren, nil
			}
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		return "", err
	}
	for _, n := range unwanted {
		for child := n.FirstChild(); child != nil; child = n.FirstChild() {
			n.Parent().InsertBefore(n.Parent(), n, child)
		}
		n.Parent().RemoveChild(n.Parent(), n)
	}
	var out bytes.Buffer
	err = teamText.Renderer().Render(&out, from, document)
	return template.HTML(out.String()), err //nolint:gosec // the renderer escapes the text, and HTML in it is text
}
