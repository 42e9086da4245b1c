package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"gatherkit/internal/blob"
	"gatherkit/internal/feedback"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
)

// attachFile submits a request with a text file of five bytes. It stores no content if files is nil.
func attachFile(t *testing.T, r *storetest.Rig, app feedback.App, files *blob.Store) feedback.Upload {
	t.Helper()
	u, err := r.Uploads.Add(t.Context(), app.AccountID, feedback.Upload{
		AppID: app.ID, Attachment: feedback.Attachment{Filename: "a\x1b.txt", ContentType: "text/plain", Size: 5},
	})
	if err != nil {
		t.Fatal(err)
	}
	if files != nil {
		if err := files.Receive(t.Context(), u.ID, strings.NewReader("Hello"), u.Size); err != nil {
			t.Fatal(err)
		}
		if _, err := files.Accept(t.Context(), u.Attachment); err != nil {
			t.Fatal(err)
		}
	}
	u.Ready = true
	if err := r.Uploads.Save(t.Context(), app.AccountID, u); err != nil {
		t.Fatal(err)
	}
	submission := store.Submission{App: app, Request: feedback.NewRequest("T", ""), Attachments: []feedback.ID{u.ID}}
	if _, err := r.Submit(t.Context(), submission); err != nil {
		t.Fatal(err)
	}
	return u
}

// newBackup returns a backup of the files in a folder.
func newBackup(t *testing.T, folder string) *fileBackup {
	t.Helper()
	from, err := blob.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	b, err := newFileBackup(from, "", t.TempDir(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestMissingFiles: a backup names ten of the files that the service lacks, and none whose request was
// deleted while it looked for them. It succeeds if it was not told where the files are.
func TestMissingFiles(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		app := r.NewApp(r.NewAccount("Acme"))
		var last feedback.Upload
		for range maxWarnings + 2 {
			last = attachFile(t, r, app, nil)
		}
		var stderr bytes.Buffer
		p := &program{ctx: t.Context(), stderr: &stderr}
		if err := p.copyAndCheck(r.Store, &fileBackup{}); err != nil {
			t.Error(err)
		}
		const text = "gatherkit: warning: the backup has none of the attached files (%d); name their place with --uploads\n"
		warning := fmt.Sprintf(text, maxWarnings+2)
		if stderr.String() != warning {
			t.Errorf("%q, want %q", &stderr, warning)
		}
		stderr.Reset()
		err := p.copyAndCheck(r.Store, newBackup(t, t.TempDir()))
		want := fmt.Sprintf("none of the attached files was found (%d); name their place with --uploads,"+
			" or back up the database with --without-files", maxWarnings+2)
		if err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
		lines := strings.Split(strings.TrimSpace(stderr.String()), "\n")
		if len(lines) != maxWarnings || !strings.HasSuffix(lines[0], `("a\x1b.txt") is missing`) {
			t.Errorf("%d lines: %q", len(lines), lines)
		}
		find := func(u feedback.Upload) (string, error) { return findFault(t.Context(), nil, u) }
		found, err := findFaults(t.Context(), r.Store, find, func(string) {
			r.Exec("UPDATE uploads SET request_id = NULL WHERE account_id = $1 AND id = $2", app.AccountID, last.ID)
		})
		if want := (fileCheck{maxWarnings + 1, maxWarnings + 1, maxWarnings + 1}); err != nil || found != want {
			t.Errorf("%+v, %v; want %+v", found, err, want)
		}
	})
}

// TestFilesDuringBackup: files that arrive while a backup is made cause no warning, and those that
// arrived before its last copy are in it.
func TestFilesDuringBackup(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		app := r.NewApp(r.NewAccount("Acme"))
		b := newBackup(t, t.TempDir())
		before := []feedback.Upload{attachFile(t, r, app, b.from)}
		if err := b.copyAll(t.Context(), r.Store); err != nil || b.files != 1 {
			t.Fatalf("%d files, %v", b.files, err)
		}
		before = append(before, attachFile(t, r, app, b.from))
		var stderr bytes.Buffer
		p := &program{ctx: t.Context(), stderr: &stderr}
		enough, done := make(chan struct{}), make(chan error, 1)
		go func() {
			for {
				select {
				case <-enough:
					close(done)
					return
				default:
				}
				if err := p.copyAndCheck(r.Store, b); err != nil {
					done <- err
					return
				}
			}
		}()
		for range 100 {
			attachFile(t, r, app, b.from)
		}
		close(enough)
		if err := <-done; err != nil || stderr.Len() > 0 {
			t.Errorf("%v, %s", err, &stderr)
		}
		for _, u := range before {
			if size, err := b.to.Size(t.Context(), u.ID); err != nil || size != u.Size {
				t.Errorf("%d bytes, %v", size, err)
			}
		}
	})
}
