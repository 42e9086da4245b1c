package database_test

import (
	"context"
	"fmt"
	"testing"

	"gatherkit/internal/store/storetest"
)

// TestStatementsAreKept uses one connection in the ways in which keeping statements could go
// wrong: the same statement while its rows are being read, one that fails, and more
// statements than are kept.
func TestStatementsAreKept(t *testing.T) {
	storetest.EachEmpty(t, func(t *testing.T, at storetest.Place) {
		ctx := context.Background()
		conn, err := open(t, at).Reader().Conn(ctx)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close() //nolint:errcheck // the test is over
		one := func(query string, args ...any) (n int, err error) {
			err = conn.QueryRowContext(ctx, query, args...).Scan(&n)
			return n, err
		}
		const echo = "SELECT CAST($1 AS BIGINT)"
		for i := range 3 {
			if n, err := one(echo, i); err != nil || n != i {
				t.Fatalf("%d %v, want %d", n, err, i)
			}
		}
		if at.Name == "sqlite" { // PostgreSQL has one answer at a time
			outer, err := conn.QueryContext(ctx, echo+" UNION ALL SELECT 1", 0)
			if err != nil {
				t.Fatal(err)
			}
			defer outer.Close() //nolint:errcheck // Err below has what matters
			for want := range 2 {
				var n int
				if !outer.Next() || outer.Scan(&n) != nil || n != want {
					t.Fatalf("%d, want %d: %v", n, want, outer.Err())
				}
				if n, err := one(echo+" UNION ALL SELECT 1", 40); err != nil || n != 40 {
					t.Fatalf("inside: %d %v", n, err)
				}
			}
			if outer.Next() || outer.Err() != nil {
				t.Fatalf("more rows, or %v", outer.Err())
			}
		}
		for range 2 {
			if _, err := one("SELECT nothing FROM nowhere"); err == nil {
				t.Fatal("a wrong statement succeeds")
			}
			if n, err := one(echo, 3); err != nil || n != 3 {
				t.Fatalf("after a failure: %d %v", n, err)
			}
		}
		for i := range 300 {
			if n, err := one(fmt.Sprintf("SELECT %d + CAST($1 AS BIGINT)", i), 1); err != nil || n != i+1 {
				t.Fatalf("statement %d: %d %v", i, n, err)
			}
		}
		if n, err := one(echo, 5); err != nil || n != 5 {
			t.Fatalf("after many: %d %v", n, err)
		}
	})
}

// TestPlaceholders: values go where their numbers say, in any order and more than once, and not into texts.
func TestPlaceholders(t *testing.T) {
	storetest.EachEmpty(t, func(t *testing.T, at storetest.Place) {
		reader := open(t, at).Reader()
		for _, c := range []struct {
			query, want string
			args        []any
		}{
			{"SELECT CAST($1 AS TEXT) || CAST($2 AS TEXT)", "ab", []any{"a", "b"}},
			{"SELECT CAST($2 AS TEXT) || CAST($1 AS TEXT) || CAST($2 AS TEXT)", "bab", []any{"a", "b"}},
			{"SELECT '$2 it''s $1' || CAST($1 AS TEXT)", "$2 it's $1a", []any{"a"}},
			{`SELECT "$1" FROM (SELECT CAST($1 AS TEXT) AS "$1") AS t`, "a", []any{"a"}},
			{"SELECT CAST($1 AS TEXT) || '$'", "a$", []any{"a"}},
		} {
			for range 2 { // the second one is kept
				var got string
				if err := reader.QueryRow(c.query, c.args...).Scan(&got); err != nil || got != c.want {
					t.Errorf("%s: %q %v, want %q", c.query, got, err, c.want)
				}
			}
		}
		for _, query := range []string{"SELECT CAST($2 AS TEXT)", "SELECT CAST($0 AS TEXT)", "SELECT CAST($1 AS TEXT) || CAST($2 AS TEXT)"} {
			var got string
			if err := reader.QueryRow(query, "a").Scan(&got); err == nil {
				t.Errorf("%s with one value: %q", query, got)
			}
		}
	})
}
