package api

import (
	"context"

	"gatherkit/internal/entries"
	"gatherkit/internal/feedback"
	"gatherkit/internal/limits"
	"gatherkit/internal/lists"
	"gatherkit/internal/params"
)

const (
	entryBytes  = 2 * rowBytes // approximate maximum size of an entry in a page
	entriesPage = 10           // entries in a page for people outside by default
)

type entryResult struct {
	Entry feedback.Entry `json:"entry"`
}

type entriesCreateParams struct {
	AppID      feedback.ID   `json:"app_id" format:"uuid" doc:"The app that the entry belongs to."`
	Title      string        `json:"title" minLength:"1" maxLength:"200"`
	Body       string        `json:"body,omitempty" maxLength:"20000" lines:"many" doc:"Markdown."`
	Labels     params.Labels `json:"labels,omitempty" doc:"Such as New or Fixed. Labels that differ only in case are the same."`
	RequestIDs []feedback.ID `json:"request_ids,omitempty" format:"uuid" maxItems:"50" doc:"The requests of the app that it is about. None may be in the bin."`
}

func (a *API) entriesCreate(ctx context.Context, c caller, in entriesCreateParams) (entryResult, error) {
	entry := feedback.Entry{AppID: in.AppID, Author: &feedback.EntryAuthor{ID: c.User.ID}}
	entry.Apply(feedback.EntryChange{Title: &in.Title, Body: &in.Body, Labels: (*[]string)(&in.Labels), RequestIDs: &in.RequestIDs})
	entry, err := a.Store.Entries.Add(ctx, c.Account.ID, c.actor(), entry)
	return entryResult{entry}, err
}

type entriesUpdateParams struct {
	ID              feedback.ID    `json:"id" format:"uuid" doc:"The entry."`
	Title           *string        `json:"title,omitempty" minLength:"1" maxLength:"200"`
	Body            *string        `json:"body,omitempty" maxLength:"20000" lines:"many" doc:"Markdown."`
	Labels          *params.Labels `json:"labels,omitempty" doc:"Replaces all labels. Labels that differ only in case are the same."`
	RequestIDs      *[]feedback.ID `json:"request_ids,omitempty" format:"uuid" maxItems:"50" doc:"Replaces the requests that it is about. None that you add may be in the bin."`
	ExpectedVersion *int64         `json:"expected_version,omitempty" minimum:"1" doc:"Refuse the change if the version differs."`
}

func (a *API) entriesUpdate(ctx context.Context, c caller, in entriesUpdateParams) (entryResult, error) {
	change := feedback.EntryChange{Title: in.Title, Body: in.Body, Labels: (*[]string)(in.Labels), RequestIDs: in.RequestIDs}
	entry, err := a.Store.Entries.Change(ctx, c.Account.ID, in.ID, c.actor(), func(e *feedback.Entry) error {
		if in.ExpectedVersion != nil && *in.ExpectedVersion != e.Version {
			return feedback.ErrEntryConflict
		}
		e.Apply(change)
		return nil
	})
	return entryResult{entry}, err
}

type entryParams struct {
	ID feedback.ID `json:"id" format:"uuid" doc:"The entry."`
}

type entriesGetResult struct {
	Entry    feedback.Entry         `json:"entry"`
	Audience feedback.EntryAudience `json:"audience" doc:"What entries-publish with complete would do now."`
}

func (a *API) entriesGet(ctx context.Context, c caller, in entryParams) (entriesGetResult, error) {
	entry, err := a.Store.Entries.Get(ctx, c.Account.ID, in.ID)
	if err != nil {
		return entriesGetResult{}, err
	}
	audience, err := a.Store.Entries.Audience(ctx, c.Account.ID, entry)
	return entriesGetResult{entry, audience}, err
}

type entriesListParams struct {
	AppID  feedback.ID         `json:"app_id" format:"uuid" doc:"The app."`
	State  feedback.EntryState `json:"state,omitempty" enum:"draft,scheduled,published" doc:"Only entries in this state."`
	Limit  *int                `json:"limit,omitempty" minimum:"1" doc:"Page size: 50 by default, at most 200."`
	Cursor string              `json:"cursor,omitempty" verbatim:"true" doc:"next_cursor of the previous page; includes state."`
}

type entriesListResult struct {
	Entries []feedback.Entry `json:"entries"`
	lists.PageResult
}

func (a *API) entriesList(ctx context.Context, c caller, in entriesListParams) (entriesListResult, error) {
	cur, err := a.cursors.ResumeOf(c.Account.ID, "entries", "entries-list", in.Cursor, in.AppID)
	if err != nil {
		return entriesListResult{}, err
	}
	if in.Cursor == "" {
		cur.About = string(in.State)
	} else if in.State != "" && string(in.State) != cur.About {
		return entriesListResult{}, lists.InvalidCursor("entries")
	}
	cur.SetLimit(in.Limit, lists.DefaultLimit)
	if _, err := a.Store.App(ctx, c.Account.ID, in.AppID); err != nil {
		return entriesListResult{}, err
	}
	if err := a.holdPage(ctx, c, cur.Limit, entryBytes); err != nil {
		return entriesListResult{}, err
	}
	list, total, err := a.Store.Entries.List(ctx, c.Account.ID, in.AppID, feedback.EntryState(cur.About), cur.After, cur.Limit+1)
	if err != nil {
		return entriesListResult{}, err
	}
	list, result, err := lists.Page(a.cursors, cur, list, total, func(cur *lists.Cursor, e feedback.Entry) { cur.After = e.ID })
	return entriesListResult{list, result}, err
}

func (a *API) entriesDelete(ctx context.Context, c caller, in entryParams) (deletedResult, error) {
	err := a.Store.Entries.Delete(ctx, c.Account.ID, in.ID, c.actor())
	return deletedResult{err == nil, in.ID}, err
}

type entriesPublishParams struct {
	ID       feedback.ID    `json:"id" format:"uuid" doc:"The entry."`
	At       *feedback.Time `json:"at,omitempty" format:"date-time" doc:"Publish it then, and not now."`
	Complete bool           `json:"complete,omitempty" doc:"When it is published, set the status of the requests that it is about to completed. entries-get says how many these are."`
	Quiet    bool           `json:"quiet,omitempty" doc:"Do not tell the people who asked for these requests. See Your ideas."`
}

func (a *API) entriesPublish(ctx context.Context, c caller, in entriesPublishParams) (entryResult, error) {
	entry, err := a.Store.Entries.Publish(ctx, c.Account.ID, in.ID, c.acting(in.Quiet), in.At, in.Complete)
	return entryResult{entry}, err
}

// entriesUnpublish does not change a draft, so that callers can repeat a call.
func (a *API) entriesUnpublish(ctx context.Context, c caller, in entryParams) (entryResult, error) {
	entry, err := a.Store.Entries.Change(ctx, c.Account.ID, in.ID, c.actor(), func(e *feedback.Entry) error {
		e.Unpublish()
		return nil
	})
	return entryResult{entry}, err
}

type widgetEntriesParams struct {
	Limit  *int   `json:"limit,omitempty" minimum:"1" doc:"Page size: 10 by default, at most 50."`
	Cursor string `json:"cursor,omitempty" verbatim:"true" doc:"next_cursor of the previous page."`
}

type widgetEntriesResult struct {
	Entries    []entries.PublicEntry `json:"entries" doc:"The latest first."`
	NextCursor string                `json:"next_cursor" doc:"Send it as cursor to get the next page; empty on the last page."`
	HasMore    bool                  `json:"has_more"`
}

func (a *API) widgetEntries(ctx context.Context, v visitor, in widgetEntriesParams) (widgetEntriesResult, error) {
	result := widgetEntriesResult{}
	if err := a.rates.Entries.Allow(v.From, 1, a.Now()); err != nil {
		return result, err
	}
	if !v.app.Settings.AllowsOrigin(v.Origin) {
		return result, feedback.ErrOriginNotAllowed
	}
	cur, err := a.cursors.ResumeOf(v.app.AccountID, "widget", "widget-entries", in.Cursor, v.app.ID)
	if err != nil {
		return result, err
	}
	cur.SetLimit(in.Limit, entriesPage)
	cur.Limit = min(cur.Limit, entries.MaxPage)
	// Strangers have places of their own, so that they cannot take those of users.
	if err := hold(ctx, v.client, a.strangers.Of(limits.Holder{Account: v.app.ID, Session: v.app.ID}), cur.Limit, entryBytes); err != nil {
		return result, err
	}
	var before *entries.Place
	if in.Cursor != "" {
		before = &entries.Place{At: feedback.Time(cur.Number), ID: cur.After}
	}
	list, err := a.Store.Entries.Public(ctx, v.app, before, cur.Limit+1)
	if err != nil {
		return result, err
	}
	list, page, err := lists.Page(a.cursors, cur, list, 0, func(cur *lists.Cursor, e entries.PublicEntry) {
		cur.Number, cur.After = int64(e.PublishedAt), e.ID
	})
	return widgetEntriesResult{list, page.NextCursor, page.HasMore}, err
}
