package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"time"

	"gatherkit/internal/batch"
	"gatherkit/internal/feedback"
)

// The floors are what the machine can do without Gatherkit: HTTP and JSON without a store,
// and the same writes without HTTP. Calls that need both cannot be faster than
// 1 / (1/http + 1/commit).

// floorHTTP is the argument with which this program runs as an HTTP server that reads
// submissions and stores nothing.
const floorHTTP = "floor-http"

func serveFloor(address string) error {
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(io.LimitReader(r.Body, 256<<10))
		var in struct{ Title, Description, Email string }
		if err == nil && len(body) > 0 {
			err = json.Unmarshal(body, &in)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		// An error means that the client is gone.
		_ = json.NewEncoder(w).Encode(map[string]any{"ok": true, "result": map[string]any{"request": in}})
	})
	server := &http.Server{Addr: address, Handler: handler, ReadHeaderTimeout: time.Minute}
	return server.ListenAndServe()
}

// requestColumns are the columns of a new request.
const (
	requestColumns = `account_id, id, app_id, box, status, title, description,
		submitter_email, submitter_name, submitter_external_id, submitter_verified,
		tags, votes, comments, assignee_id, merged_into_id, eta, metadata, source, version, created_at, updated_at,
		idempotency_key, fingerprint`
	requestColumnCount = 24
)

// commitFloor returns a call that commits the writes of one submission, in groups as the
// service does, and a function that stops it.
func commitFloor(db *sql.DB, numbered bool) (call func(context.Context, int) error, stop func()) {
	ids := feedback.NewIDs(time.Now, rand.Reader)
	account, app := ids.New(), ids.New()
	groups := batch.New(func(ctx context.Context, _ struct{}, members []struct{}) ([]struct{}, error) {
		return members, commitGroup(ctx, db, numbered, ids, account, app, len(members))
	}, batch.Options{MaxGroup: 256, MaxQueue: 1024, Parallel: 1, Timeout: time.Minute})
	return func(ctx context.Context, _ int) error {
		_, err := groups.Do(ctx, struct{}{}, struct{}{})
		return err
	}, groups.Close
}

func commitGroup(ctx context.Context, db *sql.DB, numbered bool, ids *feedback.IDs, account, app feedback.ID, n int) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // it does nothing after a commit
	now := time.Now().UnixMicro()
	var last int64
	if err := tx.QueryRowContext(ctx, `INSERT INTO account_seq (account_id, last) VALUES ($1, $2)
		ON CONFLICT (account_id) DO UPDATE SET last = account_seq.last + excluded.last RETURNING last`, account, n).Scan(&last); err != nil {
		return err
	}
	var requests, changes []any
	for i := range n {
		id := ids.New()
		requests = append(requests, account, id, app, "live", "opened",
			"Dark mode for the invoice list", strings.Repeat("At night it is too bright. ", 7), "grace@example.org", nil, nil, false,
			"[]", 1, 0, nil, nil, nil, "{}", "widget", 1, now, now, nil, nil)
		changes = append(changes, account, last-int64(i), now, "request.created", "api_key", app, app, id, nil, nil)
	}
	for _, write := range []struct {
		statement string
		args      []any
	}{
		{"INSERT INTO requests (" + requestColumns + ") VALUES " + rows(n, requestColumnCount, numbered), requests},
		{
			"INSERT INTO request_counts VALUES " + rows(1, 5, numbered) +
				" ON CONFLICT (account_id, app_id, box, status) DO UPDATE SET n = request_counts.n + excluded.n",
			[]any{account, app, "live", "opened", n},
		},
		{"INSERT INTO changes VALUES " + rows(n, 10, numbered), changes},
	} {
		if _, err := tx.ExecContext(ctx, write.statement, write.args...); err != nil {
			return err
		}
	}
	return tx.Commit()
}
