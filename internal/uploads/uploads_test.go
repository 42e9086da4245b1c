package uploads_test

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"gatherkit/internal/feedback"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
	"gatherkit/internal/uploads"
)

// TestWaitingFilesAreBounded: no more bytes wait to be attached than one address may
// have of them, and those that have not come go when they are old enough.
func TestWaitingFilesAreBounded(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		removed := 0
		r := storetest.NewRig(t, at, func(o *store.Options) {
			o.RemoveFile = func(context.Context, feedback.ID) error {
				removed++
				return nil
			}
		})
		app, other := r.NewApp(r.NewAccount("Acme")), r.NewApp(r.NewAccount("Globex"))
		add := func(app feedback.App, size int64) error {
			file := feedback.Attachment{Filename: "a.png", ContentType: "image/png", Size: size}
			_, err := r.Uploads.Add(t.Context(), app.AccountID, feedback.Upload{AppID: app.ID, Attachment: file})
			return err
		}
		full := func(wanted bool) {
			t.Helper()
			if err := add(app, 1); errors.Is(err, feedback.ErrRateLimited) != wanted || err != nil && !wanted {
				t.Errorf("another file: %v", err)
			}
		}
		if err := errors.Join(add(app, uploads.MaxWaitingOfFrom-uploads.MinWaiting), add(app, 1), add(other, 1)); err != nil {
			t.Fatal(err)
		}
		full(true)
		r.Clock.Move(feedback.SendLife)
		full(true)
		r.Clock.Move(time.Millisecond)
		full(false)
		r.Clock.Move(time.Hour - time.Millisecond)
		if err := r.Sweep(t.Context()); err != nil || removed != 0 {
			t.Errorf("%d files went before their time, %v", removed, err)
		}
		r.Clock.Move(time.Millisecond)
		if err := r.Sweep(t.Context()); err != nil || removed != 3 {
			t.Errorf("%d files went, want 3, %v", removed, err)
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
		attached := arrived(r, app)
		sub := store.Submission{App: app, Request: feedback.NewRequest("T", ""), Attachments: []feedback.ID{attached}}
		if _, err := r.Submit(t.Context(), sub); err != nil {
			t.Fatal(err)
		}
		waiting := arrived(r, app)
		for _, id := range []feedback.ID{attached, waiting} {
			before, err := r.Uploads.Get(t.Context(), account.ID, id)
			if err != nil {
				t.Fatal(err)
			}
			changed := feedback.Upload{Attachment: feedback.Attachment{ID: id, ContentType: "text/plain", Size: 1}}
			by := stranger.ID
			if id == attached {
				by = account.ID
			}
			err = errors.Join(r.Uploads.Save(t.Context(), by, changed),
				r.Uploads.Remove(t.Context(), account.ID, id), r.Uploads.Remove(t.Context(), stranger.ID, id))
			if err != nil {
				t.Error(err)
			}
			now, err := r.Uploads.Get(t.Context(), account.ID, id)
			if err != nil || now.Attachment != before.Attachment || !now.Ready || !reflect.DeepEqual(now.RequestID, before.RequestID) {
				t.Errorf("%+v became %+v, %v", before, now, err)
			}
		}
	})
}

// arrived adds a file that has arrived and waits to be attached.
func arrived(r *storetest.Rig, app feedback.App) feedback.ID {
	r.T.Helper()
	file := feedback.Attachment{Filename: "a.png", ContentType: "image/png", Size: 5}
	u, err := r.Uploads.Add(r.T.Context(), app.AccountID, feedback.Upload{AppID: app.ID, Attachment: file})
	if err != nil {
		r.T.Fatal(err)
	}
	if err := r.Uploads.Save(r.T.Context(), app.AccountID, u); err != nil {
		r.T.Fatal(err)
	}
	return u.ID
}
