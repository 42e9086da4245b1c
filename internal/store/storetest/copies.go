package storetest

import (
	"context"
	"database/sql"
	"strings"

	"gatherkit/internal/feedback"
)

// CopyAccount adds n accounts with the rows of another one. They have no keys, logins and addresses, which belong to one
// account. Their ids and people are their own, except on SQLite, whose plans do not depend on that.
func (r *Rig) CopyAccount(from feedback.ID, n int) {
	r.T.Helper()
	tx, err := r.Raw.BeginTx(context.Background(), nil)
	if err != nil {
		r.T.Fatal(err)
	}
	defer tx.Rollback() //nolint:errcheck // after an error that failed the test
	exec := func(statement string, args ...any) {
		r.T.Helper()
		if _, err := tx.ExecContext(context.Background(), statement, args...); err != nil {
			r.T.Fatalf("%s: %v", statement, err)
		}
	}
	if r.At.Name == "postgres" {
		exec("SET LOCAL session_replication_role = replica") // without foreign keys, for which the order would matter
	}
	of := numbered{sqlite: r.At.Name == "sqlite", size: max(n, 1)}
	copies := " FROM (SELECT n AS nth_copy, " + of.id(9) + " AS id_of_copy" + of.rows(n) + ") AS copies"
	for table, columns := range r.ofAccounts() {
		var names, values []string
		for _, c := range columns {
			names = append(names, c.name)
			values = append(values, c.copied(table))
		}
		exec("INSERT INTO "+table+" ("+strings.Join(names, ", ")+") SELECT "+strings.Join(values, ", ")+copies+
			" CROSS JOIN "+table+" WHERE account_id = $1", from)
	}
	if err := tx.Commit(); err != nil {
		r.T.Fatal(err)
	}
}

type column struct{ name, kind string }

// copied is the value of the column in a copy.
func (c column) copied(table string) string {
	switch {
	case c.name == "account_id":
		return "copies.id_of_copy"
	case table == "accounts" && c.name == "name":
		return "'Copy'"
	case c.kind == "uuid": // a different one that is as old
		random := "md5(" + c.name + "::text || nth_copy)"
		return "(substr(" + c.name + "::text, 1, 19) || substr(" + random + ", 1, 4) || '-' || substr(" + random + ", 5, 12))::uuid"
	case c.kind == "bytea" && strings.HasSuffix(c.name, "hash"):
		return "sha256(" + c.name + " || nth_copy::text::bytea)"
	case c.kind == "text" && (c.name == "email" || c.name == "person"):
		return c.name + " || nth_copy"
	}
	return c.name
}

// ofAccounts returns the columns of the tables whose rows belong to accounts by their primary key.
func (r *Rig) ofAccounts() map[string][]column {
	r.T.Helper()
	list := `SELECT c.relname, a.attname, format_type(a.atttypid, NULL), a.attnum = k.indkey[0]
		FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid JOIN pg_index k ON k.indrelid = c.oid AND k.indisprimary
		WHERE c.relnamespace = current_schema()::regnamespace AND a.attnum > 0 AND NOT a.attisdropped ORDER BY 1, a.attnum`
	if r.At.Name == "sqlite" {
		list = `SELECT m.name, c.name, c.type, c.pk = 1 FROM sqlite_master m, pragma_table_info(m.name) c
			WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%' ORDER BY 1, c.cid`
	}
	rows, err := r.Raw.QueryContext(context.Background(), list)
	if err != nil {
		r.T.Fatal(err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err below has what matters
	columns := map[string][]column{}
	keyed := map[string]bool{}
	for rows.Next() {
		var table string
		var c column
		var first sql.NullBool
		if err := rows.Scan(&table, &c.name, &c.kind, &first); err != nil {
			r.T.Fatal(err)
		}
		columns[table] = append(columns[table], c)
		keyed[table] = keyed[table] || first.Bool && c.name == "account_id"
	}
	if err := rows.Err(); err != nil {
		r.T.Fatal(err)
	}
	for table := range columns {
		if !keyed[table] {
			delete(columns, table)
		}
	}
	return columns
}
