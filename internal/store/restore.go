package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"gatherkit/internal/changelog"
	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
	"gatherkit/internal/team"
	"gatherkit/internal/visitors"
)

// Errors of RestoreAccount.
var (
	ErrNoOwner   = errors.New("no owner of the account could log in")
	ErrRestoring = errors.New("another account is being restored into this database;" +
		" try again when that has ended, or in a minute if it was interrupted")
)

// Restoration is an account to copy from another store, such as that of a backup.
type Restoration struct {
	From      *Store
	AccountID feedback.ID   // in From
	Name      string        // that it will have
	Owner     *team.NewUser // somebody who is invited as an owner, or nil
	Files     RestoredFiles
}

// RestoredFiles copies the contents of files.
type RestoredFiles interface {
	// Copy copies a file that From has to the storage of this store, under another id.
	Copy(ctx context.Context, from, to feedback.ID) error
	// Remove removes a file that Copy has copied. It is no error if there is none.
	Remove(ctx context.Context, id feedback.ID) error
}

// Restored is an account that was restored.
type Restored struct {
	feedback.Account
	Beside     bool          // whether the account existed, so that this is another one
	Suspended  bool          // as it was in From
	Rows       int64         // that were copied
	Invitation team.JoinLink // for the owner, or zero
	Invite     []string      // addresses of users who could log in, but by now, others do with these addresses
	Portals    []string      // apps whose portals are off, because other apps have their addresses by now
}

// restoring is the name of the lease that the restoration of an account has. Its holder is the account, of which other
// rows are left if the restoration was interrupted.
const restoring = "restore"

// restoreTime is how long a restoration that does nothing has the lease.
const restoreTime = time.Minute

// stage says when the rows of a table are restored.
type stage uint8

const (
	early  stage = 1 << iota // in parts, before the account exists
	late                     // with the account: background work looks for them, or they refer to the account
	ifGone                   // with early or late: only if the account does not exist any more
)

// restored are the tables whose rows are restored. Sessions and links are not: somebody may have ended them since. The index
// follows the log of changes from its beginning. finish fills tables in which names of the whole installation are taken.
var restored = map[string]stage{
	"app_secrets": early, "blocked_people": early, "changes": early, "comments": early, "default_views": early,
	"entry_requests": early, "held_comments": early, "mentions": early, "quotas": early, "readers": early,
	"reply_templates": early, "request_counts": early, "request_links": early, "request_tags": early, "requests": early,
	"uploads": early, "views": early, "votes": early,
	"mail_follows": early | ifGone, "mail_people": early | ifGone, "portal_links": early | ifGone,
	"status_links": early | ifGone,
	"account_seq":  late, "apps": late, "departures": late, "entries": late, "purges": late, "users": late,
	"access_tokens": late | ifGone, "mail_digests": late | ifGone, "webhooks": late | ifGone,
}

// restoration is one in progress.
type restoration struct {
	Restoration
	s       *Store
	done    Restored
	created feedback.Time
	renewed time.Time          // when the lease was extended
	files   [][2]feedback.ID   // the ids of attached files in From and here
	rows    map[string][][]any // those that are inserted with the account
	table   map[string]database.Table
}

// RestoreAccount copies an account from another store, as the operator, while both may be in use. If no account has its
// id, it is what it was: with its id, API keys, logins, portals, webhooks and subscriptions. Otherwise it becomes another
// account with new API keys and files, and without all that would happen twice.
//
// RestoreAccount returns team.ErrAccountExists if an account has the name, ErrNoOwner if nobody could log in, ErrRestoring,
// or ErrEmailTaken if the owner has the address of a user. If it ends with an error, nothing is left of the account, at
// the latest when the next one is restored.
func (s *Store) RestoreAccount(ctx context.Context, r Restoration) (done Restored, err error) {
	c := restoration{Restoration: r, s: s, rows: map[string][][]any{}, table: map[string]database.Table{}}
	if err := c.prepare(ctx); err != nil {
		return done, err
	}
	if err := c.begin(ctx); err != nil {
		return done, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.dropRestored(context.WithoutCancel(ctx), c.done.ID, r.Files))
		}
	}()
	if err := c.copy(ctx); err != nil {
		return done, err
	}
	for _, file := range c.files { // after their rows, by which dropRestored finds them
		if err := c.proceed(ctx); err != nil {
			return done, err
		}
		if err := r.Files.Copy(ctx, file[0], file[1]); err != nil {
			return done, err
		}
	}
	err = s.db.Write(ctx, c.finish)
	return c.done, err
}

// prepare finds out what the account will be, and refuses what cannot be restored.
func (c *restoration) prepare(ctx context.Context) error {
	switch _, err := c.s.Team.Find(ctx, c.Name); {
	case err == nil || errors.Is(err, team.ErrSeveralAccounts):
		return team.ErrAccountExists
	case !errors.Is(err, team.ErrNoAccount):
		return err
	}
	c.done.Account = feedback.Account{ID: c.AccountID, Name: c.Name}
	var err error
	if c.done.Beside, err = c.s.exists(ctx, c.AccountID); err != nil {
		return err
	}
	if c.done.Beside {
		c.done.ID = c.s.ids.New()
	}
	if c.Owner == nil {
		return c.checkOwners(ctx)
	}
	return nil
}

// checkOwners returns ErrNoOwner unless one of the owners will be able to log in.
func (c *restoration) checkOwners(ctx context.Context) error {
	if c.done.Beside {
		return ErrNoOwner
	}
	owners, err := database.All(ctx, c.From.db.Reader(), database.One[string],
		"SELECT email FROM users WHERE account_id = $1 AND role = $2 AND password_hash <> ''", c.AccountID, string(feedback.RoleOwner))
	if err != nil {
		return err
	}
	for _, email := range owners {
		var taken bool
		err := c.s.db.Reader().QueryRowContext(ctx, "SELECT COUNT(*) > 0 FROM logins WHERE email = $1", feedback.FoldEmail(email)).Scan(&taken)
		if err != nil || !taken {
			return err
		}
	}
	return ErrNoOwner
}

// begin takes the lease, after it has deleted what is left of a restoration that was interrupted.
func (c *restoration) begin(ctx context.Context) error {
	now := c.s.now()
	var left []feedback.ID
	err := c.s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) (err error) {
		left, err = database.All(ctx, tx, database.One[feedback.ID], "SELECT holder FROM leases WHERE name = $1", restoring)
		if err != nil {
			return err
		}
		n, err := database.Changed(ctx, tx, "INSERT INTO leases (name, holder, until, progress) VALUES ($1, $2, $3, 0)"+
			" ON CONFLICT (name) DO UPDATE SET until = excluded.until WHERE leases.until < $4",
			restoring, c.done.ID, feedback.At(now.Add(restoreTime)), feedback.At(now))
		if err == nil && n == 0 {
			err = ErrRestoring
		}
		return err
	})
	if err != nil || len(left) == 0 {
		return err
	}
	if err := c.s.dropRestored(ctx, left[0], c.Files); err != nil {
		return err
	}
	return c.begin(ctx)
}

// proceed extends the lease from time to time.
func (c *restoration) proceed(ctx context.Context) error {
	now := c.s.now()
	if now.Sub(c.renewed) < restoreTime/10 {
		return nil
	}
	c.renewed = now
	return c.s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		n, err := database.Changed(ctx, tx, "UPDATE leases SET until = $3 WHERE name = $1 AND holder = $2",
			restoring, c.done.ID, feedback.At(now.Add(restoreTime)))
		if err == nil && n == 0 {
			err = ErrRestoring
		}
		return err
	})
}

// exists reports whether there is an account with an id.
func (s *Store) exists(ctx context.Context, id feedback.ID) (yes bool, err error) {
	err = s.db.Reader().QueryRowContext(ctx, "SELECT COUNT(*) > 0 FROM accounts WHERE account_id = $1", id).Scan(&yes)
	return yes, err
}

// dropRestored deletes the rows and files of an account that was restored in part, and the lease.
func (s *Store) dropRestored(ctx context.Context, id feedback.ID, files RestoredFiles) error {
	exists, err := s.exists(ctx, id)
	if err != nil {
		return err
	}
	if !exists {
		if _, err := s.removeFiles(ctx, id, files.Remove); err != nil {
			return err
		}
		if _, err := s.deleteAllRows(ctx, id); err != nil {
			return err
		}
	}
	return s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "DELETE FROM leases WHERE name = $1 AND holder = $2", restoring, id)
		return err
	})
}

// copy copies what comes before the account, and reads the rest.
func (c *restoration) copy(ctx context.Context) error {
	tables, err := c.From.copiedTables(ctx)
	if err != nil {
		return err
	}
	target, err := c.s.copiedTables(ctx)
	if err != nil {
		return err
	}
	return c.From.db.Read(ctx, func(tx *sql.Tx) error {
		err := tx.QueryRowContext(ctx, "SELECT created_at, suspended_at IS NOT NULL FROM accounts WHERE account_id = $1", c.AccountID).
			Scan(&c.created, &c.done.Suspended)
		if err != nil {
			return err
		}
		for i, from := range tables {
			if err := c.copyTable(ctx, tx, from, target[i]); err != nil {
				return fmt.Errorf("restore %s: %w", from.Name, err)
			}
		}
		return nil
	})
}

// copyTable copies the rows of a table and compares them with those that arrived, or keeps them for finish.
func (c *restoration) copyTable(ctx context.Context, q database.Queryer, from, to database.Table) error {
	at, some := restored[from.Name]
	if !some || at&ifGone != 0 && c.done.Beside {
		return nil
	}
	c.table[to.Name] = to
	condition, args := "WHERE account_id = $1", []any{c.AccountID}
	if from.Name == "uploads" {
		condition += " AND request_id IS NOT NULL" // others are soon deleted
	}
	change := func(row []any) error { return c.change(from, row) }
	if at&late != 0 {
		rows, err := database.ReadRows(ctx, q, from, condition, args, func(row []any) error {
			c.rows[to.Name] = append(c.rows[to.Name], row)
			return change(row)
		})
		c.done.Rows += rows.N
		return err
	}
	began := time.Now()
	copied, err := c.s.db.TakeRows(ctx, to, q, from, condition, args, c.s.db.PartRows(), change, func(int64) error {
		select { // others write for as long
		case <-ctx.Done():
		case <-time.After(time.Since(began)):
		}
		began = time.Now()
		return c.proceed(ctx)
	})
	if err != nil {
		return err
	}
	c.done.Rows += copied.N
	arrived, err := database.ReadRows(ctx, c.s.db.Reader(), to, "WHERE account_id = $1", []any{c.done.ID}, nil)
	if err == nil && arrived != copied {
		err = fmt.Errorf("%d of %d rows are in the database, or differ", arrived.N, copied.N)
	}
	return err
}

// change makes of a row what it is here.
func (c *restoration) change(t database.Table, row []any) (err error) {
	value := func(column string) *any { return &row[t.Column(column)] }
	*value("account_id") = c.done.ID[:]
	switch t.Name {
	case "requests":
		if id := feedback.ID((*value("id")).([]byte)); id.Time().Std().Before(c.s.now().Add(-idempotentFor)) {
			*value("idempotency_key"), *value("fingerprint") = nil, nil // no sweep looks for them any more
		}
		if c.done.Beside {
			*value("notify") = nil
			*value("attachments"), err = c.attachments((*value("attachments")).(string))
		}
	case "uploads":
		was := feedback.ID((*value("id")).([]byte))
		is := c.fileID(was)
		c.files = append(c.files, [2]feedback.ID{was, is})
		*value("id") = is[:]
	case "mail_follows": // what was due has been sent
		*value("first_at"), *value("due_at") = nil, nil
	case "apps":
		if c.done.Beside {
			*value("api_key") = c.s.NewAPIKey()
		}
	case "users":
		if c.done.Beside {
			*value("password_hash") = ""
		}
	}
	return err
}

// fileID returns the id of a file. The one that it had is taken if the account exists. Ids begin with a time, which stays.
func (c *restoration) fileID(id feedback.ID) feedback.ID {
	if !c.done.Beside {
		return id
	}
	sum := sha256.Sum256(append(c.done.ID[:], id[:]...))
	copy(id[9:], sum[:])
	return id
}

// attachments gives files in the JSON of a request's attachments their ids.
func (c *restoration) attachments(text string) (string, error) {
	var files []feedback.Attachment
	if err := json.Unmarshal([]byte(text), &files); err != nil {
		return "", err
	}
	for i := range files {
		files[i].ID = c.fileID(files[i].ID)
	}
	changed, err := json.Marshal(files)
	return string(changed), err
}

// finish makes the account exist.
func (c *restoration) finish(ctx context.Context, tx *sql.Tx) error {
	now := feedback.At(c.s.now())
	var suspended *feedback.Time
	if c.done.Suspended {
		suspended = &now
	}
	_, err := tx.ExecContext(ctx, "INSERT INTO accounts (account_id, name, created_at, suspended_at) VALUES ($1, $2, $3, $4)",
		c.done.ID, c.done.Name, c.created, suspended)
	if err != nil {
		return err
	}
	for name, rows := range c.rows {
		if err := c.s.db.InsertRows(ctx, tx, c.table[name], rows); err != nil {
			return err
		}
	}
	for _, statement := range []string{
		"INSERT INTO stored_files (account_id, bytes) SELECT account_id, CAST(SUM(size) AS BIGINT) FROM uploads WHERE account_id = $1" +
			" GROUP BY account_id",
		"INSERT INTO mail_positions (account_id, position) SELECT account_id, last FROM account_seq WHERE account_id = $1",
		"UPDATE webhooks SET position = (SELECT last FROM account_seq WHERE account_id = $1), retry_at = NULL, lease_until = 0" +
			" WHERE account_id = $1",
	} {
		if _, err := tx.ExecContext(ctx, statement, c.done.ID); err != nil {
			return err
		}
	}
	if err := c.openApps(ctx, tx); err != nil {
		return err
	}
	if c.done.Invite, c.done.Invitation, err = c.s.Team.Restore(ctx, tx, c.done.ID, c.Owner); err != nil {
		return err
	}
	n, err := database.Changed(ctx, tx, "DELETE FROM leases WHERE name = $1 AND holder = $2", restoring, c.done.ID)
	if err != nil {
		return err
	}
	if n == 0 {
		return ErrRestoring
	}
	return changelog.Record(ctx, tx, c.done.ID, now, feedback.Change{
		Kind: feedback.AccountRestored, Actor: feedback.Command(), After: map[string]any{"name": c.done.Name},
	})
}

// openApps makes the API keys and the portals of the apps work.
func (c *restoration) openApps(ctx context.Context, tx *sql.Tx) error {
	c.done.Portals = nil
	apps, err := database.All(ctx, tx, scanApp, "SELECT "+appColumns+" FROM apps"+
		" WHERE account_id = $1 AND deleted_at IS NULL ORDER BY id", c.done.ID)
	for _, app := range apps {
		if err == nil {
			err = addKey(ctx, tx, app)
		}
		if err == nil {
			err = c.openPortal(ctx, tx, app)
		}
	}
	return err
}

// openPortal gives a portal its addresses, or turns it off if it is another account's, or others have its addresses.
func (c *restoration) openPortal(ctx context.Context, tx *sql.Tx, app feedback.App) error {
	closed := app
	closed.Settings.Portal.Access, closed.Settings.Portal.Slug, closed.Settings.Portal.Host = feedback.AccessOff, "", ""
	if !c.done.Beside {
		err := visitors.Move(ctx, tx, closed, app)
		if !errors.Is(err, feedback.ErrSlugTaken) && !errors.Is(err, feedback.ErrHostTaken) {
			return err
		}
		if err := visitors.Move(ctx, tx, app, closed); err != nil { // which may have one of its addresses
			return err
		}
		c.done.Portals = append(c.done.Portals, app.Name)
	}
	return saveApp(ctx, tx, closed, app.Version)
}
