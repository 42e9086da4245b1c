package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"

	"gatherkit/internal/feedback"
)

const (
	// maxWaiting is how many bytes of files of an account wait to be attached: anybody
	// who has an API key can send some, and the disk is for requests.
	maxWaiting = 1 << 30
	// forgottenAfter is when a file goes that was not attached. What is attached at the
	// last moment must not go with it.
	forgottenAfter = feedback.UploadLife + time.Hour
	// uploadChunk is how many files are removed between two looks at what there is.
	uploadChunk = 100
)

const uploadColumns = "id, app_id, request_id, filename, content_type, size, ready"

// AddUpload notes that a file is going to be sent, and gives it its id. It refuses with
// ErrRateLimited when too many bytes of the account wait to be attached.
func (s *Store) AddUpload(ctx context.Context, accountID feedback.ID, u feedback.Upload) (feedback.Upload, error) {
	err := s.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		u.ID = s.ids.New()
		var waiting int64
		err := tx.QueryRowContext(ctx, "SELECT CAST(COALESCE(SUM(size), 0) AS BIGINT) FROM uploads WHERE account_id = $1 AND request_id IS NULL AND id >= $2",
			accountID, feedback.FirstIDAt(s.now().Add(-forgottenAfter))).Scan(&waiting)
		if err != nil {
			return err
		}
		if waiting+u.Size > maxWaiting {
			return feedback.ErrRateLimited.With("Too many files were sent and not attached; try again later.").After(time.Hour)
		}
		_, err = tx.ExecContext(ctx, "INSERT INTO uploads (account_id, "+uploadColumns+") VALUES "+s.dialect.placeholders(1, 8),
			accountID, u.ID, u.AppID, nil, u.Filename, u.ContentType, u.Size, false)
		return err
	})
	return u, err
}

// Upload returns the record of a file, or ErrUploadNotFound.
func (s *Store) Upload(ctx context.Context, accountID, id feedback.ID) (feedback.Upload, error) {
	u, err := scanUpload(s.reader.QueryRowContext(ctx, "SELECT "+uploadColumns+" FROM uploads WHERE account_id = $1 AND id = $2", accountID, id))
	return u, orNotFound(err, feedback.ErrUploadNotFound)
}

// WaitingUploads returns those of the files that an app was sent and that wait to be
// attached, and may still be.
func (s *Store) WaitingUploads(ctx context.Context, accountID, appID feedback.ID, ids []feedback.ID) ([]feedback.Upload, error) {
	p := parameters{accountID, appID, feedback.FirstIDAt(s.now().Add(-feedback.UploadLife))}
	return all(ctx, s.reader, scanUpload, "SELECT "+uploadColumns+` FROM uploads
		WHERE account_id = $1 AND app_id = $2 AND request_id IS NULL AND id >= $3 AND id IN (`+list(&p, ids)+")", p...)
}

// SaveUpload notes that a file has come and passed, what it is, and its name.
func (s *Store) SaveUpload(ctx context.Context, accountID feedback.ID, u feedback.Upload) error {
	return s.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "UPDATE uploads SET content_type = $3, size = $4, ready = $5, filename = $6 WHERE account_id = $1 AND id = $2 AND request_id IS NULL",
			accountID, u.ID, u.ContentType, u.Size, true, u.Filename)
		return err
	})
}

// attachFiles gives new requests their files, and returns which are refused as theirs
// are not there: sent to another app, attached already, or gone.
func (s *Store) attachFiles(ctx context.Context, tx *sql.Tx, subs []Submission, waiting []int, results []submitted, added map[feedback.ID]bool) (map[int]error, error) {
	refused := map[int]error{}
	for _, i := range waiting {
		files, r := subs[i].Attachments, &results[i].request
		if len(files) == 0 || !added[r.ID] {
			continue
		}
		p := parameters{subs[i].App.AccountID, r.AppID, r.ID, true, feedback.FirstIDAt(s.now().Add(-feedback.UploadLife))}
		attached, err := all(ctx, tx, scanUpload, `UPDATE uploads SET request_id = $3 WHERE account_id = $1 AND app_id = $2 AND request_id IS NULL
			AND ready = $4 AND id >= $5 AND id IN (`+list(&p, files)+") RETURNING "+uploadColumns, p...)
		if err != nil {
			return nil, err
		}
		if r.Attachments = inOrder(files, attached); len(r.Attachments) < len(files) {
			refused[i] = feedback.Invalid("widget", "attachments", "attachments must be ids of files that were sent to this app within a day, each for one request.")
			continue
		}
		shown, err := json.Marshal(r.Attachments)
		if err != nil {
			return nil, err
		}
		if _, err := tx.ExecContext(ctx, "UPDATE requests SET attachments = $3 WHERE account_id = $1 AND id = $2", subs[i].App.AccountID, r.ID, string(shown)); err != nil {
			return nil, err
		}
	}
	return refused, nil
}

// inOrder is the files as the submitter has put them.
func inOrder(ids []feedback.ID, uploads []feedback.Upload) []feedback.Attachment {
	attachments := make([]feedback.Attachment, 0, len(ids))
	for _, id := range ids {
		for _, u := range uploads {
			if u.ID == id {
				attachments = append(attachments, u.Attachment)
			}
		}
	}
	return attachments
}

// releaseUploads lets go of the files of requests that go for good. Their ids are so old,
// or their app is so gone, that nobody can attach them again.
func releaseUploads(ctx context.Context, tx *sql.Tx, accountID feedback.ID, requestIDs []feedback.ID) error {
	p := parameters{accountID}
	_, err := tx.ExecContext(ctx, "UPDATE uploads SET request_id = NULL WHERE account_id = $1 AND request_id IN ("+list(&p, requestIDs)+")", p...)
	return err
}

// forgetUploads removes the files that nobody has attached in time, and those whose
// requests are gone: first the bytes, so that no file is left that nothing knows.
func (s *Store) forgetUploads(ctx context.Context, accountID feedback.ID) error {
	if s.removeFile == nil { // there is no place for files
		return nil
	}
	for n := uploadChunk; n == uploadChunk; {
		old, err := all(ctx, s.reader, scanID, "SELECT id FROM uploads WHERE account_id = $1 AND request_id IS NULL AND id < $2 ORDER BY id LIMIT CAST($3 AS BIGINT)",
			accountID, feedback.FirstIDAt(s.now().Add(-forgottenAfter)), uploadChunk)
		if n = len(old); err != nil || n == 0 {
			return err
		}
		for _, id := range old {
			if err := s.removeFile(ctx, id); err != nil {
				return err
			}
		}
		err = s.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
			p := parameters{accountID}
			_, err := tx.ExecContext(ctx, "DELETE FROM uploads WHERE account_id = $1 AND request_id IS NULL AND id IN ("+list(&p, old)+")", p...)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func scanUpload(r row) (u feedback.Upload, err error) {
	err = r.Scan(&u.ID, &u.AppID, &u.RequestID, &u.Filename, &u.ContentType, &u.Size, &u.Ready)
	return u, err
}

// RemoveUpload forgets a file that did not pass. One that did before stays.
func (s *Store) RemoveUpload(ctx context.Context, accountID, id feedback.ID) error {
	return s.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "DELETE FROM uploads WHERE account_id = $1 AND id = $2 AND request_id IS NULL AND ready = $3", accountID, id, false)
		return err
	})
}
