package api

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"strings"

	"gatherkit/internal/calls"
	"gatherkit/internal/feedback"
	"gatherkit/internal/lists"
	"gatherkit/internal/portal"
)

const mineCookie = "gatherkit_mine"

// showMine answers GET and POST /mine: the page of a private link. A link has its token in the fragment,
// which browsers do not send. A script posts it, or the person pastes the link. Then a cookie has it until
// the browser is closed.
func (a *API) showMine(c *call, _ string) {
	maps.Copy(c.W.Header(), portal.Headers())
	page, next, err := a.minePage(c)
	if err != nil {
		page.Failure = c.PublicError(err)
	}
	status, code := http.StatusOK, "ok"
	if problem := page.Problem(); problem != nil {
		status, code = problem.Status, problem.Code
		c.SetRetryAfter(problem)
	}
	var text []byte
	if next != "" {
		status = http.StatusSeeOther
		c.W.Header().Set("Location", next)
	} else if text, err = page.Render(c.R.Header.Get("Accept-Language")); err != nil {
		a.answer(c, nil, err)
		return
	}
	c.Send(status, "text/html; charset=utf-8", text)
	c.Record(status, code)
}

// minePage returns the page, or the address to which the browser goes next.
func (a *API) minePage(c *call) (page portal.Mine, next string, err error) {
	defer calls.PanicToError(&err)
	a.setClient(c)
	leave, err := c.Places.Enter(c.client.From)
	if err != nil {
		return page, "", err
	}
	defer leave()
	page = portal.Visit(c.R.URL.Query())
	if cookie, err := c.R.Cookie(mineCookie); err == nil {
		page.Token = cookie.Value
	}
	ctx, cancel := context.WithTimeout(c.R.Context(), calls.BodyTime+calls.Time)
	defer cancel()
	if page.Posted = c.R.Method == http.MethodPost; page.Posted {
		next, err = a.postMine(ctx, c, &page)
	}
	if err != nil || next != "" || page.Token == "" {
		return page, next, err
	}
	err = a.fillMine(ctx, c, &page)
	if page.Cursor != "" && errors.Is(err, lists.InvalidCursor("mine")) { // of another link, for example
		return page, "mine", nil
	}
	return page, "", err
}

// postMine takes a link, sends a reply or forgets the link. It returns where the browser goes next, or ""
// if the page says what is wrong.
func (a *API) postMine(ctx context.Context, c *call, page *portal.Mine) (next string, err error) {
	if err := c.SameSite.Check(c.R); err != nil {
		return "", feedback.ErrForbidden
	}
	if err := a.rates.Mine.Allow(c.client.From, 1, a.Now()); err != nil {
		return "", err
	}
	body, held, err := c.ReadBody(calls.FormType)
	defer c.Bodies.Release(c.client.From, held)
	if err != nil {
		return "", err
	}
	form := portal.ParseForm(body)
	switch {
	case form.Reply != nil:
		page.Cursor, page.Reply = form.Cursor, *form.Reply
		if err := a.replyFrom(ctx, c, page); err != nil {
			page.Reply.Failure = c.PublicError(err)
			return "", nil
		}
	case form.Token == "" && !form.Forget:
		page.Token, page.Pasted = "", form.Pasted
		return "", nil
	default:
		http.SetCookie(c.W, c.Cookie(mineCookie, minePath, form.Token, 0))
	}
	return form.Next(), nil
}

// replyFrom calls mine-reply, which has the rules for a reply.
func (a *API) replyFrom(ctx context.Context, c *call, page *portal.Mine) error {
	body, err := json.Marshal(map[string]string{"token": page.Token, "request_id": page.Reply.RequestID, "body": page.Reply.Body})
	if err != nil {
		return err
	}
	reply := a.ops["mine-reply"]
	in, err := reply.params.Decode(body)
	if err != nil {
		return err
	}
	_, err = reply.call(ctx, c.client, in)
	return err
}

// fillMine reads the person's requests, and marks the news that the page shows as seen.
func (a *API) fillMine(ctx context.Context, c *call, page *portal.Mine) error {
	w, err := a.holderOf(ctx, c.client, page.Token)
	if err != nil {
		return err
	}
	list, err := a.mineOf(ctx, c.client, w, MineParams{Cursor: page.Cursor})
	if err != nil {
		return err
	}
	page.App, page.Color, page.Next = list.AppName, w.App.Settings.Widget.PrimaryColor, list.NextCursor
	page.Unread = int64(list.Unread)
	for _, r := range list.Requests {
		shown := portal.Request{
			ID: r.ID.String(), Title: r.Title, Description: r.Description, Status: r.Status, Label: r.Label,
			Votes: r.Votes, Asked: r.Asked, Merged: r.Merged,
			Unread: r.Unread, CanReply: r.CanReply, CreatedAt: r.CreatedAt, NewsAt: r.NewsAt,
		}
		for _, comment := range r.Comments {
			shown.Comments = append(shown.Comments, portal.Comment{Body: comment.Body, At: comment.At, Own: comment.Mine})
		}
		page.Requests = append(page.Requests, shown)
	}
	// A page that the browser only prepares is not seen yet.
	if until := page.UnseenNews(); until > 0 && c.R.Method == http.MethodGet && !strings.HasPrefix(c.R.Header.Get("Sec-Purpose"), "prefetch") {
		return a.Store.Readers.See(ctx, w, until)
	}
	return nil
}
