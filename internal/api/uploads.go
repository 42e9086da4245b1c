package api

import (
	"context"
	"encoding/binary"
	"errors"

	"gatherkit/internal/blob"
	"gatherkit/internal/feedback"
	"gatherkit/internal/signed"
)

type widgetCreateUploadParams struct {
	Filename    string `json:"filename" lines:"clean" minLength:"1" maxLength:"200" doc:"Without a path. See Files for how it may change."`
	ContentType string `json:"content_type" enum:"image/png,image/jpeg,image/gif,image/webp,application/pdf,text/plain"`
	Size        int64  `json:"size" minimum:"1" maximum:"10485760" doc:"In bytes, at most 10 MiB."`
}

type widgetCreateUploadResult struct {
	Upload uploadTarget `json:"upload"`
}

// uploadTarget says how to send the content of a file.
type uploadTarget struct {
	ID        feedback.ID       `json:"id" format:"uuid" doc:"Send it in attachments of widget-submit-request."`
	URL       string            `json:"url" doc:"Send the bytes to it. Relative without a public URL."`
	Method    string            `json:"method" enum:"PUT"`
	Headers   map[string]string `json:"headers" doc:"Headers to send with the bytes."`
	ExpiresAt feedback.Time     `json:"expires_at" format:"date-time" doc:"All bytes must arrive before this time."`
}

func (a *API) widgetCreateUpload(ctx context.Context, v visitor, in widgetCreateUploadParams) (widgetCreateUploadResult, error) {
	var result widgetCreateUploadResult
	if err := a.rates.Submits.Allow(v.From, 1, a.Now()); err != nil {
		return result, err
	}
	if !v.app.Settings.AllowsOrigin(v.Origin) {
		return result, feedback.ErrOriginNotAllowed
	}
	if err := a.filesAllowed(v.app); err != nil {
		return result, err
	}
	if err := a.rates.Files.Allow(v.From, in.Size, a.Now()); err != nil {
		return result, err
	}
	u := feedback.Upload{AppID: v.app.ID, Sender: a.senderOf(v), Attachment: feedback.Attachment{
		Filename: feedback.CleanFilename(in.Filename), ContentType: in.ContentType, Size: in.Size,
	}}
	u, err := a.Store.Uploads.Add(ctx, v.app.AccountID, u)
	if err != nil {
		return result, err
	}
	until := feedback.At(a.Now().Add(feedback.SendLife))
	url, err := a.Files.Target(ctx, u.ID, u.Size, feedback.SendLife)
	if url == "" {
		link := signed.FileLink{Purpose: signed.ForUpload, AccountID: v.app.AccountID, FileID: u.ID, Until: until}
		url = a.link(uploadPath + link.Text(a.linkKey))
	}
	result.Upload = uploadTarget{u.ID, url, "PUT", map[string]string{"Content-Type": u.ContentType}, until}
	return result, err
}

// senderOf returns a number that identifies an address at an app, to limit its files. It
// reveals neither the address nor whether the address has sent files to other apps.
func (a *API) senderOf(v visitor) int64 {
	sum := signed.MAC(a.linkKey, append([]byte("sender"), v.app.ID.String()+v.From.String()...))
	return int64(binary.BigEndian.Uint64(sum)) //nolint:gosec // a negative number is fine
}

func (a *API) filesAllowed(app feedback.App) error {
	switch {
	case a.Files == nil:
		return feedback.ErrUploadsNotAllowed.With("This service does not store files; the operator can enable file storage with --uploads.")
	case !app.Settings.Widget.AllowFileUploads:
		return feedback.ErrUploadsNotAllowed
	}
	return nil
}

// acceptFiles inspects the files that were sent directly to S3. Missing files are refused by
// the store, in the transaction that attaches them.
func (a *API) acceptFiles(ctx context.Context, app feedback.App, ids []feedback.ID) error {
	if len(ids) == 0 {
		return nil
	}
	if err := a.filesAllowed(app); err != nil {
		return err
	}
	waiting, err := a.Store.Uploads.Waiting(ctx, app.AccountID, app.ID, ids)
	if err != nil {
		return err
	}
	for _, u := range waiting {
		if u.Ready {
			continue
		}
		err := a.acceptFile(ctx, app.AccountID, u)
		var refusal *feedback.Error
		switch {
		case errors.Is(err, blob.ErrNotFound):
			return feedback.Invalid("widget", "attachments", "attachments must be ids of files that have been sent to their URLs.")
		case errors.Is(err, feedback.ErrInvalidFile) && errors.As(err, &refusal):
			return feedback.Invalid("widget", "attachments", "The attachment "+u.Filename+" was refused: "+refusal.Message)
		case err != nil:
			return err
		}
	}
	return nil
}

// acceptFile inspects a file that has arrived, and removes it if it is not valid.
func (a *API) acceptFile(ctx context.Context, accountID feedback.ID, u feedback.Upload) error {
	accepted, err := a.Files.Accept(ctx, u.Attachment)
	if errors.Is(err, feedback.ErrInvalidFile) {
		if err := a.Files.Discard(ctx, u.ID); err != nil {
			return err
		}
		if err := a.Store.Uploads.Remove(ctx, accountID, u.ID); err != nil {
			return err
		}
	}
	if err != nil {
		return a.server.Metrics.FileError("inspect", err)
	}
	u.ContentType, u.Size, u.SHA256 = accepted.ContentType, accepted.Size, accepted.SHA256
	u.Filename = feedback.SafeFilename(u.Filename, u.ContentType)
	return a.Store.Uploads.Save(ctx, accountID, u)
}
