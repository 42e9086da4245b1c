package store

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"maps"
	"slices"

	"gatherkit/internal/changelog"
	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
)

// tally is what the rows of requests give for the one where they count: how many people voted, how many readers
// asked or voted, and the heat.
type tally struct{ votes, readers, heat int64 }

// member is a request whose votes count for itself or for another one, as it is before a transaction changes it.
type member struct {
	id             feedback.ID
	version, votes int64
}

func asMember(r feedback.Request) member { return member{r.ID, r.Version, r.Votes} }

// tallied are tallies that were made before the transaction that needs them. A transaction that counted tens of thousands of
// rows would hold up other writes meanwhile: all on SQLite, and all those to the app on PostgreSQL.
type tallied struct {
	made   map[string]tally // by what keyOf returns
	times  int              // how often some were made
	atOnce int64            // how many votes the transaction counts itself
}

const (
	// countedAtOnce is how many votes a transaction counts itself, outside of tests.
	countedAtOnce = 500
	// maxTallied is how often tallies are made ahead for a transaction. If somebody votes each time before it begins, it
	// counts itself.
	maxTallied = 3
)

// tallyFirst is the error of a transaction that must not begin before the tallies of some requests are made.
type tallyFirst struct{ sets map[feedback.ID][]member }

func (*tallyFirst) Error() string { return "votes must be counted before the transaction" }

// write runs a function in a transaction, as database.DB.Write does.
type write func(ctx context.Context, fn func(context.Context, *sql.Tx) error) error

// part is database.DB.WritePart for an account.
func (s *Store) part(accountID feedback.ID) write {
	return func(ctx context.Context, fn func(context.Context, *sql.Tx) error) error {
		return s.db.WritePart(ctx, accountID, fn)
	}
}

// tallying writes with fn, which may need tallies: again, after each time that they must be made first.
func (s *Store) tallying(
	ctx context.Context, accountID feedback.ID, w write, fn func(context.Context, *sql.Tx, *tallied) error,
) error {
	known := tallied{made: map[string]tally{}, atOnce: s.countedAtOnce}
	for {
		err := w(ctx, func(ctx context.Context, tx *sql.Tx) error { return fn(ctx, tx, &known) })
		var first *tallyFirst
		if !errors.As(err, &first) {
			return err
		}
		if err := s.db.Read(ctx, func(tx *sql.Tx) error { return known.make(ctx, tx, accountID, first.sets) }); err != nil {
			return err
		}
	}
}

// of returns the tally of each set of requests, by the request for which they count. It returns a tallyFirst if
// they have many votes and are not known. Nothing is known if t is nil.
func (t *tallied) of(
	ctx context.Context, tx *sql.Tx, accountID feedback.ID, sets map[feedback.ID][]member,
) (map[feedback.ID]tally, error) {
	found, missing, votes := map[feedback.ID]tally{}, map[feedback.ID][]member{}, int64(0)
	for id, set := range sets {
		if t != nil {
			if one, known := t.made[keyOf(set)]; known {
				found[id] = one
				continue
			}
		}
		missing[id] = set
		for _, m := range set {
			votes += m.votes
		}
	}
	if len(missing) == 0 {
		return found, nil
	}
	if t != nil && votes > t.atOnce && t.times < maxTallied {
		return nil, &tallyFirst{missing}
	}
	counted, err := countRows(ctx, tx, accountID, missing, nil)
	maps.Copy(found, counted)
	return found, err
}

// make counts the rows of the sets as they are now. A submitter's vote without a row counts as if it had one, which
// the transaction adds.
func (t *tallied) make(ctx context.Context, tx *sql.Tx, accountID feedback.ID, sets map[feedback.ID][]member) error {
	t.times++
	requests, err := readRequests(ctx, tx, accountID, slices.Collect(maps.Keys(sets)))
	if err != nil {
		return err
	}
	alone, err := submittersAlone(ctx, tx, accountID, requests)
	if err != nil {
		return err
	}
	counted, err := countRows(ctx, tx, accountID, sets, alone)
	if err != nil {
		return err
	}
	ids := map[feedback.ID]bool{}
	for _, set := range sets {
		for _, m := range set {
			ids[m.id] = true
		}
	}
	now, err := versions(ctx, tx, accountID, slices.Collect(maps.Keys(ids)))
	for id, set := range sets {
		for i := range set {
			set[i].version = now[set[i].id]
		}
		t.made[keyOf(set)] = counted[id]
	}
	return err
}

// keyOf returns what tells sets of requests, and their versions, apart.
func keyOf(set []member) string {
	set = slices.SortedFunc(slices.Values(set), func(a, b member) int { return a.id.Compare(b.id) })
	key := make([]byte, 0, 24*len(set))
	for _, m := range set {
		key = binary.BigEndian.AppendUint64(append(key, m.id[:]...), uint64(m.version)) //nolint:gosec // a version is not negative
	}
	return string(key)
}

// people are those who are behind some requests.
type people struct {
	first   map[string]feedback.Time // when each person first voted
	readers map[string]bool
}

// sides are the people behind each of the sets of requests to which one belongs.
type sides []people

func (s sides) voted(person string, at feedback.Time) {
	for _, p := range s {
		if first, again := p.first[person]; !again || at < first {
			p.first[person] = at
		}
	}
}

func (s sides) asked(reader feedback.Reader) {
	for _, p := range s {
		if reader != nil {
			p.readers[string(reader)] = true
		}
	}
}

// countRows returns the tally of each set of requests. The submitters of the requests alone vote, too, although they
// have no rows.
func countRows(
	ctx context.Context, q database.Queryer, accountID feedback.ID, sets map[feedback.ID][]member, alone map[feedback.ID]feedback.Request,
) (map[feedback.ID]tally, error) {
	all, counting := map[feedback.ID]people{}, map[feedback.ID]sides{}
	for id, set := range sets {
		all[id] = people{map[string]feedback.Time{}, map[string]bool{}}
		for _, m := range set {
			counting[m.id] = append(counting[m.id], all[id])
		}
	}
	for _, r := range alone {
		v, person := submitterVote(r)
		counting[r.ID].voted(person, v.CreatedAt)
	}
	for _, piece := range database.Pieces(slices.Collect(maps.Keys(counting))) {
		p := database.Parameters{accountID}
		in := " IN (" + database.List(&p, piece) + ")"
		err := database.Each(ctx, q, func(r database.Row) error {
			var id feedback.ID
			var person string
			var at feedback.Time
			var reader feedback.Reader
			err := r.Scan(&id, &person, &at, &reader)
			counting[id].voted(person, at)
			counting[id].asked(reader)
			return err
		}, "SELECT request_id, person, created_at, reader FROM votes WHERE account_id = $1 AND request_id"+in, p...)
		if err != nil {
			return nil, err
		}
		err = database.Each(ctx, q, func(r database.Row) error {
			var id feedback.ID
			var reader feedback.Reader
			err := r.Scan(&id, &reader)
			counting[id].asked(reader)
			return err
		}, "SELECT id, reader FROM requests WHERE account_id = $1 AND id"+in, p...)
		if err != nil {
			return nil, err
		}
	}
	tallies := make(map[feedback.ID]tally, len(sets))
	for id, p := range all {
		tallies[id] = tally{int64(len(p.first)), int64(len(p.readers)), feedback.Heat(slices.Collect(maps.Values(p.first)))}
	}
	return tallies, nil
}

// saveTallies sets the counters of requests. They get another version, with the time, unless that is nil.
func saveTallies(ctx context.Context, tx *sql.Tx, accountID feedback.ID, now *feedback.Time, tallies map[feedback.ID]tally) error {
	for _, piece := range database.Pieces(slices.Collect(maps.Keys(tallies))) {
		p := database.Parameters{accountID}
		also := ""
		if now != nil {
			p.Add(*now)
			also = ", " + touched
		}
		set := "votes = " + perRequest(&p, piece, func(id feedback.ID) int64 { return tallies[id].votes }) +
			", readers = " + perRequest(&p, piece, func(id feedback.ID) int64 { return tallies[id].readers }) +
			", heat = " + perRequest(&p, piece, func(id feedback.ID) int64 { return tallies[id].heat })
		if _, err := tx.ExecContext(ctx, "UPDATE requests SET "+set+also+
			" WHERE account_id = $1 AND id IN ("+database.List(&p, piece)+")", p...); err != nil {
			return err
		}
	}
	return nil
}

// perRequest returns the value of each of the requests that a statement changes.
func perRequest(p *database.Parameters, ids []feedback.ID, value func(feedback.ID) int64) string {
	cases := "CASE id"
	for _, id := range ids {
		cases += " WHEN " + p.Add(id) + " THEN CAST(" + p.Add(value(id)) + " AS BIGINT)"
	}
	return cases + " END"
}

// root is a request whose merged requests enter or leave the bin.
type root struct {
	id, appID feedback.ID
	votes     int64
	tally     tally // afterwards
}

// tallyRoots returns what will count for the roots of merged requests, some of which are about to move to other boxes.
func (s *Store) tallyRoots(
	ctx context.Context, tx *sql.Tx, accountID feedback.ID, known *tallied, roots []feedback.ID, moved map[feedback.ID]feedback.Box,
) ([]root, error) {
	if len(roots) == 0 {
		return nil, nil
	}
	all, err := readMerged(ctx, tx, accountID, roots...)
	if err != nil {
		return nil, err
	}
	sets := make(map[feedback.ID][]member, len(roots))
	found := make([]root, 0, len(roots))
	for _, id := range roots {
		r := root{id: id}
		var version int64
		if err := tx.QueryRowContext(ctx, "SELECT app_id, votes, version FROM requests WHERE account_id = $1 AND id = $2",
			accountID, id).Scan(&r.appID, &r.votes, &version); err != nil {
			return nil, err
		}
		found = append(found, r)
		sets[id] = []member{{id, version, r.votes}}
	}
	for i, m := range all {
		if box, moves := moved[m.id]; moves {
			all[i].box = box
		}
	}
	addMerged(sets, all)
	tallies, err := known.of(ctx, tx, accountID, sets)
	for i := range found {
		found[i].tally = tallies[found[i].id]
	}
	return found, err
}

// addMerged adds the merged requests whose votes count to the sets of their roots.
func addMerged(sets map[feedback.ID][]member, all []merged) {
	for _, m := range all {
		if m.counts() {
			sets[m.root] = append(sets[m.root], m.member)
		}
	}
}

// saveRoots sets the counters of roots, and logs where the number of votes has changed. Nobody is shown the others, so
// they alone do not change the version of a request.
func (s *Store) saveRoots(ctx context.Context, tx *sql.Tx, accountID feedback.ID, by feedback.Actor, roots []root) error {
	now := feedback.At(s.now())
	var changes []feedback.Change
	silent, visible := map[feedback.ID]tally{}, map[feedback.ID]tally{}
	for _, r := range roots {
		if r.votes == r.tally.votes { // the same people, but their first votes may be others
			silent[r.id] = r.tally
			continue
		}
		visible[r.id] = r.tally
		c := feedback.Change{Kind: feedback.RequestUpdated, Actor: by, AppID: &r.appID, RequestID: &r.id}
		c.Before, c.After = votesBefore(r.votes, r.tally.votes)
		changes = append(changes, c)
	}
	if err := errors.Join(saveTallies(ctx, tx, accountID, nil, silent), saveTallies(ctx, tx, accountID, &now, visible)); err != nil {
		return err
	}
	return changelog.Record(ctx, tx, accountID, now, changes...)
}
