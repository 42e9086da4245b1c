package storetest

import (
	"encoding/hex"
	"fmt"

	"gatherkit/internal/feedback"
)

// Refuses makes the database refuse to insert, update or delete rows of a table for which a condition holds, until
// mend is called. The condition names the row new or old, and contains ids as Literal writes them.
func (r *Rig) Refuses(operation, table, condition string) (mend func()) {
	r.T.Helper()
	name := "refuses_" + operation + "_" + table
	if r.At.Database == "" {
		r.Exec(fmt.Sprintf("CREATE TRIGGER %s BEFORE %s ON %s WHEN %s BEGIN SELECT RAISE(ABORT, 'a test refuses this'); END",
			name, operation, table, condition))
		return func() { r.Exec("DROP TRIGGER " + name) }
	}
	r.Exec("CREATE FUNCTION " + name + "() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'a test refuses this'; END $$")
	r.Exec(fmt.Sprintf("CREATE TRIGGER %s BEFORE %s ON %s FOR EACH ROW WHEN (%s) EXECUTE FUNCTION %s()",
		name, operation, table, condition, name))
	return func() { r.Exec("DROP FUNCTION " + name + " CASCADE") }
}

// Literal returns an id as the database's SQL writes it.
func (r *Rig) Literal(id feedback.ID) string { return literal(id, r.At.Database == "") }

func literal(id feedback.ID, sqlite bool) string {
	if sqlite {
		return "x'" + hex.EncodeToString(id[:]) + "'"
	}
	return "'" + id.String() + "'::uuid"
}
