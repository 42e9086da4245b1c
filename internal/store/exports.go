package store

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"gatherkit/internal/changelog"
	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
	"gatherkit/internal/index"
	"gatherkit/internal/sessions"
	"gatherkit/internal/sweep"
	"gatherkit/internal/tokens"
)

// exportLife is how long an export link is valid.
const exportLife = 10 * time.Minute

// Export is what an export link downloads.
type Export struct {
	AccountID feedback.ID  `json:"-"`
	SessionID feedback.ID  `json:"-"` // the session or the token that created the link
	Filter    index.Filter `json:",omitzero"`
	Format    string       `json:",omitempty"` // feedback.CSV or feedback.JSONL
	BOM       bool         `json:",omitempty"` // whether a CSV begins with a byte order mark
}

// AddExport creates an export link, and returns its token and when it expires. The link is
// invalid once its session or token ends. AddExport returns ErrAppNotFound if the filter has an app
// that is not in the account.
func (s *Store) AddExport(ctx context.Context, x Export) (token string, expires feedback.Time, err error) {
	if x.Filter.AppID != nil {
		if _, err := s.App(ctx, x.AccountID, *x.Filter.AppID); err != nil {
			return "", 0, err
		}
	}
	wanted, err := json.Marshal(x)
	if err != nil {
		return "", 0, err
	}
	token, expires = feedback.NewExportToken(s.rand), feedback.At(s.now().Add(exportLife))
	return token, expires, s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "INSERT INTO exports (token_hash, account_id, session_id, wanted, expires_at)"+
			" VALUES ($1, $2, $3, $4, $5)",
			feedback.HashSecret(token), x.AccountID, x.SessionID, string(wanted), expires)
		return err
	})
}

// errNewerExport does not use up the link, so that a replica with the newer version can
// still open it.
var errNewerExport = feedback.ErrUnavailable.With(
	"This link was created by a newer version of the service that is still being rolled out; open it again shortly.")

// FindExport returns the export of a link without using up the link. It returns
// ErrExportNotFound if the link was used or has expired or its session or token has ended, and
// ErrUnavailable if only a newer version of the service can read it.
func (s *Store) FindExport(ctx context.Context, token string) (Export, error) {
	if !feedback.ValidExportToken(token) {
		return Export{}, feedback.ErrExportNotFound
	}
	x, found, err := s.readExport(ctx, s.db.Reader(), "SELECT "+exportColumns+" FROM exports WHERE token_hash = $1", token)
	if err == nil && !found {
		err = feedback.ErrExportNotFound
	}
	return x, err
}

// TakeExport is FindExport, but uses up the link: only one of several concurrent calls
// succeeds.
func (s *Store) TakeExport(ctx context.Context, token string) (Export, error) {
	if !feedback.ValidExportToken(token) {
		return Export{}, feedback.ErrExportNotFound
	}
	var x Export
	var found bool // not an error, which would roll back the deletion of an invalid link
	err := s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) (err error) {
		x, found, err = s.readExport(ctx, tx, "DELETE FROM exports WHERE token_hash = $1 RETURNING "+exportColumns, token)
		return err
	})
	if err == nil && !found {
		err = feedback.ErrExportNotFound
	}
	return x, err
}

const exportColumns = "account_id, session_id, wanted, expires_at"

// readExport reads exportColumns of a link with the given statement, and reports whether the
// link is valid.
func (s *Store) readExport(
	ctx context.Context, q database.Queryer, statement, token string,
) (x Export, found bool, err error) {
	var wanted []byte
	var expires feedback.Time
	err = q.QueryRowContext(ctx, statement, feedback.HashSecret(token)).
		Scan(&x.AccountID, &x.SessionID, &wanted, &expires)
	if errors.Is(err, sql.ErrNoRows) || err == nil && !sessions.ValidAt(s.now(), expires, exportLife) {
		return Export{}, false, nil
	}
	if err != nil {
		return Export{}, false, err
	}
	var alive bool
	err = q.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM sessions s JOIN users u ON u.account_id = $1 AND u.id = s.user_id
		WHERE s.account_id = $1 AND s.id = $2) OR `+tokens.Works, x.AccountID, x.SessionID, feedback.At(s.now())).Scan(&alive)
	if err != nil || !alive {
		return Export{}, false, err
	}
	// Without an unknown condition of the filter, the export would have too many requests.
	decoder := json.NewDecoder(bytes.NewReader(wanted))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&x); err != nil {
		s.log.Warn("an export link has fields that this version does not know; a newer replica can open it", "error", err)
		return Export{}, false, errNewerExport
	}
	return x, true, nil
}

// sweepExports deletes expired links.
func (s *Store) sweepExports(ctx context.Context) error {
	return sweep.InChunks(ctx, s.db, "DELETE FROM exports WHERE token_hash IN"+
		" (SELECT token_hash FROM exports WHERE expires_at <= $1 LIMIT $2)", feedback.At(s.now()), sweep.Chunk)
}

// ExportPage returns a page of up to limit requests that match the filter, newest first, that
// follow the request after. If the app of the filter has been deleted, the page is empty.
func (s *Store) ExportPage(
	ctx context.Context, accountID feedback.ID, f index.Filter, after *feedback.ID, limit int,
) ([]feedback.Request, error) {
	page := index.Page{Sort: index.Newest, Limit: limit}
	if after != nil {
		page.After = &index.Place{ID: *after}
	}
	requests, _, err := s.Index.List(ctx, accountID, f, page)
	if errors.Is(err, feedback.ErrAppNotFound) {
		return nil, nil
	}
	return requests, err
}

// Names are the apps and the names of users by id.
type Names struct {
	Apps  map[feedback.ID]feedback.App
	Users map[feedback.ID]string
}

// ExportNames returns the apps and the names of the assignees of the requests.
func (s *Store) ExportNames(ctx context.Context, accountID feedback.ID, requests []feedback.Request) (Names, error) {
	names := Names{map[feedback.ID]feedback.App{}, map[feedback.ID]string{}}
	var apps, users []feedback.ID
	for _, r := range requests {
		apps = append(apps, r.AppID)
		if r.AssigneeID != nil {
			users = append(users, *r.AssigneeID)
		}
	}
	compact := func(ids []feedback.ID) []feedback.ID {
		return slices.Compact(slices.SortedFunc(slices.Values(ids), feedback.ID.Compare))
	}
	p := database.Parameters{accountID}
	found, err := database.All(ctx, s.db.Reader(), scanApp, "SELECT "+appColumns+" FROM apps WHERE account_id = $1 AND id IN ("+
		database.List(&p, compact(apps))+")", p...)
	if err != nil {
		return names, err
	}
	for _, app := range found {
		names.Apps[app.ID] = app
	}
	if len(users) == 0 {
		return names, nil
	}
	p = database.Parameters{accountID}
	_, err = database.All(ctx, s.db.Reader(), func(r database.Row) (id feedback.ID, err error) {
		var name string
		err = r.Scan(&id, &name)
		names.Users[id] = name
		return id, err
	}, "SELECT id, name FROM users WHERE account_id = $1 AND id IN ("+database.List(&p, compact(users))+")", p...)
	return names, err
}

// Exported is a request with its votes, comments and history.
type Exported struct {
	feedback.Request
	// The request that a merged request was merged into, and its status before the merge. Both
	// are nil if the request is not merged.
	MergedParentID *feedback.ID
	MergedStatus   *feedback.Status

	Votes    []Voter // votes given at this request, by the keys of the people
	Comments []feedback.Comment
	Events   []feedback.Event // oldest first
}

// Export adds votes, comments and history to the requests of an ExportPage, all from one
// snapshot. It reads again a request that has changed since, and leaves out one that is no
// longer in the box. It returns true if the result is complete. Otherwise there may be more
// than limit votes, comments or events; the caller then passes one request at a time, and
// reads the rest with ExportVotes, ExportComments and ExportEvents.
func (s *Store) Export(
	ctx context.Context, accountID feedback.ID, box feedback.Box, requests []feedback.Request, limit int,
) (exported []Exported, complete bool, err error) {
	// The transaction ends before anything is sent to the client: a long one would keep the
	// databases from removing old row versions.
	err = s.db.Read(ctx, func(tx *sql.Tx) error {
		exported, complete, err = exportAll(ctx, tx, accountID, box, requests, limit)
		return err
	})
	return exported, complete, err
}

// exportAll is Export in a transaction.
func exportAll(
	ctx context.Context, tx *sql.Tx, accountID feedback.ID, box feedback.Box, requests []feedback.Request, limit int,
) ([]Exported, bool, error) {
	exported, err := readExported(ctx, tx, accountID, box, requests)
	if err != nil || len(exported) == 0 {
		return nil, true, err
	}
	byID := make(map[feedback.ID]*Exported, len(exported))
	ids := make([]feedback.ID, 0, len(exported))
	for i := range exported {
		byID[exported[i].ID] = &exported[i]
		ids = append(ids, exported[i].ID)
	}
	votes, err := exportVotes(ctx, tx, accountID, ids, "", limit)
	if err != nil {
		return nil, false, err
	}
	for _, v := range votes {
		byID[v.RequestID].Votes = append(byID[v.RequestID].Votes, v)
	}
	comments, err := exportComments(ctx, tx, accountID, ids, feedback.ID{}, limit)
	if err != nil {
		return nil, false, err
	}
	for _, c := range comments {
		byID[c.RequestID].Comments = append(byID[c.RequestID].Comments, c)
	}
	events, err := exportEvents(ctx, tx, accountID, ids, 0, limit)
	if err != nil {
		return nil, false, err
	}
	for _, e := range events {
		byID[e.requestID].Events = append(byID[e.requestID].Events, e.Event)
	}
	complete := max(len(votes), len(comments), len(events)) < limit
	return exported, complete, addSubmitters(ctx, tx, accountID, exported)
}

// readExported returns the requests as they are in the snapshot of tx, without votes, comments
// and events.
func readExported(
	ctx context.Context, tx *sql.Tx, accountID feedback.ID, box feedback.Box, requests []feedback.Request,
) ([]Exported, error) {
	p := database.Parameters{accountID}
	ids := make([]feedback.ID, 0, len(requests))
	for _, r := range requests {
		ids = append(ids, r.ID)
	}
	current := make(map[feedback.ID]Exported, len(requests))
	_, err := database.All(ctx, tx, func(r database.Row) (now Exported, err error) {
		err = r.Scan(&now.ID, &now.Version, &now.MergedParentID, &now.MergedStatus)
		current[now.ID] = now
		return now, err
	}, "SELECT id, version, merged_parent_id, merged_status FROM requests r"+
		" WHERE r.account_id = $1 AND r.id IN ("+database.List(&p, ids)+`)
		AND EXISTS (SELECT 1 FROM apps a WHERE a.account_id = $1 AND a.id = r.app_id AND a.deleted_at IS NULL)`, p...)
	if err != nil {
		return nil, err
	}
	exported := make([]Exported, 0, len(requests))
	for _, r := range requests {
		now := current[r.ID]
		if now.Version != r.Version { // changed, or deleted (version 0)
			r, err = readRequest(ctx, tx, accountID, r.ID)
			if errors.Is(err, feedback.ErrRequestNotFound) || err == nil && r.Box != box {
				continue
			}
			if err != nil {
				return nil, err
			}
		}
		now.Request = r
		exported = append(exported, now)
	}
	return exported, nil
}

// addSubmitters adds the votes of submitters that have no row yet (see votes.go).
func addSubmitters(ctx context.Context, tx *sql.Tx, accountID feedback.ID, exported []Exported) error {
	p := database.Parameters{accountID}
	var single []feedback.ID
	for _, r := range exported {
		if r.Request.Votes == 1 && r.MergedIntoID == nil && len(r.Votes) == 0 {
			single = append(single, r.ID)
		}
	}
	if len(single) == 0 {
		return nil
	}
	roots, err := database.All(ctx, tx, database.One[feedback.ID], "SELECT DISTINCT merged_into_id FROM requests"+
		" WHERE account_id = $1 AND merged_into_id IN ("+database.List(&p, single)+")", p...)
	for i := range exported {
		if r := &exported[i]; slices.Contains(single, r.ID) && !slices.Contains(roots, r.ID) {
			v, key := submitterVote(r.Request)
			r.Votes = []Voter{{Vote: v, Key: key}}
		}
	}
	return err
}

// ExportVotes returns up to limit votes given at a request, that follow the key after.
func (s *Store) ExportVotes(ctx context.Context, accountID, id feedback.ID, after string, limit int) ([]Voter, error) {
	return exportVotes(ctx, s.db.Reader(), accountID, []feedback.ID{id}, after, limit)
}

// ExportComments returns up to limit comments on a request, that follow the id after.
func (s *Store) ExportComments(
	ctx context.Context, accountID, id, after feedback.ID, limit int,
) ([]feedback.Comment, error) {
	return exportComments(ctx, s.db.Reader(), accountID, []feedback.ID{id}, after, limit)
}

// ExportEvents returns up to limit events of a request, that follow the number after.
func (s *Store) ExportEvents(
	ctx context.Context, accountID, id feedback.ID, after int64, limit int,
) ([]feedback.Event, error) {
	found, err := exportEvents(ctx, s.db.Reader(), accountID, []feedback.ID{id}, after, limit)
	events := make([]feedback.Event, 0, len(found))
	for _, e := range found {
		events = append(events, e.Event)
	}
	return events, err
}

func exportVotes(
	ctx context.Context, q database.Queryer, accountID feedback.ID, ids []feedback.ID, after string, limit int,
) ([]Voter, error) {
	p := database.Parameters{accountID, after, limit}
	return database.All(ctx, q, scanVoter, "SELECT request_id, "+voteColumns+" FROM votes"+
		" WHERE account_id = $1 AND person > $2 AND request_id IN ("+database.List(&p, ids)+
		") ORDER BY request_id, person LIMIT CAST($3 AS BIGINT)", p...)
}

func exportComments(
	ctx context.Context, q database.Queryer, accountID feedback.ID, ids []feedback.ID, after feedback.ID, limit int,
) ([]feedback.Comment, error) {
	p := database.Parameters{accountID, after, limit}
	return database.All(ctx, q, scanComment, "SELECT "+commentColumns+
		" WHERE c.account_id = $1 AND c.id > $2 AND c.request_id IN ("+database.List(&p, ids)+
		") ORDER BY c.request_id, c.id LIMIT CAST($3 AS BIGINT)", p...)
}

// requestEvent is an event and the request that it is about.
type requestEvent struct {
	feedback.Event
	requestID feedback.ID
}

func exportEvents(
	ctx context.Context, q database.Queryer, accountID feedback.ID, ids []feedback.ID, after int64, limit int,
) ([]requestEvent, error) {
	p := database.Parameters{accountID, after, limit}
	return database.All(ctx, q, func(r database.Row) (e requestEvent, err error) {
		e.Event, err = changelog.Scan(database.RowWith{Row: r, More: []any{&e.requestID}})
		return e, err
	}, "SELECT "+changelog.Columns+`, c.request_id FROM changes c
		WHERE c.account_id = $1 AND c.seq > $2 AND c.request_id IN (`+database.List(&p, ids)+
		") ORDER BY c.request_id, c.seq LIMIT CAST($3 AS BIGINT)", p...)
}
