package api

import (
	"cmp"
	"context"

	"gatherkit/internal/events"
	"gatherkit/internal/fair"
	"gatherkit/internal/feedback"
	"gatherkit/internal/limits"
	"gatherkit/internal/params"
	"gatherkit/internal/webhook"
)

const (
	defaultAttempts, maxOfAttempts = 20, 100
	// attemptBytes is about how much memory an attempt takes: its payload and the answer.
	attemptBytes = 24 << 10
)

type webhooksListResult struct {
	Webhooks []webhook.Webhook `json:"webhooks" doc:"The oldest first."`
}

func (a *API) webhooksList(ctx context.Context, c caller, _ none) (webhooksListResult, error) {
	list, err := a.Store.Webhooks.List(ctx, c.Account.ID)
	return webhooksListResult{list}, err
}

type webhookParams struct {
	ID feedback.ID `json:"id" format:"uuid" doc:"The webhook."`
}

type webhookResult struct {
	Webhook webhook.Webhook `json:"webhook"`
}

func (a *API) webhooksGet(ctx context.Context, c caller, in webhookParams) (webhookResult, error) {
	w, err := a.Store.Webhooks.Get(ctx, c.Account.ID, in.ID)
	return webhookResult{w}, err
}

type webhooksCreateParams struct {
	Name     string         `json:"name" minLength:"1" maxLength:"60"`
	URL      string         `json:"url" minLength:"1" maxLength:"2048" doc:"Where to send events: an address with https."`
	Format   webhook.Format `json:"format,omitempty" enum:"events,slack,discord,teams" doc:"events by default: signed JSON."`
	AppID    *feedback.ID   `json:"app_id,omitempty" format:"uuid" doc:"Only events of this app."`
	Kinds    []string       `json:"kinds,omitempty" maxItems:"50" doc:"Only these kinds, as in events-list; all by default."`
	Internal bool           `json:"internal,omitempty" doc:"Also internal comments, links to issues, requests in quarantine, and changes of the account."`
}

func (a *API) webhooksCreate(ctx context.Context, c caller, in webhooksCreateParams) (webhookResult, error) {
	w := webhook.Webhook{
		Name: in.Name, URL: in.URL, Format: cmp.Or(in.Format, webhook.Events), AppID: in.AppID, Kinds: append([]string{}, in.Kinds...),
		Internal: in.Internal, State: webhook.On,
	}
	if err := a.checkWebhook(ctx, c, &w.URL, &w.Kinds, w.AppID); err != nil {
		return webhookResult{}, err
	}
	w, err := a.Store.Webhooks.Add(ctx, c.Account.ID, c.actor(), w)
	return webhookResult{w}, err
}

// checkWebhook returns an error if a webhook cannot have these. What is nil does not change.
func (a *API) checkWebhook(ctx context.Context, c caller, url *string, kinds *[]string, appID *feedback.ID) error {
	if url != nil {
		if err := a.Webhooks.CheckURL(*url); err != nil {
			return err
		}
	}
	if kinds != nil {
		if _, ok := events.ParseKinds(*kinds); !ok {
			return feedback.Invalid("webhooks", "kinds", invalidKinds)
		}
	}
	if appID == nil {
		return nil
	}
	_, err := a.Store.App(ctx, c.Account.ID, *appID)
	return err
}

type webhooksUpdateParams struct {
	ID       feedback.ID                  `json:"id" format:"uuid" doc:"The webhook."`
	Name     *string                      `json:"name,omitempty" minLength:"1" maxLength:"60"`
	URL      *string                      `json:"url,omitempty" minLength:"1" maxLength:"2048" doc:"Where to send events: an address with https."`
	AppID    params.Nullable[feedback.ID] `json:"app_id,omitzero" format:"uuid" doc:"Only events of this app; null for all apps."`
	Kinds    *[]string                    `json:"kinds,omitempty" maxItems:"50" doc:"Only these kinds, as in events-list; [] for all."`
	Internal *bool                        `json:"internal,omitempty" doc:"Also internal comments, links to issues, requests in quarantine, and changes of the account."`
	State    *webhook.State               `json:"state,omitempty" enum:"on,paused" doc:"on continues where it stopped, and tries at once."`
}

func (a *API) webhooksUpdate(ctx context.Context, c caller, in webhooksUpdateParams) (webhookResult, error) {
	w, err := a.Store.Webhooks.Change(ctx, c.Account.ID, c.actor(), in.ID, func(w *webhook.Webhook) error {
		if in.Name != nil {
			w.Name = *in.Name
		}
		if in.URL != nil {
			w.URL = *in.URL
		}
		var appID *feedback.ID
		if app := in.AppID.Change(); app != nil {
			appID = *app
			w.AppID = appID
		}
		if in.Kinds != nil {
			w.Kinds = append([]string{}, *in.Kinds...)
		}
		if in.Internal != nil {
			w.Internal = *in.Internal
		}
		if in.State != nil {
			w.State = *in.State
			w.Health.RetryAt = nil
		}
		return a.checkWebhook(ctx, c, in.URL, in.Kinds, appID)
	})
	return webhookResult{w}, err
}

func (a *API) webhooksDelete(ctx context.Context, c caller, in webhookParams) (deletedResult, error) {
	err := a.Store.Webhooks.Remove(ctx, c.Account.ID, c.actor(), in.ID)
	return deletedResult{err == nil, in.ID}, err
}

type webhooksSecretParams struct {
	ID     feedback.ID `json:"id" format:"uuid" doc:"The webhook."`
	Rotate bool        `json:"rotate,omitempty" doc:"Create a new secret. The old one keeps working for 24 hours."`
}

func (a *API) webhooksSecret(ctx context.Context, c caller, in webhooksSecretParams) (webhook.Secret, error) {
	return a.Store.Webhooks.Secret(ctx, c.Account.ID, c.actor(), in.ID, in.Rotate)
}

type attemptResult struct {
	Attempt webhook.Attempt `json:"attempt"`
}

func (a *API) webhooksTest(ctx context.Context, c caller, in webhookParams) (attemptResult, error) {
	if err := a.allowSend(ctx, c); err != nil {
		return attemptResult{}, err
	}
	attempt, err := a.Webhooks.Test(ctx, c.Account.ID, in.ID)
	return attemptResult{attempt}, err
}

// allowSend returns ErrRateLimited if the account has caused too many calls of endpoints.
func (a *API) allowSend(ctx context.Context, c caller) error {
	err := a.rates.Sends.Allow(limits.Holder{Account: c.Account.ID}, 1, a.Now())
	if err == nil {
		c.leave() // an endpoint can take long, and others at this address and in this account need the places
		fair.Pause(ctx)
	}
	return err
}

type webhooksResendParams struct {
	ID     feedback.ID `json:"id" format:"uuid" doc:"The webhook."`
	Number int64       `json:"number" minimum:"1" doc:"The number of the event."`
}

func (a *API) webhooksResend(ctx context.Context, c caller, in webhooksResendParams) (attemptResult, error) {
	if err := a.allowSend(ctx, c); err != nil {
		return attemptResult{}, err
	}
	attempt, err := a.Webhooks.Resend(ctx, c.Account.ID, in.ID, in.Number)
	return attemptResult{attempt}, err
}

type webhooksRewindParams struct {
	ID    feedback.ID `json:"id" format:"uuid" doc:"The webhook."`
	After int64       `json:"after" minimum:"0" doc:"Deliver everything after this number of the log."`
}

func (a *API) webhooksRewind(ctx context.Context, c caller, in webhooksRewindParams) (webhookResult, error) {
	if err := a.rates.Rewinds.Allow(limits.Holder{Account: c.Account.ID}, 1, a.Now()); err != nil {
		return webhookResult{}, err
	}
	w, err := a.Store.Webhooks.Rewind(ctx, c.Account.ID, c.actor(), in.ID, in.After)
	return webhookResult{w}, err
}

type webhooksAttemptsParams struct {
	ID     feedback.ID  `json:"id" format:"uuid" doc:"The webhook."`
	Before *feedback.ID `json:"before,omitempty" format:"uuid" doc:"Only attempts before this one: the last of the previous page."`
	Limit  *int         `json:"limit,omitempty" minimum:"1" doc:"Page size: 20 by default, at most 100."`
}

type webhooksAttemptsResult struct {
	Attempts []webhook.Attempt `json:"attempts" doc:"The latest first. Failed ones are kept for 30 days and others for 7, at most 10,000."`
	More     bool              `json:"more" doc:"Whether there are earlier ones."`
}

func (a *API) webhooksAttempts(ctx context.Context, c caller, in webhooksAttemptsParams) (webhooksAttemptsResult, error) {
	limit := defaultAttempts
	if in.Limit != nil {
		limit = min(*in.Limit, maxOfAttempts)
	}
	if err := a.holdPage(ctx, c, limit+1, attemptBytes); err != nil {
		return webhooksAttemptsResult{}, err
	}
	list, err := a.Store.Webhooks.Attempts(ctx, c.Account.ID, in.ID, in.Before, limit+1)
	return webhooksAttemptsResult{list[:min(limit, len(list))], len(list) > limit}, err
}
