package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
)

// Merged requests are a tree: merged_parent_id is what each was merged into, and
// merged_into_id the root, where its votes count. Taken out again, a request takes along
// what had been merged into it.

// touched is what every change of a row changes. In the bin updated_at is when the
// request went there; the time of the change is $2.
const touched = "version = version + 1, updated_at = CASE WHEN box = 'bin' THEN updated_at ELSE $2 END"

// member is a request that is merged.
type member struct {
	id, appID, parent, root feedback.ID
	box                     feedback.Box
	former                  feedback.Status // before it was merged
	votes                   int64
}

// MergeRequest merges a request into another one, or into the root of that. Merged
// there already, it is returned as it is, so that a merge can be sent again. It refuses
// with ErrRequestNotFound, ErrMerged, or a fault of into_id.
func (s *Store) MergeRequest(ctx context.Context, accountID, id, intoID feedback.ID, by feedback.Actor) (r feedback.Request, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if r, err = s.lockRequest(ctx, tx, accountID, id); err != nil {
			return err
		}
		into, err := readRequest(ctx, tx, accountID, intoID)
		if err != nil {
			return err
		}
		root := into
		if into.MergedIntoID != nil {
			if root, err = readRequest(ctx, tx, accountID, *into.MergedIntoID); err != nil {
				return err
			}
		}
		if repeated, err := mergedInto(ctx, tx, accountID, r, into); err != nil || repeated {
			return err
		}
		if err := r.CheckMerge(into, root); err != nil {
			return err
		}
		if err := s.merge(ctx, tx, accountID, by, r, into, root); err != nil {
			return err
		}
		r, err = readRequest(ctx, tx, accountID, id)
		return err
	})
	return r, err
}

// mergedInto reports whether a request was merged into another one, and neither is in
// the bin.
func mergedInto(ctx context.Context, tx *sql.Tx, accountID feedback.ID, r, into feedback.Request) (yes bool, err error) {
	if r.MergedIntoID == nil || r.Box == feedback.Bin || into.Box == feedback.Bin {
		return false, nil
	}
	err = tx.QueryRowContext(ctx, "SELECT merged_parent_id = $3 FROM requests WHERE account_id = $1 AND id = $2", accountID, r.ID, into.ID).Scan(&yes)
	return yes, err
}

// merge merges r, with what is merged into it, into another one whose root is given.
func (s *Store) merge(ctx context.Context, tx *sql.Tx, accountID feedback.ID, by feedback.Actor, r, into, root feedback.Request) error {
	now := feedback.At(s.now())
	if err := s.keepSubmitters(ctx, tx, accountID, r, root); err != nil {
		return err
	}
	followers, err := readMembers(ctx, tx, accountID, r.ID)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "UPDATE requests SET status = $3, merged_into_id = $4, merged_parent_id = $5, merged_status = $6, "+answered("$7")+" WHERE account_id = $1 AND id = $2",
		accountID, r.ID, string(feedback.Duplicate), root.ID, into.ID, string(r.Status), answerAt(by.Kind == feedback.ByUser, now))
	if err != nil {
		return err
	}
	if err := follow(ctx, tx, accountID, followers, root.ID, now); err != nil {
		return err
	}
	votes, err := settleVotes(ctx, tx, accountID, now, r.ID, root.ID)
	if err != nil {
		return err
	}
	merged := r
	merged.Status, merged.MergedIntoID, merged.Votes = feedback.Duplicate, &root.ID, votes[r.ID]
	if err := s.move(ctx, tx, accountID, r, merged); err != nil {
		return err
	}
	kind := feedback.Change{Kind: feedback.RequestMerged, Actor: by, AppID: &r.AppID}
	first, second := kind, kind
	first.RequestID, second.RequestID = &r.ID, &root.ID
	first.Before, first.After = feedback.Diff(r, merged)
	second.Before, second.After = votesBefore(root.Votes, votes[root.ID])
	second.After["merged_id"] = r.ID
	return s.record(ctx, tx, accountID, now, append([]feedback.Change{first, second}, followed(kind, followers, root.ID)...)...)
}

// UnmergeRequest takes a request out of the one into which it was merged, with what had
// been merged into it: both are as if it had never been merged, but for votes that were
// given to the other one meanwhile. A request that is not merged is returned as it is.
// It refuses with ErrRequestNotFound.
func (s *Store) UnmergeRequest(ctx context.Context, accountID, id feedback.ID, by feedback.Actor) (r feedback.Request, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if r, err = s.lockRequest(ctx, tx, accountID, id); err != nil {
			return err
		}
		if r.Box == feedback.Bin {
			return feedback.ErrRequestNotFound
		}
		if r.MergedIntoID == nil {
			return nil
		}
		root, err := readRequest(ctx, tx, accountID, *r.MergedIntoID)
		if err != nil {
			return err
		}
		members, err := readMembers(ctx, tx, accountID, root.ID)
		if err != nil {
			return err
		}
		head := slices.IndexFunc(members, func(m member) bool { return m.id == id })
		changes, err := s.takeOut(ctx, tx, accountID, by, members[head:head+1], members)
		if err != nil {
			return err
		}
		now := feedback.At(s.now())
		votes, err := settleVotes(ctx, tx, accountID, now, root.ID)
		if err != nil {
			return err
		}
		c := feedback.Change{Kind: feedback.RequestUnmerged, Actor: by, AppID: &root.AppID, RequestID: &root.ID}
		c.Before, c.After = votesBefore(root.Votes, votes[root.ID])
		c.Before["merged_id"] = id
		if err := s.record(ctx, tx, accountID, now, slices.Insert(changes, 1, c)...); err != nil {
			return err
		}
		r, err = readRequest(ctx, tx, accountID, id)
		return err
	})
	return r, err
}

// takeOut gives requests their former status, and makes each the root of what had been
// merged into it. It returns what is to be logged, theirs first.
func (s *Store) takeOut(ctx context.Context, tx *sql.Tx, accountID feedback.ID, by feedback.Actor, heads, members []member) ([]feedback.Change, error) {
	now := feedback.At(s.now())
	byStatus := map[feedback.Status][]feedback.ID{}
	deltas := map[countKey]int64{}
	var ids []feedback.ID
	var followers []feedback.Change
	children := childrenOf(members)
	for _, head := range heads {
		ids = append(ids, head.id)
		byStatus[head.former] = append(byStatus[head.former], head.id)
		deltas[countKey{head.appID, head.box, feedback.Duplicate}]--
		deltas[countKey{head.appID, head.box, head.former}]++
		below := subtree(children, head.id)
		if err := follow(ctx, tx, accountID, below, head.id, now); err != nil {
			return nil, err
		}
		followers = append(followers, followed(feedback.Change{Kind: feedback.RequestUnmerged, Actor: by, AppID: &head.appID}, below, head.id)...)
	}
	for _, status := range feedback.Statuses() {
		for _, some := range database.Powers(byStatus[status]) {
			p := database.Parameters{accountID, string(status)}
			if _, err := tx.ExecContext(ctx,
				"UPDATE requests SET status = $2, merged_into_id = NULL, merged_parent_id = NULL, merged_status = NULL"+
					" WHERE account_id = $1 AND id IN ("+database.List(&p, some)+")", p...); err != nil {
				return nil, err
			}
		}
	}
	votes, err := settleVotes(ctx, tx, accountID, now, ids...)
	if err != nil {
		return nil, err
	}
	changes := make([]feedback.Change, 0, len(heads)+len(followers))
	for _, head := range heads {
		c := feedback.Change{Kind: feedback.RequestUnmerged, Actor: by, AppID: &head.appID, RequestID: &head.id}
		c.Before, c.After = votesBefore(head.votes, votes[head.id])
		c.Before["status"], c.After["status"] = feedback.Duplicate, head.former
		c.Before["merged_into_id"], c.After["merged_into_id"] = head.root, nil
		changes = append(changes, c)
	}
	return append(changes, followers...), s.count(ctx, tx, accountID, deltas)
}

// setFree takes requests out of others that go for good: what was merged into one that
// is merged itself is then merged into what that was merged into, and what was merged
// into one that was not is as if it had never been merged.
func (s *Store) setFree(ctx context.Context, tx *sql.Tx, accountID feedback.ID, gone []feedback.ID) error {
	p := database.Parameters{accountID}
	merged := " IN (SELECT %s FROM requests WHERE account_id = $1 AND merged_into_id IS NOT NULL AND id IN (" + database.List(&p, gone) + "))"
	for n := int64(1); n > 0; { // until no parent is among them
		var err error
		n, err = database.Changed(ctx, tx,
			`UPDATE requests AS m SET merged_parent_id =
				(SELECT p.merged_parent_id FROM requests p WHERE p.account_id = $1 AND p.id = m.merged_parent_id)
			WHERE m.account_id = $1 AND m.merged_into_id`+fmt.Sprintf(merged, "merged_into_id")+" AND m.merged_parent_id"+fmt.Sprintf(merged, "id"), p...)
		if err != nil {
			return err
		}
	}
	members, err := readMembers(ctx, tx, accountID, gone...)
	if err != nil {
		return err
	}
	members = slices.DeleteFunc(members, func(m member) bool { return slices.Contains(gone, m.id) })
	heads := slices.DeleteFunc(slices.Clone(members), func(m member) bool { return m.parent != m.root })
	if len(heads) == 0 {
		return nil
	}
	changes, err := s.takeOut(ctx, tx, accountID, feedback.Service(), heads, members)
	if err != nil {
		return err
	}
	return s.record(ctx, tx, accountID, feedback.At(s.now()), changes...)
}

// readMembers returns the requests that are merged into one of the roots.
func readMembers(ctx context.Context, tx *sql.Tx, accountID feedback.ID, roots ...feedback.ID) ([]member, error) {
	p := database.Parameters{accountID}
	return database.All(ctx, tx, func(r database.Row) (m member, err error) {
		err = r.Scan(&m.id, &m.appID, &m.parent, &m.root, (*string)(&m.box), (*string)(&m.former), &m.votes)
		return m, err
	}, "SELECT id, app_id, merged_parent_id, merged_into_id, box, merged_status, votes FROM requests"+
		" WHERE account_id = $1 AND merged_into_id IN ("+database.List(&p, roots)+") ORDER BY id", p...)
}

func childrenOf(members []member) map[feedback.ID][]member {
	children := map[feedback.ID][]member{}
	for _, m := range members {
		children[m.parent] = append(children[m.parent], m)
	}
	return children
}

// subtree is what was merged into a request, and into that, and so on.
func subtree(children map[feedback.ID][]member, id feedback.ID) []member {
	below := slices.Clone(children[id])
	for i := 0; i < len(below); i++ {
		below = append(below, children[below[i].id]...)
	}
	return below
}

// follow makes merged requests count at another root.
func follow(ctx context.Context, tx *sql.Tx, accountID feedback.ID, members []member, root feedback.ID, now feedback.Time) error {
	for _, some := range database.Powers(members) {
		p := database.Parameters{accountID, now, root}
		ids := make([]feedback.ID, 0, len(some))
		for _, m := range some {
			ids = append(ids, m.id)
		}
		if _, err := tx.ExecContext(ctx, "UPDATE requests SET merged_into_id = $3, "+touched+
			" WHERE account_id = $1 AND id IN ("+database.List(&p, ids)+")", p...); err != nil {
			return err
		}
	}
	return nil
}

// followed is what the log says of members that have got another root.
func followed(c feedback.Change, members []member, root feedback.ID) []feedback.Change {
	changes := make([]feedback.Change, 0, len(members))
	for _, m := range members {
		c.RequestID = &m.id
		c.Before, c.After = map[string]any{"merged_into_id": m.root}, map[string]any{"merged_into_id": root}
		changes = append(changes, c)
	}
	return changes
}

// settleVotes makes counters the number of people who count there, and returns them.
func settleVotes(ctx context.Context, tx *sql.Tx, accountID feedback.ID, now feedback.Time, ids ...feedback.ID) (map[feedback.ID]int64, error) {
	votes := make(map[feedback.ID]int64, len(ids))
	for _, some := range database.Powers(ids) {
		p := database.Parameters{accountID, now}
		counted, err := database.All(ctx, tx, scanVoteCount, "UPDATE requests AS r SET votes = "+peopleHere+", "+touched+
			" WHERE r.account_id = $1 AND r.id IN ("+database.List(&p, some)+") RETURNING id, votes", p...)
		if err != nil {
			return nil, err
		}
		for _, one := range counted {
			votes[one.id] = one.n
		}
	}
	return votes, nil
}

// settleRoots counts again at roots of which members came out of the bin, or went there.
func (s *Store) settleRoots(ctx context.Context, tx *sql.Tx, accountID feedback.ID, by feedback.Actor, roots ...feedback.ID) error {
	for _, id := range roots {
		var appID feedback.ID
		var votes, people int64
		err := tx.QueryRowContext(ctx, "SELECT r.app_id, r.votes, "+peopleHere+" FROM requests r WHERE r.account_id = $1 AND r.id = $2", accountID, id).Scan(&appID, &votes, &people)
		if err != nil {
			return err
		}
		if votes == people {
			continue
		}
		if err := s.countVotes(ctx, tx, accountID, feedback.Change{Kind: feedback.RequestUpdated, Actor: by, AppID: &appID}, people-votes, id); err != nil {
			return err
		}
	}
	return nil
}
