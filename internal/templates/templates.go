// Package templates stores the reply templates of an account: texts that its team uses again in public replies.
package templates

import (
	"context"
	"database/sql"
	"time"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
)

// Max is how many templates an account may have. A few more are possible if they are added at the same time.
const Max = 100

// Template is a text with a name.
type Template struct {
	ID        feedback.ID   `json:"id" format:"uuid"`
	Name      string        `json:"name"`
	Body      string        `json:"body" doc:"Markdown, as in comments."`
	CreatedAt feedback.Time `json:"created_at" format:"date-time"`
	UpdatedAt feedback.Time `json:"updated_at" format:"date-time"`
}

// Templates are the templates in a database.
type Templates struct {
	db  *database.DB
	now func() time.Time
	ids *feedback.IDs
}

// New returns the templates in a database.
func New(db *database.DB, now func() time.Time, ids *feedback.IDs) *Templates {
	return &Templates{db, now, ids}
}

const selectTemplates = "SELECT id, name, body, created_at, updated_at FROM reply_templates WHERE account_id = $1"

func scan(r database.Row) (t Template, err error) {
	err = r.Scan(&t.ID, &t.Name, &t.Body, &t.CreatedAt, &t.UpdatedAt)
	return t, err
}

// List returns the templates of an account, oldest first.
func (t *Templates) List(ctx context.Context, accountID feedback.ID) ([]Template, error) {
	return database.All(ctx, t.db.Reader(), scan, selectTemplates+" ORDER BY id", accountID)
}

// Add stores a template. It returns ErrTooManyTemplates if the account has Max.
func (t *Templates) Add(ctx context.Context, accountID feedback.ID, name, body string) (Template, error) {
	id := t.ids.New()
	added := Template{ID: id, Name: name, Body: body, CreatedAt: id.Time(), UpdatedAt: id.Time()}
	err := t.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		var n int
		err := tx.QueryRowContext(ctx, "SELECT COUNT(*) FROM reply_templates WHERE account_id = $1", accountID).Scan(&n)
		if err != nil {
			return err
		}
		if n >= Max {
			return feedback.ErrTooManyTemplates
		}
		_, err = tx.ExecContext(ctx, "INSERT INTO reply_templates (account_id, id, name, body, created_at, updated_at)"+
			" VALUES ($1, $2, $3, $4, $5, $6)", accountID, id, name, body, added.CreatedAt, added.UpdatedAt)
		return err
	})
	return added, err
}

// Change replaces the name and the body of a template, those that are not nil. It returns ErrTemplateNotFound.
func (t *Templates) Change(ctx context.Context, accountID, id feedback.ID, name, body *string) (changed Template, err error) {
	err = t.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		n, err := database.Changed(ctx, tx, "UPDATE reply_templates SET name = COALESCE(CAST($3 AS TEXT), name),"+
			" body = COALESCE(CAST($4 AS TEXT), body), updated_at = $5 WHERE account_id = $1 AND id = $2",
			accountID, id, name, body, feedback.At(t.now()))
		if err != nil {
			return err
		}
		if n == 0 {
			return feedback.ErrTemplateNotFound
		}
		changed, err = scan(tx.QueryRowContext(ctx, selectTemplates+" AND id = $2", accountID, id))
		return err
	})
	return changed, err
}

// Delete deletes a template. It returns ErrTemplateNotFound.
func (t *Templates) Delete(ctx context.Context, accountID, id feedback.ID) error {
	return t.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		n, err := database.Changed(ctx, tx, "DELETE FROM reply_templates WHERE account_id = $1 AND id = $2", accountID, id)
		if err == nil && n == 0 {
			err = feedback.ErrTemplateNotFound
		}
		return err
	})
}
