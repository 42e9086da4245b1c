package store

import (
	"context"
	"database/sql"
	"slices"

	"gatherkit/internal/changelog"
	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
)

// The table votes has a row for each person and request. requests.votes is the number of
// different people who voted for the request, or for a request that is merged into it and
// not in the bin. In the same way, requests.readers is the number of different readers who
// asked or voted. A submission writes no vote: the submitter's vote has no row until
// keepSubmitters adds it, before another vote or a merge. Votes for a merged request keep
// their rows, so that unmerging it takes them along.

// countingHere selects the requests whose votes count for the request $2.
const countingHere = `(SELECT id FROM requests WHERE account_id = $1 AND id = $2
	UNION ALL SELECT id FROM requests WHERE account_id = $1 AND merged_into_id = $2 AND box <> 'bin')`

const voteColumns = "person, email, name, external_id, verified, source, created_at, why"

// Ballot adds or removes the vote of a person for a request.
type Ballot struct {
	RequestID feedback.ID
	Person    feedback.Person // not anonymous
	Source    string
	Remove    bool
	Reader    feedback.Reader // hears what becomes of the request; nil for nobody
	Why       *string         // what the person wrote with the vote, which is kept unless they have written something before
}

// Vote counts a ballot that a user casts on behalf of a person, and returns the number of
// votes. A ballot for a merged request counts for its root. Vote returns ErrRequestNotFound if
// the request does not exist, or if it or its root is in the bin.
func (s *Store) Vote(ctx context.Context, accountID feedback.ID, by feedback.Actor, b Ballot) (int64, error) {
	return s.cast(ctx, accountID, vote{Ballot: b, by: by})
}

// WidgetVote is Vote for a ballot with an app's API key. It checks the key and the app's
// sharing settings again after it has locked the gate. It returns ErrInvalidAPIKey if the key
// or the app no longer exists, and ErrRequestNotFound also if the app does not share the
// request.
func (s *Store) WidgetVote(ctx context.Context, app feedback.App, b Ballot) (int64, error) {
	return s.cast(ctx, app.AccountID, vote{Ballot: b, by: feedback.Actor{Kind: feedback.ByAPIKey, ID: &app.ID}, app: &app})
}

// removeVote removes all votes of the person with a key that count for a request, which is not merged. It sets the votes and the
// heat that are left.
func (s *Store) removeVote(
	ctx context.Context, tx *sql.Tx, accountID feedback.ID, by feedback.Actor, r *feedback.Request, person string,
) error {
	var given feedback.Time
	left, leave, leaveRoot := map[feedback.ID]int64{}, map[feedback.ID]int64{}, map[string]bool{}
	const others = " AND o.reader = votes.reader AND o.person <> votes.person LIMIT 1"
	ids, err := database.All(ctx, tx, func(row database.Row) (id feedback.ID, err error) {
		var reader feedback.Reader
		var stays, staysAtRoot bool
		err = row.Scan(&id, &given, &reader, &stays, &staysAtRoot)
		if reader != nil && !staysAtRoot {
			leaveRoot[string(reader)] = true
		}
		if reader != nil && !stays && id != r.ID {
			leave[id] = 1
		}
		return id, err
	}, "DELETE FROM votes WHERE account_id = $1 AND person = $3 AND request_id IN "+countingHere+` RETURNING request_id, created_at, reader,
			(SELECT 1 FROM requests q WHERE q.account_id = $1 AND q.id = votes.request_id AND q.reader = votes.reader) IS NOT NULL
			OR (SELECT 1 FROM votes o WHERE o.account_id = $1 AND o.request_id = votes.request_id`+others+`) IS NOT NULL,
			(SELECT 1 FROM requests q WHERE q.account_id = $1 AND q.id IN `+countingHere+` AND q.reader = votes.reader LIMIT 1) IS NOT NULL
			OR (SELECT 1 FROM votes o WHERE o.account_id = $1 AND o.request_id IN `+countingHere+others+") IS NOT NULL",
		accountID, r.ID, person)
	if err != nil || len(ids) == 0 {
		return err
	}
	leave[r.ID] = int64(len(leaveRoot))
	only := len(ids) == 1 && ids[0] == r.ID
	if only {
		left[r.ID], only = feedback.Cooler(r.Heat, given)
	}
	if !slices.Contains(ids, r.ID) {
		ids = append(ids, r.ID)
	}
	if !only {
		if left, err = heats(ctx, tx, accountID, ids...); err != nil {
			return err
		}
	}
	r.Votes, r.Heat = r.Votes-1, left[r.ID]
	now := feedback.At(s.now())
	changes := make([]feedback.Change, 0, len(ids))
	params := database.Parameters{accountID, now}
	set := "heat = " + perRequest(&params, ids, func(id feedback.ID) int64 { return left[id] }) +
		", readers = readers - " + perRequest(&params, ids, func(id feedback.ID) int64 { return leave[id] })
	counted, err := database.All(ctx, tx, scanVoteCount, "UPDATE requests SET votes = votes - 1, "+set+", "+touched+
		" WHERE account_id = $1 AND id IN ("+database.List(&params, ids)+") RETURNING id, votes", params...)
	if err != nil {
		return err
	}
	// RETURNING has no order.
	slices.SortFunc(counted, func(a, b voteCount) int { return a.id.Compare(b.id) })
	for i := range counted {
		c := feedback.Change{Kind: feedback.VoteRemoved, Actor: by, AppID: &r.AppID, RequestID: &counted[i].id}
		c.Before, c.After = votesBefore(counted[i].n+1, counted[i].n)
		changes = append(changes, c)
	}
	return changelog.Record(ctx, tx, accountID, now, changes...)
}

// voteCount is the number of votes of a request.
type voteCount struct {
	id feedback.ID
	n  int64
}

func scanVoteCount(r database.Row) (t voteCount, err error) {
	err = r.Scan(&t.id, &t.n)
	return t, err
}

// votesBefore returns the change of the number of votes for the log.
func votesBefore(n, now int64) (before, after map[string]any) {
	if n == now {
		return map[string]any{}, map[string]any{}
	}
	return map[string]any{"votes": n}, map[string]any{"votes": now}
}

// Voter is a vote and the key of its person.
type Voter struct {
	feedback.Vote
	Key    string
	reader feedback.Reader // set only in votes to insert
}

// Votes returns a page of up to limit votes that count for a request, by the keys of the
// people, that follow the key after. It also returns the total number. Of several votes of a
// person, it returns the one for the oldest request. It returns ErrRequestNotFound if the
// request does not exist or is in the bin.
func (s *Store) Votes(ctx context.Context, accountID, requestID feedback.ID, after string, limit int) ([]Voter, int64, error) {
	for {
		r, err := s.Request(ctx, accountID, requestID)
		if err != nil {
			return nil, 0, err
		}
		// The page is among the next people of each request that counts, and so are all votes of these people: a person
		// beyond the next people of one of the requests is beyond the page. The key of a person begins with a letter, so
		// it is less than '~'. An index has the votes for all requests in the order of the people: CROSS JOIN keeps SQLite
		// from walking over it, and the comparison of pairs PostgreSQL.
		voters, err := database.All(ctx, s.db.Reader(), scanVoter, "SELECT request_id, "+voteColumns+` FROM (
			SELECT v.*, ROW_NUMBER() OVER (PARTITION BY v.person ORDER BY v.request_id) AS nth FROM `+countingHere+` c CROSS JOIN votes v
			WHERE v.account_id = $1 AND (v.request_id, v.person) > (c.id, $3) AND (v.request_id, v.person) <= (c.id, COALESCE(
				(SELECT n.person FROM votes n WHERE n.account_id = $1 AND n.request_id = c.id AND n.person > $3
					ORDER BY n.person LIMIT 1 OFFSET CAST($4 AS BIGINT) - 1), '~'))) AS given
			WHERE nth = 1 ORDER BY person LIMIT CAST($4 AS BIGINT)`, accountID, requestID, after, limit)
		if err != nil || len(voters) > 0 || after != "" || r.Votes != 1 {
			return voters, r.Votes, err
		}
		// The vote is the submitter's, which has no row, unless votes have changed between the
		// two queries.
		again, err := s.Request(ctx, accountID, requestID)
		if err != nil {
			return nil, 0, err
		}
		if again.Version == r.Version {
			v, key := submitterVote(r)
			return []Voter{{Vote: v, Key: key}}, 1, nil
		}
	}
}

func scanVoter(r database.Row) (v Voter, err error) {
	err = r.Scan(&v.RequestID, &v.Key, &v.Email, &v.Name, &v.ExternalID, &v.Verified, &v.Source, &v.CreatedAt, &v.Why)
	return v, err
}
