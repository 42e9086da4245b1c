package portal

import (
	"encoding/binary"
	"time"

	"gatherkit/internal/feedback"
)

// rendered is a page.
type rendered interface {
	Render(accept string) ([]byte, error)
}

func testID(n uint64) (id feedback.ID) {
	binary.BigEndian.PutUint64(id[8:], n)
	return id
}

func testSite() Site {
	return Site{
		ID: testID(1), App: "Acme & Co", Color: "#F5D90A", Home: "/p/acme/", Files: "/portal/",
		Address: "https://ideas.example.com/p/acme/", Theme: "auto", Indexed: true, Roadmap: true, Changelog: true, Submits: true,
		Moderated: true,
		Votes:     feedback.FromAnyone, Comments: feedback.FromAnyone, SignIn: true,
	}
}

// verified is a site that takes votes and comments of visitors who are signed in only.
func verified() Site {
	s := testSite()
	s.Votes, s.Comments = feedback.FromVerified, feedback.FromVerified
	return s
}

// testIdeas has an idea of each status.
func testIdeas(title, description string) (list []Idea) {
	for i, status := range feedback.Settable() {
		list = append(list, Idea{
			ID: testID(uint64(10 + i)), Title: title, Description: description, Status: status, Votes: int64(1000 - i),
			Comments: int64(i * 25), Voted: i%2 == 1, CreatedAt: feedback.At(time.Date(2026, 3, 1+i, 23, 30, 0, 0, time.UTC)),
		})
	}
	return list
}

// samples are all pages in their states. Whatever people have written is text.
func samples(text string) map[string]rendered {
	site, strict, off, signed, closed := testSite(), verified(), testSite(), verified(), testSite()
	off.Votes, off.Comments = feedback.FromNobody, feedback.FromNobody
	off.Submits, off.Roadmap, off.Changelog, off.Indexed = false, false, false, false
	signed.Visitor, signed.Theme = &Visitor{Name: text}, "dark"
	closed.SignIn, closed.Color, closed.Address, closed.Theme = false, "red", "", "light"
	for _, s := range []*Site{&site, &strict, &off, &signed, &closed} {
		s.App = text
	}
	closed.Statuses.Opened.Label, closed.Intro = text, text
	ideas := testIdeas(text, text)
	board := Board{Site: site, Order: Top, Total: 6, Ideas: ideas, Next: "next", Tags: []string{text, "b"}}
	for i, idea := range ideas {
		board.Statuses = append(board.Statuses, StatusCount{idea.Status, int64(i)})
	}
	with := func(b Board, change func(*Board)) Board {
		change(&b)
		return b
	}
	at := feedback.At(time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC))
	one := IdeaPage{
		Site: site, Idea: ideas[0], Tags: []string{text}, Author: text, Earlier: "earlier",
		Files: []File{{"/attachments/a", text, true}, {"/attachments/b", text, false}},
		Remarks: []Remark{
			{ID: testID(30), Author: text, Body: text, At: at},
			{ID: testID(31), Author: text, Team: true, Body: text, At: at},
			{ID: testID(32), Body: text, At: at},
			{ID: testID(33), Own: true, Body: text, At: at},
			{ID: testID(34), Team: true, Body: text, At: at},
		},
	}
	on := func(s Site, change func(*IdeaPage)) IdeaPage {
		i := one
		i.Site = s
		change(&i)
		return i
	}
	draft := func(field string, err *feedback.Error) Draft {
		return Draft{text, text, text, text, &Refusal{Field: field, Error: err}}
	}
	invalid := feedback.Invalid("widget", "title", "M.")
	entries := []Entry{
		{ID: testID(40), Title: text, Body: text, Labels: []string{text}, At: at, UpdatedAt: at, Ideas: ideas[:2]},
		{ID: testID(41), Title: text, Body: text, At: at, UpdatedAt: at},
	}
	for i, asked := range []bool{true, false} {
		ideas[i].ChangedAt, ideas[i].Since, ideas[i].Asked = at, at, asked
	}
	columns := []Column{{Status: "planned", Count: 9, Ideas: ideas[:2]}, {Status: "in_progress"}}
	return map[string]rendered{
		"board":           board,
		"board, first":    Board{Site: site, Order: Top},
		"board, off":      with(board, func(b *Board) { b.Site, b.Order, b.Next = off, New, "" }),
		"board, strict":   with(board, func(b *Board) { b.Site, b.Order = strict, Trending }),
		"board, closed":   with(board, func(b *Board) { b.Site = closed; b.Votes = feedback.FromVerified }),
		"board, filtered": with(board, func(b *Board) { b.Status, b.Tag, b.After = "planned", text, "this" }),
		"board, no match": with(board, func(b *Board) { b.Status, b.Ideas, b.Next, b.Total = "planned", nil, "", 0 }),
		"search":          with(board, func(b *Board) { b.Query = text }),
		"search, nothing": with(board, func(b *Board) { b.Query, b.Ideas, b.Next, b.Total = text, nil, "", 0 }),
		"idea":            one,
		"idea, off":       on(off, func(i *IdeaPage) { i.Remarks, i.Earlier, i.Idea.Description, i.Idea.Status = nil, "", "", "duplicate" }),
		"idea, strict":    on(strict, func(i *IdeaPage) { i.NotTaken = &Refusal{Error: feedback.ErrForbidden, SignIn: true} }),
		"idea, signed in": on(signed, func(i *IdeaPage) { i.Sent = true }),
		"idea, new":       on(site, func(i *IdeaPage) { i.New = true }),
		"idea, held":      on(site, func(i *IdeaPage) { i.Held = true }),
		"idea, no body":   on(site, func(i *IdeaPage) { i.Draft = draft("body", invalid) }),
		"idea, refused":   on(site, func(i *IdeaPage) { i.Draft = draft("", feedback.ErrForbidden) }),
		"idea, failed": on(closed, func(i *IdeaPage) {
			i.Draft, i.NotTaken = draft("", feedback.ErrUnavailable), &Refusal{Error: feedback.ErrRateLimited}
		}),
		"roadmap":          Roadmap{site, columns},
		"roadmap, empty":   Roadmap{off, nil},
		"changelog":        Changelog{site, entries, "this", "next"},
		"changelog, empty": Changelog{Site: closed},
		"entry":            EntryPage{site, entries[0]},
		"new":              NewIdea{Site: signed},
		"new, similar":     NewIdea{Site: site, Draft: Draft{Title: text}, Similar: ideas[:2], Email: true},
		"new, no title":    NewIdea{Site: site, Draft: draft("title", invalid), Email: true, Needed: true},
		"new, no e-mail":   NewIdea{Site: site, Draft: draft("email", invalid), Similar: ideas[:1], Email: true, Needed: true},
		"new, failed":      NewIdea{Site: site, Draft: draft("", feedback.ErrUnavailable)},
		"new, refused":     NewIdea{Site: site, Draft: draft("", feedback.ErrForbidden)},
		"me":               Me{Site: signed, Asked: ideas[:1], Voted: ideas[:3]},
		"me, sent":         Me{Site: site, Asked: ideas[:1], Sent: true},
		"me, anonymous":    Me{Site: site, Asked: ideas[:1]},
		"me, empty":        Me{Site: off},
		"sign in":          SignInPage{Site: site, To: "https://app.example.com/login?to=ideas"},
		"sign in, private": SignInPage{Site: closed, Private: true, Ended: true},
		"missing":          Missing{site},
		"missing, unknown": Missing{Site{Home: "/p/nobody/", Files: "/portal/"}},
		"problem":          Problem{site, feedback.ErrUnavailable},
		"problem, limited": Problem{site, feedback.ErrRateLimited},
		"problem, invalid": Problem{off, invalid},
		"problem, unknown": Problem{Site: Site{Home: "/p/nobody/", Files: "/portal/"}},
	}
}
