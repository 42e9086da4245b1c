package api

import (
	"context"

	"gatherkit/internal/feedback"
	"gatherkit/internal/limits"
	"gatherkit/internal/mail"
	"gatherkit/internal/portal"
)

// notify returns the language in which a submitter gets mail about the request, or "" for none. Strangers can
// enter any address, so an address of theirs can cause only some mails that ask to confirm; the request is
// stored in any case.
func (a *API) notify(v visitor, in widgetSubmitRequestParams, email *string, verified bool) string {
	if !in.Notify || a.Mail == nil || email == nil || !feedback.ValidEmail(*email) {
		return ""
	}
	if !verified && a.rates.Asks.Allow(v.From, a.Now()) != nil {
		return ""
	}
	return portal.Language(in.Locale)
}

// mailLink allows a call to send one more link by mail. It returns ErrMailOff, and ErrRateLimited.
func (a *API) mailLink(c caller, send bool) error {
	switch {
	case !send:
		return nil
	case a.Mail == nil:
		return feedback.ErrMailOff
	}
	return a.rates.Sends.Allow(limits.Holder{Account: c.Account.ID}, 1, a.Now())
}

type mailStatusResult struct {
	Configured bool `json:"configured" doc:"Whether the service sends mail."`
	mail.Status
}

func (a *API) mailStatus(ctx context.Context, c caller, _ none) (mailStatusResult, error) {
	status, err := a.Store.Mail.Status(ctx, c.Account.ID)
	return mailStatusResult{Configured: a.Mail != nil, Status: status}, err
}

type mailSuppressParams struct {
	Email string `json:"email" minLength:"3" maxLength:"254" doc:"The address that takes no mail."`
}

type mailSuppressResult struct {
	Suppressed int64 `json:"suppressed" doc:"In how many apps the address was known."`
}

func (a *API) mailSuppress(ctx context.Context, c caller, in mailSuppressParams) (mailSuppressResult, error) {
	n, err := a.Store.Mail.Suppress(ctx, c.Account.ID, in.Email)
	return mailSuppressResult{n}, err
}

type digestSetParams struct {
	Every mail.Every `json:"every" enum:"never,daily,weekly"`
}

type digestResult struct {
	Every mail.Every `json:"every" enum:"never,daily,weekly"`
}

func (a *API) digestGet(ctx context.Context, c caller, _ none) (digestResult, error) {
	every, err := a.Store.Mail.Digest(ctx, c.Account.ID, c.User.ID)
	return digestResult{every}, err
}

func (a *API) digestSet(ctx context.Context, c caller, in digestSetParams) (digestResult, error) {
	if a.Mail == nil && in.Every != mail.Never {
		return digestResult{}, feedback.ErrMailOff
	}
	return digestResult(in), a.Store.Mail.SetDigest(ctx, c.Account.ID, c.User.ID, in.Every)
}
