package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
)

const (
	// maxWaiting is the maximum number of bytes in files of an account that are waiting to be
	// attached, as anybody who has an API key could fill the disk. One app may use half of
	// it, and one address a quarter of the app's share.
	maxWaiting       = 1 << 30
	maxWaitingOfApp  = maxWaiting / 2
	maxWaitingOfFrom = maxWaitingOfApp / 4
	// minWaiting is the size that smaller files count as. It limits the number of waiting
	// files, so that their sum stays cheap.
	minWaiting = 64 << 10
	// uploadGrace is how long an expired file is kept, so that one that arrives or is attached
	// at the last moment is not deleted.
	uploadGrace = time.Hour
	keepWaiting = feedback.UploadLife + uploadGrace
	// uploadChunk is the number of files that a step of sweepUploads deletes.
	uploadChunk = 100
)

const uploadColumns = "id, app_id, request_id, filename, content_type, size, ready"

// AddUpload stores the record of a file that a client is about to send, and sets its id. It
// returns ErrRateLimited if the account, the app or the sender has too many bytes waiting to
// be attached. A file that has not arrived counts for as long as it can be sent.
func (s *Store) AddUpload(ctx context.Context, accountID feedback.ID, u feedback.Upload) (feedback.Upload, error) {
	err := s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		u.ID = s.ids.New()
		if err := s.checkWaiting(ctx, tx, accountID, u); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "INSERT INTO uploads (account_id, "+uploadColumns+", sender) VALUES "+s.db.Placeholders(1, 9),
			accountID, u.ID, u.AppID, nil, u.Filename, u.ContentType, u.Size, false, u.Sender)
		return err
	})
	return u, err
}

// checkWaiting returns ErrRateLimited if the file would exceed a limit of waiting bytes.
func (s *Store) checkWaiting(ctx context.Context, tx *sql.Tx, accountID feedback.ID, u feedback.Upload) error {
	var ofAccount, ofApp, ofFrom int64
	now := s.now()
	err := tx.QueryRowContext(ctx, `SELECT CAST(COALESCE(SUM(bytes), 0) AS BIGINT),
			CAST(COALESCE(SUM(CASE WHEN app_id = $5 THEN bytes ELSE 0 END), 0) AS BIGINT),
			CAST(COALESCE(SUM(CASE WHEN app_id = $5 AND sender = $6 THEN bytes ELSE 0 END), 0) AS BIGINT)
		FROM (SELECT app_id, sender, CASE WHEN size < $7 THEN $7 ELSE size END AS bytes FROM uploads
			WHERE account_id = $1 AND request_id IS NULL AND id >= $2 AND (ready = $3 OR id >= $4)) AS waiting`,
		accountID, feedback.FirstIDAt(now.Add(-keepWaiting)), true, feedback.FirstIDAt(now.Add(-s.unsentLife)),
		u.AppID, u.Sender, int64(minWaiting)).Scan(&ofAccount, &ofApp, &ofFrom)
	size := max(u.Size, minWaiting)
	tooMany := func(text string) error { return feedback.ErrRateLimited.With("%s", text).After(feedback.SendLife) }
	switch {
	case err != nil:
		return err
	case ofFrom+size > maxWaitingOfFrom:
		return tooMany("Too many files from your address are not attached to a request yet; submit those requests, or try again later.")
	case ofApp+size > maxWaitingOfApp || ofAccount+size > maxWaiting:
		return tooMany("Too many files are not attached to a request yet; submit your request without this one, or try again later.")
	}
	return nil
}

// Upload returns the record of a file. It returns ErrUploadNotFound if there is none.
func (s *Store) Upload(ctx context.Context, accountID, id feedback.ID) (feedback.Upload, error) {
	u, err := scanUpload(s.db.Reader().QueryRowContext(ctx, "SELECT "+uploadColumns+" FROM uploads"+
		" WHERE account_id = $1 AND id = $2", accountID, id))
	return u, orNotFound(err, feedback.ErrUploadNotFound)
}

// EachFile calls fn for each file that has arrived and is attached to a request or may still be. It
// stops at the first error and returns it.
func (s *Store) EachFile(ctx context.Context, fn func(accountID feedback.ID, u feedback.Upload) error) error {
	accounts, err := s.accountIDs(ctx)
	if err != nil {
		return err
	}
	for _, accountID := range accounts {
		var after feedback.ID
		for n := sweepChunk; n == sweepChunk; {
			files, err := database.All(ctx, s.db.Reader(), scanUpload, "SELECT "+uploadColumns+` FROM uploads
				WHERE account_id = $1 AND id > $2 AND ready = $3 ORDER BY id LIMIT CAST($4 AS BIGINT)`, accountID, after, true, sweepChunk)
			if err != nil {
				return err
			}
			for _, u := range files {
				if err := fn(accountID, u); err != nil {
					return err
				}
				after = u.ID
			}
			n = len(files)
		}
	}
	return nil
}

// WaitingUploads returns those of the files that are not attached yet and may still be. They
// may not have arrived yet.
func (s *Store) WaitingUploads(
	ctx context.Context, accountID, appID feedback.ID, ids []feedback.ID,
) ([]feedback.Upload, error) {
	p := database.Parameters{accountID, appID, feedback.FirstIDAt(s.now().Add(-feedback.UploadLife))}
	return database.All(ctx, s.db.Reader(), scanUpload, "SELECT "+uploadColumns+` FROM uploads
		WHERE account_id = $1 AND app_id = $2 AND request_id IS NULL AND id >= $3 AND id IN (`+database.List(&p, ids)+")", p...)
}

// SaveUpload marks a file as ready, and saves its content type, size and name. It changes
// nothing if the file is attached.
func (s *Store) SaveUpload(ctx context.Context, accountID feedback.ID, u feedback.Upload) error {
	return s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "UPDATE uploads SET content_type = $3, size = $4, ready = $5, filename = $6"+
			" WHERE account_id = $1 AND id = $2 AND request_id IS NULL",
			accountID, u.ID, u.ContentType, u.Size, true, u.Filename)
		return err
	})
}

// attachFiles attaches the files of the requests that were added, and sets their attachments.
// It returns an error for each submission whose files cannot be attached: they do not exist,
// are not ready, have expired, belong to another app or are attached already.
func (s *Store) attachFiles(
	ctx context.Context, tx *sql.Tx, subs []Submission, waiting []int, results []submitted, added map[feedback.ID]bool,
) (map[int]error, error) {
	refused := map[int]error{}
	for _, i := range waiting {
		files, r := subs[i].Attachments, &results[i].request
		if len(files) == 0 || !added[r.ID] {
			continue
		}
		accountID := subs[i].App.AccountID
		p := database.Parameters{accountID, r.AppID, r.ID, true, feedback.FirstIDAt(s.now().Add(-feedback.UploadLife))}
		attached, err := database.All(ctx, tx, scanUpload, `UPDATE uploads SET request_id = $3, sender = NULL
			WHERE account_id = $1 AND app_id = $2 AND request_id IS NULL AND ready = $4 AND id >= $5
				AND id IN (`+database.List(&p, files)+") RETURNING "+uploadColumns, p...)
		if err != nil {
			return nil, err
		}
		if r.Attachments = inOrder(files, attached); len(r.Attachments) < len(files) {
			refused[i] = feedback.Invalid("widget", "attachments",
				"attachments must be ids of files that were sent to this app in the last 24 hours and are not attached to another request.")
			continue
		}
		shown, err := json.Marshal(r.Attachments)
		if err != nil {
			return nil, err
		}
		_, err = tx.ExecContext(ctx, "UPDATE requests SET attachments = $3 WHERE account_id = $1 AND id = $2",
			accountID, r.ID, string(shown))
		if err != nil {
			return nil, err
		}
	}
	return refused, nil
}

// inOrder returns the files in the order of ids.
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

// releaseUploads detaches the files of requests that are about to be purged. They cannot be
// attached again, as they are older than UploadLife or their app is deleted.
func releaseUploads(ctx context.Context, tx *sql.Tx, accountID feedback.ID, requestIDs []feedback.ID) error {
	p := database.Parameters{accountID}
	_, err := tx.ExecContext(ctx, "UPDATE uploads SET request_id = NULL"+
		" WHERE account_id = $1 AND request_id IN ("+database.List(&p, requestIDs)+")", p...)
	return err
}

// sweepUploads deletes the files that were not attached in time or whose requests are purged.
// It deletes the content before the record, so that no file is left without a record.
func (s *Store) sweepUploads(ctx context.Context, accountID feedback.ID) error {
	if s.removeFile == nil {
		return nil
	}
	var failed errorList
	var after feedback.ID
	for n := uploadChunk; n == uploadChunk; {
		unsent, now := s.unsentLife+uploadGrace, s.now()
		old, err := database.All(ctx, s.db.Reader(), database.One[feedback.ID], `SELECT id FROM uploads
			WHERE account_id = $1 AND request_id IS NULL AND id > $6 AND id < $2 AND (id < $3 OR ready = $4) ORDER BY id LIMIT CAST($5 AS BIGINT)`,
			accountID, feedback.FirstIDAt(now.Add(-unsent)), feedback.FirstIDAt(now.Add(-keepWaiting)), false, uploadChunk, after)
		if n = len(old); err != nil || n == 0 {
			failed.add(err)
			break
		}
		after = old[n-1]
		removed, err := s.removeFiles(ctx, old)
		if len(removed) > 0 {
			err = errors.Join(err, s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
				p := database.Parameters{accountID}
				_, err := tx.ExecContext(ctx, "DELETE FROM uploads"+
					" WHERE account_id = $1 AND request_id IS NULL AND id IN ("+database.List(&p, removed)+")", p...)
				return err
			}))
		}
		failed.add(err)
		if s.givesUp(ctx, err) {
			break
		}
	}
	return failed.err()
}

// removeFiles deletes the content of files and returns the files whose content is gone. Those
// that cannot be deleted stay for the next sweep.
func (s *Store) removeFiles(ctx context.Context, ids []feedback.ID) (removed []feedback.ID, err error) {
	var failed errorList
	for _, id := range ids {
		err := s.removeFile(ctx, id)
		if err == nil {
			removed = append(removed, id)
		}
		failed.add(err)
		if s.givesUp(ctx, err) {
			break
		}
	}
	return removed, failed.err()
}

// givesUp reports whether a sweep should stop after err, because the database or the storage
// of files is away.
func (s *Store) givesUp(ctx context.Context, err error) bool {
	return err != nil && (ctx.Err() != nil || s.db.Unavailable(err) && !database.Answered(err))
}

func scanUpload(r database.Row) (u feedback.Upload, err error) {
	err = r.Scan(&u.ID, &u.AppID, &u.RequestID, &u.Filename, &u.ContentType, &u.Size, &u.Ready)
	return u, err
}

// RemoveUpload deletes the record of a file that failed inspection. It changes nothing if the
// file is ready.
func (s *Store) RemoveUpload(ctx context.Context, accountID, id feedback.ID) error {
	return s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "DELETE FROM uploads"+
			" WHERE account_id = $1 AND id = $2 AND request_id IS NULL AND ready = $3", accountID, id, false)
		return err
	})
}
