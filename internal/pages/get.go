package pages

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"gatherkit/internal/board"
	"gatherkit/internal/feedback"
	"gatherkit/internal/index"
	"gatherkit/internal/portal"
	"gatherkit/internal/readers"
)

const (
	boardPage   = 30  // ideas on a page of the board
	columnPage  = 20  // ideas in a column of the roadmap
	remarksPage = 20  // comments on a page of an idea; their Markdown can be costly
	entriesPage = 10  // entries on a page of the changelog
	feedEntries = 15  // entries in the feed
	mapPage     = 500 // ideas in the sitemap of a month
	maxSimilar  = 5
	maxSearch   = 200 // characters
)

// The media types of files.
const (
	htmlType    = "text/html; charset=utf-8"
	xmlType     = "application/xml; charset=utf-8"
	atomType    = "application/atom+xml; charset=utf-8"
	plainType   = "text/plain; charset=utf-8"
	pictureType = "image/png"
)

// get answers GET. name is the path below the portal.
func (v *visit) get(ctx context.Context, name string) (answer, error) {
	switch parts := strings.Split(name, "/"); {
	case name == "":
		return v.page(ctx, v.board)
	case name == "roadmap":
		return v.page(ctx, v.roadmap)
	case name == "changelog":
		return v.page(ctx, v.changelog)
	case name == "changelog.atom":
		return v.page(ctx, v.feed)
	case name == "new":
		return v.newIdea(ctx, portal.Draft{Title: shortened(v.R.URL.Query().Get("title"), maxSearch)})
	case name == "me":
		return v.me(ctx)
	case name == "sign-in":
		return v.signIn(ctx)
	case name == "enter":
		return v.enter(ctx)
	case name == "robots.txt":
		return v.page(ctx, func(context.Context) (answer, error) {
			return answer{file: portal.Robots(v.site), media: plainType}, nil
		})
	case name == "sitemap.xml":
		return v.page(ctx, v.sitemaps)
	case strings.HasPrefix(name, "sitemap-") && strings.HasSuffix(name, ".xml"):
		return v.page(ctx, func(ctx context.Context) (answer, error) {
			return v.sitemap(ctx, strings.TrimSuffix(strings.TrimPrefix(name, "sitemap-"), ".xml"))
		})
	case strings.HasPrefix(name, "logo-"):
		return v.page(ctx, func(context.Context) (answer, error) { return v.logo(name) })
	case parts[0] == "card" && len(parts) == 2:
		return v.withID(ctx, strings.TrimSuffix(parts[1], ".png"), v.card)
	case parts[0] == "changelog" && len(parts) <= 3:
		return v.withID(ctx, parts[1], v.entry)
	case parts[0] == "r" && len(parts) == 4 && parts[2] == "files":
		return v.withID(ctx, parts[1], func(ctx context.Context, id feedback.ID) (answer, error) { return v.attachment(ctx, id, parts[3]) })
	case parts[0] == "r" && (len(parts) == 2 || len(parts) == 3):
		return v.withID(ctx, parts[1], v.idea)
	}
	return v.nowhere(ctx)
}

// nowhere answers an address without a page. It reads the portal, because the header leads to its other pages.
func (v *visit) nowhere(ctx context.Context) (answer, error) {
	if err := v.read(ctx, func(context.Context) error { return nil }); err != nil {
		return answer{}, err
	}
	return answer{}, feedback.ErrPortalNotFound
}

// page answers with what make returns, unless the browser has it already.
func (v *visit) page(ctx context.Context, what func(context.Context) (answer, error)) (a answer, err error) {
	err = v.read(ctx, func(ctx context.Context) error {
		v.setCache()
		if err := v.unchanged(); err != nil {
			return err
		}
		if a, err = what(ctx); v.view.Behind {
			v.W.Header().Del("ETag")
		}
		return err
	})
	return a, err
}

// withID is page for the page of a record with an id.
func (v *visit) withID(ctx context.Context, id string, what func(context.Context, feedback.ID) (answer, error)) (answer, error) {
	parsed, err := feedback.ParseID(id)
	if err != nil {
		return v.nowhere(ctx)
	}
	return v.page(ctx, func(ctx context.Context) (answer, error) { return what(ctx, parsed) })
}

// setCache lets browsers and, where the page is for everyone, proxies keep the page and ask each time whether it has
// changed.
func (v *visit) setCache() {
	policy := "no-cache"
	if v.view.App.Settings.Portal.Access != feedback.AccessPublic || v.R.Header.Get("Cookie") != "" {
		policy = "private, no-cache"
	}
	v.W.Header().Set("Cache-Control", policy)
}

// orders are those of the board, by their names in addresses.
var orders = map[portal.Order]index.Sort{portal.Top: index.MostVoted, portal.Trending: index.Trending, portal.New: index.Newest}

func (v *visit) board(ctx context.Context) (answer, error) {
	q := v.R.URL.Query()
	page := portal.Board{
		Site: v.site, Query: shortened(q.Get("q"), maxSearch), Status: feedback.Status(q.Get("status")), Tag: q.Get("tag"),
		Order: portal.Order(q.Get("sort")), After: q.Get("after"), Tags: v.view.App.Settings.Portal.Tags,
	}
	shown := v.view.Statuses()
	if page.Status != "" && !slices.Contains(shown, page.Status) {
		page.Status = ""
	}
	if !slices.Contains(page.Tags, page.Tag) {
		page.Tag = ""
	}
	if orders[page.Order] == "" {
		page.Order = portal.Top
	}
	query := board.Query{Words: page.Query, Status: page.Status, Tag: page.Tag, Sort: orders[page.Order], Limit: boardPage}
	if query.After = placeAfter(page.After); query.After == nil {
		page.After = ""
	}
	list, err := v.view.List(ctx, query)
	if err != nil {
		return answer{}, err
	}
	page.Total, page.Ideas = list.Total, ideasOf(list.Ideas...)
	if list.More {
		page.Next = after(list.Ideas[len(list.Ideas)-1], query.Sort)
	}
	for _, status := range shown {
		n, err := v.view.Count(ctx, status)
		if err != nil {
			return answer{}, err
		}
		page.Statuses = append(page.Statuses, portal.StatusCount{Status: status, Count: n})
	}
	return answer{page: page}, nil
}

// after is the cursor of the page that follows an idea.
func after(idea board.Idea, sort index.Sort) string { return cursor(rank(idea, sort), idea.ID) }

// rank is the number by which an order sorts an idea before its id.
func rank(idea board.Idea, sort index.Sort) int64 {
	switch sort {
	case index.MostVoted:
		return idea.Votes
	case index.Trending:
		return idea.Heat
	}
	return 0
}

func cursor(n int64, id feedback.ID) string { return strconv.FormatInt(n, 10) + "_" + id.String() }

// placeAfter reads a cursor, or returns nil if it is none. It is only a place in the list, so it needs no signature.
func placeAfter(cursor string) *index.Place {
	number, id, found := strings.Cut(cursor, "_")
	n, err := strconv.ParseInt(number, 10, 64)
	at, bad := feedback.ParseID(id)
	if !found || err != nil || bad != nil {
		return nil
	}
	return &index.Place{ID: at, Votes: n, Heat: n}
}

// shortened returns the beginning of a text on one line.
func shortened(text string, most int) string {
	return feedback.FirstCharacters(strings.TrimSpace(feedback.ToSingleLine(strings.ToValidUTF8(text, ""))), most)
}

// ideasOf returns what pages show of ideas.
func ideasOf(list ...board.Idea) []portal.Idea {
	ideas := make([]portal.Idea, len(list))
	for i, idea := range list {
		ideas[i] = portal.Idea{
			ID: idea.ID, Title: idea.Title, Description: idea.Description, Status: idea.Status, Votes: idea.Votes,
			Comments: idea.Comments, Voted: idea.Voted, Fixed: idea.Fixed, CreatedAt: idea.CreatedAt,
		}
	}
	return ideas
}

func (v *visit) idea(ctx context.Context, id feedback.ID) (answer, error) {
	page, found, err := v.ideaPage(ctx, id)
	if err != nil {
		return answer{}, err
	}
	if path := portal.IdeaPath(ideaOf(found)); !v.isAt(path) {
		return answer{next: &path, moved: true}, nil
	}
	page.New, page.Sent, page.Held = v.thanks(ideaSent, id), v.thanks(commentSent, id), v.thanks(commentHeld, id)
	return answer{page: page}, nil
}

// ideaPage returns the page of an idea.
func (v *visit) ideaPage(ctx context.Context, id feedback.ID) (page portal.IdeaPage, idea board.Idea, err error) {
	if idea, err = v.view.Get(ctx, id); err != nil {
		return page, idea, err
	}
	page = portal.IdeaPage{Site: v.site, Idea: ideasOf(idea)[0], Tags: idea.Tags, Author: idea.Author}
	if v.pages.Files != nil {
		for _, file := range idea.Files {
			page.Files = append(page.Files, portal.File{
				Path: v.home + "r/" + idea.ID.String() + "/files/" + file.ID.String(), Name: file.Filename,
				Image: strings.HasPrefix(file.ContentType, "image/"),
			})
		}
	}
	var before feedback.ID
	if at := placeAfter(v.R.URL.Query().Get("after")); at != nil {
		before = at.ID
	}
	remarks, more, err := v.view.Remarks(ctx, idea.ID, before, remarksPage)
	for _, r := range remarks {
		page.Remarks = append(page.Remarks, portal.Remark{ID: r.ID, Author: r.Author, Team: r.Team, Own: r.Own, Body: r.Body, At: r.At})
	}
	if more {
		page.Earlier = cursor(0, remarks[0].ID)
	}
	return page, idea, err
}

// attachment sends the browser to a file of an idea that the portal shows.
func (v *visit) attachment(ctx context.Context, id feedback.ID, file string) (answer, error) {
	page, idea, err := v.ideaPage(ctx, id)
	if err != nil {
		return answer{}, err
	}
	for i := range page.Files {
		if idea.Files[i].ID.String() == file {
			return answer{away: v.root() + v.pages.FilePath(v.view.App.AccountID, idea.Files[i].ID)}, nil
		}
	}
	return answer{}, feedback.ErrPortalNotFound
}

func (v *visit) card(ctx context.Context, id feedback.ID) (answer, error) {
	idea, err := v.view.Get(ctx, id)
	if err != nil {
		return answer{}, err
	}
	shown := ideasOf(idea)[0]
	return answer{draw: func() ([]byte, error) { return portal.Card(v.site, shown) }, media: pictureType}, nil
}

// logo answers with the picture of the app, which browsers keep: another one has another name.
func (v *visit) logo(name string) (answer, error) {
	set := v.view.App.Settings.Portal
	if name != set.LogoName() {
		return answer{}, feedback.ErrPortalNotFound
	}
	v.W.Header().Set("Cache-Control", "private, max-age=31536000, immutable")
	return answer{file: set.LogoFile(), media: pictureType}, nil
}

func (v *visit) roadmap(ctx context.Context) (answer, error) {
	page := portal.Roadmap{Site: v.site}
	for _, status := range v.view.App.Settings.Roadmap() {
		list, err := v.view.List(ctx, board.Query{Status: status, Sort: index.MostVoted, Limit: columnPage})
		if err != nil {
			return answer{}, err
		}
		page.Columns = append(page.Columns, portal.Column{Status: status, Count: list.Total, Ideas: ideasOf(list.Ideas...)})
	}
	if page.Columns == nil {
		return answer{}, feedback.ErrPortalNotFound
	}
	return answer{page: page}, v.addDates(ctx, page.Columns)
}

// addDates adds to ideas when their status was last changed, and when the visitor has asked or voted for them.
func (v *visit) addDates(ctx context.Context, columns []portal.Column) error {
	var ids []feedback.ID
	for _, c := range columns {
		for _, idea := range c.Ideas {
			ids = append(ids, idea.ID)
		}
	}
	changed, err := v.view.Changed(ctx, ids)
	if err != nil {
		return err
	}
	parts, err := v.view.Parts(ctx, ids)
	for _, c := range columns {
		for i := range c.Ideas {
			idea := &c.Ideas[i]
			part := parts[idea.ID]
			idea.ChangedAt, idea.Asked, idea.Since = changed[idea.ID], part.Asked, part.At
		}
	}
	return err
}

// me shows what the visitor has asked and voted for, also what the portal does not show to others.
func (v *visit) me(ctx context.Context) (answer, error) {
	page := portal.Me{Sent: v.thanks(ideaHeld, feedback.ID{})}
	var who readers.Person
	err := v.read(ctx, func(context.Context) error {
		page.Site, who = v.site, readers.Person{App: v.view.App, Reader: v.view.Reader()}
		return nil
	})
	if err != nil || who.Reader == nil {
		return answer{page: page}, err
	}
	list, err := v.pages.Store.Readers.Overview(ctx, who)
	for _, r := range list.Requests {
		idea := portal.Idea{
			ID: r.ID, Title: r.Title, Description: r.Description, Status: r.Status, Votes: r.Votes, Voted: true, CreatedAt: r.CreatedAt,
			Fixed: r.Asked && page.Visitor == nil, Unseen: !r.Public,
		}
		if r.Asked {
			page.Asked = append(page.Asked, idea)
		} else {
			page.Voted = append(page.Voted, idea)
		}
	}
	return answer{page: page}, err
}

// sitemaps lists the sitemaps of the months since the first idea.
func (v *visit) sitemaps(ctx context.Context) (answer, error) {
	if !v.site.Indexed || v.site.Address == "" {
		return answer{}, feedback.ErrPortalNotFound
	}
	var ends [2]time.Time
	for i, sort := range []index.Sort{index.Oldest, index.Newest} {
		list, err := v.view.List(ctx, board.Query{Sort: sort, Limit: 1})
		if err != nil {
			return answer{}, err
		}
		if len(list.Ideas) == 0 {
			return v.sitemapOf(nil)
		}
		ends[i] = list.Ideas[0].CreatedAt.Std().UTC()
	}
	var months []string
	for at := month(ends[0]); !at.After(ends[1]); at = at.AddDate(0, 1, 0) {
		months = append(months, at.Format(monthForm))
	}
	file, err := portal.Sitemaps(v.site, months)
	return answer{file: file, media: xmlType}, err
}

const monthForm = "2006-01"

func month(at time.Time) time.Time { return time.Date(at.Year(), at.Month(), 1, 0, 0, 0, 0, time.UTC) }

// sitemap lists the latest ideas of a month.
func (v *visit) sitemap(ctx context.Context, name string) (answer, error) {
	from, err := time.Parse(monthForm, name)
	if err != nil || !v.site.Indexed || v.site.Address == "" {
		return answer{}, feedback.ErrPortalNotFound
	}
	until := index.Place{ID: feedback.FirstIDAt(from.AddDate(0, 1, 0))}
	list, err := v.view.List(ctx, board.Query{Sort: index.Newest, After: &until, Limit: mapPage, Brief: true})
	if err != nil {
		return answer{}, err
	}
	first := feedback.FirstIDAt(from)
	ideas := slices.DeleteFunc(ideasOf(list.Ideas...), func(i portal.Idea) bool { return i.ID.Compare(first) < 0 })
	return v.sitemapOf(ideas)
}

func (v *visit) sitemapOf(ideas []portal.Idea) (answer, error) {
	file, err := portal.Sitemap(v.site, ideas)
	return answer{file: file, media: xmlType}, err
}
