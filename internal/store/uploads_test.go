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
		r := newRig(t, at)
		account := r.account("Acme")
		app, other := r.app(account), r.app(account)
		stranger := r.app(r.account("Globex"))
		submit := func(files ...feedback.ID) (feedback.Request, error) {
			return r.Submit(ctx, store.Submission{App: app, Request: feedback.NewRequest("T", ""), Attachments: files})
		}
		first, second := r.upload(app), r.upload(app)
		got, err := submit(second, first)
		if err != nil || len(got.Attachments) != 2 || got.Attachments[0].ID != second || got.Attachments[1].ID != first {
			t.Errorf("the files are %+v, %v, want them in the submitter's order", got.Attachments, err)
		}
		old := r.upload(app)
		r.clock.Move(feedback.UploadLife + time.Millisecond)
		here, taken := r.upload(app), r.upload(app)
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
			"that has not come": announced.ID, "of another app": r.upload(other), "of another account": r.upload(stranger),
			"that is attached": taken, "that is too old": old, "that nobody sent": account.ID,
		} {
			if _, err := submit(here, file); !errors.Is(err, feedback.Invalid("widget", "attachments", "")) {
				t.Errorf("a file %s: %v", name, err)
			}
		}
		if n := r.count("requests"); n != 2 {
			t.Errorf("%d requests, want those that were accepted", n)
		}
		if n := r.count("uploads WHERE request_id IS NOT NULL"); n != 3 {
			t.Errorf("%d files are attached, want those of the requests", n)
		}
		if _, err := submit(here); err != nil {
			t.Errorf("after the refusals: %v", err)
		}
		r.clock.Move(-feedback.UploadLife)
		if got, err := submit(old); err != nil || len(got.Attachments) != 1 {
			t.Errorf("in time: %+v, %v", got.Attachments, err)
		}
	})
}

// newRemovingRig is newRig with a place for files, and how many were removed from it.
func newRemovingRig(t *testing.T, at storetest.Place) (*rig, *int) {
	t.Helper()
	clock, removed := storetest.NewClock(), 0
	s := at.Open(t, clock.Now, func(o *store.Options) {
		o.RemoveFile = func(context.Context, feedback.ID) error {
			removed++
			return nil
		}
	})
	return &rig{s, t, at, clock, at.Raw(t)}, &removed
}

// TestWaitingFilesAreBounded: no more bytes wait to be attached than one address may
// have of them, and those that have not come go when they are old enough.
func TestWaitingFilesAreBounded(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r, removed := newRemovingRig(t, at)
		app, other := r.app(r.account("Acme")), r.app(r.account("Globex"))
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
		r.clock.Move(feedback.SendLife)
		full(true)
		r.clock.Move(time.Millisecond)
		full(false)
		r.clock.Move(time.Hour - time.Millisecond)
		if err := r.Sweep(ctx); err != nil || *removed != 0 {
			t.Errorf("%d files went before their time, %v", *removed, err)
		}
		r.clock.Move(time.Millisecond)
		if err := r.Sweep(ctx); err != nil || *removed != 3 {
			t.Errorf("%d files went, want 3, %v", *removed, err)
		}
	})
}

// TestUploadsOfStrangers: what one account does with the id of another account's file
// changes nothing, nor does it change one that is attached.
func TestUploadsOfStrangers(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := newRig(t, at)
		account, stranger := r.account("Acme"), r.account("Globex")
		app := r.app(account)
		attached := r.upload(app)
		sub := store.Submission{App: app, Request: feedback.NewRequest("T", ""), Attachments: []feedback.ID{attached}}
		if _, err := r.Submit(ctx, sub); err != nil {
			t.Fatal(err)
		}
		waiting := r.upload(app)
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
