package store

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"

	"gatherkit/internal/changelog"
	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
)

// Concurrent votes of one account share a transaction. Otherwise, votes for the requests of
// one app would wait for the lock of its gate one after the other.

// vote is a ballot, its actor and its result.
type vote struct {
	Ballot
	by  feedback.Actor
	app *feedback.App // the app of the API key or the portal, as it was before; nil for a user's ballot
	// portal is true for a ballot on the portal of the app.
	portal bool

	root    *feedback.Request // the request that it counts for, shared by its ballots
	votes   int64
	refusal error
}

// voterKey is a person and the request that they vote for.
type voterKey struct {
	requestID feedback.ID
	person    string
}

func (c *vote) voterKey() voterKey { return voterKey{c.root.ID, c.Person.Key()} }

func (s *Store) cast(ctx context.Context, accountID feedback.ID, c vote) (int64, error) {
	c, err := s.casts.Do(ctx, accountID, c)
	if err == nil {
		err = c.refusal
	}
	return c.votes, err
}

// castGroup counts ballots of one account in one transaction.
func (s *Store) castGroup(ctx context.Context, accountID feedback.ID, casts []vote) ([]vote, error) {
	_, err := writeGroup(ctx, s.of(accountID), len(casts), func(ctx context.Context, tx *sql.Tx, members []int) (map[int]error, error) {
		some := make([]*vote, 0, len(members))
		for _, i := range members {
			some = append(some, &casts[i])
		}
		if err := s.findRoots(ctx, tx, accountID, some); err != nil {
			return nil, err
		}
		refused := map[int]error{}
		for _, i := range members {
			if casts[i].refusal != nil {
				refused[i] = casts[i].refusal
			}
		}
		if len(refused) > 0 {
			return refused, nil
		}
		return nil, s.castRows(ctx, tx, accountID, some)
	})
	return casts, err
}

// findRoots locks the gates of the apps, and sets the root or the refusal of each ballot.
func (s *Store) findRoots(ctx context.Context, tx *sql.Tx, accountID feedback.ID, casts []*vote) error {
	gates, err := s.lockBallots(ctx, tx, accountID, casts)
	if err != nil {
		return err
	}
	apps, err := presentApps(ctx, tx, accountID, casts)
	if err != nil {
		return err
	}
	requests, err := withRoots(ctx, tx, accountID, casts)
	if err != nil {
		return err
	}
	for _, c := range casts {
		counts := func(r *feedback.Request) bool {
			if r == nil || r.Box == feedback.Bin {
				return false
			}
			_, locked := gates[gateOf(r.AppID)]
			return locked && (c.app == nil || r.AppID == c.app.ID && apps[r.AppID].Settings.Shares(*r))
		}
		r := requests[c.RequestID]
		if counts(r) && r.MergedIntoID != nil {
			r = requests[*r.MergedIntoID]
		}
		c.root, c.refusal = r, nil
		switch {
		case c.portal:
			if err := takes(ctx, tx, apps[c.app.ID], takesVotes, c.Person); refusal(err) {
				c.refusal = err
			} else if err != nil {
				return err
			}
		case c.app != nil && apps[c.app.ID].APIKey != c.app.APIKey:
			c.refusal = feedback.ErrInvalidAPIKey
		}
		if c.refusal == nil && !counts(r) {
			c.refusal = feedback.ErrRequestNotFound
		}
	}
	return nil
}

// lockBallots locks and returns the gates of the ballots' apps. It includes deleted apps, which
// presentApps and withRoots leave out.
func (s *Store) lockBallots(
	ctx context.Context, tx *sql.Tx, accountID feedback.ID, casts []*vote,
) (map[countKey]int64, error) {
	gates, requests := map[countKey]int64{}, map[feedback.ID]bool{}
	for _, c := range casts {
		if c.app != nil {
			gates[gateOf(c.app.ID)] = 0
		} else {
			requests[c.RequestID] = true
		}
	}
	if err := addGates(ctx, tx, accountID, gates, slices.Collect(maps.Keys(requests))); err != nil || len(gates) == 0 {
		return nil, err
	}
	return gates, s.count(ctx, tx, accountID, gates)
}

// presentApps reads the apps of the ballots' API keys. A deleted app has no key.
func presentApps(
	ctx context.Context, tx *sql.Tx, accountID feedback.ID, casts []*vote,
) (map[feedback.ID]feedback.App, error) {
	apps := map[feedback.ID]feedback.App{}
	for _, c := range casts {
		if c.app == nil {
			continue
		}
		if _, known := apps[c.app.ID]; known {
			continue
		}
		app, err := readApp(ctx, tx, accountID, c.app.ID)
		if err != nil && !errors.Is(err, feedback.ErrAppNotFound) {
			return nil, err
		}
		apps[c.app.ID] = app
	}
	return apps, nil
}

// withRoots reads the requests of the ballots and their roots.
func withRoots(
	ctx context.Context, tx *sql.Tx, accountID feedback.ID, casts []*vote,
) (map[feedback.ID]*feedback.Request, error) {
	missing, requests := map[feedback.ID]bool{}, map[feedback.ID]*feedback.Request{}
	for _, c := range casts {
		missing[c.RequestID] = true
	}
	for len(missing) > 0 {
		found, err := readRequests(ctx, tx, accountID, slices.Collect(maps.Keys(missing)))
		if err != nil {
			return nil, err
		}
		clear(missing)
		for _, r := range found {
			requests[r.ID] = &r
			if r.MergedIntoID != nil {
				missing[*r.MergedIntoID] = true
			}
		}
		maps.DeleteFunc(missing, func(id feedback.ID, _ bool) bool { return requests[id] != nil })
	}
	return requests, nil
}

// castRows counts ballots, whose gates are locked. They are concurrent, so any order is
// correct: it adds votes first, and then removes votes.
func (s *Store) castRows(ctx context.Context, tx *sql.Tx, accountID feedback.ID, casts []*vote) error {
	casts, err := s.keepWhereCounted(ctx, tx, accountID, casts)
	if err != nil {
		return err
	}
	var adds, removals []*vote
	for _, c := range casts {
		if c.Remove {
			removals = append(removals, c)
		} else {
			adds = append(adds, c)
		}
	}
	for len(adds) > 0 {
		some, later := oneOfEach(adds)
		if err := s.addVotes(ctx, tx, accountID, some); err != nil {
			return err
		}
		adds = later
	}
	for _, c := range removals {
		if err := s.removeVote(ctx, tx, accountID, c.by, c.root, c.Person.Key()); err != nil {
			return err
		}
		c.votes = c.root.Votes
	}
	return nil
}

// oneOfEach returns the ballots without further ones of a reader for the same request, which are added later: only so is
// it clear which of them is the first.
func oneOfEach(casts []*vote) (some, later []*vote) {
	type reading struct {
		requestID feedback.ID
		reader    string
	}
	first := map[reading]bool{}
	for _, c := range casts {
		at := reading{c.root.ID, string(c.Reader)}
		if c.Reader != nil && first[at] {
			later = append(later, c)
			continue
		}
		first[at] = true
		some = append(some, c)
	}
	return some, later
}

// addVotes adds votes, and counts those of people who have no other vote that counts for the
// request, and the readers who have neither asked for it nor voted.
func (s *Store) addVotes(ctx context.Context, tx *sql.Tx, accountID feedback.ID, casts []*vote) error {
	now := feedback.At(s.now())
	rows := make([]Voter, len(casts))
	for i, c := range casts {
		vote := feedback.Vote{RequestID: c.root.ID, Person: c.Person, Source: c.Source, CreatedAt: now, Why: c.Why}
		rows[i] = Voter{Vote: vote, Key: c.Person.Key(), reader: c.Reader}
	}
	added, err := s.insertVotes(ctx, tx, accountID, rows)
	if err == nil {
		err = addWhy(ctx, tx, accountID, casts, added)
	}
	if err != nil || len(added) == 0 {
		for _, c := range casts {
			c.votes = c.root.Votes
		}
		return err
	}
	type sum struct{ votes, readers, changes int64 }
	sums, warmed := map[feedback.ID]sum{}, map[feedback.ID]int64{}
	changes := make([]feedback.Change, 0, len(added))
	for _, c := range casts {
		at := c.voterKey()
		if is, first := added[at]; first {
			delete(added, at) // further ballots of the person change nothing
			var more, readers int64
			if is.newPerson {
				more = 1
			}
			if is.newReader {
				readers = 1
			}
			change := feedback.Change{Kind: feedback.VoteAdded, Actor: c.by, AppID: &c.root.AppID, RequestID: &c.root.ID}
			change.Before, change.After = votesBefore(c.root.Votes, c.root.Votes+more)
			changes = append(changes, change)
			c.root.Votes += more
			if more > 0 && c.root.Heat != 0 {
				c.root.Heat = feedback.Warmer(c.root.Heat, now)
			}
			warmed[c.root.ID] = c.root.Heat
			n := sums[c.root.ID]
			sums[c.root.ID] = sum{n.votes + more, n.readers + readers, n.changes + 1}
		}
		c.votes = c.root.Votes
	}
	if err := warmFirst(ctx, tx, accountID, casts, warmed); err != nil {
		return err
	}
	alike := map[sum][]feedback.ID{}
	for id, n := range sums {
		alike[n] = append(alike[n], id)
	}
	for n, ids := range alike {
		p := database.Parameters{accountID, now, n.votes, n.readers, n.changes}
		ids = database.Padded(ids)
		heat := perRequest(&p, ids, func(id feedback.ID) int64 { return warmed[id] })
		if _, err := tx.ExecContext(ctx,
			"UPDATE requests SET votes = votes + $3, readers = readers + $4, version = version + $5, updated_at = $2, heat = "+heat+
				" WHERE account_id = $1 AND id IN ("+database.List(&p, ids)+")", p...); err != nil {
			return err
		}
	}
	return changelog.Record(ctx, tx, accountID, now, changes...)
}

// addWhy keeps what people wrote who had voted before without a word. The first ballot of those whose vote was added
// has been inserted with its words.
func addWhy(ctx context.Context, tx *sql.Tx, accountID feedback.ID, casts []*vote, added map[voterKey]newVote) error {
	inserted := map[voterKey]bool{}
	for _, c := range casts {
		at := c.voterKey()
		_, first := added[at]
		first = first && !inserted[at]
		if inserted[at] = true; first || c.Why == nil {
			continue
		}
		if _, err := tx.ExecContext(ctx, "UPDATE votes SET why = $4 WHERE account_id = $1 AND request_id = $2 AND person = $3 AND why IS NULL",
			accountID, c.root.ID, c.Person.Key(), *c.Why); err != nil {
			return err
		}
	}
	return nil
}

// warmFirst computes the heat of requests that have had none, whose rows may be older than this vote, and sets it at
// the roots of the ballots.
func warmFirst(
	ctx context.Context, tx *sql.Tx, accountID feedback.ID, casts []*vote, warmed map[feedback.ID]int64,
) error {
	var cold []feedback.ID
	for id, heat := range warmed {
		if heat == 0 {
			cold = append(cold, id)
		}
	}
	now, err := heats(ctx, tx, accountID, cold...)
	maps.Copy(warmed, now)
	for _, c := range casts {
		if heat, is := now[c.root.ID]; is {
			c.root.Heat = heat
		}
	}
	return err
}

// newVote is an inserted vote. newPerson is true unless the person has voted for a request that is merged into this one;
// newReader, unless its reader has asked or voted for one of them, or it has none.
type newVote struct{ newPerson, newReader bool }

// newVoteColumns say of the row that a statement has inserted whether its reader is new at the request, and who is known at
// what is merged into it: 1 for the person and 2 for the reader. PostgreSQL might compute NOT EXISTS from all votes of the
// account.
const newVoteColumns = `
	reader IS NOT NULL
	AND (SELECT 1 FROM votes o WHERE o.account_id = $1 AND o.request_id = votes.request_id
		AND o.reader = votes.reader AND o.person <> votes.person LIMIT 1) IS NULL
	AND (SELECT 1 FROM requests q WHERE q.account_id = $1 AND q.id = votes.request_id AND q.reader = votes.reader) IS NULL,
	COALESCE((SELECT MAX(CASE WHEN (SELECT 1 FROM votes o WHERE o.account_id = $1 AND o.request_id = m.id
			AND o.person = votes.person) IS NULL THEN 0 ELSE 1 END) + MAX(CASE WHEN m.reader = votes.reader
		OR (SELECT 1 FROM votes o WHERE o.account_id = $1 AND o.request_id = m.id AND o.reader = votes.reader LIMIT 1) IS NOT NULL
			THEN 2 ELSE 0 END)
		FROM requests m WHERE m.account_id = $1 AND m.merged_into_id = votes.request_id AND m.box <> 'bin'), 0)`

// insertVotes inserts votes, except those of people who have voted for the same request
// before. It returns which were inserted. No two of them may be of the same reader for the same request.
func (s *Store) insertVotes(
	ctx context.Context, tx *sql.Tx, accountID feedback.ID, votes []Voter,
) (map[voterKey]newVote, error) {
	added := map[voterKey]newVote{}
	if len(votes) == 0 {
		return added, nil
	}
	const columns = 11
	votes = database.Padded(votes)
	args := make([]any, 0, columns*len(votes))
	for _, v := range votes {
		args = append(args, accountID, v.RequestID, v.Key, v.Email, v.Name, v.ExternalID, v.Verified, v.Source, v.CreatedAt, v.Why, v.reader)
	}
	err := database.Each(ctx, tx, func(r database.Row) error {
		var at voterKey
		var newReader bool
		var known int
		err := r.Scan(&at.requestID, &at.person, &newReader, &known)
		added[at] = newVote{newPerson: known&1 == 0, newReader: newReader && known&2 == 0}
		return err
	}, "INSERT INTO votes (account_id, request_id, "+voteColumns+", reader) VALUES "+
		database.Placeholders(len(votes), columns)+" ON CONFLICT DO NOTHING RETURNING request_id, person, "+newVoteColumns, args...)
	return added, err
}
