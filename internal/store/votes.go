package store

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
)

// votes has a row for each person who wants a request, and requests.votes is how many
// people count there: those of the request and of all that are merged into it and not
// in the bin, each once. While nobody but the submitter wants a request it has no row,
// so that a submission need not write one; keepSubmitters makes it before another comes.
// What is merged always has its rows: they stay where the votes were given, so that
// they leave with it again.

// peopleHere is the number of people who count at the request r.
const peopleHere = `(SELECT COUNT(DISTINCT person) FROM (
	SELECT v.person FROM votes v WHERE v.account_id = $1 AND v.request_id = r.id
	UNION ALL
	SELECT v.person FROM requests m JOIN votes v ON v.account_id = m.account_id AND v.request_id = m.id
		WHERE m.account_id = $1 AND m.merged_into_id = r.id AND m.box <> 'bin') AS people)`

// countingHere are the requests whose votes count at the request $2.
const countingHere = `(SELECT id FROM requests WHERE account_id = $1 AND id = $2
	UNION ALL SELECT id FROM requests WHERE account_id = $1 AND merged_into_id = $2 AND box <> 'bin')`

const voteColumns = "person, email, name, external_id, verified, source, created_at"

// Ballot says that somebody wants a request, or does not want it any more.
type Ballot struct {
	RequestID feedback.ID
	Person    feedback.Person // of whom something is known
	Source    string
	Remove    bool
}

// Vote counts a ballot that a user hands in for somebody and returns how many people
// want the request by then. A ballot for a merged request counts where that counts. It
// refuses with ErrRequestNotFound.
func (s *Store) Vote(ctx context.Context, accountID feedback.ID, by feedback.Actor, b Ballot) (int64, error) {
	return s.cast(ctx, accountID, cast{Ballot: b, by: by})
}

// WidgetVote counts a ballot that came with an app's API key. The key, and what the app
// shares, are looked at behind the app's gate: it refuses with ErrInvalidAPIKey when the
// key or the app has gone meanwhile, and with ErrRequestNotFound also when the app does
// not share the request.
func (s *Store) WidgetVote(ctx context.Context, app feedback.App, b Ballot) (int64, error) {
	return s.cast(ctx, app.AccountID, cast{Ballot: b, by: feedback.Actor{Kind: feedback.ByAPIKey, ID: &app.ID}, app: &app})
}

// removeVote removes a person's votes from wherever they count for a request that is
// not merged.
func (s *Store) removeVote(ctx context.Context, tx *sql.Tx, accountID feedback.ID, by feedback.Actor, r feedback.Request, p feedback.Person) (int64, error) {
	ids, err := database.All(ctx, tx, database.One[feedback.ID], "DELETE FROM votes"+
		" WHERE account_id = $1 AND person = $3 AND request_id IN "+countingHere+" RETURNING request_id", accountID, r.ID, p.Key())
	if err != nil || len(ids) == 0 {
		return r.Votes, err
	}
	if !slices.Contains(ids, r.ID) {
		ids = append(ids, r.ID)
	}
	return r.Votes - 1, s.countVotes(ctx, tx, accountID, feedback.Change{Kind: feedback.VoteRemoved, Actor: by, AppID: &r.AppID}, -1, ids...)
}

// countVotes adds to the counters of requests and logs a change of each.
func (s *Store) countVotes(ctx context.Context, tx *sql.Tx, accountID feedback.ID, c feedback.Change, more int64, ids ...feedback.ID) error {
	now := feedback.At(s.now())
	changes := make([]feedback.Change, 0, len(ids))
	p := database.Parameters{accountID, now, more}
	counted, err := database.All(ctx, tx, scanVoteCount, "UPDATE requests SET votes = votes + $3, "+touched+
		" WHERE account_id = $1 AND id IN ("+
		database.List(&p, ids)+") RETURNING id, votes", p...)
	if err != nil {
		return err
	}
	// The databases return them in any order.
	slices.SortFunc(counted, func(a, b voteCount) int { return a.id.Compare(b.id) })
	for i := range counted {
		c.RequestID = &counted[i].id
		c.Before, c.After = votesBefore(counted[i].n-more, counted[i].n)
		changes = append(changes, c)
	}
	return s.record(ctx, tx, accountID, now, changes...)
}

// voteCount is a request and how many people want it.
type voteCount struct {
	id feedback.ID
	n  int64
}

func scanVoteCount(r database.Row) (t voteCount, err error) {
	err = r.Scan(&t.id, &t.n)
	return t, err
}

// votesBefore is how the log keeps a change of the votes.
func votesBefore(n, now int64) (before, after map[string]any) {
	if n == now {
		return map[string]any{}, map[string]any{}
	}
	return map[string]any{"votes": n}, map[string]any{"votes": now}
}

// submitterVote is the vote that comes with a request.
func submitterVote(r feedback.Request) (feedback.Vote, string) {
	p, key := r.Person()
	return feedback.Vote{RequestID: r.ID, Person: p, Source: r.Source, CreatedAt: r.CreatedAt}, key
}

// Voter is a vote with the key of its person.
type Voter struct {
	feedback.Vote
	Key string
}

// Votes lists the people who count at a request that is not in the bin, in the order of
// their keys, after a given one, at most limit, and how many there are in all; somebody
// who voted at several requests that count there stands with the oldest of these. It
// refuses with ErrRequestNotFound.
func (s *Store) Votes(ctx context.Context, accountID, requestID feedback.ID, after string, limit int) ([]Voter, int64, error) {
	for {
		r, err := s.Request(ctx, accountID, requestID)
		if err != nil {
			return nil, 0, err
		}
		voters, err := database.All(ctx, s.db.Reader(), scanVoter,
			"SELECT v.request_id, v."+strings.ReplaceAll(voteColumns, ", ", ", v.")+` FROM votes v
			WHERE v.account_id = $1 AND v.request_id IN `+countingHere+` AND v.person > $3 AND NOT EXISTS
			(SELECT 1 FROM votes o WHERE o.account_id = $1 AND o.person = v.person AND o.request_id < v.request_id AND o.request_id IN `+countingHere+`)
			ORDER BY v.person LIMIT CAST($4 AS BIGINT)`, accountID, requestID, after, limit)
		if err != nil || len(voters) > 0 || after != "" || r.Votes != 1 {
			return voters, r.Votes, err
		}
		// It is the submitter, who has no row, unless somebody else came and went just now.
		again, err := s.Request(ctx, accountID, requestID)
		if err != nil {
			return nil, 0, err
		}
		if again.Version == r.Version {
			v, key := submitterVote(r)
			return []Voter{{v, key}}, 1, nil
		}
	}
}

func scanVoter(r database.Row) (v Voter, err error) {
	err = r.Scan(&v.RequestID, &v.Key, &v.Email, &v.Name, &v.ExternalID, &v.Verified, &v.Source, &v.CreatedAt)
	return v, err
}
