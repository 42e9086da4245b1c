package api

import (
	"context"
	"maps"
	"net/http"
	"strings"

	"gatherkit/internal/feedback"
	"gatherkit/internal/mail"
	"gatherkit/internal/portal"
	"gatherkit/internal/signed"
)

// The pages of the links in mails.
const (
	confirmPath = "/mail/confirm"
	stopPath    = "/mail/stop"
)

// mailPage is a page of a link in a mail.
type mailPage interface {
	Render(acceptLanguage string) ([]byte, error)
}

// showConfirm answers GET and POST of the page that confirms that somebody wants mail. Programs that scan
// mails follow links, so GET changes nothing.
func (a *API) showConfirm(c *call, _ string) {
	var page portal.ConfirmPage
	err := a.mailAct(c, signed.ForConfirm, func(ctx context.Context, link signed.MailLink, do string) error {
		if page.Done = do == portal.DoConfirm; page.Done {
			if err := a.Store.Mail.Confirm(ctx, link); err != nil {
				return err
			}
		}
		visit, err := a.Store.Mail.Visit(ctx, link)
		page.App, page.Color, page.Token = visit.App.Name, visit.App.Settings.Widget.PrimaryColor, c.r.URL.Query().Get("t")
		page.Done = page.Done || visit.State == mail.Confirmed
		return err
	})
	if err != nil {
		page.Failure = a.publicError(c, err)
	}
	a.sendMailPage(c, page, page.Failure)
}

// showStop answers GET and POST of the page that ends mail, or makes it rarer. Programs for mail post to it to
// end mail in one click (RFC 8058).
func (a *API) showStop(c *call, _ string) {
	var page portal.StopPage
	err := a.mailAct(c, signed.ForStop, func(ctx context.Context, link signed.MailLink, do string) (err error) {
		switch page.Done = do; do {
		case portal.DoStop:
			err = a.Store.Mail.Stop(ctx, link)
		case portal.DoSoon:
			err = a.Store.Mail.SetPace(ctx, link, mail.Soon)
		case portal.DoDaily:
			err = a.Store.Mail.SetPace(ctx, link, mail.Daily)
		}
		if err != nil {
			return err
		}
		visit, err := a.Store.Mail.Visit(ctx, link)
		page.App, page.Color, page.Token = visit.App.Name, visit.App.Settings.Widget.PrimaryColor, c.r.URL.Query().Get("t")
		page.Title, page.Daily = visit.Title, visit.Pace == mail.Daily
		if page.Title == "" && visit.State == mail.Stopped {
			page.Done = portal.DoStop
		}
		return err
	})
	if err != nil {
		page.Failure = a.publicError(c, err)
	}
	a.sendMailPage(c, page, page.Failure)
}

// mailAct calls act with the link of a call and what its form wants, or "".
func (a *API) mailAct(c *call, purpose signed.Purpose, act func(context.Context, signed.MailLink, string) error) (err error) {
	defer panicToError(&err)
	maps.Copy(c.w.Header(), portal.Headers())
	a.setClient(c)
	leave, err := a.calls.Enter(c.client.from)
	if err != nil {
		return err
	}
	defer leave()
	if err := a.rates.Mine.Allow(c.client.from, 1, a.Now()); err != nil {
		return err
	}
	link, ok := signed.ParseMailLink(a.mailKey, purpose, c.r.URL.Query().Get("t"))
	if !ok {
		return feedback.ErrMailLinkNotFound
	}
	do := ""
	if c.r.Method == http.MethodPost {
		if do, err = a.mailForm(c); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(c.r.Context(), callTime)
	defer cancel()
	return act(ctx, link, do)
}

func (a *API) mailForm(c *call) (do string, err error) {
	if err := a.sameSite.Check(c.r); err != nil {
		return "", feedback.ErrForbidden
	}
	media := "application/x-www-form-urlencoded"
	if strings.HasPrefix(strings.ToLower(c.r.Header.Get("Content-Type")), "multipart/form-data") {
		media = "multipart/form-data"
	}
	body, held, err := a.readBody(c, media)
	defer a.bodies.Release(c.client.from, held)
	return portal.ParseMailForm(body), err
}

func (a *API) sendMailPage(c *call, page mailPage, failure *feedback.Error) {
	status, code := http.StatusOK, "ok"
	if failure != nil {
		status, code = failure.Status, failure.Code
		setRetryAfter(c.w, failure)
	}
	text, err := page.Render(c.r.Header.Get("Accept-Language"))
	if err != nil {
		a.answer(c, nil, err)
		return
	}
	a.send(c, status, "text/html; charset=utf-8", text)
	a.record(c, c.op.name, status, code)
}
