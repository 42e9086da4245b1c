package board

import (
	"context"
	"slices"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
	"gatherkit/internal/row"
)

func (v *View) requests(ctx context.Context, ids ...feedback.ID) ([]feedback.Request, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	p := database.Parameters{v.App.AccountID}
	found, err := database.All(ctx, v.q, row.Scan, "SELECT "+row.Columns+" FROM requests WHERE account_id = $1 AND id IN ("+
		database.List(&p, database.Padded(ids))+")", p...)
	slices.SortFunc(found, func(a, b feedback.Request) int { return slices.Index(ids, a.ID) - slices.Index(ids, b.ID) })
	return found, err
}

// onPortal is the condition that visitors see a comment c. $2 is the id of no author. What submitters write to the
// team in the widget is not for others. COALESCE chooses the index comments_on_portal.
const onPortal = "COALESCE(c.visibility, c.visibility) = 'public' AND (c.author_id <> $2 OR c.person IS NOT NULL)"

// counts returns how many comments visitors see of each request, at most feedback.MaxCountedComments.
func (v *View) counts(ctx context.Context, ids []feedback.ID) (map[feedback.ID]int64, error) {
	counts := make(map[feedback.ID]int64, len(ids))
	if len(ids) == 0 {
		return counts, nil
	}
	p := database.Parameters{v.App.AccountID, feedback.ID{}, feedback.MaxCountedComments}
	err := database.Each(ctx, v.q, func(from database.Row) error {
		var id feedback.ID
		var n int64
		err := from.Scan(&id, &n)
		counts[id] = n
		return err
	}, `SELECT r.id, (SELECT COUNT(*) FROM (SELECT c.id FROM comments c WHERE c.account_id = $1 AND c.request_id = r.id AND `+onPortal+
		` LIMIT CAST($3 AS BIGINT)) AS shown) FROM requests r WHERE r.account_id = $1 AND r.id IN (`+
		database.List(&p, database.Padded(ids))+")", p...)
	return counts, err
}

// Remark is a comment that visitors see.
type Remark struct {
	ID     feedback.ID   `json:"id" format:"uuid"`
	Author string        `json:"author" doc:"Empty if the portal does not say who wrote it."`
	Team   bool          `json:"team" doc:"Whether the team wrote it."`
	Own    bool          `json:"mine" doc:"Whether the person wrote it."`
	Body   string        `json:"body" doc:"Markdown if the team wrote it, and plain text otherwise."`
	At     feedback.Time `json:"created_at" format:"date-time"`
}

// Remarks returns up to limit comments on an idea before an id, the latest of them, oldest first. If before is zero,
// they are the latest of all.
func (v *View) Remarks(ctx context.Context, requestID, before feedback.ID, limit int) (remarks []Remark, more bool, err error) {
	if before == (feedback.ID{}) {
		before = latest
	}
	portal := v.App.Settings.Portal
	remarks, err = database.All(ctx, v.q, func(from database.Row) (r Remark, err error) {
		var author feedback.ID
		var name, person, personName *string
		var verified *bool
		if err := from.Scan(&r.ID, &author, &name, &person, &personName, &verified, &r.Body); err != nil {
			return r, err
		}
		r.At = r.ID.Time()
		if r.Team = person == nil; r.Team {
			r.Author, r.Body = v.App.PublicName(), feedback.ForOutsiders(r.Body, v.App.PublicName())
			if portal.TeamNames && name != nil {
				r.Author = *name
			}
			return r, nil
		}
		r.Own = *person == v.key
		if portal.Names == "verified" && verified != nil && *verified && personName != nil {
			r.Author = *personName
		}
		return r, nil
	}, `SELECT c.id, c.author_id, COALESCE((SELECT u.name FROM users u WHERE u.account_id = $1 AND u.id = c.author_id),
			(SELECT t.name FROM access_tokens t WHERE t.account_id = $1 AND t.id = c.author_id)),
		c.person, c.person_name, c.person_verified, c.body FROM comments c
		WHERE c.account_id = $1 AND c.request_id = $3 AND c.id < $4 AND `+onPortal+" ORDER BY c.id DESC LIMIT CAST($5 AS BIGINT)",
		v.App.AccountID, feedback.ID{}, requestID, before, limit+1)
	if more = len(remarks) > limit; more {
		remarks = remarks[:limit]
	}
	slices.Reverse(remarks)
	return remarks, more, err
}

// latest is the id before which all ids are.
var latest = feedback.ID{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}
