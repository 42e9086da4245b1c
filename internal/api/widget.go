package api

import (
	"context"

	"gatherkit/internal/feedback"
	"gatherkit/internal/params"
	"gatherkit/internal/store"
)

type widgetSubmitRequestParams struct {
	Title          string            `json:"title" lines:"clean" minLength:"1" maxLength:"200"`
	Description    string            `json:"description" maxLength:"10000" lines:"many" doc:"May be empty."`
	Email          string            `json:"email,omitempty" lines:"clean" maxLength:"254" doc:"Required if the app's settings require it."`
	Name           string            `json:"name,omitempty" lines:"clean" maxLength:"200"`
	ExternalID     string            `json:"external_id,omitempty" lines:"clean" maxLength:"200" doc:"The person's id in your product."`
	Metadata       feedback.Metadata `json:"metadata,omitempty" verbatim:"true" doc:"Page URL, locale and your own keys."`
	Attachments    params.Files      `json:"attachments,omitempty" doc:"File ids. See Files."`
	IdempotencyKey string            `json:"idempotency_key,omitempty" verbatim:"true" minLength:"1" maxLength:"64" doc:"See Idempotency."`
	IdentityToken  string            `json:"identity_token,omitempty" verbatim:"true" doc:"Replaces email, name, external_id. See Identity."`
	Reader         string            `json:"reader,omitempty" verbatim:"true" doc:"A secret of the browser, which can then ask what becomes of the request. See Your ideas."`
	Notify         bool              `json:"notify,omitempty" doc:"Whether the person wants e-mail about the request. Needs an e-mail address, and has no effect while the service sends no mail. See Mail."`
	Locale         string            `json:"locale,omitempty" maxLength:"35" verbatim:"true" doc:"Language of these e-mails, as a tag such as pt-BR; English by default."`
	Form           *formParams       `json:"form,omitempty" doc:"Its fields website and seconds help to detect spam. See Spam."`
}

// submittedRequest is a new request as its submitter sees it.
type submittedRequest struct {
	ID          feedback.ID     `json:"id" format:"uuid"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	Status      feedback.Status `json:"status" enum:"opened"`
	Votes       int64           `json:"votes"`
	CreatedAt   feedback.Time   `json:"created_at" format:"date-time"`
}

type widgetSubmitRequestResult struct {
	Request submittedRequest `json:"request"`
}

// widgetSubmitRequest answers a repeated submission before it checks limits, settings, files
// and the identity token, because all of them may have changed since the first call.
func (a *API) widgetSubmitRequest(ctx context.Context, v visitor, in widgetSubmitRequestParams) (widgetSubmitRequestResult, error) {
	var result widgetSubmitRequestResult
	if in.Email != "" && !feedback.ValidEmail(in.Email) {
		return result, feedback.Invalid("widget", "email", "email must be an e-mail address such as ada@example.com.")
	}
	if err := in.Metadata.Check(); err != nil {
		return result, err
	}
	reader, err := readerOf(v.app, in.Reader)
	if err != nil {
		return result, err
	}
	submission := store.Submission{App: v.app, Request: in.request(), Attachments: in.Attachments, Reader: reader}
	submission.IdempotencyKey = feedback.StoredKey(v.Origin, in.IdempotencyKey)
	if in.IdempotencyKey != "" {
		first, found, err := a.Store.Submitted(ctx, submission)
		if err != nil || found {
			return submittedResult(first), err
		}
	}
	if err := a.rates.Submits.Allow(v.From, 1, a.Now()); err != nil {
		return result, err
	}
	if !v.app.Settings.AllowsOrigin(v.Origin) {
		return result, feedback.ErrOriginNotAllowed
	}
	email := submission.Request.Submitter.Email
	if in.IdentityToken != "" {
		person, err := a.identify(ctx, v.app, in.IdentityToken)
		if err != nil {
			return result, err
		}
		submission.Identity, email = person, person.Email
		submission.Reader = feedback.ReaderOfPerson(v.app.ID, *person.ExternalID)
	}
	if v.app.Settings.Widget.RequireEmail && email == nil {
		return result, feedback.Invalid("widget", "email", "email is required by this app's settings.")
	}
	if a.looksLikeSpam(v, in) {
		submission.Request.Box = feedback.Quarantine
	}
	if err := a.acceptFiles(ctx, v.app, in.Attachments); err != nil {
		return result, err
	}
	submission.Notify = a.notify(v, in, email, submission.Identity != nil && submission.Identity.Verified)
	r, err := a.Store.Submit(ctx, submission)
	return submittedResult(r), err
}

// request returns the new request. The store sets its id and times.
func (in widgetSubmitRequestParams) request() feedback.Request {
	r := feedback.NewRequest(in.Title, in.Description)
	r.Source = "widget"
	r.Submitter = feedback.Submitter{Email: params.OrNil(in.Email), Name: params.OrNil(in.Name), ExternalID: params.OrNil(in.ExternalID)}
	if in.Metadata != nil {
		r.Metadata = in.Metadata
	}
	return r
}

func submittedResult(r feedback.Request) widgetSubmitRequestResult {
	return widgetSubmitRequestResult{submittedRequest{
		ID: r.ID, Title: r.Title, Description: r.Description, Status: r.Status, Votes: r.Votes, CreatedAt: r.CreatedAt,
	}}
}
