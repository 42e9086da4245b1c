// Package team stores accounts, their users and how these log in: the set-up of the first account, invitations,
// roles and passwords.
package team

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"time"

	"gatherkit/internal/changelog"
	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
	"gatherkit/internal/quota"
	"gatherkit/internal/sessions"
)

// Team are the accounts and users in a database.
type Team struct {
	db       *database.DB
	now      func() time.Time
	rand     io.Reader
	ids      *feedback.IDs
	sessions *sessions.Sessions
	quotas   *quota.Quotas
}

// New returns the accounts and users in a database.
func New(
	db *database.DB, now func() time.Time, rand io.Reader, ids *feedback.IDs, s *sessions.Sessions, quotas *quota.Quotas,
) *Team {
	return &Team{db, now, rand, ids, s, quotas}
}

// lockTeam locks the users of an account. Changes of users wait for each other, so roles that
// are read afterwards stay the same until the transaction ends.
func lockTeam(ctx context.Context, tx *sql.Tx, accountID feedback.ID) error {
	_, err := tx.ExecContext(ctx, "UPDATE accounts SET name = name WHERE account_id = $1", accountID)
	return err
}

func readMember(ctx context.Context, q database.Queryer, accountID, id feedback.ID) (feedback.Member, error) {
	m, err := scanMember(q.QueryRowContext(ctx, memberColumns+" WHERE account_id = $1 AND id = $2", accountID, id))
	return m, database.OrNotFound(err, feedback.ErrUserNotFound)
}

// lockActor locks the team and returns the user by, whose role may have changed since the
// call was authorized. It returns ErrInvalidToken if the user was removed. The operator may do
// what an owner may.
func lockActor(ctx context.Context, tx *sql.Tx, accountID feedback.ID, by feedback.Actor) (feedback.Member, error) {
	if err := lockTeam(ctx, tx, accountID); err != nil {
		return feedback.Member{}, err
	}
	if by.Kind == feedback.ByCommand {
		return feedback.Member{Role: feedback.RoleOwner}, nil
	}
	m, err := readMember(ctx, tx, accountID, by.MakerID())
	if errors.Is(err, feedback.ErrUserNotFound) {
		err = feedback.ErrInvalidToken
	}
	return m, err
}

// lockManaged locks the team and returns the user by and the user id, whom by is about to
// change. It returns ErrUserNotFound, or ErrForbidden if by may not manage the user.
func lockManaged(
	ctx context.Context, tx *sql.Tx, accountID feedback.ID, by feedback.Actor, id feedback.ID,
) (actor, m feedback.Member, err error) {
	if actor, err = lockActor(ctx, tx, accountID, by); err != nil {
		return actor, m, err
	}
	if m, err = readMember(ctx, tx, accountID, id); err != nil {
		return actor, m, err
	}
	return actor, m, checkRole(actor, m.Role)
}

// checkRole returns ErrForbidden unless actor may change users with the role and assign it.
func checkRole(actor feedback.Member, role feedback.Role) error {
	switch {
	case actor.Role.Manages(role):
		return nil
	case actor.Role.Allows(feedback.RoleAdmin):
		return feedback.ErrForbidden.With("Only owners can manage owners.")
	}
	return feedback.ErrForbidden
}

// checkOwners returns ErrLastOwner if leaving is the last owner who can log in.
func checkOwners(ctx context.Context, tx *sql.Tx, accountID feedback.ID, leaving feedback.Member) error {
	if leaving.Role != feedback.RoleOwner || leaving.Invited {
		return nil
	}
	var others int
	err := tx.QueryRowContext(ctx, "SELECT COUNT(*) FROM users"+
		" WHERE account_id = $1 AND role = $2 AND id <> $3 AND password_hash <> ''",
		accountID, string(feedback.RoleOwner), leaving.ID).Scan(&others)
	if err == nil && others == 0 {
		return feedback.ErrLastOwner
	}
	return err
}

// Change changes the name and the role of a user, unless they are nil. It returns
// ErrUserNotFound, ErrForbidden or ErrLastOwner.
func (t *Team) Change(
	ctx context.Context, accountID feedback.ID, by feedback.Actor, id feedback.ID, name *string, role *feedback.Role,
) (m feedback.Member, err error) {
	err = t.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		var actor feedback.Member
		if actor, m, err = lockManaged(ctx, tx, accountID, by, id); err != nil {
			return err
		}
		old := m
		if name != nil {
			m.Name = *name
		}
		if role != nil && *role != old.Role {
			m.Role = *role
			if err := checkRole(actor, m.Role); err != nil {
				return err
			}
			if err := checkOwners(ctx, tx, accountID, old); err != nil {
				return err
			}
		}
		if m == old {
			return nil
		}
		_, err := tx.ExecContext(ctx, "UPDATE users SET name = $3, role = $4 WHERE account_id = $1 AND id = $2",
			accountID, id, m.Name, string(m.Role))
		if err != nil {
			return err
		}
		before, after := userFields(old), userFields(m)
		if m.Role != old.Role {
			before["role"], after["role"] = old.Role, m.Role
		}
		return changelog.Record(ctx, tx, accountID, feedback.At(t.now()), feedback.Change{
			Kind: feedback.UserUpdated, Actor: by, Before: before, After: after,
		})
	})
	return m, err
}

// userFields returns the fields that identify a user in the log.
func userFields(m feedback.Member) map[string]any {
	return map[string]any{"id": m.ID, "name": m.Name}
}

// Remove deletes a user with their login, sessions and join link, in a transaction that deletes what else
// belongs to the user. It returns ErrUserNotFound, ErrForbidden or ErrLastOwner.
func (t *Team) Remove(ctx context.Context, tx *sql.Tx, accountID feedback.ID, by feedback.Actor, id feedback.ID) error {
	_, m, err := lockManaged(ctx, tx, accountID, by, id)
	if err != nil {
		return err
	}
	if err := checkOwners(ctx, tx, accountID, m); err != nil {
		return err
	}
	// The user goes first. A concurrent login or assignment locks the same row, so it either fails or commits
	// before, and the following statements see it.
	if _, err := tx.ExecContext(ctx, "DELETE FROM users WHERE account_id = $1 AND id = $2", accountID, id); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "DELETE FROM logins WHERE email = $1 AND account_id = $2 AND user_id = $3",
		feedback.FoldEmail(m.Email), accountID, id)
	if err != nil {
		return err
	}
	if err := t.sessions.EndAll(ctx, tx, accountID, id, feedback.ID{}); err != nil {
		return err
	}
	if err := endLink(ctx, tx, accountID, id); err != nil {
		return err
	}
	before := userFields(m)
	before["email"], before["role"] = m.Email, m.Role
	return changelog.Record(ctx, tx, accountID, feedback.At(t.now()), feedback.Change{
		Kind: feedback.UserRemoved, Actor: by, Before: before,
	})
}
