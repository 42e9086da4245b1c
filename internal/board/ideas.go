package board

import (
	"context"
	"slices"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
	"gatherkit/internal/row"
)

// Idea is what visitors see of a request.
type Idea struct {
	ID          feedback.ID     `json:"id" format:"uuid"`
	Title       string          `json:"title"`
	Description string          `json:"description" doc:"Plain text; empty unless the portal shows descriptions."`
	Status      feedback.Status `json:"status" enum:"opened,under_review,planned,in_progress,completed,declined"`
	Label       string          `json:"label" doc:"The app's own name of the status; empty for the usual one."`
	Votes       int64           `json:"votes"`
	Comments    int64           `json:"comments" doc:"Number of comments that widget-request returns; at most 100."`
	Tags        []string        `json:"tags" doc:"Only those of settings.portal.tags."`
	Author      string          `json:"author" doc:"Name of the person who asked for it; empty unless the portal shows names and the person was verified."`
	Voted       bool            `json:"voted" doc:"Whether the person has voted."`
	Own         bool            `json:"mine" doc:"Whether the person asked for it; known with an identity token only."`
	CreatedAt   feedback.Time   `json:"created_at" format:"date-time"`

	Fixed bool                  `json:"-"` // the vote of a browser without a name for its own idea, which it cannot take back
	Heat  int64                 `json:"-"` // its place in the order of trending ideas
	Files []feedback.Attachment `json:"-"`
}

// idea returns what the settings of the portal show of a request.
func (v *View) idea(r feedback.Request) Idea {
	set := v.App.Settings.Portal
	i := Idea{
		ID: r.ID, Title: r.Title, Status: r.Status, Label: v.App.Settings.Statuses.Label(r.Status), Votes: r.Votes,
		Tags: []string{}, CreatedAt: r.CreatedAt, Heat: r.Heat,
	}
	if set.Descriptions {
		i.Description = r.Description
	}
	for _, tag := range r.Tags {
		if v.ShowsTag(tag) {
			i.Tags = append(i.Tags, tag)
		}
	}
	if s := r.Submitter; set.Names == "verified" && s.Verified && s.Name != nil {
		i.Author = *s.Name
	}
	if set.Attachments {
		i.Files = r.Attachments
	}
	return i
}

// ShowsTag reports whether visitors see a tag.
func (v *View) ShowsTag(tag string) bool {
	if v.shown == nil {
		v.shown = map[string]bool{}
		for _, one := range v.App.Settings.Portal.Tags {
			v.shown[feedback.Fold(one)] = true
		}
	}
	return v.shown[feedback.Fold(tag)]
}

// ideas adds to requests what the visitor has to do with them.
func (v *View) ideas(ctx context.Context, requests []feedback.Request) ([]Idea, error) {
	if len(requests) == 0 {
		return nil, nil
	}
	var commented []feedback.ID
	for _, r := range requests {
		if r.Comments > 0 {
			commented = append(commented, r.ID)
		}
	}
	remarks, err := v.counts(ctx, commented)
	if err != nil {
		return nil, err
	}
	voted, own, err := v.part(ctx, requests)
	if err != nil {
		return nil, err
	}
	ideas := make([]Idea, len(requests))
	for i, r := range requests {
		ideas[i] = v.idea(r)
		ideas[i].Comments, ideas[i].Voted, ideas[i].Own = remarks[r.ID], voted[r.ID], own[r.ID]
		_, submitter := r.Person()
		ideas[i].Fixed = own[r.ID] && submitter != v.key
	}
	return ideas, nil
}

// Voted returns for which requests of an app a person has voted. Somebody who is signed in has also voted for what they
// have asked for, unless they took that back. p is nil if nobody is known.
func (b *Boards) Voted(ctx context.Context, app feedback.App, p *feedback.Person, ids []feedback.ID) (map[feedback.ID]bool, error) {
	if p == nil {
		return nil, nil
	}
	v := &View{App: app, db: b.db, q: b.db.Reader()}
	v.is(*p)
	requests, err := v.requests(ctx, ids...)
	if err != nil || len(requests) == 0 { // they were deleted meanwhile
		return nil, err
	}
	voted, _, err := v.part(ctx, requests)
	return voted, err
}

// part returns for which requests the visitor has voted, and which they have asked for.
func (v *View) part(ctx context.Context, requests []feedback.Request) (voted, own map[feedback.ID]bool, err error) {
	var ids []feedback.ID
	for _, r := range requests {
		ids = append(ids, r.ID)
	}
	if voted, own, err = v.mine(ctx, ids); err != nil {
		return nil, nil, err
	}
	return voted, own, v.submitted(ctx, requests, voted, own)
}

// mine returns for which of the requests the visitor has voted, also by a vote for one that is merged into it, and
// which the browser has submitted.
func (v *View) mine(ctx context.Context, ids []feedback.ID) (voted, own map[feedback.ID]bool, err error) {
	voted, own = map[feedback.ID]bool{}, map[feedback.ID]bool{}
	if v.key == "" {
		return voted, own, nil
	}
	p := database.Parameters{v.App.AccountID, v.key}
	in := "(" + database.List(&p, database.Padded(ids)) + ")"
	found, err := database.All(ctx, v.q, database.One[feedback.ID], "SELECT request_id FROM votes"+
		" WHERE account_id = $1 AND person = $2 AND request_id IN "+in+" UNION SELECT m.merged_into_id FROM requests m"+
		" JOIN votes o ON o.account_id = m.account_id AND o.request_id = m.id"+
		" WHERE m.account_id = $1 AND m.merged_into_id IN "+in+" AND m.box <> 'bin' AND o.person = $2", p...)
	for _, id := range found {
		voted[id] = true
	}
	if err != nil || v.reader == nil {
		return voted, own, err
	}
	p = database.Parameters{v.App.AccountID, v.reader}
	found, err = database.All(ctx, v.q, database.One[feedback.ID], "SELECT id FROM requests WHERE account_id = $1 AND id IN ("+
		database.List(&p, database.Padded(ids))+") AND reader = $2", p...)
	for _, id := range found {
		own[id] = true
	}
	return voted, own, err
}

// Part is what the visitor has done about an idea first: asked for it, or voted.
type Part struct {
	Asked bool
	At    feedback.Time
}

// Parts returns what the visitor has done about ideas, also about requests that are merged into them. It leaves out
// ideas that the visitor has nothing to do with.
func (v *View) Parts(ctx context.Context, ids []feedback.ID) (map[feedback.ID]Part, error) {
	parts := map[feedback.ID]Part{}
	if v.reader == nil || len(ids) == 0 {
		return parts, nil
	}
	p := database.Parameters{v.App.AccountID, v.reader}
	in := "(" + database.List(&p, database.Padded(ids)) + ")"
	type done struct {
		id feedback.ID
		Part
	}
	// COALESCE has the database find requests by their ids: a reader may have asked for thousands.
	rows, err := database.All(ctx, v.q, func(r database.Row) (one done, err error) {
		err = r.Scan(&one.id, &one.Asked, &one.At)
		return one, err
	}, "SELECT id, TRUE, created_at FROM requests WHERE account_id = $1 AND id IN "+in+" AND COALESCE(reader, reader) = $2"+
		" UNION ALL SELECT merged_into_id, TRUE, created_at FROM requests"+
		" WHERE account_id = $1 AND merged_into_id IN "+in+" AND box <> 'bin' AND COALESCE(reader, reader) = $2"+
		" UNION ALL SELECT request_id, FALSE, created_at FROM votes WHERE account_id = $1 AND reader = $2 AND request_id IN "+in+
		" UNION ALL SELECT m.merged_into_id, FALSE, o.created_at FROM requests m"+
		" JOIN votes o ON o.account_id = m.account_id AND o.request_id = m.id"+
		" WHERE m.account_id = $1 AND m.merged_into_id IN "+in+" AND m.box <> 'bin' AND o.reader = $2", p...)
	for _, one := range rows {
		if known, ok := parts[one.id]; !ok || one.Asked && !known.Asked || one.Asked == known.Asked && one.At < known.At {
			parts[one.id] = one.Part
		}
	}
	return parts, err
}

// Changed returns when the status of ideas was last changed, unless that was quiet. It leaves out ideas for which that
// has not happened.
func (v *View) Changed(ctx context.Context, ids []feedback.ID) (map[feedback.ID]feedback.Time, error) {
	changed := map[feedback.ID]feedback.Time{}
	if len(ids) == 0 {
		return changed, nil
	}
	p := database.Parameters{v.App.AccountID}
	err := database.Each(ctx, v.q, func(r database.Row) error {
		var id feedback.ID
		var at feedback.Time
		err := r.Scan(&id, &at)
		changed[id] = at
		return err
	}, "SELECT id, news_at FROM requests WHERE account_id = $1 AND id IN ("+database.List(&p, database.Padded(ids))+
		") AND news_at IS NOT NULL", p...)
	return changed, err
}

// submitted completes voted and own by what the visitor has submitted under a name. A browser without a name cannot
// take back the vote of its submission.
func (v *View) submitted(ctx context.Context, requests []feedback.Request, voted, own map[feedback.ID]bool) error {
	if v.key == "" {
		return nil
	}
	var alone []feedback.ID
	for _, r := range requests {
		_, submitter := r.Person()
		switch {
		case submitter == v.key:
			if own[r.ID] = true; !voted[r.ID] && r.Votes == 1 {
				alone = append(alone, r.ID)
			}
		case own[r.ID]:
			voted[r.ID] = true
		}
	}
	kept, err := row.Kept(ctx, v.q, v.App.AccountID, alone)
	for _, id := range alone {
		voted[id] = !slices.Contains(kept, id)
	}
	return err
}
