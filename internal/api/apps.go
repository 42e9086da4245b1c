package api

import (
	"context"

	"gatherkit/internal/feedback"
	"gatherkit/internal/lists"
	"gatherkit/internal/quota"
)

type appResult struct {
	App feedback.App `json:"app"`
}

type appParams struct {
	ID feedback.ID `json:"id" format:"uuid" doc:"The app."`
}

type appsCreateParams struct {
	Name string `json:"name" minLength:"1" maxLength:"100"`
}

func (a *API) appsCreate(ctx context.Context, c caller, in appsCreateParams) (appResult, error) {
	app, err := a.Store.AddApp(ctx, c.Account.ID, in.Name, c.actor())
	return appResult{app}, err
}

type appsListParams struct {
	Limit  *int   `json:"limit,omitempty" minimum:"1" doc:"Page size, at most 200; unlimited by default."`
	Cursor string `json:"cursor,omitempty" verbatim:"true" doc:"next_cursor of the previous page."`
}

type appsListResult struct {
	Apps []feedback.App `json:"apps"`
	lists.PageResult
}

func (a *API) appsList(ctx context.Context, c caller, in appsListParams) (appsListResult, error) {
	if only := c.onlyApp(); only != nil {
		return a.appsListOnly(ctx, c, *only)
	}
	cur, _, err := a.cursors.Resume(c.Account.ID, "apps", "apps-list", in.Cursor)
	if err != nil {
		return appsListResult{}, err
	}
	cur.SetLimit(in.Limit, quota.MaxApps)
	total, err := a.Store.CountApps(ctx, c.Account.ID)
	if err != nil {
		return appsListResult{}, err
	}
	const most = maxPages / 3 / rowBytes // the share of a session: few apps are as large as rowBytes
	if err := a.holdPage(ctx, c, min(cur.Limit, int(total), most), rowBytes); err != nil {
		return appsListResult{}, err
	}
	apps, err := a.Store.Apps(ctx, c.Account.ID, cur.After, cur.Limit+1)
	if err != nil {
		return appsListResult{}, err
	}
	apps, result, err := lists.Page(a.cursors, cur, apps, total, func(cur *lists.Cursor, app feedback.App) { cur.After = app.ID })
	return appsListResult{apps, result}, err
}

// appsListOnly returns the list for a token that is limited to an app.
func (a *API) appsListOnly(ctx context.Context, c caller, id feedback.ID) (appsListResult, error) {
	app, err := a.Store.App(ctx, c.Account.ID, id)
	return appsListResult{[]feedback.App{app}, lists.PageResult{TotalCount: 1}}, err
}

func (a *API) appsGet(ctx context.Context, c caller, in appParams) (appResult, error) {
	app, err := a.Store.App(ctx, c.Account.ID, in.ID)
	return appResult{app}, err
}

type appsUpdateParams struct {
	ID   feedback.ID `json:"id" format:"uuid" doc:"The app."`
	Name string      `json:"name" minLength:"1" maxLength:"100"`
}

func (a *API) appsUpdate(ctx context.Context, c caller, in appsUpdateParams) (appResult, error) {
	app, err := a.Store.ChangeApp(ctx, c.Account.ID, in.ID, c.actor(), func(app *feedback.App) error {
		app.Rename(in.Name)
		return nil
	})
	return appResult{app}, err
}

type appsUpdateSettingsParams struct {
	ID       feedback.ID             `json:"id" format:"uuid" doc:"The app."`
	Settings feedback.SettingsChange `json:"settings" doc:"The settings to change."`
}

func (a *API) appsUpdateSettings(ctx context.Context, c caller, in appsUpdateSettingsParams) (appResult, error) {
	if err := in.Settings.Check(); err != nil {
		return appResult{}, err
	}
	app, err := a.Store.ChangeApp(ctx, c.Account.ID, in.ID, c.actor(), func(app *feedback.App) error {
		return app.Configure(in.Settings)
	})
	return appResult{app}, err
}

func (a *API) appsRegenerateKey(ctx context.Context, c caller, in appParams) (appResult, error) {
	key := a.Store.NewAPIKey()
	app, err := a.Store.ChangeApp(ctx, c.Account.ID, in.ID, c.actor(), func(app *feedback.App) error {
		app.Rekey(key)
		return nil
	})
	return appResult{app}, err
}

type deletedResult struct {
	Deleted bool        `json:"deleted"`
	ID      feedback.ID `json:"id" format:"uuid"`
}

func (a *API) appsDelete(ctx context.Context, c caller, in appParams) (deletedResult, error) {
	err := a.Store.DeleteApp(ctx, c.Account.ID, in.ID, c.actor())
	return deletedResult{err == nil, in.ID}, err
}
