package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
)

// Errors of CopyTo.
var (
	ErrNotEmpty   = errors.New("the database to copy to is not empty; name an empty one")
	ErrCopied     = errors.New("the database to copy to has the accounts and changes of this one already, so nothing is left to copy")
	ErrOtherCopy  = errors.New("the database to copy to has a part of a copy of another database; name an empty one")
	ErrChanged    = errors.New("something was written to the database while it was copied")
	ErrIncomplete = errors.New("a copy into this database is not complete; if it was interrupted, run gatherkit copy again to continue it")
)

// copying is the name of the lease that a database has until a copy into it is complete. Its holder is the source.
const copying = "copy"

// copiedAtOnce is how many rows a transaction of a copy inserts.
const copiedAtOnce = 5000

// notCopied are the tables whose rows belong to a database and not to its data.
var notCopied = []string{"schema_version", "leases", "mail_server"}

// CopiedTable is a table that was copied.
type CopiedTable struct {
	Name string
	database.Rows
}

// CopyTo copies all rows to the database of another store, which was opened with Options.Copying, and compares both. It
// calls progress with the rows of a table that are copied. If it ends with an error, a further call continues. It
// returns ErrCopied if a copy is complete, ErrNotEmpty or ErrOtherCopy if the other database has other rows, and
// ErrChanged if this one was written to meanwhile.
func (s *Store) CopyTo(ctx context.Context, to *Store, progress func(table string, rows int64)) ([]CopiedTable, error) {
	before, err := s.state(ctx)
	if err != nil {
		return nil, err
	}
	everything := func(database.Table) (string, []any, bool) { return "", nil, true }
	copied, err := s.copyRows(ctx, s.db.Reader(), to, before.id, everything, progress)
	if errors.Is(err, ErrNotEmpty) {
		if there, err := to.state(ctx); err == nil && there == before {
			return nil, ErrCopied
		}
	}
	if err != nil {
		return nil, err
	}
	after, err := s.state(ctx)
	if err == nil && after != before {
		err = fmt.Errorf("%w; stop the service, and copy into an empty database", ErrChanged)
	}
	if err != nil {
		return nil, err
	}
	return copied, to.endCopy(ctx)
}

// ExportAccount copies all rows of an account, as they are at one time, to another store, which is empty and was opened
// with Options.Copying. That is an installation with only this account.
func (s *Store) ExportAccount(ctx context.Context, accountID feedback.ID, to *Store) error {
	ofAccount := func(t database.Table) (string, []any, bool) {
		if t.Name == "installation" {
			return "", nil, true
		}
		// The other tables without accounts have, for example, the secrets that sign the links of all accounts.
		return "WHERE account_id = $1", []any{accountID}, slices.Contains(t.Columns, "account_id")
	}
	err := s.db.Read(ctx, func(tx *sql.Tx) error {
		_, err := s.copyRows(ctx, tx, to, accountID, ofAccount, func(string, int64) {})
		return err
	})
	if err != nil {
		return err
	}
	return to.endCopy(ctx)
}

// copyRows copies rows that q reads, and compares them. of returns the condition for the rows of a table, and whether
// any are copied. source tells different sources apart.
func (s *Store) copyRows(
	ctx context.Context, q database.Queryer, to *Store, source feedback.ID,
	of func(database.Table) (condition string, args []any, some bool), progress func(table string, rows int64),
) ([]CopiedTable, error) {
	tables, err := s.copiedTables(ctx)
	if err != nil {
		return nil, err
	}
	target, err := to.copiedTables(ctx)
	if err != nil {
		return nil, err
	}
	tables, target = commonTables(tables, target), commonTables(target, tables)
	if err := to.beginCopy(ctx, source, target); err != nil {
		return nil, err
	}
	var copied []CopiedTable
	for i, table := range tables {
		var rows database.Rows
		if condition, args, some := of(table); some {
			rows, err = to.db.TakeRows(ctx, target[i], q, table, condition, args, copiedAtOnce, nil, func(n int64) error {
				progress(table.Name, n)
				return nil
			})
			if err != nil {
				return nil, fmt.Errorf("copy %s: %w", table.Name, err)
			}
		}
		copied = append(copied, CopiedTable{table.Name, rows})
	}
	return copied, to.compare(ctx, target, copied)
}

// compare returns an error if the tables do not have exactly the rows that were copied.
func (s *Store) compare(ctx context.Context, tables []database.Table, copied []CopiedTable) error {
	for i, table := range tables {
		rows, err := database.ReadRows(ctx, s.db.Reader(), table, "", nil, nil)
		if err == nil && rows != copied[i].Rows {
			err = fmt.Errorf("the copy of %s has %d rows and differs; copy into an empty database", table.Name, rows.N)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// endCopy marks a copy as complete.
func (s *Store) endCopy(ctx context.Context) error {
	return s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "DELETE FROM leases WHERE name = $1", copying)
		return err
	})
}

// copiedTables returns the tables that are copied, those first to which others refer.
func (s *Store) copiedTables(ctx context.Context) ([]database.Table, error) {
	tables, err := s.db.Tables(ctx)
	if err != nil {
		return nil, err
	}
	tables = slices.DeleteFunc(tables, func(t database.Table) bool { return slices.Contains(notCopied, t.Name) })
	slices.SortStableFunc(tables, func(a, b database.Table) int {
		switch "accounts" {
		case a.Name:
			return -1
		case b.Name:
			return 1
		}
		return 0
	})
	return tables, nil
}

// commonTables returns the tables that another database has, too. Only those of this program are in both: the schemas are
// equal.
func commonTables(tables, others []database.Table) []database.Table {
	return slices.DeleteFunc(slices.Clone(tables), func(t database.Table) bool {
		return !slices.ContainsFunc(others, func(other database.Table) bool { return other.Name == t.Name })
	})
}

// state is what tells whether a database is the same, and whether something was written to it.
type state struct {
	id  feedback.ID // of the oldest account
	sum [sha256.Size]byte
}

func (s *Store) state(ctx context.Context) (st state, err error) {
	hash := sha256.New()
	positions, err := database.All(ctx, s.db.Reader(), func(r database.Row) (line string, err error) {
		var id feedback.ID
		var last int64
		err = r.Scan(&id, &last)
		return fmt.Sprintln(id, last), err
	}, "SELECT account_id, last FROM account_seq ORDER BY account_id")
	if err != nil {
		return st, err
	}
	for _, line := range positions {
		_, _ = hash.Write([]byte(line))
	}
	st.sum = [sha256.Size]byte(hash.Sum(nil))
	oldest, err := database.All(ctx, s.db.Reader(), database.One[feedback.ID], "SELECT account_id FROM accounts ORDER BY account_id LIMIT 1")
	if len(oldest) > 0 {
		st.id = oldest[0]
	}
	return st, err
}

// beginCopy marks a database as one into which a copy is not complete, unless it is marked already.
func (s *Store) beginCopy(ctx context.Context, source feedback.ID, tables []database.Table) error {
	marks, err := database.All(ctx, s.db.Reader(), database.One[feedback.ID], "SELECT holder FROM leases WHERE name = $1", copying)
	switch {
	case err != nil:
		return err
	case len(marks) > 0 && marks[0] == source:
		return nil
	case len(marks) > 0:
		return ErrOtherCopy
	}
	for _, table := range tables {
		var filled bool
		if err := s.db.Reader().QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM "+table.Name+")").Scan(&filled); err != nil {
			return err
		}
		if filled {
			return ErrNotEmpty
		}
	}
	return s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "INSERT INTO leases (name, holder, until, progress) VALUES ($1, $2, 0, 0)", copying, source)
		return err
	})
}

// checkCopied returns ErrIncomplete if a copy into the database was interrupted.
func (s *Store) checkCopied(ctx context.Context) error {
	var n int
	err := s.db.Reader().QueryRowContext(ctx, "SELECT COUNT(*) FROM leases WHERE name = $1", copying).Scan(&n)
	if err == nil && n > 0 {
		err = ErrIncomplete
	}
	return err
}
