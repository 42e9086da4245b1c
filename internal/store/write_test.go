package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"io"
	"log/slog"
	"testing"
	"time"
)

func openForTest(t *testing.T) *Store {
	t.Helper()
	s, err := Open(context.Background(), Options{
		Folder: t.TempDir(), Now: time.Now, Rand: rand.Reader, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// TestImpatienceStaysAlone: a caller that leaves while its group runs must not
// interrupt the transaction that it shares with others.
func TestImpatienceStaysAlone(t *testing.T) {
	s := openForTest(t)
	ctx, cancel := context.WithCancel(context.Background())
	err := s.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		cancel()
		_, err := tx.ExecContext(ctx, "INSERT INTO secrets (name, value) VALUES ('a', $1)", []byte{1})
		return err
	})
	if err != nil {
		t.Errorf("the group failed with its impatient member: %v", err)
	}
}

// TestNeighboursFailAlone: of a group, those whose work fails are undone, and the
// others are kept.
func TestNeighboursFailAlone(t *testing.T) {
	s := openForTest(t)
	ctx := context.Background()
	mistake := errors.New("a mistake")
	insert := func(name string, fault error) transaction {
		return func(ctx context.Context, tx *sql.Tx) error {
			if _, err := tx.ExecContext(ctx, "INSERT INTO secrets (name, value) VALUES ($1, $2)", name, []byte{1}); err != nil {
				return err
			}
			return fault
		}
	}
	failed, err := s.writeGroup(ctx, struct{}{}, []transaction{insert("a", nil), insert("b", mistake), insert("a", nil), insert("c", nil)})
	if err != nil {
		t.Fatal(err)
	}
	if failed[0] != nil || !errors.Is(failed[1], mistake) || !dataFault(failed[2]) || failed[3] != nil {
		t.Errorf("%v", failed)
	}
	names, err := all(ctx, s.reader, func(r row) (name string, err error) {
		err = r.Scan(&name)
		return name, err
	}, "SELECT name FROM secrets ORDER BY name")
	if err != nil || len(names) != 2 || names[0] != "a" || names[1] != "c" {
		t.Errorf("%v %v", names, err)
	}
}

// TestBrokenDisk: after an fsync that failed nothing is written any more.
func TestBrokenDisk(t *testing.T) {
	s := openForTest(t)
	var told error
	s.fatal = func(err error) { told = err }
	s.broken.Store(true)
	err := s.write(context.Background(), func(context.Context, *sql.Tx) error {
		t.Error("a transaction has begun on a broken disk")
		return nil
	})
	if !errors.Is(err, errBroken) || !s.Unavailable(err) || told != nil {
		t.Errorf("%v, %v", err, told)
	}
}
