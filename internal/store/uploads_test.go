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
		announced, err := r.AddUpload(ctx, account.ID, feedback.Upload{
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

// TestWaitingFilesAreBounded: no more bytes wait to be attached than one address may
// have of them, and those that have not come go when they are old enough.
func TestWaitingFilesAreBounded(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r, removed := newRemovingRig(t, at)
		app, other := r.NewApp(r.NewAccount("Acme")), r.NewApp(r.NewAccount("Globex"))
		add := func(app feedback.App, size int64) error {
			file := feedback.Attachment{Filename: "a.png", ContentType: "image/png", Size: size}
			_, err := r.AddUpload(ctx, app.AccountID, feedback.Upload{AppID: app.ID, Attachment: file})
			return err
		}
		full := func(wanted bool) {
			t.Helper()
			if err := add(app, 1); errors.Is(err, feedback.ErrRateLimited) != wanted || err != nil && !wanted {
				t.Errorf("another file: %v", err)
			}
		}
		if err := errors.Join(add(app, store.MaxWaitingOfFrom-store.MinWaiting), add(app, 1), add(other, 1)); err != nil {
			t.Fatal(err)
		}
		full(true)
		r.Clock.Move(feedback.SendLife)
		full(true)
		r.Clock.Move(time.Millisecond)
		full(false)
		r.Clock.Move(time.Hour - time.Millisecond)
		if err := r.Sweep(ctx); err != nil || *removed != 0 {
			t.Errorf("%d files went before their time, %v", *removed, err)
		}
		r.Clock.Move(time.Millisecond)
		if err := r.Sweep(ctx); err != nil || *removed != 3 {
			t.Errorf("%d files went, want 3, %v", *removed, err)
		}
	})
}

// TestUploadsOfStrangers: what one account does with the id of another account's file
// changes nothing, nor does it change one that is attached.
func TestUploadsOfStrangers(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		account, stranger := r.NewAccount("Acme"), r.NewAccount("Globex")
		app := r.NewApp(account)
		attached := addUpload(r, app)
		sub := store.Submission{App: app, Request: feedback.NewRequest("T", ""), Attachments: []feedback.ID{attached}}
		if _, err := r.Submit(ctx, sub); err != nil {
			t.Fatal(err)
		}
		waiting := addUpload(r, app)
		for _, id := range []feedback.ID{attached, waiting} {
			before, err := r.Upload(ctx, account.ID, id)
			if err != nil {
				t.Fatal(err)
			}
			changed := feedback.Upload{Attachment: feedback.Attachment{ID: id, ContentType: "text/plain", Size: 1}}
			by := stranger.ID
			if id == attached {
				by = account.ID
			}
			err = errors.Join(r.SaveUpload(ctx, by, changed), r.RemoveUpload(ctx, account.ID, id), r.RemoveUpload(ctx, stranger.ID, id))
			if err != nil {
				t.Error(err)
			}
			now, err := r.Upload(ctx, account.ID, id)
			if err != nil || now.Attachment != before.Attachment || !now.Ready || !same(now.RequestID, before.RequestID) {
				t.Errorf("%+v became %+v, %v", before, now, err)
			}
		}
	})
}
