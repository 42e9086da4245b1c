package pages

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"

	"gatherkit/internal/calls"
	"gatherkit/internal/feedback"
	"gatherkit/internal/mail"
	"gatherkit/internal/portal"
	"gatherkit/internal/signed"
)

// Confirm answers GET and POST of the page that confirms that somebody wants mail. Programs that scan
// mails follow links, so GET changes nothing.
func (p *Pages) Confirm(c *calls.Call) {
	var page portal.ConfirmPage
	err := p.mailAct(c, signed.ForConfirm, func(ctx context.Context, link signed.MailLink, do string) error {
		if page.Done = do == portal.DoConfirm; page.Done {
			if err := p.Store.Mail.Confirm(ctx, link); err != nil {
				return err
			}
		}
		visit, err := p.Store.Mail.Visit(ctx, link)
		page.App, page.Color, page.Token = visit.App.PublicName(), visit.App.Settings.Widget.PrimaryColor, c.R.URL.Query().Get("t")
		page.Done = page.Done || visit.State == mail.Confirmed
		return err
	})
	if err != nil {
		page.Failure = c.PublicError(err)
	}
	sendMailPage(c, page, page.Failure)
}

// Stop answers GET and POST of the page that ends mail, or makes it rarer. Programs for mail post to it to
// end mail in one click (RFC 8058).
func (p *Pages) Stop(c *calls.Call) {
	var page portal.StopPage
	err := p.mailAct(c, signed.ForStop, func(ctx context.Context, link signed.MailLink, do string) (err error) {
		switch page.Done = do; do {
		case portal.DoStop:
			err = p.Store.Mail.Stop(ctx, link)
		case portal.DoSoon:
			err = p.Store.Mail.SetPace(ctx, link, mail.Soon)
		case portal.DoDaily:
			err = p.Store.Mail.SetPace(ctx, link, mail.Daily)
		}
		if err != nil {
			return err
		}
		visit, err := p.Store.Mail.Visit(ctx, link)
		page.App, page.Color, page.Token = visit.App.PublicName(), visit.App.Settings.Widget.PrimaryColor, c.R.URL.Query().Get("t")
		page.Title, page.Daily = visit.Title, visit.Pace == mail.Daily
		if page.Title == "" && visit.State == mail.Stopped {
			page.Done = portal.DoStop
		}
		return err
	})
	if err != nil {
		page.Failure = c.PublicError(err)
	}
	sendMailPage(c, page, page.Failure)
}

// mailAct calls act with the link of a call and what its form wants, or "".
func (p *Pages) mailAct(c *calls.Call, purpose signed.Purpose, act func(context.Context, signed.MailLink, string) error) (err error) {
	defer calls.PanicToError(&err)
	maps.Copy(c.W.Header(), portal.Headers())
	c.SetClient()
	leave, err := c.Places.Enter(c.Client.From)
	if err != nil {
		return err
	}
	defer leave()
	if err := p.Rates.Mine.Allow(c.Client.From, 1, p.Now()); err != nil {
		return err
	}
	link, ok := signed.ParseMailLink(p.MailKey, purpose, c.R.URL.Query().Get("t"))
	if !ok {
		return feedback.ErrMailLinkNotFound
	}
	do := ""
	if c.R.Method == http.MethodPost {
		if do, err = mailForm(c); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(c.R.Context(), calls.Time)
	defer cancel()
	if err = act(ctx, link, do); err == nil {
		c.Client.Account = link.AccountID
	}
	return err
}

// oneClickTypes are the types of what programs post to end mail in one click, besides calls.FormType. RFC 8058 knows only
// the first one.
var oneClickTypes = []string{"multipart/form-data", "text/plain", ""}

func mailForm(c *calls.Call) (do string, err error) {
	if err := c.SameSite.Check(c.R); err != nil {
		return "", feedback.ErrForbidden.With("This form was sent from another site; open the link in your e-mail again.")
	}
	media := calls.FormType
	sent, _, _ := strings.Cut(c.R.Header.Get("Content-Type"), ";")
	if sent = strings.ToLower(strings.TrimSpace(sent)); slices.Contains(oneClickTypes, sent) {
		media = sent
	}
	body, held, err := c.ReadBody(media)
	defer c.Bodies.Release(c.Client.From, held)
	if errors.Is(err, feedback.ErrUnsupportedMediaType) {
		err = feedback.ErrUnsupportedMediaType.With("Send a form with List-Unsubscribe=One-Click or an empty body, without Content-Encoding.")
	}
	return portal.ParseMailForm(body), err
}

func sendMailPage(c *calls.Call, page rendered, failure *feedback.Error) {
	status, code := http.StatusOK, "ok"
	if failure != nil {
		status, code = failure.Status, failure.Code
		c.SetRetryAfter(failure)
	}
	text, err := drawn(func() ([]byte, error) { return page.Render(c.R.Header.Get("Accept-Language")) })
	if err != nil { // a bug: the templates are embedded
		c.Log.Error("cannot render a page", c.Logged("error", err)...)
		status, code, text = feedback.ErrInternal.Status, feedback.ErrInternal.Code, []byte(feedback.ErrInternal.Message)
	}
	c.Send(status, htmlType, text)
	c.Record(status, code)
}
