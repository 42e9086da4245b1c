package store

import (
	"context"
	"database/sql"
	"errors"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
)

// lockTeam makes changes of an account's users wait for each other: what is read of roles
// behind it holds until the transaction ends.
func lockTeam(ctx context.Context, tx *sql.Tx, accountID feedback.ID) error {
	_, err := tx.ExecContext(ctx, "UPDATE accounts SET name = name WHERE account_id = $1", accountID)
	return err
}

func readMember(ctx context.Context, q database.Queryer, accountID, id feedback.ID) (feedback.Member, error) {
	m, err := scanMember(q.QueryRowContext(ctx, memberColumns+" WHERE account_id = $1 AND id = $2", accountID, id))
	return m, orNotFound(err, feedback.ErrUserNotFound)
}

// manager locks the team and returns who is about to change it, as of now: since the call
// began, the user's role may have changed.
func manager(ctx context.Context, tx *sql.Tx, accountID, by feedback.ID) (feedback.Member, error) {
	if err := lockTeam(ctx, tx, accountID); err != nil {
		return feedback.Member{}, err
	}
	m, err := readMember(ctx, tx, accountID, by)
	if errors.Is(err, feedback.ErrUserNotFound) {
		err = feedback.ErrInvalidToken
	}
	return m, err
}

// managed locks the team and returns a user whom another one is about to change. It
// refuses with ErrUserNotFound and ErrForbidden.
func managed(ctx context.Context, tx *sql.Tx, accountID, by, id feedback.ID) (who, m feedback.Member, err error) {
	if who, err = manager(ctx, tx, accountID, by); err != nil {
		return who, m, err
	}
	if m, err = readMember(ctx, tx, accountID, id); err != nil {
		return who, m, err
	}
	return who, m, checkRole(who, m.Role)
}

// checkRole refuses to let somebody touch users with a role, or give it.
func checkRole(who feedback.Member, role feedback.Role) error {
	switch {
	case who.Role.Manages(role):
		return nil
	case who.Role.Allows(feedback.RoleAdmin):
		return feedback.ErrForbidden.With("Only owners may make owners, or change them.")
	}
	return feedback.ErrForbidden
}

// checkOwners refuses to take the last owner away who can log in.
func checkOwners(ctx context.Context, tx *sql.Tx, accountID feedback.ID, leaving feedback.Member) error {
	if leaving.Role != feedback.RoleOwner || leaving.Invited {
		return nil
	}
	var others int
	err := tx.QueryRowContext(ctx, "SELECT COUNT(*) FROM users WHERE account_id = $1 AND role = $2 AND id <> $3 AND password_hash <> ''",
		accountID, string(feedback.RoleOwner), leaving.ID).Scan(&others)
	if err == nil && others == 0 {
		return feedback.ErrLastOwner
	}
	return err
}

// ChangeUser gives a user another name or role; nil keeps it. It refuses with
// ErrUserNotFound, ErrForbidden and ErrLastOwner.
func (s *Store) ChangeUser(ctx context.Context, accountID, by, id feedback.ID, name *string, role *feedback.Role) (m feedback.Member, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		var who feedback.Member
		if who, m, err = managed(ctx, tx, accountID, by, id); err != nil {
			return err
		}
		old := m
		if name != nil {
			m.Name = *name
		}
		if role != nil && *role != old.Role {
			m.Role = *role
			if err := checkRole(who, m.Role); err != nil {
				return err
			}
			if err := checkOwners(ctx, tx, accountID, old); err != nil {
				return err
			}
		}
		if m == old {
			return nil
		}
		if _, err := tx.ExecContext(ctx, "UPDATE users SET name = $3, role = $4 WHERE account_id = $1 AND id = $2", accountID, id, m.Name, string(m.Role)); err != nil {
			return err
		}
		before, after := named(old), named(m)
		if m.Role != old.Role {
			before["role"], after["role"] = old.Role, m.Role
		}
		return s.record(ctx, tx, accountID, feedback.At(s.now()), feedback.Change{Kind: feedback.UserUpdated, Actor: userActor(by), Before: before, After: after})
	})
	return m, err
}

// named is what the log says of a user beside what was changed: who it was.
func named(m feedback.Member) map[string]any {
	return map[string]any{"id": m.ID, "name": m.Name}
}

func userActor(id feedback.ID) feedback.Actor { return feedback.Actor{Kind: feedback.ByUser, ID: &id} }

// RemoveUser removes a user: from then on nothing of theirs opens anything. What they
// wrote stays. Their requests become nobody's, which the worker ends if it breaks off. It
// refuses with ErrUserNotFound, ErrForbidden and ErrLastOwner.
func (s *Store) RemoveUser(ctx context.Context, accountID, by, id feedback.ID) error {
	err := s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, m, err := managed(ctx, tx, accountID, by, id)
		if err != nil {
			return err
		}
		if err := checkOwners(ctx, tx, accountID, m); err != nil {
			return err
		}
		// First the user: whoever logs in or assigns a request meanwhile waits here or is seen below.
		if _, err := tx.ExecContext(ctx, "DELETE FROM users WHERE account_id = $1 AND id = $2", accountID, id); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "DELETE FROM logins WHERE email = $1 AND account_id = $2 AND user_id = $3", feedback.FoldEmail(m.Email), accountID, id); err != nil {
			return err
		}
		if err := s.endSessions(ctx, tx, accountID, id, feedback.ID{}); err != nil {
			return err
		}
		if err := endLink(ctx, tx, accountID, id); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "INSERT INTO departures (account_id, user_id, removed_by) VALUES ($1, $2, $3)", accountID, id, by); err != nil {
			return err
		}
		before := named(m)
		before["email"], before["role"] = m.Email, m.Role
		return s.record(ctx, tx, accountID, feedback.At(s.now()), feedback.Change{Kind: feedback.UserRemoved, Actor: userActor(by), Before: before})
	})
	for more := err == nil; more; {
		var failed error
		if more, failed = s.unassignSome(ctx, departure{accountID, id, by}); failed != nil {
			s.log.Warn("not all requests of a removed user are nobody's yet; the worker goes on", "error", failed)
			more = false
		}
	}
	return err
}
