package api

import (
	"context"

	"gatherkit/internal/feedback"
	"gatherkit/internal/store"
)

// A token can be limited to one app. It can call only the operations whose parameters have the method
// within, so an operation without it cannot show or change data of other apps.

// withinApp are parameters of an operation that can be limited to one app.
type withinApp interface {
	// within returns the parameters, limited to the app. It returns the same error for data of other
	// apps as for data that does not exist.
	within(ctx context.Context, only onlyApp) (any, error)
}

// limit returns the parameters of a call as the caller may use them.
func (a *API) limit(ctx context.Context, who, in any) (any, error) {
	c, ok := who.(caller)
	if !ok || c.onlyApp() == nil {
		return in, nil
	}
	limited, ok := in.(withinApp)
	if !ok {
		return nil, feedback.ErrForbidden.With("This token is limited to one app, and this operation is not about one app.")
	}
	return limited.within(ctx, onlyApp{a.Store, c.Account.ID, *c.onlyApp()})
}

// onlyApp checks that parameters are about an app.
type onlyApp struct {
	store         *store.Store
	accountID, id feedback.ID
}

// app returns ErrAppNotFound for another app.
func (o onlyApp) app(id feedback.ID) error {
	if id != o.id {
		return feedback.ErrAppNotFound
	}
	return nil
}

// filter returns the app for a filter, or ErrAppNotFound if the filter is about another one.
func (o onlyApp) filter(id *feedback.ID) (*feedback.ID, error) {
	if id != nil && *id != o.id {
		return nil, feedback.ErrAppNotFound
	}
	return &o.id, nil
}

// requests returns ErrRequestNotFound if one of the requests is not in the app.
func (o onlyApp) requests(ctx context.Context, ids ...feedback.ID) error {
	return o.store.RequestsOfApp(ctx, o.accountID, o.id, ids)
}

func (in appsListParams) within(context.Context, onlyApp) (any, error) {
	return in, nil
}

func (in appParams) within(_ context.Context, o onlyApp) (any, error) {
	return in, o.app(in.ID)
}

func (in appsUpdateParams) within(_ context.Context, o onlyApp) (any, error) {
	return in, o.app(in.ID)
}

func (in requestsCreateParams) within(_ context.Context, o onlyApp) (any, error) {
	return in, o.app(in.AppID)
}

func (in appsUpdateSettingsParams) within(_ context.Context, o onlyApp) (any, error) {
	return in, o.app(in.ID)
}

func (in requestsListParams) within(_ context.Context, o onlyApp) (_ any, err error) {
	in.AppID, err = o.filter(in.AppID)
	return in, err
}

func (in requestsFacetsParams) within(_ context.Context, o onlyApp) (_ any, err error) {
	in.AppID, err = o.filter(in.AppID)
	return in, err
}

func (in requestsExportParams) within(_ context.Context, o onlyApp) (_ any, err error) {
	in.AppID, err = o.filter(in.AppID)
	return in, err
}

func (in requestsStatsParams) within(_ context.Context, o onlyApp) (_ any, err error) {
	in.AppID, err = o.filter(in.AppID)
	return in, err
}

func (in requestsBulkUpdateParams) within(ctx context.Context, o onlyApp) (_ any, err error) {
	if in.Filter != nil {
		filter := *in.Filter
		in.Filter = &filter
		if filter.AppID, err = o.filter(filter.AppID); err != nil {
			return nil, err
		}
	}
	return in, o.requests(ctx, in.IDs...)
}

func (in requestsSimilarParams) within(ctx context.Context, o onlyApp) (_ any, err error) {
	if in.ID != nil {
		return in, o.requests(ctx, *in.ID)
	}
	in.AppID, err = o.filter(in.AppID)
	return in, err
}

func (in requestParams) within(ctx context.Context, o onlyApp) (any, error) {
	return in, o.requests(ctx, in.ID)
}

func (in requestsUpdateParams) within(ctx context.Context, o onlyApp) (any, error) {
	return in, o.requests(ctx, in.ID)
}

func (in requestsMergeParams) within(ctx context.Context, o onlyApp) (any, error) {
	return in, o.requests(ctx, in.ID, in.IntoID)
}

func (in requestsUnmergeParams) within(ctx context.Context, o onlyApp) (any, error) {
	return in, o.requests(ctx, in.ID)
}

func (in requestsHistoryParams) within(ctx context.Context, o onlyApp) (any, error) {
	return in, o.requests(ctx, in.RequestID)
}

func (in votesAddParams) within(ctx context.Context, o onlyApp) (any, error) {
	return in, o.requests(ctx, in.RequestID)
}

func (in votesRemoveParams) within(ctx context.Context, o onlyApp) (any, error) {
	return in, o.requests(ctx, in.RequestID)
}

func (in votesListParams) within(ctx context.Context, o onlyApp) (any, error) {
	return in, o.requests(ctx, in.RequestID)
}

func (in commentsListParams) within(ctx context.Context, o onlyApp) (any, error) {
	return in, o.requests(ctx, in.RequestID)
}

func (in commentsCreateParams) within(ctx context.Context, o onlyApp) (any, error) {
	return in, o.requests(ctx, in.RequestID)
}

func (in commentsUpdateParams) within(ctx context.Context, o onlyApp) (any, error) {
	return in, o.requests(ctx, in.RequestID)
}

func (in commentParams) within(ctx context.Context, o onlyApp) (any, error) {
	return in, o.requests(ctx, in.RequestID)
}

func (in linksAddParams) within(ctx context.Context, o onlyApp) (any, error) {
	return in, o.requests(ctx, in.RequestID)
}

func (in linksRemoveParams) within(ctx context.Context, o onlyApp) (any, error) {
	return in, o.requests(ctx, in.RequestID)
}

// entry returns ErrEntryNotFound if the entry is not of the app.
func (o onlyApp) entry(ctx context.Context, id feedback.ID) error {
	e, err := o.store.Entries.Get(ctx, o.accountID, id)
	if err == nil && e.AppID != o.id {
		err = feedback.ErrEntryNotFound
	}
	return err
}

func (in entriesCreateParams) within(_ context.Context, o onlyApp) (any, error) {
	return in, o.app(in.AppID)
}

func (in entriesListParams) within(_ context.Context, o onlyApp) (any, error) {
	return in, o.app(in.AppID)
}

func (in entriesUpdateParams) within(ctx context.Context, o onlyApp) (any, error) {
	return in, o.entry(ctx, in.ID)
}

func (in entriesPublishParams) within(ctx context.Context, o onlyApp) (any, error) {
	return in, o.entry(ctx, in.ID)
}

func (in entryParams) within(ctx context.Context, o onlyApp) (any, error) {
	return in, o.entry(ctx, in.ID)
}

func (in eventsListParams) within(_ context.Context, o onlyApp) (_ any, err error) {
	in.AppID, err = o.filter(in.AppID)
	return in, err
}

func (in portalCheckParams) within(_ context.Context, o onlyApp) (any, error) {
	return in, o.app(in.AppID)
}

func (in commentsHeldParams) within(_ context.Context, o onlyApp) (_ any, err error) {
	in.AppID, err = o.filter(in.AppID)
	return in, err
}

// held returns ErrCommentNotFound if the held comment is not of the app.
func (o onlyApp) held(ctx context.Context, id feedback.ID) error {
	of, err := o.store.AppOfHeld(ctx, o.accountID, id)
	if err == nil && of != o.id {
		err = feedback.ErrCommentNotFound
	}
	return err
}

func (in heldCommentParams) within(ctx context.Context, o onlyApp) (any, error) {
	return in, o.held(ctx, in.ID)
}

func (in commentsBlockParams) within(ctx context.Context, o onlyApp) (any, error) {
	return in, o.held(ctx, in.ID)
}

func (in peopleBlockParams) within(_ context.Context, o onlyApp) (any, error) {
	return in, o.app(in.AppID)
}

func (in peopleUnblockParams) within(_ context.Context, o onlyApp) (any, error) {
	return in, o.app(in.AppID)
}

func (in appIDParams) within(_ context.Context, o onlyApp) (any, error) {
	return in, o.app(in.AppID)
}

func (in votesDiscardParams) within(ctx context.Context, o onlyApp) (any, error) {
	return in, o.requests(ctx, in.RequestID)
}
