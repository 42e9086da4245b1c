package portal

import "net/url"

var boardTemplate = sheet("board.html")

// boardBody is what the template of the board reads.
type boardBody struct {
	Board
	Name     string
	Intro    string
	Lines    []line
	Orders   []option
	States   []option
	Labels   []option // tags
	Sorted   Order    // "" for the usual one
	Filtered bool
	Searched string // says that the search has found nothing
	Ask      string // the name of the link that sends what was searched as an idea
	Wider    string // path of the search without filters
	Unsought string // path of the board without the search and filters
	New      string // path of the form, with what was searched
	First    string // path of the first page, or "" if this is it
	Next     string // path of the next page, or ""
}

// option is a link that chooses what a list shows.
type option struct {
	Name    string
	Link    string
	Label   *label
	Count   int64
	Counts  bool // whether Count is shown
	Current bool
}

// Render returns the page in the language that fits the header Accept-Language best.
func (b Board) Render(accept string) ([]byte, error) {
	p := b.page(accept, "")
	t := p.T.Portal
	p.Tab, p.At, p.Typed = "ideas", b.path(), b.Query
	p.Listed = b.Indexed && b.Query == "" && b.Tag == "" && b.After == ""
	body := boardBody{
		Board: b, Sorted: b.sorted(), Name: fill(t.BoardHeading, "app", b.App), Intro: b.Intro,
		Lines: p.lines(b.Ideas, false), Orders: b.orders(p), States: b.states(p), Labels: b.labels(),
		Filtered: b.Status != "" || b.Tag != "", New: p.Path(newPath(b.Query)),
	}
	if body.Intro == "" {
		body.Intro = fill(t.BoardText, "app", b.App)
	}
	p.Heading, p.Summary = body.Name, body.Intro
	if b.Query != "" {
		p.Heading = fill(t.SearchHeading, "query", b.Query)
		body.Searched, body.Ask = fill(t.NothingFound, "query", b.Query), fill(t.AskFor, "query", b.Query)
		body.Wider = b.link(func(c *Board) { c.Status, c.Tag = "", "" })
		body.Unsought = b.link(func(c *Board) { c.Query, c.Status, c.Tag = "", "", "" })
	}
	if b.After != "" {
		body.First = b.link(func(*Board) {})
	}
	if b.Next != "" {
		body.Next = b.link(func(c *Board) { c.After = b.Next })
	}
	p.Body = body
	return p.render(boardTemplate)
}

// path returns the path of the board in the portal.
func (b Board) path() string {
	values := url.Values{}
	for name, value := range map[string]string{
		"q": b.Query, "status": string(b.Status), "tag": b.Tag, "sort": string(b.sorted()), "after": b.After,
	} {
		if value != "" {
			values.Set(name, value)
		}
	}
	if len(values) == 0 {
		return ""
	}
	return "?" + values.Encode()
}

// sorted is the order in addresses, which do not have the usual one.
func (b Board) sorted() Order {
	if b.Order == Top {
		return ""
	}
	return b.Order
}

// link returns the path of the first page of a board that differs.
func (b Board) link(change func(*Board)) string {
	b.After = ""
	change(&b)
	return b.Path(b.path())
}

func (b Board) orders(p *page) (list []option) {
	t := p.T.Portal
	for _, one := range []struct {
		order Order
		name  string
	}{{Top, t.Top}, {Trending, t.Trending}, {New, t.Newest}} {
		list = append(list, option{
			Name: one.name, Link: b.link(func(c *Board) { c.Order = one.order }), Current: b.Order == one.order,
		})
	}
	return list
}

func (b Board) states(p *page) []option {
	counts := b.Query == "" && b.Tag == "" // otherwise, the page has fewer ideas than are counted
	list := []option{{Name: p.T.Portal.All, Link: b.link(func(c *Board) { c.Status = "" }), Counts: counts, Current: b.Status == ""}}
	for _, one := range b.Statuses {
		if name := p.label(one.Status); name != nil {
			list = append(list, option{
				Name: name.Name, Label: name, Link: b.link(func(c *Board) { c.Status = one.Status }), Count: one.Count, Counts: counts,
				Current: b.Status == one.Status,
			})
		}
		list[0].Count += one.Count
	}
	return list
}

// labels are the tags. The link of the current one shows the ideas with all tags again.
func (b Board) labels() (list []option) {
	for _, tag := range b.Tags {
		current := tag == b.Tag
		list = append(list, option{Name: tag, Current: current, Link: b.link(func(c *Board) {
			c.Tag = tag
			if current {
				c.Tag = ""
			}
		})})
	}
	return list
}
