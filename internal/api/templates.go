package api

import (
	"context"

	"gatherkit/internal/feedback"
	"gatherkit/internal/templates"
)

type templatesListResult struct {
	Templates []templates.Template `json:"templates" doc:"All of the account, oldest first."`
}

func (a *API) templatesList(ctx context.Context, c caller, _ none) (templatesListResult, error) {
	list, err := a.Store.Templates.List(ctx, c.Account.ID)
	return templatesListResult{list}, err
}

type templateResult struct {
	Template templates.Template `json:"template"`
}

type templatesCreateParams struct {
	Name string `json:"name" minLength:"1" maxLength:"60"`
	Body string `json:"body" minLength:"1" maxLength:"10000" lines:"many" doc:"Markdown, as in comments."`
}

func (a *API) templatesCreate(ctx context.Context, c caller, in templatesCreateParams) (templateResult, error) {
	added, err := a.Store.Templates.Add(ctx, c.Account.ID, in.Name, in.Body)
	return templateResult{added}, err
}

type templatesUpdateParams struct {
	ID   feedback.ID `json:"id" format:"uuid" doc:"The template."`
	Name *string     `json:"name,omitempty" minLength:"1" maxLength:"60"`
	Body *string     `json:"body,omitempty" minLength:"1" maxLength:"10000" lines:"many" doc:"Markdown, as in comments."`
}

func (a *API) templatesUpdate(ctx context.Context, c caller, in templatesUpdateParams) (templateResult, error) {
	changed, err := a.Store.Templates.Change(ctx, c.Account.ID, in.ID, in.Name, in.Body)
	return templateResult{changed}, err
}

type templateParams struct {
	ID feedback.ID `json:"id" format:"uuid" doc:"The template."`
}

func (a *API) templatesDelete(ctx context.Context, c caller, in templateParams) (deletedResult, error) {
	err := a.Store.Templates.Delete(ctx, c.Account.ID, in.ID)
	return deletedResult{err == nil, in.ID}, err
}
