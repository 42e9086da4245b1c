package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"gatherkit/internal/feedback"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
)

// TestMissingFiles: a backup names ten of the files that the service lacks, and none whose request was
// deleted while it looked for them.
func TestMissingFiles(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		app := r.NewApp(r.NewAccount("Acme"))
		var last feedback.Upload
		for range maxWarnings + 2 {
			u, err := r.Uploads.Add(t.Context(), app.AccountID, feedback.Upload{
				AppID: app.ID, Attachment: feedback.Attachment{Filename: "a\x1b.txt", ContentType: "text/plain", Size: 5},
			})
			if err != nil {
				t.Fatal(err)
			}
			u.Ready = true
			if err := r.Uploads.Save(t.Context(), app.AccountID, u); err != nil {
				t.Fatal(err)
			}
			submission := store.Submission{App: app, Request: feedback.NewRequest("T", ""), Attachments: []feedback.ID{u.ID}}
			if _, err := r.Submit(t.Context(), submission); err != nil {
				t.Fatal(err)
			}
			last = u
		}
		var stderr bytes.Buffer
		p := &program{ctx: t.Context(), stderr: &stderr}
		err := p.checkFiles(r.Store, nil)
		want := fmt.Sprintf("none of the attached files was found (%d); name their place with --uploads", maxWarnings+2)
		if err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
		lines := strings.Split(strings.TrimSpace(stderr.String()), "\n")
		if len(lines) != maxWarnings || !strings.HasSuffix(lines[0], `("a\x1b.txt") is missing`) {
			t.Errorf("%d lines: %q", len(lines), lines)
		}
		found, err := findFaults(t.Context(), r.Store, nil, func(string) {
			r.Exec("UPDATE uploads SET request_id = NULL WHERE account_id = $1 AND id = $2", app.AccountID, last.ID)
		})
		if want := (fileCheck{maxWarnings + 1, maxWarnings + 1}); err != nil || found != want {
			t.Errorf("%+v, %v; want %+v", found, err, want)
		}
	})
}
