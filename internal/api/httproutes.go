package api

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"gatherkit/internal/calls"
	"gatherkit/internal/feedback"
	"gatherkit/internal/headers"
	"gatherkit/internal/pages"
	"gatherkit/internal/params"
)

// The paths besides the operations and exportPath. Browsers open links to files and exports
// themselves and send no tokens, so the links contain what authorizes them.
const (
	uploadPath     = "/uploads/"
	attachmentPath = "/attachments/"
	configPath     = "/widget/config/"
	confirmPath    = "/mail/confirm"
	stopPath       = "/mail/stop"
	portalPath     = pages.Path
	hostPath       = "/portal-hosts/check"
)

// route is a path prefix that is not an operation: its content is not JSON, or it is called
// with GET.
type route struct {
	path  string
	op    *op // its name in the log and the metrics
	serve func(c *call, rest string)
}

func (a *API) allRoutes() []route {
	return []route{
		{exportPath, &op{name: "export-download"}, a.download},
		{uploadPath, &op{name: "upload"}, a.upload},
		{attachmentPath, &op{name: "attachment-download"}, a.attachment},
		{configPath, &op{name: "widget-config"}, a.widgetConfig},
		{minePath, &op{name: "mine-page"}, a.showMine},
		{confirmPath, &op{name: "mail-confirm-page"}, func(c *call, _ string) { a.portals.Confirm(c.Call) }},
		{stopPath, &op{name: "mail-stop-page"}, func(c *call, _ string) { a.portals.Stop(c.Call) }},
		{portalPath, &op{name: "portal-page"}, func(c *call, rest string) { a.portals.ServeBelow(c.Call, rest) }},
		{hostPath, &op{name: "portal-host-check"}, func(c *call, _ string) { a.answer(c, struct{}{}, a.portals.CheckHost(c.Call)) }},
	}
}

// widgetConfigResult is what the widget needs to know about its app. Browsers load it without
// a preflight and cache it for a minute.
type widgetConfigResult struct {
	AppID   feedback.ID             `json:"app_id" format:"uuid"`
	Widget  feedback.WidgetSettings `json:"widget"`
	Sharing string                  `json:"sharing" enum:"none,triaged,all"`
	Uploads uploadRules             `json:"uploads"`
	Mail    bool                    `json:"mail"` // whether people can ask for e-mail

	LatestEntry *feedback.ID `json:"latest_entry" format:"uuid"` // of the changelog that was published last; null if there is none
}

// uploadRules are the limits on attachments.
type uploadRules struct {
	MaxSize      int64    `json:"max_size"`
	MaxCount     int      `json:"max_count"`
	ContentTypes []string `json:"content_types"`
}

// widgetConfig answers GET /widget/config/{api_key}.json.
func (a *API) widgetConfig(c *call, name string) {
	a.cors.HandlerFunc(c.W, c.R)
	if headers.Preflight(c.R) {
		return
	}
	text, err := a.loadConfig(c, name)
	if err != nil {
		a.answer(c, nil, err)
		return
	}
	sum := sha256.Sum256(text)
	h := c.W.Header()
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("Cache-Control", "public, max-age=60")
	h.Set("ETag", `"`+hex.EncodeToString(sum[:16])+`"`)
	a.serveContent(c, bytes.NewReader(text))
}

// serveContent sends the whole content, unless the client has it already according to its
// ETag. It ignores headers that could make http.ServeContent answer with an error, because
// that would not be an envelope.
func (a *API) serveContent(c *call, content io.ReadSeeker) {
	for _, header := range []string{"Range", "If-Match", "If-Unmodified-Since"} {
		c.R.Header.Del(header)
	}
	sent := c.Client.Waits()
	http.ServeContent(withoutRanges{c.W}, c.R, "", time.Time{}, content)
	sent()
	c.Record(http.StatusOK, "ok")
}

// withoutRanges replaces the header with which http.ServeContent offers ranges.
type withoutRanges struct{ http.ResponseWriter }

func (w withoutRanges) WriteHeader(status int) {
	w.Header().Set("Accept-Ranges", "none")
	w.ResponseWriter.WriteHeader(status)
}

func (a *API) loadConfig(c *call, name string) (_ []byte, err error) {
	defer calls.PanicToError(&err)
	if err := c.RequireGET(); err != nil {
		return nil, err
	}
	a.setClient(c)
	if err := a.rates.Keyed.Allow(c.client.From, 1, a.Now()); err != nil {
		return nil, err
	}
	key, ok := strings.CutSuffix(name, ".json")
	if !ok {
		return nil, feedback.ErrAppNotFound
	}
	app, err := withTimeout(c.R.Context(), func(ctx context.Context) (feedback.App, error) { return a.Store.AppByKey(ctx, key) })
	switch {
	case errors.Is(err, feedback.ErrInvalidAPIKey):
		return nil, feedback.ErrAppNotFound.With("No app has this API key; copy the current one from the app's settings.")
	case err != nil:
		return nil, err
	case !app.Settings.AllowsOrigin(c.R.Header.Get("Origin")):
		return nil, feedback.ErrOriginNotAllowed
	}
	c.Client.Account = app.AccountID
	config := widgetConfigResult{
		AppID: app.ID, Widget: app.Settings.Widget, Sharing: app.Settings.Sharing,
		Uploads: uploadRules{feedback.MaxUpload, feedback.MaxAttachments, feedback.UploadTypes()}, Mail: a.Mail != nil,
	}
	config.LatestEntry, err = withTimeout(c.R.Context(), func(ctx context.Context) (*feedback.ID, error) {
		return a.Store.Entries.Latest(ctx, app.AccountID, app.ID)
	})
	if err != nil {
		return nil, err
	}
	config.Widget.AllowFileUploads = config.Widget.AllowFileUploads && a.Files != nil
	var text bytes.Buffer
	err = params.WriteJSON(&text, config)
	return text.Bytes(), err
}
