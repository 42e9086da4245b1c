package store_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"gatherkit/internal/feedback"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
)

// TestFilesToAttach: a request gets the files that have come to its app within a day,
// each of them once, and none is stored with a part of the files that it names.
func TestFilesToAttach(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		account := r.NewAccount("Acme")
		app, other := r.NewApp(account), r.NewApp(account)
		stranger := r.NewApp(r.NewAccount("Globex"))
		submit := func(files ...feedback.ID) (feedback.Request, error) {
			return r.Submit(ctx, store.Submission{App: app, Request: feedback.NewRequest("T", ""), Attachments: files})
		}
		first, second := addUpload(r, app), addUpload(r, app)
		got, err := submit(second, first)
		if err != nil || len(got.Attachments) != 2 || got.Attachments[0].ID != second || got.Attachments[1].ID != first {
			t.Errorf("the files are %+v, %v, want them in the submitter's order", got.Attachments, err)
		}
		old := addUpload(r, app)
		r.Clock.Move(feedback.UploadLife + time.Millisecond)
		here, taken := addUpload(r, app), addUpload(r, app)
		if _, err := submit(taken); err != nil {
			t.Fatal(err)
		}
		announced, err := r.Uploads.Add(ctx, account.ID, feedback.Upload{
			AppID: app.ID, Attachment: feedback.Attachment{Filename: "a.png", ContentType: "image/png", Size: 5},
		})
		if err != nil {
			t.Fatal(err)
		}
		for name, file := range map[string]feedback.ID{
			"that has not come": announced.ID, "of another app": addUpload(r, other), "of another account": addUpload(r, stranger),
			"that is attached": taken, "that is too old": old, "that nobody sent": account.ID,
		} {
			if _, err := submit(here, file); !errors.Is(err, feedback.Invalid("widget", "attachments", "")) {
				t.Errorf("a file %s: %v", name, err)
			}
		}
		if n := r.Count("requests"); n != 2 {
			t.Errorf("%d requests, want those that were accepted", n)
		}
		if n := r.Count("uploads WHERE request_id IS NOT NULL"); n != 3 {
			t.Errorf("%d files are attached, want those of the requests", n)
		}
		if _, err := submit(here); err != nil {
			t.Errorf("after the refusals: %v", err)
		}
		r.Clock.Move(-feedback.UploadLife)
		if got, err := submit(old); err != nil || len(got.Attachments) != 1 {
			t.Errorf("in time: %+v, %v", got.Attachments, err)
		}
	})
}

// newRemovingRig is storetest.NewRig with a place for files, and how many were removed from it.
func newRemovingRig(t *testing.T, at storetest.Place) (*storetest.Rig, *int) {
	t.Helper()
	removed := 0
	r := storetest.NewRig(t, at, func(o *store.Options) {
		o.RemoveFile = func(context.Context, feedback.ID) error {
			removed++
			return nil
		}
	})
	return r, &removed
}
