package api

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"

	"gatherkit/internal/feedback"
	"gatherkit/internal/index"
	"gatherkit/internal/lists"
	"gatherkit/internal/params"
	"gatherkit/internal/views"
)

// View is a saved view as answers have it.
type View struct {
	ID        feedback.ID         `json:"id" format:"uuid"`
	Name      string              `json:"name"`
	Shared    bool                `json:"shared" doc:"Whether it is a view of the team, and not your own."`
	Filter    lists.RequestsWhere `json:"filter" doc:"As in requests-list."`
	Sort      index.Sort          `json:"sort" enum:"newest,oldest,most_voted,recently_updated,relevance"`
	Default   bool                `json:"default" doc:"Whether you see it first."`
	CreatedAt feedback.Time       `json:"created_at" format:"date-time"`
	UpdatedAt feedback.Time       `json:"updated_at" format:"date-time"`
}

func shownView(v views.View) (View, error) {
	shown := View{
		ID: v.ID, Name: v.Name, Shared: v.Shared, Sort: index.Sort(v.Sort), Default: v.Default, CreatedAt: v.CreatedAt, UpdatedAt: v.UpdatedAt,
	}
	return shown, json.Unmarshal(v.Filter, &shown.Filter)
}

type viewsListResult struct {
	Views []View `json:"views" doc:"Those of the team and then your own, both in their order."`
}

func (a *API) viewsList(ctx context.Context, c caller, _ none) (viewsListResult, error) {
	list, err := a.Store.Views.List(ctx, c.Account.ID, c.User.ID)
	result := viewsListResult{make([]View, 0, len(list))}
	for _, v := range list {
		shown, faulty := shownView(v)
		err = errors.Join(err, faulty)
		result.Views = append(result.Views, shown)
	}
	return result, err
}

type viewResult struct {
	View View `json:"view"`
}

func viewAnswer(v views.View, err error) (viewResult, error) {
	if err != nil {
		return viewResult{}, err
	}
	shown, err := shownView(v)
	return viewResult{shown}, err
}

type viewsCreateParams struct {
	Name    string               `json:"name" minLength:"1" maxLength:"60"`
	Shared  bool                 `json:"shared,omitempty" doc:"Make it a view of the team."`
	Filter  *lists.RequestsWhere `json:"filter,omitempty" doc:"As in requests-list."`
	Sort    index.Sort           `json:"sort,omitempty" enum:"newest,oldest,most_voted,recently_updated,relevance" doc:"The order; newest by default."`
	Default bool                 `json:"default,omitempty" doc:"See it first."`
}

func (a *API) viewsCreate(ctx context.Context, c caller, in viewsCreateParams) (viewResult, error) {
	v := views.View{Name: in.Name, Shared: in.Shared, Sort: string(cmp.Or(in.Sort, index.Newest)), Default: in.Default}
	var err error
	if v.Filter, err = savedFilter(in.Filter); err != nil {
		return viewResult{}, err
	}
	if err := c.mayChange(v); err != nil {
		return viewResult{}, err
	}
	return viewAnswer(a.Store.Views.Add(ctx, c.Account.ID, c.User.ID, v))
}

// savedFilter returns a filter as it is stored, or views.invalid_filter.
func savedFilter(where *lists.RequestsWhere) ([]byte, error) {
	if where == nil {
		where = &lists.RequestsWhere{}
	}
	if _, err := where.Filter("views", "filter."); err != nil {
		return nil, err
	}
	return json.Marshal(where)
}

// mayChange returns ErrForbidden if the caller may not change the view.
func (c caller) mayChange(v views.View) error {
	if v.Shared && !c.Role.Allows(feedback.RoleMember) {
		return feedback.ErrForbidden.With("Changing a view of the team needs the role member or above; yours is %s.", c.Role)
	}
	return nil
}

type viewsUpdateParams struct {
	ID      feedback.ID                  `json:"id" format:"uuid" doc:"The view."`
	Name    *string                      `json:"name,omitempty" minLength:"1" maxLength:"60"`
	Shared  *bool                        `json:"shared,omitempty" doc:"Make it a view of the team, or your own."`
	Filter  *lists.RequestsWhere         `json:"filter,omitempty" doc:"Replaces the filter. As in requests-list."`
	Sort    *index.Sort                  `json:"sort,omitempty" enum:"newest,oldest,most_voted,recently_updated,relevance" doc:"The order."`
	Default *bool                        `json:"default,omitempty" doc:"See it first, or no longer."`
	After   params.Nullable[feedback.ID] `json:"after,omitzero" format:"uuid" doc:"Move it behind this view; null moves it to the beginning."`
}

func (a *API) viewsUpdate(ctx context.Context, c caller, in viewsUpdateParams) (viewResult, error) {
	var filter []byte
	if in.Filter != nil {
		var err error
		if filter, err = savedFilter(in.Filter); err != nil {
			return viewResult{}, err
		}
	}
	var after *feedback.ID
	if moved := in.After.Change(); moved != nil {
		if after = *moved; after == nil {
			after = &feedback.ID{}
		}
	}
	return viewAnswer(a.Store.Views.Change(ctx, c.Account.ID, c.User.ID, in.ID, after, func(v *views.View) error {
		old := *v
		if in.Name != nil {
			v.Name = *in.Name
		}
		if in.Shared != nil {
			v.Shared = *in.Shared
		}
		if filter != nil {
			v.Filter = filter
		}
		if in.Sort != nil {
			v.Sort = string(*in.Sort)
		}
		if in.Default != nil {
			v.Default = *in.Default
		}
		if in.Name == nil && in.Shared == nil && filter == nil && in.Sort == nil && after == nil {
			return nil // what each user sees first is their own choice
		}
		return cmp.Or(c.mayChange(old), c.mayChange(*v))
	}))
}

type viewParams struct {
	ID feedback.ID `json:"id" format:"uuid" doc:"The view."`
}

func (a *API) viewsDelete(ctx context.Context, c caller, in viewParams) (deletedResult, error) {
	err := a.Store.Views.Delete(ctx, c.Account.ID, c.User.ID, in.ID, c.mayChange)
	return deletedResult{err == nil, in.ID}, err
}
