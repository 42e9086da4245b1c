package store

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"

	"gatherkit/internal/changelog"
	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
)

// Merged requests form a tree: merged_parent_id is the request that a request was merged
// into, and merged_into_id is the root, where its votes count. Unmerging a request moves its
// whole subtree.

// touched is the assignment that each change of a request includes. The time of the change is
// $2. A request in the bin keeps its updated_at, which is when it was moved there.
const touched = "version = version + 1, updated_at = CASE WHEN box = 'bin' THEN updated_at ELSE $2 END"

// merged is a merged request.
type merged struct {
	member
	appID, parent, root feedback.ID
	box                 feedback.Box
	former              feedback.Status // the status before the merge
	hidden              bool
}

// MergeRequest merges a request into another one, and returns the merged request. It changes
// nothing if the request was merged into that one before, so clients can retry. It returns
// ErrRequestNotFound or an error of Request.CheckMerge.
func (s *Store) MergeRequest(
	ctx context.Context, accountID, id, intoID feedback.ID, by feedback.Actor,
) (r feedback.Request, err error) {
	err = s.tallying(ctx, accountID, s.part(accountID), func(ctx context.Context, tx *sql.Tx, known *tallied) error {
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
		if err := s.merge(ctx, tx, accountID, known, by, r, into, root); err != nil {
			return err
		}
		r, err = readRequest(ctx, tx, accountID, id)
		return err
	})
	return r, err
}

// mergedInto reports whether r was merged into the request into, and neither is in the bin.
func mergedInto(ctx context.Context, tx *sql.Tx, accountID feedback.ID, r, into feedback.Request) (yes bool, err error) {
	if r.MergedIntoID == nil || r.Box == feedback.Bin || into.Box == feedback.Bin {
		return false, nil
	}
	err = tx.QueryRowContext(ctx, "SELECT merged_parent_id = $3 FROM requests WHERE account_id = $1 AND id = $2",
		accountID, r.ID, into.ID).Scan(&yes)
	return yes, err
}

// merge merges r and its subtree into the request into, whose root is given.
func (s *Store) merge(
	ctx context.Context, tx *sql.Tx, accountID feedback.ID, known *tallied, by feedback.Actor, r, into, root feedback.Request,
) error {
	now := feedback.At(s.now())
	if err := s.keepSubmitters(ctx, tx, accountID, r, root); err != nil {
		return err
	}
	both, err := readMerged(ctx, tx, accountID, r.ID, root.ID)
	if err != nil {
		return err
	}
	tallies, err := known.of(ctx, tx, accountID, map[feedback.ID][]member{
		r.ID: {asMember(r)}, root.ID: append(counting(both), asMember(r), asMember(root)),
	})
	if err != nil {
		return err
	}
	descendants := slices.DeleteFunc(both, func(m merged) bool { return m.root != r.ID })
	told := map[string]any{}
	if err := s.Readers.Tell(ctx, tx, accountID, by, told, r, root); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "UPDATE requests SET status = $3, merged_into_id = $4, merged_parent_id = $5, merged_status = $6, "+
		setAnswered("$7")+", "+setNews("news_at", "$8")+", rooted_at = $9 WHERE account_id = $1 AND id = $2",
		accountID, r.ID, string(feedback.Duplicate), root.ID, into.ID, string(r.Status), answeredAt(by.OfTeam(), now), newsAt(by, true, now), now)
	if err != nil {
		return err
	}
	if err := setRoot(ctx, tx, accountID, by, descendants, root.ID, now); err != nil {
		return err
	}
	if err := saveTallies(ctx, tx, accountID, &now, tallies); err != nil {
		return err
	}
	after := r
	after.Status, after.MergedIntoID, after.Votes = feedback.Duplicate, &root.ID, tallies[r.ID].votes
	if err := s.move(ctx, tx, accountID, r, after); err != nil {
		return err
	}
	kind := feedback.Change{Kind: feedback.RequestMerged, Actor: by, AppID: &r.AppID}
	first, second := kind, kind
	first.RequestID, second.RequestID = &r.ID, &root.ID
	first.Before, first.After = feedback.Diff(r, after)
	maps.Copy(first.After, told)
	second.Before, second.After = votesBefore(root.Votes, tallies[root.ID].votes)
	second.After["merged_id"] = r.ID
	changes := append([]feedback.Change{first, second}, rootChanges(kind, descendants, root.ID)...)
	return changelog.Record(ctx, tx, accountID, now, changes...)
}

// UnmergeRequest undoes the merge of a request, which keeps its own subtree, and returns the
// request. Votes that were given since at the root stay there. It changes nothing if the
// request is not merged. It returns ErrRequestNotFound if the request does not exist or is in
// the bin.
func (s *Store) UnmergeRequest(
	ctx context.Context, accountID, id feedback.ID, by feedback.Actor,
) (r feedback.Request, err error) {
	err = s.tallying(ctx, accountID, s.part(accountID), func(ctx context.Context, tx *sql.Tx, known *tallied) error {
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
		all, err := readMerged(ctx, tx, accountID, root.ID)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(all, func(m merged) bool { return m.id == id })
		sets := trees(all[i:i+1], all)
		leave := map[feedback.ID]bool{}
		for _, m := range sets[id] {
			leave[m.id] = true
		}
		left := slices.DeleteFunc(slices.Clone(all), func(m merged) bool { return leave[m.id] })
		sets[root.ID] = append(counting(left), asMember(root))
		tallies, err := known.of(ctx, tx, accountID, sets)
		if err != nil {
			return err
		}
		changes, err := s.unmerge(ctx, tx, accountID, by, all[i:i+1], all, tallies)
		if err != nil {
			return err
		}
		c := feedback.Change{Kind: feedback.RequestUnmerged, Actor: by, AppID: &root.AppID, RequestID: &root.ID}
		c.Before, c.After = votesBefore(root.Votes, tallies[root.ID].votes)
		c.Before["merged_id"] = id
		if err := changelog.Record(ctx, tx, accountID, feedback.At(s.now()), slices.Insert(changes, 1, c)...); err != nil {
			return err
		}
		r, err = readRequest(ctx, tx, accountID, id)
		return err
	})
	return r, err
}

// unmerge restores the former status of requests, and makes each the root of its subtree. The
// slice all has all merged requests of the tree. unmerge returns the changes to log, those of
// the unmerged requests first. It sets the counters to the tallies, which include those of the unmerged requests.
func (s *Store) unmerge(
	ctx context.Context, tx *sql.Tx, accountID feedback.ID, by feedback.Actor, unmerged, all []merged, tallies map[feedback.ID]tally,
) ([]feedback.Change, error) {
	now := feedback.At(s.now())
	byStatus := map[feedback.Status][]feedback.ID{}
	deltas := map[countKey]int64{}
	var ofDescendants []feedback.Change
	children := childrenOf(all)
	for _, m := range unmerged {
		byStatus[m.former] = append(byStatus[m.former], m.id)
		deltas[countKey{m.appID, m.box, feedback.Duplicate}]--
		deltas[countKey{m.appID, m.box, m.former}]++
		descendants := descendantsOf(children, m.id)
		if err := setRoot(ctx, tx, accountID, by, descendants, m.id, now); err != nil {
			return nil, err
		}
		kind := feedback.Change{Kind: feedback.RequestUnmerged, Actor: by, AppID: &m.appID}
		ofDescendants = append(ofDescendants, rootChanges(kind, descendants, m.id)...)
	}
	for _, status := range feedback.Statuses() {
		for _, piece := range database.Pieces(byStatus[status]) {
			p := database.Parameters{accountID, string(status), newsAt(by, true, now)}
			if _, err := tx.ExecContext(ctx,
				"UPDATE requests SET status = $2, merged_into_id = NULL, merged_parent_id = NULL, merged_status = NULL, "+
					setNews("news_at", "$3")+" WHERE account_id = $1 AND id IN ("+database.List(&p, piece)+")", p...); err != nil {
				return nil, err
			}
		}
	}
	if err := saveTallies(ctx, tx, accountID, &now, tallies); err != nil {
		return nil, err
	}
	changes := make([]feedback.Change, 0, len(unmerged)+len(ofDescendants))
	for _, m := range unmerged {
		c := feedback.Change{Kind: feedback.RequestUnmerged, Actor: by, AppID: &m.appID, RequestID: &m.id}
		c.Before, c.After = votesBefore(m.votes, tallies[m.id].votes)
		c.Before["status"], c.After["status"] = feedback.Duplicate, m.former
		c.Before["merged_into_id"], c.After["merged_into_id"] = m.root, nil
		r := feedback.Request{ID: m.id, AppID: m.appID, Box: m.box, Status: m.former, Hidden: m.hidden}
		if err := s.Readers.Tell(ctx, tx, accountID, by, c.After, r, r); err != nil {
			return nil, err
		}
		changes = append(changes, c)
	}
	return append(changes, ofDescendants...), s.count(ctx, tx, accountID, deltas)
}

// unmergePurged removes requests that are about to be purged from their trees. The children
// of a merged request move to its parent, and the children of a root are unmerged.
func (s *Store) unmergePurged(ctx context.Context, tx *sql.Tx, accountID feedback.ID, purged []feedback.ID) error {
	p := database.Parameters{accountID}
	ofMerged := " IN (SELECT %s FROM requests" +
		" WHERE account_id = $1 AND merged_into_id IS NOT NULL AND id IN (" + database.List(&p, purged) + "))"
	for n := int64(1); n > 0; { // a parent may be purged as well
		var err error
		n, err = database.Changed(ctx, tx,
			`UPDATE requests AS m SET merged_parent_id =
				(SELECT p.merged_parent_id FROM requests p WHERE p.account_id = $1 AND p.id = m.merged_parent_id)
			WHERE m.account_id = $1 AND m.merged_into_id`+fmt.Sprintf(ofMerged, "merged_into_id")+
				" AND m.merged_parent_id"+fmt.Sprintf(ofMerged, "id"), p...)
		if err != nil {
			return err
		}
	}
	left, err := readMerged(ctx, tx, accountID, purged...)
	if err != nil {
		return err
	}
	left = slices.DeleteFunc(left, func(m merged) bool { return slices.Contains(purged, m.id) })
	children := slices.DeleteFunc(slices.Clone(left), func(m merged) bool { return m.parent != m.root })
	if len(children) == 0 {
		return nil
	}
	var unknown *tallied
	tallies, err := unknown.of(ctx, tx, accountID, trees(children, left))
	if err != nil {
		return err
	}
	changes, err := s.unmerge(ctx, tx, accountID, feedback.Service(), children, left, tallies)
	if err != nil {
		return err
	}
	return changelog.Record(ctx, tx, accountID, feedback.At(s.now()), changes...)
}

// readMerged returns all merged requests of the trees with the given roots, by id.
func readMerged(ctx context.Context, tx *sql.Tx, accountID feedback.ID, roots ...feedback.ID) ([]merged, error) {
	var all []merged
	for _, piece := range database.Pieces(roots) {
		p := database.Parameters{accountID}
		some, err := database.All(ctx, tx, func(r database.Row) (m merged, err error) {
			err = r.Scan(&m.id, &m.appID, &m.parent, &m.root, (*string)(&m.box), (*string)(&m.former), &m.hidden, &m.votes, &m.version)
			return m, err
		}, "SELECT id, app_id, merged_parent_id, merged_into_id, box, merged_status, hidden, votes, version FROM requests"+
			" WHERE account_id = $1 AND merged_into_id IN ("+database.List(&p, piece)+")", p...)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	// With ORDER BY, SQLite would walk over all requests of the account.
	slices.SortFunc(all, func(a, b merged) int { return a.id.Compare(b.id) })
	return all, nil
}

// counts reports whether the votes of the request count at its root.
func (m merged) counts() bool { return m.box != feedback.Bin }

// counting returns those of the merged requests whose votes count at their root.
func counting(all []merged) []member {
	list := make([]member, 0, len(all)+2) // and those that callers add
	for _, m := range all {
		if m.counts() {
			list = append(list, m.member)
		}
	}
	return list
}

// trees returns which requests will count for each of the unmerged ones. The slice all has all merged requests of the tree.
func trees(unmerged, all []merged) map[feedback.ID][]member {
	sets := make(map[feedback.ID][]member, len(unmerged))
	children := childrenOf(all)
	for _, m := range unmerged {
		sets[m.id] = append(counting(descendantsOf(children, m.id)), m.member)
	}
	return sets
}

func childrenOf(all []merged) map[feedback.ID][]merged {
	children := map[feedback.ID][]merged{}
	for _, m := range all {
		children[m.parent] = append(children[m.parent], m)
	}
	return children
}

// descendantsOf returns the subtree of a request without the request itself.
func descendantsOf(children map[feedback.ID][]merged, id feedback.ID) []merged {
	descendants := slices.Clone(children[id])
	for i := 0; i < len(descendants); i++ {
		descendants = append(descendants, children[descendants[i].id]...)
	}
	return descendants
}

// setRoot changes the root of merged requests.
func setRoot(
	ctx context.Context, tx *sql.Tx, accountID feedback.ID, by feedback.Actor, requests []merged, root feedback.ID, now feedback.Time,
) error {
	for _, piece := range database.Pieces(requests) {
		p := database.Parameters{accountID, now, root, newsAt(by, true, now)}
		ids := make([]feedback.ID, 0, len(piece))
		for _, m := range piece {
			ids = append(ids, m.id)
		}
		if _, err := tx.ExecContext(ctx, "UPDATE requests SET merged_into_id = $3, rooted_at = $2, "+setNews("news_at", "$4")+", "+touched+
			" WHERE account_id = $1 AND id IN ("+database.List(&p, ids)+")", p...); err != nil {
			return err
		}
	}
	return nil
}

// rootChanges returns a copy of c for each request, with the change of its root.
func rootChanges(c feedback.Change, requests []merged, root feedback.ID) []feedback.Change {
	changes := make([]feedback.Change, 0, len(requests))
	for _, m := range requests {
		c.RequestID = &m.id
		c.Before, c.After = map[string]any{"merged_into_id": m.root}, map[string]any{"merged_into_id": root}
		changes = append(changes, c)
	}
	return changes
}
