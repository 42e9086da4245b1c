package pages

import (
	"context"

	"gatherkit/internal/board"
	"gatherkit/internal/entries"
	"gatherkit/internal/feedback"
	"gatherkit/internal/portal"
)

func (v *visit) changelog(ctx context.Context) (answer, error) {
	page := portal.Changelog{Site: v.site, After: v.R.URL.Query().Get("after")}
	var before *entries.Place
	if at := placeAfter(page.After); at != nil {
		before = &entries.Place{At: feedback.Time(at.Votes), ID: at.ID}
	} else {
		page.After = ""
	}
	var err error
	page.Entries, page.Next, err = v.entries(ctx, before, entriesPage)
	return answer{page: page}, err
}

// feed is the changelog for programs that follow it.
func (v *visit) feed(ctx context.Context) (answer, error) {
	page := portal.Changelog{Site: v.site}
	var err error
	if page.Entries, _, err = v.entries(ctx, nil, feedEntries); err != nil {
		return answer{}, err
	}
	return answer{draw: page.Atom, media: atomType}, nil
}

// entries returns the entries before a place, and the cursor of the next page.
func (v *visit) entries(ctx context.Context, before *entries.Place, limit int) (shown []portal.Entry, next string, err error) {
	list, err := v.view.Entries(ctx, before, limit+1)
	if err != nil {
		return nil, "", err
	}
	if len(list) > limit {
		list = list[:limit]
		last := list[limit-1].Place()
		next = cursor(int64(last.At), last.ID)
	}
	shown, err = v.entriesOf(ctx, list...)
	return shown, next, err
}

// entriesOf returns what pages show of entries, with what the visitor has done about the ideas behind them.
func (v *visit) entriesOf(ctx context.Context, list ...entries.PublicEntry) ([]portal.Entry, error) {
	var ids []feedback.ID
	for _, e := range list {
		for _, r := range e.Requests {
			ids = append(ids, r.ID)
		}
	}
	parts, err := v.view.Parts(ctx, ids)
	if err != nil {
		return nil, err
	}
	shown := make([]portal.Entry, len(list))
	for i, e := range list {
		shown[i] = portal.Entry{ID: e.ID, Title: e.Title, Body: e.Body, Labels: e.Labels, At: e.PublishedAt, UpdatedAt: e.UpdatedAt}
		for _, r := range e.Requests {
			part := parts[r.ID]
			shown[i].Ideas = append(shown[i].Ideas, portal.Idea{
				ID: r.ID, Title: r.Title, Status: r.Status, Votes: r.Votes, Asked: part.Asked, Since: part.At,
			})
		}
	}
	return shown, nil
}

func (v *visit) entry(ctx context.Context, id feedback.ID) (answer, error) {
	found, err := v.view.Entry(ctx, id)
	if err != nil {
		return answer{}, err
	}
	shown, err := v.entriesOf(ctx, found)
	if err != nil {
		return answer{}, err
	}
	entry := shown[0]
	if path := portal.EntryPath(entry); !v.isAt(path) {
		return answer{next: &path, moved: true}, nil
	}
	return answer{page: portal.EntryPage{Site: v.site, Entry: entry}}, nil
}

// ideaOf is what pages need to link to an idea.
func ideaOf(idea board.Idea) portal.Idea { return portal.Idea{ID: idea.ID, Title: idea.Title} }
