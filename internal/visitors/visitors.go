// Package visitors knows where the portals of apps are, who may see them, and who is signed in to them.
package visitors

import (
	"context"
	"database/sql"
	"io"
	"time"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
	"gatherkit/internal/sweep"
)

const (
	// Stay is how long somebody stays signed in.
	Stay = 30 * 24 * time.Hour
	// ticketLife is how long a one-time address works.
	ticketLife = time.Minute
)

// The kinds of tokens.
const (
	ticket  = "ticket"
	session = "session"
)

// Visitors are the portals in a database, and who is signed in to them.
type Visitors struct {
	db   *database.DB
	now  func() time.Time
	rand io.Reader
}

// New returns the portals in a database.
func New(db *database.DB, now func() time.Time, rand io.Reader) *Visitors {
	return &Visitors{db, now, rand}
}

// At is where a visitor is: on a host, or below /p/{slug} on any other host.
type At struct{ Host, Slug string }

// Find returns the account and the app of a portal, or ErrPortalNotFound. The portal may be off.
func Find(ctx context.Context, q database.Queryer, at At) (accountID, appID feedback.ID, err error) {
	query, name := "SELECT account_id, app_id FROM portals WHERE slug = $1", at.Slug
	if at.Host != "" {
		query, name = "SELECT account_id, app_id FROM portal_hosts WHERE host = $1", at.Host
	}
	err = q.QueryRowContext(ctx, query, name).Scan(&accountID, &appID)
	return accountID, appID, database.OrNotFound(err, feedback.ErrPortalNotFound)
}

// Move takes the portal of an app to the address that its new settings say, in the transaction that saves
// them. It returns ErrSlugTaken or ErrHostTaken.
func Move(ctx context.Context, tx *sql.Tx, old, app feedback.App) error {
	was, is := old.Settings.Portal, app.Settings.Portal
	for _, place := range []struct {
		table, column, was, is string
		taken                  error
	}{
		{"portals", "slug", was.Slug, is.Slug, feedback.ErrSlugTaken},
		{"portal_hosts", "host", was.Host, is.Host, feedback.ErrHostTaken},
	} {
		if place.was == place.is {
			continue
		}
		if err := leave(ctx, tx, app, place.table, place.column, place.was); err != nil {
			return err
		}
		if place.is == "" {
			continue
		}
		n, err := database.Changed(ctx, tx, "INSERT INTO "+place.table+" ("+place.column+", account_id, app_id) VALUES ($1, $2, $3)"+
			" ON CONFLICT DO NOTHING", place.is, app.AccountID, app.ID)
		if err != nil {
			return err
		}
		if n == 0 {
			return place.taken
		}
	}
	return nil
}

func leave(ctx context.Context, tx *sql.Tx, app feedback.App, table, column, name string) error {
	_, err := tx.ExecContext(ctx, "DELETE FROM "+table+ //nolint:gosec // the names are constants
		" WHERE "+column+" = $1 AND account_id = $2 AND app_id = $3", name, app.AccountID, app.ID)
	return err
}

// RemoveApp removes the addresses of an app's portal. The app is deleted in the same transaction, and without it
// nobody can use a session. PurgeApp deletes the sessions later.
func RemoveApp(ctx context.Context, tx *sql.Tx, app feedback.App) error {
	if err := leave(ctx, tx, app, "portals", "slug", app.Settings.Portal.Slug); err != nil {
		return err
	}
	if err := leave(ctx, tx, app, "portal_hosts", "host", app.Settings.Portal.Host); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, "DELETE FROM portal_links WHERE account_id = $1 AND app_id = $2", app.AccountID, app.ID)
	return err
}

// PurgeApp deletes up to limit blocks, sessions and one-time addresses of a deleted app, and reports whether there may be more.
func PurgeApp(ctx context.Context, tx *sql.Tx, accountID, appID feedback.ID, limit int) (more bool, err error) {
	for _, table := range []struct{ name, key string }{{"blocked_people", "person"}, {"visitor_tokens", "token_hash"}} {
		const of = " WHERE account_id = $1 AND app_id = $2"
		n, err := database.Changed(ctx, tx, "DELETE FROM "+table.name+of+" AND "+table.key+
			" IN (SELECT "+table.key+" FROM "+table.name+of+" ORDER BY person LIMIT CAST($3 AS BIGINT))", accountID, appID, limit)
		if err != nil || n > 0 {
			return n > 0, err
		}
	}
	return false, nil
}

// EndAll ends all sessions of an app's portal, and its one-time addresses.
func EndAll(ctx context.Context, tx *sql.Tx, accountID, appID feedback.ID) error {
	_, err := tx.ExecContext(ctx, "DELETE FROM visitor_tokens WHERE account_id = $1 AND app_id = $2", accountID, appID)
	return err
}

// RotateLink replaces the token of the link to an app's portal, in the transaction tx, and returns the new one.
func (v *Visitors) RotateLink(ctx context.Context, tx *sql.Tx, accountID, appID feedback.ID) (string, error) {
	token := feedback.NewToken(feedback.PortalToken, accountID, v.rand)
	_, err := tx.ExecContext(ctx, `INSERT INTO portal_links (account_id, app_id, token_hash, created_at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (account_id, app_id) DO UPDATE SET token_hash = excluded.token_hash, created_at = excluded.created_at`,
		accountID, appID, feedback.HashSecret(token), feedback.At(v.now()))
	return token, err
}

// HasLink reports whether a token is that of the link to an app's portal.
func HasLink(ctx context.Context, q database.Queryer, app feedback.App, token string) (yes bool, err error) {
	if accountID, ok := feedback.ParseToken(feedback.PortalToken, token); !ok || accountID != app.AccountID {
		return false, nil
	}
	err = q.QueryRowContext(ctx, "SELECT COUNT(*) FROM portal_links WHERE account_id = $1 AND app_id = $2 AND token_hash = $3",
		app.AccountID, app.ID, feedback.HashSecret(token)).Scan(&yes)
	return yes, err
}

// LinkMade returns when the link to an app's portal was made, or nil if there is none.
func (v *Visitors) LinkMade(ctx context.Context, accountID, appID feedback.ID) (*feedback.Time, error) {
	found, err := database.All(ctx, v.db.Reader(), database.One[feedback.Time],
		"SELECT created_at FROM portal_links WHERE account_id = $1 AND app_id = $2", accountID, appID)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
}

// Ticket returns the token of a one-time address that signs in a verified person.
func (v *Visitors) Ticket(ctx context.Context, app feedback.App, person feedback.Person) (token string, err error) {
	token = feedback.NewToken(feedback.TicketToken, app.AccountID, v.rand)
	err = v.db.WriteFor(ctx, app.AccountID, func(ctx context.Context, tx *sql.Tx) error {
		return v.add(ctx, tx, app, person, ticket, token, ticketLife)
	})
	return token, err
}

func (v *Visitors) add(
	ctx context.Context, tx *sql.Tx, app feedback.App, p feedback.Person, kind, token string, life time.Duration,
) error {
	_, err := tx.ExecContext(ctx, "INSERT INTO visitor_tokens"+
		" (account_id, token_hash, app_id, kind, person, email, name, external_id, expires_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
		app.AccountID, feedback.HashSecret(token), app.ID, kind, p.Key(), p.Email, p.Name, p.ExternalID, feedback.At(v.now().Add(life)))
	return err
}

// Redeem exchanges the token of a one-time address for that of a session, in the transaction tx. It returns
// ErrTicketNotFound if the address has expired or was used, or is of another app, and ErrBlocked if the person is
// blocked. An error rolls back, so a blocked person's address stays until it expires.
func (v *Visitors) Redeem(ctx context.Context, tx *sql.Tx, app feedback.App, token string) (opened string, p feedback.Person, err error) {
	if accountID, ok := feedback.ParseToken(feedback.TicketToken, token); !ok || accountID != app.AccountID {
		return "", p, feedback.ErrTicketNotFound
	}
	p, err = scanPerson(tx.QueryRowContext(ctx, "DELETE FROM visitor_tokens WHERE account_id = $1 AND token_hash = $2 AND app_id = $3"+
		" AND kind = '"+ticket+"' AND expires_at > $4 RETURNING email, name, external_id",
		app.AccountID, feedback.HashSecret(token), app.ID, feedback.At(v.now())))
	if err != nil {
		return "", p, database.OrNotFound(err, feedback.ErrTicketNotFound)
	}
	if err := Check(ctx, tx, app.AccountID, app.ID, p.Key()); err != nil {
		return "", p, err
	}
	opened = feedback.NewToken(feedback.VisitorToken, app.AccountID, v.rand)
	return opened, p, v.add(ctx, tx, app, p, session, opened, Stay)
}

func scanPerson(row database.Row) (feedback.Person, error) {
	p := feedback.Person{Verified: true}
	return p, row.Scan(&p.Email, &p.Name, &p.ExternalID)
}

// SignedIn returns who is signed in to an app's portal with a session, or nil.
func (v *Visitors) SignedIn(ctx context.Context, q database.Queryer, app feedback.App, token string) (*feedback.Person, error) {
	if accountID, ok := feedback.ParseToken(feedback.VisitorToken, token); !ok || accountID != app.AccountID {
		return nil, nil //nolint:nilnil // nobody is signed in
	}
	found, err := database.All(ctx, q, scanPerson, "SELECT email, name, external_id FROM visitor_tokens"+
		" WHERE account_id = $1 AND token_hash = $2 AND app_id = $3 AND kind = '"+session+"' AND expires_at > $4",
		app.AccountID, feedback.HashSecret(token), app.ID, feedback.At(v.now()))
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
}

// SignOut ends a session.
func (v *Visitors) SignOut(ctx context.Context, token string) error {
	accountID, ok := feedback.ParseToken(feedback.VisitorToken, token)
	if !ok {
		return nil
	}
	return v.db.WriteFor(ctx, accountID, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "DELETE FROM visitor_tokens WHERE account_id = $1 AND token_hash = $2",
			accountID, feedback.HashSecret(token))
		return err
	})
}

// Sweep deletes the tokens of some accounts that have expired.
func (v *Visitors) Sweep(ctx context.Context, accounts []feedback.ID) error {
	expired := sweep.Rows{Table: "visitor_tokens", Key: "token_hash", Where: "expires_at <= $1"}
	return expired.Delete(ctx, v.db, accounts, feedback.At(v.now()))
}

// Known is what is stored about somebody who takes part in portals: a session, or a block.
type Known struct {
	feedback.PersonRecord
	Hash []byte // of the token of a session
	Key  string // of the person
}

// Sessions returns up to limit sessions and one-time addresses of an account, by the hashes of their tokens, after one.
func Sessions(ctx context.Context, q database.Queryer, accountID feedback.ID, after []byte, limit int) ([]Known, error) {
	return database.All(ctx, q, func(r database.Row) (k Known, err error) {
		k.Kind, k.Verified = feedback.SessionRecord, true
		err = r.Scan(&k.Hash, &k.Key, &k.AppID, &k.Email, &k.Name, &k.ExternalID, &k.At)
		return k, err
	}, "SELECT token_hash, person, app_id, email, name, external_id, expires_at FROM visitor_tokens"+
		" WHERE account_id = $1 AND token_hash > $2 ORDER BY token_hash LIMIT CAST($3 AS BIGINT)", accountID, after, limit)
}

// Blocks returns up to limit people who are blocked on the portals of an account, by apps and their keys, after one.
func Blocks(ctx context.Context, q database.Queryer, accountID, afterApp feedback.ID, after string, limit int) ([]Known, error) {
	return database.All(ctx, q, func(r database.Row) (k Known, err error) {
		k.Kind = feedback.BlockRecord
		err = r.Scan(&k.Key, &k.AppID, &k.Email, &k.Name, &k.ExternalID, &k.Verified, &k.At)
		return k, err
	}, "SELECT person, app_id, email, name, external_id, verified, blocked_at FROM blocked_people WHERE account_id = $1"+
		" AND (app_id, person) > ($2, $3) ORDER BY app_id, person LIMIT CAST($4 AS BIGINT)", accountID, afterApp, after, limit)
}

// EndSession deletes a session or a one-time address by the hash of its token.
func EndSession(ctx context.Context, tx *sql.Tx, accountID feedback.ID, hash []byte) error {
	_, err := tx.ExecContext(ctx, "DELETE FROM visitor_tokens WHERE account_id = $1 AND token_hash = $2", accountID, hash)
	return err
}

// RenameSession changes what a session says of its person.
func RenameSession(ctx context.Context, tx *sql.Tx, accountID feedback.ID, hash []byte, p feedback.Person) error {
	_, err := tx.ExecContext(ctx, "UPDATE visitor_tokens SET email = $3, name = $4 WHERE account_id = $1 AND token_hash = $2",
		accountID, hash, p.Email, p.Name)
	return err
}
