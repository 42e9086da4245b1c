// Package uploads stores the records of attached files: which were announced, which have arrived, and
// which requests they belong to.
package uploads

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
	"gatherkit/internal/quota"
	"gatherkit/internal/sweep"
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
	// grace is how long an expired file is kept, so that one that arrives or is attached at the
	// last moment is not deleted.
	grace       = time.Hour
	keepWaiting = feedback.UploadLife + grace
)

// SweepChunk is the number of files that a step of Sweep deletes.
const SweepChunk = 100

const columns = "id, app_id, request_id, filename, content_type, size, ready, sha256"

// Uploads are the files in a database.
type Uploads struct {
	db          *database.DB
	now         func() time.Time
	ids         *feedback.IDs
	removeBytes func(context.Context, feedback.ID) error
	unsentLife  time.Duration // how long a file that is not ready may still arrive
	quotas      *quota.Quotas
}

// New returns the files in a database. removeBytes deletes the content of a file, if there is any; it
// is nil if the service has no file storage. sentPast reports whether clients send files directly to
// the file storage. The service then learns that a file has arrived only when it is attached to a
// request.
func New(
	db *database.DB, now func() time.Time, ids *feedback.IDs, removeBytes func(context.Context, feedback.ID) error, sentPast bool,
	quotas *quota.Quotas,
) *Uploads {
	u := &Uploads{db, now, ids, removeBytes, feedback.SendLife, quotas}
	if sentPast {
		u.unsentLife = feedback.UploadLife
	}
	return u
}

// Add stores the record of a file that a client is about to send, and sets its id. It returns
// ErrRateLimited if the account, the app or the sender has too many bytes waiting to be attached, or
// ErrFilesFull if the account's quota does not allow it. A file that has not arrived counts for as long as
// it can be sent.
func (u *Uploads) Add(ctx context.Context, accountID feedback.ID, file feedback.Upload) (feedback.Upload, error) {
	err := u.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		file.ID = u.ids.New()
		if err := u.checkWaiting(ctx, tx, accountID, file); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "INSERT INTO uploads (account_id, "+columns+", sender) VALUES "+database.Placeholders(1, 10),
			accountID, file.ID, file.AppID, nil, file.Filename, file.ContentType, file.Size, false, nil, file.Sender)
		if err != nil {
			return err
		}
		most, err := u.quotas.Of(ctx, tx, accountID, quota.Files)
		if err != nil {
			return err
		}
		stored, err := addBytes(ctx, tx, accountID, file.Size)
		if err == nil && stored > most {
			err = feedback.ErrFilesFull.Spent(string(quota.Files), 0)
		}
		return err
	})
	return file, err
}

// addBytes adds to the bytes of an account's files, and returns their new sum. It is the last statement of a
// transaction, as others of the account wait for it.
func addBytes(ctx context.Context, tx *sql.Tx, accountID feedback.ID, n int64) (sum int64, err error) {
	err = tx.QueryRowContext(ctx, `INSERT INTO stored_files (account_id, bytes) VALUES ($1, $2)
		ON CONFLICT (account_id) DO UPDATE SET bytes = stored_files.bytes + excluded.bytes RETURNING bytes`, accountID, n).Scan(&sum)
	return sum, err
}

// Recount corrects the sum of the bytes of an account's files, and returns it as it was and as it is. Other transactions
// that add or remove bytes wait.
func Recount(ctx context.Context, tx *sql.Tx, accountID feedback.ID) (was, is int64, err error) {
	err = tx.QueryRowContext(ctx, "UPDATE stored_files SET bytes = bytes WHERE account_id = $1 RETURNING bytes", accountID).Scan(&was)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, 0, err
	}
	err = tx.QueryRowContext(ctx, "SELECT CAST(COALESCE(SUM(size), 0) AS BIGINT) FROM uploads WHERE account_id = $1", accountID).Scan(&is)
	if err == nil && is != was {
		_, err = addBytes(ctx, tx, accountID, is-was)
	}
	return was, is, err
}

// Stored returns how many bytes the files of an account have, with those that are announced.
func (u *Uploads) Stored(ctx context.Context, accountID feedback.ID) (n int64, err error) {
	err = u.db.Reader().QueryRowContext(ctx, "SELECT bytes FROM stored_files WHERE account_id = $1", accountID).Scan(&n)
	return n, database.OrNotFound(err, nil)
}

// checkWaiting returns ErrRateLimited if the file would exceed a limit of waiting bytes.
func (u *Uploads) checkWaiting(ctx context.Context, tx *sql.Tx, accountID feedback.ID, file feedback.Upload) error {
	var ofAccount, ofApp, ofFrom int64
	now := u.now()
	err := tx.QueryRowContext(ctx, `SELECT CAST(COALESCE(SUM(bytes), 0) AS BIGINT),
			CAST(COALESCE(SUM(CASE WHEN app_id = $5 THEN bytes ELSE 0 END), 0) AS BIGINT),
			CAST(COALESCE(SUM(CASE WHEN app_id = $5 AND sender = $6 THEN bytes ELSE 0 END), 0) AS BIGINT)
		FROM (SELECT app_id, sender, CASE WHEN size < $7 THEN $7 ELSE size END AS bytes FROM uploads
			WHERE account_id = $1 AND request_id IS NULL AND id >= $2 AND (ready = $3 OR id >= $4)) AS waiting`,
		accountID, feedback.FirstIDAt(now.Add(-keepWaiting)), true, feedback.FirstIDAt(now.Add(-u.unsentLife)),
		file.AppID, file.Sender, int64(minWaiting)).Scan(&ofAccount, &ofApp, &ofFrom)
	size := max(file.Size, minWaiting)
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

// Get returns the record of a file. It returns ErrUploadNotFound if there is none.
func (u *Uploads) Get(ctx context.Context, accountID, id feedback.ID) (feedback.Upload, error) {
	return u.get(ctx, accountID, id, "")
}

// GetOutside is Get for somebody who has the file's address. It also returns ErrUploadNotFound if the account is suspended.
func (u *Uploads) GetOutside(ctx context.Context, accountID, id feedback.ID) (feedback.Upload, error) {
	return u.get(ctx, accountID, id, " AND NOT EXISTS (SELECT 1 FROM accounts WHERE account_id = $1 AND suspended_at IS NOT NULL)")
}

func (u *Uploads) get(ctx context.Context, accountID, id feedback.ID, condition string) (feedback.Upload, error) {
	file, err := scan(u.db.Reader().QueryRowContext(ctx, "SELECT "+columns+" FROM uploads"+
		" WHERE account_id = $1 AND id = $2"+condition, accountID, id))
	return file, database.OrNotFound(err, feedback.ErrUploadNotFound)
}

// Each calls fn for each file of an account that has arrived and is attached to a request or may still
// be. It stops at the first error and returns it.
func (u *Uploads) Each(ctx context.Context, accountID feedback.ID, fn func(feedback.Upload) error) error {
	var after feedback.ID
	for n := sweep.Chunk; n == sweep.Chunk; {
		files, err := database.All(ctx, u.db.Reader(), scan, "SELECT "+columns+` FROM uploads
			WHERE account_id = $1 AND id > $2 AND ready = $3 ORDER BY id LIMIT CAST($4 AS BIGINT)`, accountID, after, true, sweep.Chunk)
		if err != nil {
			return err
		}
		for _, file := range files {
			if err := fn(file); err != nil {
				return err
			}
			after = file.ID
		}
		n = len(files)
	}
	return nil
}

// Waiting returns those of the files that are not attached yet and may still be. They may not have
// arrived yet.
func (u *Uploads) Waiting(ctx context.Context, accountID, appID feedback.ID, ids []feedback.ID) ([]feedback.Upload, error) {
	p := database.Parameters{accountID, appID, feedback.FirstIDAt(u.now().Add(-feedback.UploadLife))}
	return database.All(ctx, u.db.Reader(), scan, "SELECT "+columns+` FROM uploads
		WHERE account_id = $1 AND app_id = $2 AND request_id IS NULL AND id >= $3 AND id IN (`+database.List(&p, ids)+")", p...)
}

// Save marks a file as ready, and saves its content type, size, name and hash. It changes nothing if the
// file is attached.
func (u *Uploads) Save(ctx context.Context, accountID feedback.ID, file feedback.Upload) error {
	return u.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		var was int64
		err := tx.QueryRowContext(ctx, "SELECT size FROM uploads WHERE account_id = $1 AND id = $2 AND request_id IS NULL",
			accountID, file.ID).Scan(&was)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		n, err := database.Changed(ctx, tx, "UPDATE uploads SET content_type = $3, size = $4, ready = $5, filename = $6, sha256 = $7"+
			" WHERE account_id = $1 AND id = $2 AND request_id IS NULL AND size = $8",
			accountID, file.ID, file.ContentType, file.Size, true, file.Filename, file.SHA256, was)
		switch {
		case err != nil:
			return err
		case n == 0:
			return database.ErrStale // another call has saved, attached or removed it
		case was == file.Size:
			return nil
		}
		_, err = addBytes(ctx, tx, accountID, file.Size-was)
		return err
	})
}

// Remove deletes the record of a file that failed inspection. It changes nothing if the file is ready.
func (u *Uploads) Remove(ctx context.Context, accountID, id feedback.ID) error {
	return u.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		return drop(ctx, tx, accountID, "id = $2 AND ready = $3", id, false)
	})
}

// Attach attaches files to a request of an app, in the transaction that stores the request. It returns
// them in the order of ids, without those that cannot be attached: they do not exist, are not ready,
// have expired, belong to another app or are attached already.
func (u *Uploads) Attach(
	ctx context.Context, tx *sql.Tx, accountID, appID, requestID feedback.ID, ids []feedback.ID,
) ([]feedback.Attachment, error) {
	p := database.Parameters{accountID, appID, requestID, true, feedback.FirstIDAt(u.now().Add(-feedback.UploadLife))}
	attached, err := database.All(ctx, tx, scan, `UPDATE uploads SET request_id = $3, sender = NULL
		WHERE account_id = $1 AND app_id = $2 AND request_id IS NULL AND ready = $4 AND id >= $5
			AND id IN (`+database.List(&p, ids)+") RETURNING "+columns, p...)
	return inOrder(ids, attached), err
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

// Release detaches the files of requests that are about to be purged. They cannot be attached again, as
// they are older than UploadLife or their app is deleted.
func Release(ctx context.Context, tx *sql.Tx, accountID feedback.ID, requestIDs []feedback.ID) error {
	p := database.Parameters{accountID}
	_, err := tx.ExecContext(ctx, "UPDATE uploads SET request_id = NULL"+
		" WHERE account_id = $1 AND request_id IN ("+database.List(&p, requestIDs)+")", p...)
	return err
}

// Sweep deletes the files of some accounts that were not attached in time or whose requests are purged. It deletes the
// content before the record, so that no file is left without a record.
func (u *Uploads) Sweep(ctx context.Context, accounts []feedback.ID) error {
	if u.removeBytes == nil {
		return nil
	}
	now := u.now()
	old := sweep.Rows{Table: "uploads", Where: "request_id IS NULL AND id < $1 AND (id < $2 OR ready = $3)"}
	before := []any{feedback.FirstIDAt(now.Add(-u.unsentLife - grace)), feedback.FirstIDAt(now.Add(-keepWaiting)), false}
	return old.Each(ctx, u.db, accounts, before, func(accountID feedback.ID) error { return u.deleteOld(ctx, accountID, old.Where, before) })
}

// deleteOld deletes the files of an account that fulfil a condition.
func (u *Uploads) deleteOld(ctx context.Context, accountID feedback.ID, where string, args []any) error {
	var failed sweep.Errors
	var after feedback.ID
	for n := SweepChunk; n == SweepChunk; {
		p := append(database.Parameters{}, args...)
		old, err := database.All(ctx, u.db.Reader(), database.One[feedback.ID], "SELECT id FROM uploads WHERE account_id = "+p.Add(accountID)+
			" AND "+where+" AND id > "+p.Add(after)+" ORDER BY id LIMIT CAST("+p.Add(SweepChunk)+" AS BIGINT)", p...)
		if n = len(old); err != nil || n == 0 {
			failed.Add(err)
			break
		}
		after = old[n-1]
		removed, err := u.removeAll(ctx, old)
		if len(removed) > 0 {
			err = errors.Join(err, u.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
				p := database.Parameters{accountID}
				condition := "id IN (" + database.List(&p, removed) + ")"
				return drop(ctx, tx, accountID, condition, p[1:]...)
			}))
		}
		failed.Add(err)
		if sweep.GivesUp(ctx, u.db, err) {
			break
		}
	}
	return failed.Err()
}

// drop deletes the records of files of an account that are not attached and fulfil a condition with $2 and so on.
func drop(ctx context.Context, tx *sql.Tx, accountID feedback.ID, condition string, args ...any) error {
	sizes, err := database.All(ctx, tx, database.One[int64], "DELETE FROM uploads"+
		" WHERE account_id = $1 AND request_id IS NULL AND "+condition+" RETURNING size", append([]any{accountID}, args...)...)
	if err != nil || len(sizes) == 0 {
		return err
	}
	var sum int64
	for _, size := range sizes {
		sum += size
	}
	_, err = addBytes(ctx, tx, accountID, -sum)
	return err
}

// removeAll deletes the content of files and returns the files whose content is gone. Those that cannot
// be deleted stay for the next sweep.
func (u *Uploads) removeAll(ctx context.Context, ids []feedback.ID) (removed []feedback.ID, err error) {
	var failed sweep.Errors
	for _, id := range ids {
		err := u.removeBytes(ctx, id)
		if err == nil {
			removed = append(removed, id)
		}
		failed.Add(err)
		if sweep.GivesUp(ctx, u.db, err) {
			break
		}
	}
	return removed, failed.Err()
}

func scan(r database.Row) (u feedback.Upload, err error) {
	err = r.Scan(&u.ID, &u.AppID, &u.RequestID, &u.Filename, &u.ContentType, &u.Size, &u.Ready, &u.SHA256)
	return u, err
}
