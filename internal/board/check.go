package board

import (
	"context"
	"database/sql"
	"regexp"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
	"gatherkit/internal/index"
)

// MaxFound is how many texts with an e-mail address Check returns.
const MaxFound = 50

// Check says what people outside would see on the portal of an app.
type Check struct {
	Statuses []CheckedStatus `json:"statuses" doc:"For each status that the app shares: how many requests the portal would show, and how many are hidden."`
	// WithAddress are the latest requests whose texts have an e-mail address.
	WithAddress []CheckedText `json:"with_address" doc:"The latest requests of these whose title or description contains an e-mail address, or that have a public comment of the team that does; at most 50."`
}

// CheckedStatus is how many requests with a status a portal would show.
type CheckedStatus struct {
	Status    feedback.Status `json:"status" enum:"opened,under_review,planned,in_progress,completed,declined"`
	WouldShow int64           `json:"would_show"`
	Hidden    int64           `json:"hidden"`
}

// CheckedText is a request with an e-mail address in one of its texts.
type CheckedText struct {
	ID    feedback.ID `json:"id" format:"uuid"`
	Title string      `json:"title"`
	In    string      `json:"in" enum:"title,description,comment" doc:"Where the address is."`
}

// emailAddress finds what looks like an e-mail address.
var emailAddress = regexp.MustCompile(`[^\s@<>]+@[^\s@<>]+\.[^\s@<>]{2,}`)

// Check says what people outside would see on the portal of an app that shares its requests as the settings say.
func (b *Boards) Check(ctx context.Context, app feedback.App) (c Check, err error) {
	c = Check{Statuses: []CheckedStatus{}, WithAddress: []CheckedText{}}
	err = b.db.Read(ctx, func(tx *sql.Tx) error {
		v := &View{App: app, db: b.db, q: tx}
		for _, status := range v.Statuses() {
			one := CheckedStatus{Status: status}
			if one.WouldShow, err = v.Count(ctx, status); err != nil {
				return err
			}
			f := v.filter(Query{Status: status})
			f.Hidden = new(true)
			hidden, err := index.Resolve(ctx, b.db, tx, app.AccountID, f)
			if err != nil {
				return err
			}
			one.Hidden = hidden.Total().N
			c.Statuses = append(c.Statuses, one)
		}
		if len(c.Statuses) == 0 {
			return nil
		}
		return v.addresses(ctx, &c)
	})
	return c, err
}

// addresses adds the requests whose texts have an e-mail address. Only an admin asks for it, before the portal is
// switched on, so it may read all requests of the app. COALESCE keeps SQLite from reading those of other apps in the
// order of ids, and lets it read public comments alone, through comments_on_portal.
func (v *View) addresses(ctx context.Context, c *Check) error {
	p := database.Parameters{v.App.AccountID, v.App.ID, feedback.ID{}}
	const (
		has       = " LIKE '%_@_%.__%'"
		inComment = `r.comments > 0 AND EXISTS (SELECT 1 FROM comments c WHERE c.account_id = $1 AND c.request_id = r.id
			AND COALESCE(c.visibility, c.visibility) = 'public' AND c.author_id <> $3 AND c.body` + has + ")"
	)
	found, err := database.All(ctx, v.q, func(from database.Row) (t CheckedText, err error) {
		var description string
		if err := from.Scan(&t.ID, &t.Title, &description, &t.In); err != nil {
			return t, err
		}
		switch {
		case emailAddress.MatchString(t.Title):
			t.In = "title"
		case emailAddress.MatchString(description):
			t.In = "description"
		}
		return t, err
	}, `SELECT r.id, r.title, r.description, CASE WHEN `+inComment+` THEN 'comment' ELSE '' END AS place
		FROM requests r WHERE r.account_id = $1 AND r.app_id = $2 AND r.box = 'live' AND r.hidden = FALSE
		AND r.status IN (`+database.List(&p, v.Statuses())+`)
		AND (r.title`+has+" OR r.description"+has+" OR "+inComment+`)
		ORDER BY COALESCE(r.id, r.id) DESC LIMIT CAST(`+p.Add(MaxFound)+" AS BIGINT)", p...)
	for _, t := range found {
		if t.In != "" {
			c.WithAddress = append(c.WithAddress, t)
		}
	}
	return err
}
