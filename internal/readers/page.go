package readers

import (
	"context"
	"database/sql"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
)

const (
	// MaxPage is the highest limit of a page.
	MaxPage = 50
	// maxComments is how many comments of a request a page has, the latest ones.
	maxComments = 10
)

// Mine is a request as the person sees who submitted it or voted for it.
type Mine struct {
	ID          feedback.ID     `json:"id" format:"uuid"`
	Title       string          `json:"title"`
	Description string          `json:"description" doc:"Empty if the person only voted."`
	Status      feedback.Status `json:"status" enum:"opened,under_review,planned,in_progress,completed,declined" doc:"Of the request that it is merged into, if it is merged."`
	Label       string          `json:"label" doc:"The app's own name of the status; empty for the usual one."`
	Votes       int64           `json:"votes"`
	Asked       bool            `json:"asked" doc:"True if the person submitted it, false if they voted."`
	Merged      bool            `json:"merged" doc:"Whether it is merged into a request that asks for the same."`
	Unread      bool            `json:"unread" doc:"Whether it has news since seen_until of earlier calls."`
	CanReply    bool            `json:"can_reply" doc:"Whether the person can answer the team: it has commented, and the latest 10 comments are not all theirs."`
	CreatedAt   feedback.Time   `json:"created_at" format:"date-time"`
	NewsAt      *feedback.Time  `json:"news_at" format:"date-time" doc:"The last change of the status, merge or public comment; null if there was none."`
	Public      bool            `json:"-"` // whether everybody sees it where the app shares requests
	Comments    []PublicComment `json:"comments" doc:"The latest 10 public comments, oldest first, with those of the request that it is merged into; none if the person only voted."`
}

// PublicComment is a public comment as people outside the account see it.
type PublicComment struct {
	ID   feedback.ID   `json:"id" format:"uuid"`
	Body string        `json:"body" doc:"Markdown, with the app's public name in place of mentioned users."`
	At   feedback.Time `json:"at" format:"date-time"`
	Mine bool          `json:"mine" doc:"True if the submitter wrote it. Others are signed with the app's public name."`
}

// Page is a part of what a person asked or voted for.
type Page struct {
	Requests []Mine
	Unread   int         // see News
	Next     feedback.ID // before which the next page begins
	More     bool
}

// List returns up to limit requests that a person asked or voted for, the latest first, before an id, or
// from the beginning if it is zero. A page can be shorter than limit although there are more. If seenUntil
// is not nil, the person has seen the news up to then, which the next call shows.
func (r *Readers) List(ctx context.Context, w Person, before feedback.ID, limit int, seenUntil *feedback.Time) (p Page, err error) {
	first := before == feedback.ID{}
	if first {
		before = last
	}
	err = r.db.Read(ctx, func(tx *sql.Tx) error {
		p, err = r.page(ctx, tx, w, before, limit)
		return err
	})
	if err != nil {
		return p, err
	}
	if !first {
		p.Unread, err = r.News(ctx, w)
	}
	if err == nil && seenUntil != nil && len(p.Requests) > 0 {
		err = r.See(ctx, w, *seenUntil)
	}
	return p, err
}

// Overview returns the latest requests that a person asked or voted for, without comments and with the beginnings of
// descriptions.
func (r *Readers) Overview(ctx context.Context, w Person) (Page, error) {
	w.brief = true
	return r.List(ctx, w, feedback.ID{}, MaxPage, nil)
}

// Asked returns those of the requests of an app that their submitters see, as these see them.
func (r *Readers) Asked(ctx context.Context, tx *sql.Tx, app feedback.App, ids []feedback.ID) ([]Mine, error) {
	p := database.Parameters{app.AccountID}
	list, err := database.All(ctx, tx, scanItem, "SELECT r.created_at, "+itemColumns+" FROM requests r"+withRoot+
		" WHERE r.account_id = $1 AND r.id IN ("+database.List(&p, database.Padded(ids))+")", p...)
	if err != nil {
		return nil, err
	}
	var shown []item
	for _, i := range list {
		if i.asked = true; i.visible(app) {
			shown = append(shown, i)
		}
	}
	return r.fill(ctx, tx, Person{App: app}, shown, 0)
}

func (r *Readers) page(ctx context.Context, tx *sql.Tx, w Person, before feedback.ID, limit int) (p Page, err error) {
	list, err := r.items(ctx, tx, w, before)
	if err != nil || len(list) == 0 {
		return p, err
	}
	seen, err := r.seenAt(ctx, tx, w)
	if err != nil {
		return p, err
	}
	p.Unread = unread(list, w.App, seen)
	shown := make([]item, 0, limit)
	for n, i := range list {
		if len(shown) == limit {
			p.Next, p.More = list[n-1].id, true
			break
		}
		if i.visible(w.App) {
			shown = append(shown, i)
		}
	}
	if !p.More && len(list) >= recent {
		p.Next, p.More = list[len(list)-1].id, true
	}
	p.Requests, err = r.fill(ctx, tx, w, shown, seen)
	return p, err
}

// fill reads what the person sees of the items.
func (r *Readers) fill(ctx context.Context, tx *sql.Tx, w Person, items []item, seen feedback.Time) ([]Mine, error) {
	if len(items) == 0 {
		return nil, nil
	}
	texts, err := r.texts(ctx, tx, w, items)
	if err != nil {
		return nil, err
	}
	var comments map[feedback.ID][]PublicComment
	if !w.brief {
		if comments, err = r.comments(ctx, tx, w, items); err != nil {
			return nil, err
		}
	}
	list := make([]Mine, len(items))
	for n, i := range items {
		m := Mine{
			ID: i.id, Asked: i.asked, Merged: i.merged(), Public: i.public(w.App), Status: i.counts().status, CreatedAt: i.id.Time(),
			Comments: []PublicComment{},
		}
		own, counts := texts[i.id], texts[i.id]
		if i.merged() {
			counts = texts[i.rootID]
		}
		m.Votes = counts.votes
		switch {
		case !i.asked: // people see what the app shares of others' requests
			m.Title = counts.title
		case i.own.box == feedback.Quarantine:
			m.Title, m.Description, m.Status = own.title, own.description, feedback.Opened
		default:
			m.Title, m.Description = own.title, own.description
			m.Comments = append(m.Comments, comments[i.id]...)
			m.CanReply = hasTeam(m.Comments)
		}
		m.Label = w.App.Settings.Statuses.Label(m.Status)
		if at := i.newsAt(); at > 0 {
			m.NewsAt, m.Unread = &at, at > seen
		}
		list[n] = m
	}
	return list, nil
}

func hasTeam(comments []PublicComment) bool {
	for _, c := range comments {
		if !c.Mine {
			return true
		}
	}
	return false
}

// text is what a request says.
type text struct {
	title, description string
	votes              int64
}

func (r *Readers) texts(ctx context.Context, tx *sql.Tx, w Person, items []item) (map[feedback.ID]text, error) {
	var ids []feedback.ID
	for _, i := range items {
		if ids = append(ids, i.id); i.merged() {
			ids = append(ids, i.rootID)
		}
	}
	p := database.Parameters{w.App.AccountID}
	texts := make(map[feedback.ID]text, len(ids))
	err := database.Each(ctx, tx, func(row database.Row) error {
		var id feedback.ID
		var t text
		err := row.Scan(&id, &t.title, &t.description, &t.votes)
		if w.brief {
			t.description = feedback.Beginning(t.description)
		}
		texts[id] = t
		return err
	}, "SELECT id, title, description, votes FROM requests WHERE account_id = $1 AND id IN ("+
		database.List(&p, database.Padded(ids))+")", p...)
	return texts, err
}

// comments returns the latest public comments of the requests that the person asked for, by their ids, without
// those of visitors of the portal, who do not write to the person.
// Those of a request that others are merged into belong to all of these.
//
// It reads those since the latest maxComments of the team. Submitters write few comments for each of these.
func (r *Readers) comments(ctx context.Context, tx *sql.Tx, w Person, items []item) (map[feedback.ID][]PublicComment, error) {
	byID := map[feedback.ID][]PublicComment{}
	var ids []feedback.ID
	for _, i := range items {
		if !i.asked || i.own.box == feedback.Quarantine {
			continue
		}
		if ids = append(ids, i.id); i.merged() {
			ids = append(ids, i.rootID)
		}
	}
	if len(ids) == 0 {
		return byID, nil
	}
	p := database.Parameters{w.App.AccountID, feedback.ID{}, maxComments - 1}
	err := database.Each(ctx, tx, func(row database.Row) error {
		var requestID, author feedback.ID
		var c PublicComment
		err := row.Scan(&requestID, &c.ID, &author, &c.Body)
		c.Body, c.At, c.Mine = feedback.ForOutsiders(c.Body, w.App.PublicName()), c.ID.Time(), author == feedback.ID{}
		byID[requestID] = append(byID[requestID], c)
		return err
	}, `SELECT c.request_id, c.id, c.author_id, c.body FROM (SELECT r.id, COALESCE((SELECT t.id FROM comments t
			WHERE t.account_id = $1 AND t.request_id = r.id AND t.visibility = 'public' AND t.person IS NULL AND t.author_id <> $2
			ORDER BY t.id DESC LIMIT 1 OFFSET CAST($3 AS BIGINT)), $2) AS since FROM requests r WHERE r.account_id = $1 AND r.id IN (`+
		database.List(&p, database.Padded(ids))+`)) AS wanted JOIN comments c ON c.account_id = $1 AND c.request_id = wanted.id
			AND c.id >= wanted.since WHERE c.visibility = 'public' AND c.person IS NULL ORDER BY c.id`, p...)
	if err != nil {
		return nil, err
	}
	together := make(map[feedback.ID][]PublicComment, len(items))
	for _, i := range items {
		if i.asked { // rootID is zero unless it is merged
			together[i.id] = latest(byID[i.id], byID[i.rootID])
		}
	}
	return together, nil
}

// latest returns the latest comments of a request and of the one that it is merged into, oldest first.
// What others have written there is not for this person.
func latest(own, root []PublicComment) []PublicComment {
	all := make([]PublicComment, 0, len(own)+len(root))
	for len(own)+len(root) > 0 {
		switch {
		case len(root) > 0 && root[0].Mine:
			root = root[1:]
		case len(root) == 0 || len(own) > 0 && own[0].ID.Compare(root[0].ID) < 0:
			all, own = append(all, own[0]), own[1:]
		default:
			all, root = append(all, root[0]), root[1:]
		}
	}
	return all[max(0, len(all)-maxComments):]
}
