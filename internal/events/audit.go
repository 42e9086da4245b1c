package events

import (
	"cmp"
	"context"
	"math"

	"gatherkit/internal/changelog"
	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
)

// auditPart is a part of the audit log: the condition for its changes, which is that of an index.
type auditPart string

// The part about the account leaves out the changes about purged requests, and that about requests
// leaves out submissions, votes and comments. They could be so many that they hide everything else.
const (
	aboutAccount  auditPart = "c.request_id IS NULL AND c.kind <> 'request.purged'"
	aboutRequests auditPart = "c.kind IN ('request.updated', 'request.deleted'," +
		" 'request.restored', 'request.released', 'request.blocked', 'request.merged', 'request.unmerged')"
)

// Audit returns a page of up to limit log entries about the account, its users and its apps,
// newest first, with numbers below before; zero means no bound. It also returns the total
// number of entries.
func (e *Events) Audit(ctx context.Context, accountID feedback.ID, before int64, limit int) ([]feedback.AuditEntry, int64, error) {
	return e.audit(ctx, accountID, aboutAccount, before, limit)
}

// RequestAudit is like Audit, for what people did to requests.
func (e *Events) RequestAudit(ctx context.Context, accountID feedback.ID, before int64, limit int) ([]feedback.AuditEntry, int64, error) {
	return e.audit(ctx, accountID, aboutRequests, before, limit)
}

func (e *Events) audit(
	ctx context.Context, accountID feedback.ID, part auditPart, before int64, limit int,
) ([]feedback.AuditEntry, int64, error) {
	var total int64
	if err := e.db.Reader().QueryRowContext(ctx, "SELECT COUNT(*) FROM changes c WHERE c.account_id = $1 AND "+string(part),
		accountID).Scan(&total); err != nil {
		return nil, 0, err
	}
	// These are subqueries, because PostgreSQL might read all apps and requests of the account for joins.
	const (
		app     = " FROM apps a WHERE a.account_id = $1 AND a.id = c.app_id)"
		request = " FROM requests r WHERE r.account_id = $1 AND r.id = c.request_id AND (SELECT a.deleted_at" + app + " IS NULL)"
	)
	entries, err := database.All(ctx, e.db.Reader(), scanAuditEntry,
		"SELECT "+changelog.Columns+", (SELECT a.name"+app+", c.request_id, (SELECT r.title"+request+", (SELECT r.box"+request+`
		FROM (SELECT c.seq FROM changes c WHERE c.account_id = $1 AND `+string(part)+` AND c.seq < $2
			ORDER BY c.seq DESC LIMIT CAST($3 AS BIGINT)) page JOIN changes c ON c.account_id = $1 AND c.seq = page.seq
		ORDER BY c.seq DESC`, accountID, cmp.Or(before, math.MaxInt64), limit)
	return entries, total, err
}

func scanAuditEntry(from database.Row) (feedback.AuditEntry, error) {
	var app, title, box *string
	var id *feedback.ID
	e, err := changelog.Scan(database.RowWith{Row: from, More: []any{&app, &id, &title, &box}})
	if app != nil {
		e.AppName = *app
		e.Summarize()
	}
	if id == nil || title == nil || box == nil {
		return feedback.AuditEntry{Event: e}, err
	}
	return feedback.AuditEntry{Event: e, Request: &feedback.AuditRequest{ID: *id, Title: *title, Box: feedback.Box(*box)}}, err
}
