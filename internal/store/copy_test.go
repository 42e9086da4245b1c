package store_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"gatherkit/internal/feedback"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
)

// rowsOf are the rows of all tables that a copy has, as texts in an order of their own.
func rowsOf(r *storetest.Rig) map[string][]string {
	r.T.Helper()
	found := map[string][]string{}
	for table, columns := range allColumns(r) {
		if table == "schema_version" || table == "leases" || table == "mail_server" {
			continue
		}
		slices.Sort(columns)
		for _, row := range allRows(r, table, columns) {
			var line strings.Builder
			for _, column := range columns {
				value := strings.NewReplacer("true", "1", "false", "0").Replace(row[column])
				fmt.Fprintf(&line, "%s=%q ", column, value)
			}
			found[table] = append(found[table], line.String())
		}
		slices.Sort(found[table])
	}
	return found
}

// empty opens a store in an empty place for a copy.
func empty(t *testing.T, at storetest.Place) *store.Store {
	t.Helper()
	return at.Open(t, nil, func(o *store.Options) { o.Copying = true })
}

func discard(string, int64) {}

// TestCopy: a copy of a copy, from SQLite to PostgreSQL and back, has each row of each table as it was, and is used as
// the original.
func TestCopy(t *testing.T) {
	first := storetest.NewRig(t, storetest.SQLite(t))
	for _, name := range []string{"Acme", "Globex"} {
		account := first.NewAccount(name)
		app := first.NewApp(account)
		confided(first, app)
		first.Exec("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5001) INSERT INTO index_words"+
			" SELECT $1, $2, 'word ' || i, $3 FROM n", account.ID, app.ID, []byte{1}) // more than a transaction of a copy has
		first.Drop(first.NewApp(account))
		beside(first, account)
		_, err := first.Submit(ctx, store.Submission{App: app, Request: feedback.NewRequest("It’s 100 % “größer” \\ $1 🎉", "a\r\nb\t\u200f")})
		if err != nil {
			t.Fatal(err)
		}
	}
	first.IndexAll()
	for _, secret := range []string{"cursor", "link"} {
		if _, err := first.Secret(ctx, secret); err != nil {
			t.Fatal(err)
		}
	}
	want := rowsOf(first)
	for table, columns := range allColumns(first) {
		if len(want[table]) == 0 && slices.Contains(columns, "account_id") {
			t.Errorf("%s is empty, and so the test shows nothing of it", table)
		}
	}
	source := first.Store
	first.Exec("CREATE TABLE aa_theirs (n INTEGER)") // of another program, which is not copied
	first.Exec("INSERT INTO aa_theirs VALUES (1)")
	for _, at := range []storetest.Place{{Name: "postgres", Database: storetest.Postgres(t)}, storetest.SQLite(t)} {
		target := empty(t, at)
		copied, err := source.CopyTo(ctx, target, discard)
		if err != nil {
			t.Fatal(err)
		}
		r := storetest.NewRig(t, at)
		if diff := gocmp.Diff(want, rowsOf(r)); diff != "" {
			t.Fatalf("on %s (-want +got):\n%.4000s", at.Name, diff)
		}
		i := slices.IndexFunc(copied, func(c store.CopiedTable) bool { return c.Name == "requests" })
		if i < 0 || copied[i].N != int64(len(want["requests"])) {
			t.Errorf("on %s: %+v", at.Name, copied)
		}
		if wrong, err := r.Recount(ctx); err != nil || len(wrong) > 0 {
			t.Errorf("on %s: %+v, %v", at.Name, wrong, err)
		}
		account, err := r.Team.Find(ctx, "Globex")
		if err != nil {
			t.Fatal(err)
		}
		r.Fill(r.NewApp(account), 1)
		r.IndexAll()
		source, want = target, rowsOf(r)
	}
}

// TestCopyContinues: a copy that was interrupted cannot be used, and goes on when it is made again.
func TestCopyContinues(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		from := storetest.NewRig(t, storetest.SQLite(t))
		from.Fill(from.NewApp(from.NewAccount("Acme")), 100)
		target := at.Another(t)
		to := empty(t, target)
		interrupted, interrupt := context.WithCancel(ctx)
		_, err := from.CopyTo(interrupted, to, func(table string, _ int64) {
			if table == "changes" {
				interrupt()
			}
		})
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("interrupted: %v", err)
		}
		o := store.Options{Database: target.Database, Folder: target.Folder, Now: from.Clock.Now, Log: slog.New(slog.DiscardHandler)}
		if s, err := store.Open(ctx, o); !errors.Is(err, store.ErrIncomplete) {
			t.Errorf("a copy that is not complete: %v, %v", s, err)
		}
		other := storetest.NewRig(t, storetest.SQLite(t))
		other.NewAccount("Globex")
		if _, err := other.CopyTo(ctx, to, discard); !errors.Is(err, store.ErrOtherCopy) {
			t.Errorf("a copy of another database: %v", err)
		}
		var began []string
		if _, err := from.CopyTo(ctx, to, func(table string, _ int64) { began = append(began, table) }); err != nil {
			t.Fatal(err)
		}
		if began[0] != "accounts" || !slices.Contains(began, "requests") {
			t.Errorf("the tables %q", began)
		}
		whole := storetest.NewRig(t, target)
		if diff := gocmp.Diff(rowsOf(from), rowsOf(whole)); diff != "" {
			t.Errorf("the copy (-want +got):\n%.2000s", diff)
		}
		if _, err := from.CopyTo(ctx, to, discard); !errors.Is(err, store.ErrCopied) {
			t.Errorf("a second time: %v", err)
		}
		if _, err := other.CopyTo(ctx, to, discard); !errors.Is(err, store.ErrNotEmpty) {
			t.Errorf("into a database that has rows: %v", err)
		}
	})
}

// TestCopyIsCompared: a copy that differs from the original, or whose original has changed meanwhile, is not complete.
func TestCopyIsCompared(t *testing.T) {
	from := storetest.NewRig(t, storetest.SQLite(t))
	account := from.NewAccount("Acme")
	app := from.NewApp(account)
	from.Fill(app, 10)
	for _, test := range []struct {
		name  string
		spoil func(target *storetest.Rig)
		want  func(error) bool
	}{
		{
			"a row of the copy differs", func(target *storetest.Rig) { target.Exec("UPDATE accounts SET name = 'Acme '") },
			func(err error) bool {
				return strings.HasPrefix(err.Error(), "the copy of accounts has 1 rows and differs")
			},
		},
		{
			"the original changes", func(*storetest.Rig) { from.Fill(app, 1) },
			func(err error) bool { return errors.Is(err, store.ErrChanged) },
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			at := storetest.SQLite(t)
			to := empty(t, at)
			raw := &storetest.Rig{Store: to, T: t, At: at, Clock: from.Clock, Raw: at.Raw(t)}
			_, err := from.CopyTo(ctx, to, func(table string, _ int64) {
				if table == "apps" {
					test.spoil(raw)
				}
			})
			if err == nil || !test.want(err) {
				t.Errorf("%v", err)
			}
			if n := raw.Count("leases WHERE name = 'copy'"); n != 1 {
				t.Error("the copy counts as complete")
			}
		})
	}
}
