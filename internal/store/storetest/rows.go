package storetest

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"gatherkit/internal/feedback"
)

// CountRequests makes the counters of requests what they must be after rows were changed past the store.
func (r *Rig) CountRequests() {
	r.T.Helper()
	r.Exec("DELETE FROM request_counts")
	r.Exec(`INSERT INTO request_counts (account_id, app_id, box, status, n)
		SELECT account_id, app_id, box, status, COUNT(*) FROM requests GROUP BY account_id, app_id, box, status`)
}

// InsertRequests writes requests of an app and their tags past the store, from BigFirst on, a millisecond apart.
// It counts them as live and open.
func (r *Rig) InsertRequests(app feedback.App, requests []feedback.Request) {
	r.T.Helper()
	r.InsertRequestsFrom(app, BigFirst, requests)
}

// InsertRequestsFrom is InsertRequests from another time on.
func (r *Rig) InsertRequestsFrom(app feedback.App, first time.Time, requests []feedback.Request) {
	r.T.Helper()
	var last int64
	err := r.Raw.QueryRowContext(context.Background(), "SELECT last FROM account_seq WHERE account_id = $1", app.AccountID).Scan(&last)
	if err != nil {
		r.T.Fatal(err)
	}
	var rows, tags, changes [][]any
	for i, request := range requests {
		labels, err := json.Marshal(request.Tags)
		if err != nil {
			r.T.Fatal(err)
		}
		id := feedback.FirstIDAt(first.Add(time.Duration(last+int64(i)) * time.Millisecond))
		rows = append(rows, []any{
			app.AccountID, id, app.ID, string(request.Box), string(request.Status), request.Title, request.Description,
			false, string(labels), request.Votes, 0, "{}", "widget", 1, id.Time(), id.Time(),
		})
		for _, tag := range request.Tags {
			tags = append(tags, []any{app.AccountID, feedback.Fold(tag), id, tag})
		}
		changes = append(changes, []any{app.AccountID, last + 1 + int64(i), 0, string(feedback.RequestCreated), feedback.ByAPIKey, app.ID, id})
	}
	r.InsertRows("requests", "account_id, id, app_id, box, status, title, description,"+
		" submitter_verified, tags, votes, comments, metadata, source, version, created_at, updated_at", rows)
	r.InsertRows("request_tags", "account_id, tag, request_id, label", tags)
	r.InsertRows("changes", "account_id, seq, at, kind, actor_kind, app_id, request_id", changes)
	r.Exec(fmt.Sprintf("UPDATE account_seq SET last = last + %d WHERE account_id = $1", len(requests)), app.AccountID)
	r.Exec(fmt.Sprintf("UPDATE request_counts SET n = n + %d", len(requests))+
		" WHERE account_id = $1 AND app_id = $2 AND box = 'live' AND status = 'opened'", app.AccountID, app.ID)
}

// InsertRows writes rows into a table past the store.
func (r *Rig) InsertRows(into, columns string, rows [][]any) {
	r.T.Helper()
	const chunk = 500
	for len(rows) > 0 {
		n := min(chunk, len(rows))
		var args []any
		marks := make([]string, n)
		for i, row := range rows[:n] {
			places := make([]string, len(row))
			for j := range row {
				places[j] = "?" // SQLite takes the square of the time for numbered ones
				if r.At.Name == "postgres" {
					places[j] = fmt.Sprintf("$%d", len(args)+j+1)
				}
			}
			marks[i] = "(" + strings.Join(places, ",") + ")"
			args = append(args, row...)
		}
		r.Exec("INSERT INTO "+into+" ("+columns+") VALUES "+strings.Join(marks, ","), args...)
		rows = rows[n:]
	}
}

// WithoutIndexes builds the indexes of two tables, apart from the primary keys, after they are filled, which takes
// a fraction of the time.
func (r *Rig) WithoutIndexes(one, other string, fill func()) {
	r.T.Helper()
	list := "SELECT indexname, indexdef FROM pg_indexes WHERE indexname NOT LIKE '%_pkey' AND tablename IN ($1, $2)"
	if r.At.Name == "sqlite" {
		r.Raw.SetMaxOpenConns(1)
		r.Exec("PRAGMA synchronous = OFF")
		list = "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL AND tbl_name IN ($1, $2)"
	}
	rows, err := r.Raw.QueryContext(context.Background(), list, one, other)
	if err != nil {
		r.T.Fatal(err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err below has what matters
	var drops, creates []string
	for rows.Next() {
		var name, create string
		if err := rows.Scan(&name, &create); err != nil {
			r.T.Fatal(err)
		}
		drops, creates = append(drops, "DROP INDEX "+name), append(creates, create)
	}
	if err := rows.Err(); err != nil {
		r.T.Fatal(err)
	}
	for _, drop := range drops {
		r.Exec(drop)
	}
	fill()
	for _, create := range creates {
		r.Exec(create)
	}
}

// Analyze lets PostgreSQL gather statistics. SQLite never has any: nothing asks it to.
func (r *Rig) Analyze() {
	r.T.Helper()
	if r.At.Name == "postgres" {
		r.Exec("ANALYZE")
	}
}
