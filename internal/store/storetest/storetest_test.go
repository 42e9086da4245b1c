package storetest_test

import (
	"context"
	"database/sql"
	"errors"
	"testing"

	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
	"gatherkit/internal/team"
)

// TestTemporaryFilesStayOutside: a large sort in one store makes no file in the folder of another.
func TestTemporaryFilesStayOutside(t *testing.T) {
	at := storetest.SQLite(t)
	at.Open(t, nil)
	var folder string
	err := at.Raw(t).QueryRowContext(context.Background(), "PRAGMA temp_store_directory").Scan(&folder)
	if !errors.Is(err, sql.ErrNoRows) {
		t.Errorf("the folder for temporary files is %q, %v", folder, err)
	}
}

func TestStoresAreEmptyAndSeparate(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		ctx := context.Background()
		s := at.Open(t, nil)
		if has, err := s.Team.HasUsers(ctx); err != nil || has {
			t.Fatalf("a new store has users: %v, %v", has, err)
		}
		owner := team.NewUser{Email: "a@example.com", Name: "A", PasswordHash: "hash"}
		if _, err := s.CreateAccounts(ctx, []store.NewAccount{{Name: "Acme", Owner: owner}}); err != nil {
			t.Fatal(err)
		}
		if has, err := at.Open(t, nil).Team.HasUsers(ctx); err != nil || !has {
			t.Fatalf("a second process does not see the user: %v, %v", has, err)
		}
	})
}
