// Package views stores saved views of the list of requests: a filter, an order and a name, of one user
// or of the team.
package views

import (
	"context"
	"database/sql"
	"slices"
	"time"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
)

// Max is how many views a user may have, and how many the team. A few more are possible if they are
// added at the same time.
const Max = 50

// View is a saved view of the list of requests.
type View struct {
	ID        feedback.ID
	Shared    bool // with the team
	Name      string
	Filter    []byte // JSON
	Sort      string
	Default   bool // whether the user sees it first
	CreatedAt feedback.Time
	UpdatedAt feedback.Time
}

// Views are the saved views in a database.
type Views struct {
	db  *database.DB
	now func() time.Time
	ids *feedback.IDs
}

// New returns the views in a database.
func New(db *database.DB, now func() time.Time, ids *feedback.IDs) *Views {
	return &Views{db, now, ids}
}

// team is the owner of the views of the team.
var team feedback.ID

func ownerOf(v View, userID feedback.ID) feedback.ID {
	if v.Shared {
		return team
	}
	return userID
}

// selectViews reads the views of the account $1 that the user $2 sees. The team's have the owner $3.
const selectViews = `SELECT v.id, v.owner_id, v.name, v.filter, v.sort, v.created_at, v.updated_at, d.view_id IS NOT NULL FROM views v
	LEFT JOIN default_views d ON d.account_id = $1 AND d.user_id = $2 AND d.view_id = v.id
	WHERE v.account_id = $1 AND v.owner_id IN ($2, $3)`

func scan(r database.Row) (v View, err error) {
	var owner feedback.ID
	err = r.Scan(&v.ID, &owner, &v.Name, &v.Filter, &v.Sort, &v.CreatedAt, &v.UpdatedAt, &v.Default)
	v.Shared = owner == team
	return v, err
}

// List returns the views that a user sees: those of the team and then the user's own, both in their
// order.
func (v *Views) List(ctx context.Context, accountID, userID feedback.ID) ([]View, error) {
	return database.All(ctx, v.db.Reader(), scan, selectViews+" ORDER BY v.owner_id, v.position, v.id", accountID, userID, team)
}

// Add stores a view behind the others of its owner. It sets the id and the times. It returns
// ErrTooManyViews if the owner has Max views.
func (v *Views) Add(ctx context.Context, accountID, userID feedback.ID, view View) (View, error) {
	view.ID = v.ids.New()
	view.CreatedAt, view.UpdatedAt = view.ID.Time(), view.ID.Time()
	err := v.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		last, err := makeRoom(ctx, tx, accountID, ownerOf(view, userID))
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "INSERT INTO views (account_id, owner_id, id, name, filter, sort, position, created_at, updated_at)"+
			" VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)", accountID, ownerOf(view, userID), view.ID, view.Name, string(view.Filter),
			view.Sort, last+1, view.CreatedAt, view.UpdatedAt)
		if err != nil {
			return err
		}
		return setDefault(ctx, tx, accountID, userID, view, false)
	})
	return view, err
}

// makeRoom returns the last position of an owner's views, or ErrTooManyViews if there are Max.
func makeRoom(ctx context.Context, tx *sql.Tx, accountID, owner feedback.ID) (last int64, err error) {
	var n int
	err = tx.QueryRowContext(ctx, "SELECT COUNT(*), COALESCE(MAX(position), 0) FROM views WHERE account_id = $1 AND owner_id = $2",
		accountID, owner).Scan(&n, &last)
	if err == nil && n >= Max {
		err = feedback.ErrTooManyViews
	}
	return last, err
}

// Change reads a view that the user sees, calls change to modify it, and saves the differences. If
// after is not nil, the view moves behind the view with that id, or to the beginning for the zero id.
// It returns ErrViewNotFound, ErrTooManyViews or the error of change.
func (v *Views) Change(
	ctx context.Context, accountID, userID, id feedback.ID, after *feedback.ID, change func(*View) error,
) (View, error) {
	var view View
	err := v.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) (err error) {
		if view, err = read(ctx, tx, accountID, userID, id); err != nil {
			return err
		}
		old := view
		if err := change(&view); err != nil {
			return err
		}
		if !slices.Equal(view.Filter, old.Filter) || view.Name != old.Name || view.Sort != old.Sort || view.Shared != old.Shared {
			view.UpdatedAt = feedback.At(v.now())
			if err := save(ctx, tx, accountID, userID, old, view); err != nil {
				return err
			}
		}
		if view.Default != old.Default {
			if err := setDefault(ctx, tx, accountID, userID, view, old.Default); err != nil {
				return err
			}
		}
		if after == nil {
			return nil
		}
		return move(ctx, tx, accountID, ownerOf(view, userID), id, *after)
	})
	return view, err
}

// read reads a view that the user sees, and locks it until the transaction ends.
func read(ctx context.Context, tx *sql.Tx, accountID, userID, id feedback.ID) (View, error) {
	n, err := database.Changed(ctx, tx, "UPDATE views SET position = position WHERE account_id = $1 AND owner_id IN ($2, $3) AND id = $4",
		accountID, userID, team, id)
	if err != nil {
		return View{}, err
	}
	if n == 0 {
		return View{}, feedback.ErrViewNotFound
	}
	return scan(tx.QueryRowContext(ctx, selectViews+" AND v.id = $4", accountID, userID, team, id))
}

// save stores what has changed, except the position.
func save(ctx context.Context, tx *sql.Tx, accountID, userID feedback.ID, old, view View) error {
	position := "position"
	args := []any{accountID, ownerOf(old, userID), view.ID, ownerOf(view, userID), view.Name, string(view.Filter), view.Sort, view.UpdatedAt}
	if view.Shared != old.Shared {
		last, err := makeRoom(ctx, tx, accountID, ownerOf(view, userID))
		if err != nil {
			return err
		}
		position, args = "$9", append(args, last+1)
	}
	_, err := tx.ExecContext(ctx, "UPDATE views SET owner_id = $4, name = $5, filter = $6, sort = $7, updated_at = $8, position = "+position+
		" WHERE account_id = $1 AND owner_id = $2 AND id = $3", args...)
	if err != nil || !old.Shared || view.Shared {
		return err
	}
	// The others no longer see it.
	_, err = tx.ExecContext(ctx, "DELETE FROM default_views WHERE account_id = $1 AND view_id = $2 AND user_id <> $3",
		accountID, view.ID, userID)
	return err
}

// setDefault makes a view the one that the user sees first, or no longer.
func setDefault(ctx context.Context, tx *sql.Tx, accountID, userID feedback.ID, view View, was bool) error {
	switch {
	case view.Default:
		_, err := tx.ExecContext(ctx, `INSERT INTO default_views (account_id, user_id, view_id) VALUES ($1, $2, $3)
			ON CONFLICT (account_id, user_id) DO UPDATE SET view_id = excluded.view_id`, accountID, userID, view.ID)
		return err
	case was:
		_, err := tx.ExecContext(ctx, "DELETE FROM default_views WHERE account_id = $1 AND user_id = $2", accountID, userID)
		return err
	}
	return nil
}

// move moves a view of an owner behind another one.
func move(ctx context.Context, tx *sql.Tx, accountID, owner, id, after feedback.ID) error {
	ids, err := database.All(ctx, tx, database.One[feedback.ID],
		"SELECT id FROM views WHERE account_id = $1 AND owner_id = $2 ORDER BY position, id", accountID, owner)
	if err != nil {
		return err
	}
	ids = slices.DeleteFunc(ids, func(other feedback.ID) bool { return other == id })
	at := slices.Index(ids, after) + 1
	if at == 0 && after != (feedback.ID{}) {
		return feedback.ErrViewNotFound
	}
	for i, id := range slices.Insert(ids, at, id) {
		if _, err := tx.ExecContext(ctx, "UPDATE views SET position = $4 WHERE account_id = $1 AND owner_id = $2 AND id = $3",
			accountID, owner, id, i+1); err != nil {
			return err
		}
	}
	return nil
}

// Delete deletes a view unless check returns an error. It returns ErrViewNotFound if the user sees no
// such view, or the error of check.
func (v *Views) Delete(ctx context.Context, accountID, userID, id feedback.ID, check func(View) error) error {
	return v.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		view, err := read(ctx, tx, accountID, userID, id)
		if err != nil {
			return err
		}
		if err := check(view); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "DELETE FROM views WHERE account_id = $1 AND owner_id = $2 AND id = $3",
			accountID, ownerOf(view, userID), id)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "DELETE FROM default_views WHERE account_id = $1 AND view_id = $2", accountID, id)
		return err
	})
}

// RemoveUser deletes the views of a user who is removed in the same transaction.
func RemoveUser(ctx context.Context, tx *sql.Tx, accountID, userID feedback.ID) error {
	if _, err := tx.ExecContext(ctx, "DELETE FROM views WHERE account_id = $1 AND owner_id = $2", accountID, userID); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, "DELETE FROM default_views WHERE account_id = $1 AND user_id = $2", accountID, userID)
	return err
}
