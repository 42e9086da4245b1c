package readers

import (
	"context"
	"database/sql"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
)

// VisibleOutside reports whether people outside the account can see the status and the comments of a request, whose
// votes count for the request counts.
func VisibleOutside(request, counts feedback.Request) bool {
	return request.Box == feedback.Live && counts.Box != feedback.Bin
}

// Audience returns who sees changes of a request. Its votes count for the request counts: itself, or the one
// that it is merged into.
func (r *Readers) Audience(
	ctx context.Context, q database.Queryer, accountID feedback.ID, request, counts feedback.Request,
) (feedback.Audience, error) {
	found, err := people(ctx, q, accountID, request.ID)
	a := found[request.ID]
	if !VisibleOutside(request, counts) {
		a = feedback.Audience{Links: a.Links} // which can be ended
	}
	if err != nil || a.Voters == 0 {
		return a, err
	}
	app, err := r.app(ctx, q, accountID, request.AppID)
	if !app.Settings.Shares(counts) {
		a.Voters = 0
	}
	return a, err
}

// Tell adds to the changed fields of a request how many people are told of its change, unless nobody is, or
// that the change is quiet. Its votes count for the request counts after the change.
func (r *Readers) Tell(
	ctx context.Context, tx *sql.Tx, accountID feedback.ID, by feedback.Actor, fields map[string]any, request, counts feedback.Request,
) error {
	if by.Quiet {
		fields["quiet"] = true
		return nil
	}
	if !VisibleOutside(request, counts) {
		return nil
	}
	a, err := r.Audience(ctx, tx, accountID, request, counts)
	note(fields, a)
	return err
}

// TellAskers is Tell for a public comment, which voters do not see.
func (r *Readers) TellAskers(
	ctx context.Context, tx *sql.Tx, accountID feedback.ID, c feedback.Change, request, counts feedback.Request,
) error {
	if c.Actor.Quiet {
		c.After["quiet"] = true
		return nil
	}
	if !VisibleOutside(request, counts) {
		return nil
	}
	found, err := people(ctx, tx, accountID, request.ID)
	a := found[request.ID]
	a.Voters = 0
	note(c.After, a)
	return err
}

// TellAll is Tell for many requests, which are not merged and have changed already. The change of
// requests[n] is changes[n], and is news if news has the id.
func (r *Readers) TellAll(
	ctx context.Context, tx *sql.Tx, accountID feedback.ID, by feedback.Actor,
	requests []feedback.Request, changes []feedback.Change, news map[feedback.ID]bool,
) error {
	var told []feedback.Request
	for n, request := range requests {
		if news[request.ID] && by.Quiet {
			changes[n].After["quiet"] = true
		} else if news[request.ID] {
			told = append(told, request)
		}
	}
	found, err := r.audiences(ctx, tx, accountID, told)
	for n, request := range requests {
		note(changes[n].After, found[request.ID])
	}
	return err
}

// Told returns how many people TellAll would tell of changes of requests. Who sees several of the requests
// counts for each.
func (r *Readers) Told(ctx context.Context, q database.Queryer, accountID feedback.ID, requests []feedback.Request) (n int64, err error) {
	found, err := r.audiences(ctx, q, accountID, requests)
	for _, a := range found {
		n += a.Count()
	}
	return n, err
}

// audiences returns who sees changes of live requests, which are not merged and have changed already.
func (r *Readers) audiences(
	ctx context.Context, q database.Queryer, accountID feedback.ID, requests []feedback.Request,
) (map[feedback.ID]feedback.Audience, error) {
	ids := make([]feedback.ID, len(requests))
	for n, request := range requests {
		ids[n] = request.ID
	}
	found, err := people(ctx, q, accountID, ids...)
	if err != nil {
		return nil, err
	}
	apps := map[feedback.ID]feedback.App{}
	for _, request := range requests {
		a := found[request.ID]
		if _, known := apps[request.AppID]; a.Voters > 0 && !known {
			if apps[request.AppID], err = r.app(ctx, q, accountID, request.AppID); err != nil {
				return nil, err
			}
		}
		if !apps[request.AppID].Settings.Shares(request) {
			a.Voters = 0
			found[request.ID] = a
		}
	}
	return found, nil
}

// note adds the number of people who are told to the changed fields.
func note(fields map[string]any, a feedback.Audience) {
	if n := a.Count(); n > 0 {
		fields["told"] = n
	}
}

// people returns who sees changes of each of the requests. Voters are counted whether or not the app shares
// the request. It does not ask for "reader IS NOT NULL", for which SQLite would walk over all readers of the
// account.
func people(
	ctx context.Context, q database.Queryer, accountID feedback.ID, ids ...feedback.ID,
) (map[feedback.ID]feedback.Audience, error) {
	found := make(map[feedback.ID]feedback.Audience, len(ids))
	for _, piece := range database.Pieces(ids) {
		p := database.Parameters{accountID}
		in := " IN (" + database.List(&p, piece) + ")"
		err := database.Each(ctx, q, func(row database.Row) error {
			var id feedback.ID
			var a feedback.Audience
			err := row.Scan(&id, &a.Askers, &a.Submitter, &a.Voters, &a.Links)
			found[id] = a
			return err
		}, `SELECT id, COUNT(DISTINCT asker), MAX(own), MAX(readers) - COUNT(DISTINCT asker), SUM(link) FROM (
			SELECT id, reader AS asker, CASE WHEN reader IS NULL THEN 0 ELSE 1 END AS own, readers, 0 AS link FROM requests
				WHERE account_id = $1 AND id`+in+`
			UNION ALL SELECT merged_into_id, reader, 0, 0, 0 FROM requests
				WHERE account_id = $1 AND merged_into_id`+in+` AND box <> 'bin'
			UNION ALL SELECT request_id, NULL, 0, 0, 1 FROM status_links WHERE account_id = $1 AND request_id`+in+`) AS people
			GROUP BY id`, p...)
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}
