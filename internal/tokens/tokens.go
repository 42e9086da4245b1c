// Package tokens stores the tokens with which programs call the service. The database has only their
// hashes. Revoked and expired tokens stay, because the log of changes names them.
package tokens

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"time"

	"gatherkit/internal/changelog"
	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
)

const (
	// Max is how many tokens a user may have that work, and how many service tokens an account.
	Max = 50
	// usedStep is how exact the time of the last use is. It limits the writes to one a minute.
	usedStep = time.Minute
)

// Kind says whose a token is.
type Kind string

// A personal token ends with its user, and a service token survives the users who made it.
const (
	Personal Kind = "personal"
	Service  Kind = "service"
)

// Token is a token as its users see it.
type Token struct {
	ID        feedback.ID    `json:"id" format:"uuid"`
	Name      string         `json:"name"`
	Kind      Kind           `json:"kind" enum:"personal,service" doc:"A personal token ends with its user; a service token belongs to the account."`
	User      *Holder        `json:"user" doc:"Whose token it is; null for a service token."`
	Scope     feedback.Role  `json:"scope" enum:"viewer,member,admin" doc:"Its role. A personal token never has more rights than its user."`
	AppID     *feedback.ID   `json:"app_id" format:"uuid" doc:"The only app that it can use; null for all apps."`
	ExpiresAt feedback.Time  `json:"expires_at" format:"date-time"`
	UsedAt    *feedback.Time `json:"used_at" format:"date-time" doc:"The last use, to the minute; null before the first."`
	CreatedAt feedback.Time  `json:"created_at" format:"date-time"`
}

// Holder is the user of a personal token.
type Holder struct {
	ID   feedback.ID `json:"id" format:"uuid"`
	Name string      `json:"name"`
}

// Grant is what a token allows. User is the zero value for a service token. Role is the scope of the
// token, or the role of its user if that has fewer rights.
type Grant struct {
	Token
	Account feedback.Account
	User    feedback.User
	Role    feedback.Role
}

// Tokens are the tokens in a database.
type Tokens struct {
	db   *database.DB
	now  func() time.Time
	rand io.Reader
	ids  *feedback.IDs
}

// New returns the tokens in a database.
func New(db *database.DB, now func() time.Time, rand io.Reader, ids *feedback.IDs) *Tokens {
	return &Tokens{db, now, rand, ids}
}

// columns are those that scan reads, of tokens t, before the id and the name of their user.
const columns = "t.id, t.name, t.scope, t.app_id, t.expires_at, t.used_at, t.created_at, "

// selectTokens reads the tokens of the account $1 that are not revoked. The name is a subquery, because PostgreSQL might join
// all tokens with users to return a few.
const selectTokens = "SELECT " + columns + `t.user_id, (SELECT u.name FROM users u WHERE u.account_id = $1 AND u.id = t.user_id)
	FROM access_tokens t WHERE t.account_id = $1 AND t.revoked_at IS NULL`

func scan(r database.Row) (t Token, err error) {
	var user *feedback.ID
	var name *string
	err = r.Scan(&t.ID, &t.Name, (*string)(&t.Scope), &t.AppID, &t.ExpiresAt, &t.UsedAt, &t.CreatedAt, &user, &name)
	t.Kind = Service
	if user != nil && name != nil {
		t.Kind, t.User = Personal, &Holder{*user, *name}
	}
	return t, err
}

var errInvalid = feedback.ErrInvalidToken.With("This token is not valid; it may have been revoked.")

// Find returns what a secret allows. It returns ErrInvalidToken, or ErrTokenExpired. It does not cache,
// so all processes refuse a revoked token at once.
func (t *Tokens) Find(ctx context.Context, secret string) (Grant, error) {
	accountID, ok := feedback.ParseToken(feedback.ProgramToken, secret)
	if !ok {
		return Grant{}, errInvalid
	}
	hash := feedback.HashSecret(secret)
	g := Grant{Account: feedback.Account{ID: accountID}}
	var email, role *string
	var suspended bool
	var err error
	g.Token, err = scan(database.RowWith{
		Row: t.db.Reader().QueryRowContext(ctx, "SELECT "+columns+`u.id, u.name, u.email, u.role, a.name, a.suspended_at IS NOT NULL
			FROM access_tokens t JOIN accounts a ON a.account_id = $1 LEFT JOIN users u ON u.account_id = $1 AND u.id = t.user_id
			WHERE t.account_id = $1 AND t.hash = $2 AND t.revoked_at IS NULL`, accountID, hash),
		More: []any{&email, &role, &g.Account.Name, &suspended},
	})
	if errors.Is(err, sql.ErrNoRows) {
		return Grant{}, errInvalid
	}
	if err != nil {
		return Grant{}, err
	}
	if suspended {
		return Grant{}, feedback.ErrSuspended
	}
	if g.ExpiresAt <= feedback.At(t.now()) {
		return Grant{}, feedback.ErrTokenExpired.With("The token %q has expired; create a new one.", g.Name)
	}
	g.Role = g.Scope
	if email != nil && role != nil {
		g.User = feedback.User{ID: g.Token.User.ID, Email: *email, Name: g.Token.User.Name}
		if own := feedback.Role(*role); !own.Allows(g.Scope) {
			g.Role = own
		}
	}
	return g, nil
}

// Use stores that a token was used now, at most once a minute.
func (t *Tokens) Use(ctx context.Context, g Grant) error {
	now := t.now()
	if g.UsedAt != nil && now.Sub(g.UsedAt.Std()) < usedStep {
		return nil
	}
	return t.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "UPDATE access_tokens SET used_at = $3"+
			" WHERE account_id = $1 AND id = $2 AND (used_at IS NULL OR used_at <= $4)",
			g.Account.ID, g.ID, feedback.At(now), feedback.At(now.Add(-usedStep)))
		return err
	})
}

// maxListed is the maximum length of a list. Expired tokens stay in it, so there may be more.
const maxListed = 1_000

// List returns the tokens of a user that are not revoked, or of the account if userID is nil: at most
// 1,000, the newest first. Expired ones are among them.
func (t *Tokens) List(ctx context.Context, accountID feedback.ID, userID *feedback.ID) ([]Token, error) {
	query, args := selectTokens, []any{accountID, maxListed}
	if userID != nil {
		query, args = query+" AND t.user_id = $3", append(args, *userID)
	}
	return database.All(ctx, t.db.Reader(), scan, query+" ORDER BY t.id DESC LIMIT CAST($2 AS BIGINT)", args...)
}

// Add stores a token, and returns it with its secret, which is nowhere else. It sets the id and the
// time. It returns ErrTooManyTokens, or ErrUserNotFound if the user has been removed.
func (t *Tokens) Add(ctx context.Context, accountID, by feedback.ID, token Token) (Token, string, error) {
	token.ID = t.ids.New()
	token.CreatedAt = token.ID.Time()
	secret := feedback.NewToken(feedback.ProgramToken, accountID, t.rand)
	hash := feedback.HashSecret(secret)
	err := t.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		// The log of changes is locked until the end, so that the number of tokens is exact.
		if err := t.record(ctx, tx, accountID, by, feedback.TokenCreated, token); err != nil {
			return err
		}
		var userID *feedback.ID
		owned := " AND user_id IS NULL"
		args := []any{accountID, feedback.At(t.now())}
		if token.User != nil {
			userID, owned, args = &token.User.ID, " AND user_id = $3", append(args, token.User.ID)
			n, err := database.Changed(ctx, tx, "UPDATE users SET name = name WHERE account_id = $1 AND id = $2", accountID, token.User.ID)
			if err != nil {
				return err
			}
			if n == 0 {
				return feedback.ErrUserNotFound
			}
		}
		var n int
		err := tx.QueryRowContext(ctx, "SELECT COUNT(*) FROM access_tokens"+
			" WHERE account_id = $1 AND revoked_at IS NULL AND expires_at > $2"+owned, args...).Scan(&n)
		if err != nil {
			return err
		}
		if n >= Max {
			return feedback.ErrTooManyTokens
		}
		_, err = tx.ExecContext(ctx, "INSERT INTO access_tokens (account_id, id, user_id, hash, name, scope, app_id, created_at, expires_at)"+
			" VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)", accountID, token.ID, userID, hash, token.Name, string(token.Scope), token.AppID,
			token.CreatedAt, token.ExpiresAt)
		return err
	})
	return token, secret, err
}

// Revoke ends a token unless check returns an error. It returns ErrTokenNotFound if the token does not
// exist or was revoked, or the error of check.
func (t *Tokens) Revoke(ctx context.Context, accountID, by, id feedback.ID, check func(Token) error) error {
	return t.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		// It locks the row until the end, so that a token is revoked once.
		n, err := database.Changed(ctx, tx, "UPDATE access_tokens SET name = name WHERE account_id = $1 AND id = $2 AND revoked_at IS NULL",
			accountID, id)
		if err != nil {
			return err
		}
		if n == 0 {
			return feedback.ErrTokenNotFound
		}
		token, err := scan(tx.QueryRowContext(ctx, selectTokens+" AND t.id = $2", accountID, id))
		if err != nil {
			return err
		}
		if err := check(token); err != nil {
			return err
		}
		if token.UsedAt == nil { // nothing but the entries of its creation and end names it, and they have its name
			_, err = tx.ExecContext(ctx, "DELETE FROM access_tokens WHERE account_id = $1 AND id = $2", accountID, id)
		} else {
			_, err = tx.ExecContext(ctx, "UPDATE access_tokens SET revoked_at = $3 WHERE account_id = $1 AND id = $2",
				accountID, id, feedback.At(t.now()))
		}
		if err != nil {
			return err
		}
		return t.record(ctx, tx, accountID, by, feedback.TokenRevoked, token)
	})
}

// record adds the entry about a token to the log of changes.
func (t *Tokens) record(
	ctx context.Context, tx *sql.Tx, accountID, by feedback.ID, kind feedback.ChangeKind, token Token,
) error {
	fields := map[string]any{
		"id": token.ID, "name": token.Name, "kind": token.Kind, "scope": token.Scope, "app_id": token.AppID, "expires_at": token.ExpiresAt,
	}
	if token.User != nil {
		fields["user"] = token.User.Name
	}
	change := feedback.Change{Kind: kind, Actor: feedback.ByUserID(by), After: fields}
	if kind == feedback.TokenRevoked {
		change.Before, change.After = fields, nil
	}
	return changelog.Record(ctx, tx, accountID, feedback.At(t.now()), change)
}

// Works is the condition that the token $2 of the account $1 works at the time $3.
const Works = "EXISTS (SELECT 1 FROM access_tokens WHERE account_id = $1 AND id = $2 AND revoked_at IS NULL AND expires_at > $3)" +
	" AND NOT EXISTS (SELECT 1 FROM accounts WHERE account_id = $1 AND suspended_at IS NOT NULL)"

// RemoveUser deletes the tokens of a user who is removed in the same transaction.
func RemoveUser(ctx context.Context, tx *sql.Tx, accountID, userID feedback.ID) error {
	_, err := tx.ExecContext(ctx, "DELETE FROM access_tokens WHERE account_id = $1 AND user_id = $2", accountID, userID)
	return err
}

// RemoveApp deletes the tokens that are limited to an app, which is deleted in the same transaction.
func RemoveApp(ctx context.Context, tx *sql.Tx, accountID, appID feedback.ID) error {
	_, err := tx.ExecContext(ctx, "DELETE FROM access_tokens WHERE account_id = $1 AND app_id = $2", accountID, appID)
	return err
}
