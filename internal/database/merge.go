package database

import "strings"

// Merged returns a statement for the first rows of several ranges. A range is a SELECT without an order, and all have the
// same columns; limit is a LIMIT clause.
//
// Both databases can merge sorted ranges without reading more of them than they return. SQLite does so for a plain UNION
// ALL. PostgreSQL may sort all rows instead when its statistics are wrong, so each range gets an order and a limit.
func (db *DB) Merged(ranges []string, order, limit string) string {
	end := " ORDER BY " + order + limit
	if len(ranges) == 1 || db.dialect.merges {
		return strings.Join(ranges, " UNION ALL ") + end
	}
	return "SELECT * FROM (SELECT * FROM (" + strings.Join(ranges, end+") AS part UNION ALL SELECT * FROM (") +
		end + ") AS part) AS page" + end
}
