package store_test

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"gatherkit/internal/feedback"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
)

// uploadScans are the plans that walk over all files, and uploadRanges those that walk
// over all files of an account.
var (
	uploadScans  = regexp.MustCompile(`^SCAN uploads\b`)
	uploadRanges = regexp.MustCompile(`\(account_id=\?\)$`)
)

// fileful is an installation that has had a million files, nearly all of them attached:
// of the account itself half of them, and of another one the rest.
type fileful struct {
	*storetest.Big
	waiting []feedback.ID // in the order in which they came
	request feedback.ID   // which has files
}

// newFileful fills the table behind the store's back. A few files wait.
func newFileful(t *testing.T, at storetest.Place) *fileful {
	t.Helper()
	f := &fileful{Big: storetest.NewBigOf(t, at, 3000, 1000)}
	files := 1_000_000
	switch {
	case storetest.RaceDetector && at.Name == "sqlite":
		files /= 20
	case !storetest.InProof():
		files /= 5
	}
	f.request = f.Fill(f.AcmeApps[1], 1).ID
	series := fmt.Sprintf("(WITH RECURSIVE i(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM i WHERE n < %d) SELECT n FROM i)", files)
	id, account := "unhex(printf('%032x', n))", "CASE WHEN n % 2 = 0 THEN $1 ELSE $2 END, $3"
	if at.Name == "postgres" {
		account = "CASE WHEN n % 2 = 0 THEN $1::uuid ELSE $2 END, $3::uuid"
		series, id = fmt.Sprintf("generate_series(1, %d) AS i(n)", files), "lpad(to_hex(n), 32, '0')::uuid"
	}
	other := f.NewAccount("Fileful")
	f.WithoutIndexes("uploads", "uploads", func() {
		if _, err := f.Raw.ExecContext(ctx, `INSERT INTO uploads (account_id, app_id, id, request_id, filename, content_type, size, ready)
			SELECT `+account+`, `+id+`, `+id+`, 'picture.png', 'image/png', 1000, $4 FROM `+series,
			f.Acme.ID, other.ID, f.AcmeApps[1].ID, true); err != nil {
			t.Fatal(err)
		}
	})
	for range 40 {
		u, err := f.Uploads.Add(ctx, f.Acme.ID, feedback.Upload{
			AppID: f.AcmeApps[1].ID, Attachment: feedback.Attachment{Filename: "a", ContentType: "text/plain", Size: 5},
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Uploads.Save(ctx, f.Acme.ID, u); err != nil {
			t.Fatal(err)
		}
		f.waiting = append(f.waiting, u.ID)
	}
	_, err := f.Raw.ExecContext(ctx, "UPDATE uploads SET request_id = $2 WHERE account_id = $1 AND id = $3",
		f.Acme.ID, f.request, f.waiting[39])
	if err != nil {
		t.Fatal(err)
	}
	f.Analyze()
	return f
}

// TestUploadPlans: however many files there are, only those are looked at that wait, or
// that belong to the requests in question.
func TestUploadPlans(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		f := newFileful(t, at)
		primary := map[string]string{"sqlite": "INDEX sqlite_autoindex_uploads_1", "postgres": "uploads_pkey"}[at.Name]
		add := func(s *store.Store) error {
			_, err := s.Uploads.Add(ctx, f.Acme.ID, feedback.Upload{
				AppID: f.AcmeApps[1].ID, Attachment: feedback.Attachment{Filename: "a", ContentType: "text/plain", Size: 5},
			})
			return err
		}
		submit := func(s *store.Store) error {
			_, err := s.Submit(ctx, store.Submission{App: f.AcmeApps[1], Request: feedback.NewRequest("T", ""), Attachments: f.waiting[30:35]})
			return err
		}
		for _, c := range []struct {
			name, part string
			indexes    []string
			call       func(s *store.Store) error
		}{
			{"what waits", "SUM(bytes)", []string{"uploads_waiting"}, add},
			{"one file", "FROM uploads", []string{primary}, func(s *store.Store) error {
				_, err := s.Uploads.GetOutside(ctx, f.Acme.ID, f.waiting[30])
				return err
			}},
			{"files to attach", "FROM uploads", []string{primary, "uploads_waiting"}, func(s *store.Store) error {
				_, err := s.Uploads.Waiting(ctx, f.Acme.ID, f.AcmeApps[1].ID, f.waiting[30:35])
				return err
			}},
			{"that it has come", "SET content_type", []string{primary, "uploads_waiting"}, func(s *store.Store) error {
				file := feedback.Attachment{ID: f.waiting[36], ContentType: "text/plain", Size: 5}
				return s.Uploads.Save(ctx, f.Acme.ID, feedback.Upload{Attachment: file})
			}},
			{"that it is refused", "DELETE FROM uploads", []string{primary, "uploads_waiting"}, func(s *store.Store) error {
				return s.Uploads.Remove(ctx, f.Acme.ID, f.waiting[37])
			}},
			{"attaching", "SET request_id = $3", []string{primary, "uploads_waiting"}, submit},
			{"files of what goes", "SET request_id = NULL", []string{"uploads_request"}, f.purgeBin},
		} {
			f.checkUploads(c.name, c.part, f.During(c.call), c.indexes...)
		}
		f.Clock.Move(26 * time.Hour)
		sent := f.During(sweep)
		f.checkUploads("who has something to forget", "SELECT DISTINCT account_id FROM uploads", sent, "uploads_waiting")
		f.checkUploads("what is forgotten", "SELECT id FROM uploads", sent, "uploads_waiting")
		f.checkUploads("its removal", "DELETE FROM uploads", sent, primary, "uploads_waiting")
	})
}

// purgeBin lets a request with files go for good.
func (f *fileful) purgeBin(s *store.Store) error {
	_, err := f.Raw.ExecContext(ctx, "UPDATE requests SET box = 'bin', updated_at = 0 WHERE id = $1", f.request)
	return errors.Join(err, s.Sweep(ctx))
}

// checkUploads checks the statement that has a part.
func (f *fileful) checkUploads(name, part string, sent []storetest.Statement, indexes ...string) {
	f.T.Helper()
	i := slices.IndexFunc(sent, func(s storetest.Statement) bool { return strings.Contains(s.Query, part) && ours(f.Big, s) })
	if i < 0 {
		f.T.Errorf("%s: no statement has %q", name, part)
		return
	}
	f.CheckPlan(name, sent[i], "uploads", indexes...)
	if f.At.Name != "sqlite" {
		return
	}
	for _, n := range f.Plan(sent[i]) {
		if uploadScans.MatchString(n.Kind) ||
			strings.Contains(n.Kind, "uploads") && !strings.Contains(n.Kind, "uploads_waiting") && uploadRanges.MatchString(n.Kind) {
			f.T.Errorf("%s: the plan has %s", name, n.Kind)
		}
	}
}
