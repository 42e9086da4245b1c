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

	"gatherkit/internal/feedback"
)

// The paths beside the operations. Links to files and exports are opened by browsers on
// their own, which send no tokens.
const (
	uploadPath     = "/uploads/"
	attachmentPath = "/attachments/"
	configPath     = "/widget/config/"
)

// door is a path that is no operation: what is behind it is no JSON, or opened with GET.
type door struct {
	path string
	op   *op // by which the log and the metrics call it
	open func(c *call, rest string)
}

func (a *API) allDoors() []door {
	return []door{
		{exportPath, &op{name: "export-download"}, a.download},
		{uploadPath, &op{name: "upload"}, a.upload},
		{attachmentPath, &op{name: "attachment-download"}, a.attachment},
		{configPath, &op{name: "widget-config"}, a.widgetConfig},
	}
}

// widgetConfigResult is what the widget needs to know of its app. Browsers load it without
// asking first, and keep it for a minute.
type widgetConfigResult struct {
	AppID   feedback.ID             `json:"app_id"`
	Widget  feedback.WidgetSettings `json:"widget"`
	Sharing string                  `json:"sharing"`
	Uploads uploadRules             `json:"uploads"`
}

// uploadRules say what may be attached.
type uploadRules struct {
	MaxSize      int64    `json:"max_size"`
	MaxCount     int      `json:"max_count"`
	ContentTypes []string `json:"content_types"`
}

// widgetConfig answers GET /widget/config/{api_key}.json.
func (a *API) widgetConfig(c *call, name string) {
	a.cors.HandlerFunc(c.w, c.r)
	if isPreflight(c.r) {
		return
	}
	text, err := a.configOf(c, name)
	if err != nil {
		a.answer(c, nil, err)
		return
	}
	sum := sha256.Sum256(text)
	h := c.w.Header()
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("Cache-Control", "public, max-age=60")
	h.Set("ETag", `"`+hex.EncodeToString(sum[:16])+`"`)
	a.serveWhole(c, bytes.NewReader(text))
}

// serveWhole sends content unless the caller has it already, as its ETag says. Parts of it
// are not to be had, nor conditions to be made: a refusal of theirs would be no envelope.
func (a *API) serveWhole(c *call, content io.ReadSeeker) {
	for _, asked := range []string{"Range", "If-Match", "If-Unmodified-Since"} {
		c.r.Header.Del(asked)
	}
	http.ServeContent(withoutRanges{c.w}, c.r, "", time.Time{}, content)
	a.note(c, c.op.name, http.StatusOK, "ok")
}

// withoutRanges does not promise the parts that ServeContent could send.
type withoutRanges struct{ http.ResponseWriter }

func (w withoutRanges) WriteHeader(status int) {
	w.Header().Set("Accept-Ranges", "none")
	w.ResponseWriter.WriteHeader(status)
}

func (a *API) configOf(c *call, name string) (_ []byte, err error) {
	defer recovered(&err)
	if err := a.mustRead(c); err != nil {
		return nil, err
	}
	if err := a.rates.keyed.allow(a.clientOf(c.r).from, 1, a.Now()); err != nil {
		return nil, err
	}
	key, ok := strings.CutSuffix(name, ".json")
	if !ok {
		return nil, feedback.ErrAppNotFound
	}
	app, err := inTime(c.r.Context(), func(ctx context.Context) (feedback.App, error) { return a.Store.AppByKey(ctx, key) })
	switch {
	case errors.Is(err, feedback.ErrInvalidAPIKey):
		return nil, feedback.ErrAppNotFound.With("There is no app with this API key; copy the current one from the app's settings.")
	case err != nil:
		return nil, err
	case !app.Settings.AllowsOrigin(c.r.Header.Get("Origin")):
		return nil, feedback.ErrOriginNotAllowed
	}
	shown := widgetConfigResult{app.ID, app.Settings.Widget, app.Settings.Sharing, uploadRules{feedback.MaxUpload, feedback.MaxAttachments, feedback.UploadTypes()}}
	shown.Widget.AllowFileUploads = shown.Widget.AllowFileUploads && a.Files != nil
	var text bytes.Buffer
	err = write(&text, shown)
	return text.Bytes(), err
}

// mustRead refuses what is not a GET or a HEAD.
func (a *API) mustRead(c *call) error {
	if c.r.Method != http.MethodGet && c.r.Method != http.MethodHead {
		c.w.Header().Set("Allow", "GET, HEAD")
		return feedback.ErrMethodNotAllowed.With("This address is opened with GET.")
	}
	return nil
}
