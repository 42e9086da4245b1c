package store_test

import (
	"errors"
	"testing"

	"gatherkit/internal/feedback"
	"gatherkit/internal/store/storetest"
)

// TestGateNotLocked: a request or an app that changes behind the gate is a fault of the
// service. It is not tried again, which would hide it, and nothing is saved. On SQLite there
// is one writer, so that it cannot happen.
func TestGateNotLocked(t *testing.T) {
	t.Parallel()
	r := storetest.NewRig(t, storetest.Place{Name: "postgres", Database: storetest.Postgres(t)})
	app := r.NewApp(r.NewAccount("Acme"))
	request := r.Fill(app, 1)
	tries := 0
	_, err := r.ChangeRequest(ctx, app.AccountID, request.ID, feedback.Command(), func(changed *feedback.Request) error {
		tries++
		r.Exec("UPDATE requests SET version = version + 1 WHERE account_id = $1 AND id = $2", app.AccountID, request.ID)
		changed.Title = "Another title"
		return nil
	})
	if refusal := new(feedback.Error); err == nil || errors.As(err, &refusal) || r.Unavailable(err) || tries != 1 {
		t.Errorf("change a request: %v after %d tries, want a fault at the first", err, tries)
	}
	tries = 0
	_, err = r.ChangeApp(ctx, app.AccountID, app.ID, feedback.Command(), func(changed *feedback.App) error {
		tries++
		r.Exec("UPDATE apps SET version = version + 1 WHERE account_id = $1 AND id = $2", app.AccountID, app.ID)
		changed.Name = "Another name"
		return nil
	})
	if refusal := new(feedback.Error); err == nil || errors.As(err, &refusal) || r.Unavailable(err) || tries != 1 {
		t.Errorf("change an app: %v after %d tries, want a fault at the first", err, tries)
	}
	if n := r.Count("requests WHERE title = 'Another title'") + r.Count("apps WHERE name = 'Another name'"); n != 0 {
		t.Errorf("%d rows were saved", n)
	}
}
