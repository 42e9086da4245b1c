package store

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"maps"
	"reflect"
	"slices"

	"gatherkit/internal/changelog"
	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
	"gatherkit/internal/mail"
	"gatherkit/internal/readers"
	"gatherkit/internal/row"
	"gatherkit/internal/uploads"
	"gatherkit/internal/visitors"
	"gatherkit/internal/webhook"
)

// Erasure says whose data is erased, and how.
type Erasure struct {
	Of feedback.Subject
	// Delete is true if votes and comments are deleted, and the requests behind which nobody else is. Otherwise the texts
	// and the counts stay without the person.
	Delete bool
	// Salt tells the people of one erasure apart, see Person.Erased. It is the same in all parts.
	Salt feedback.ID
}

// Rectification says whose data is corrected. Name and Email replace those that are stored; nil changes nothing.
type Rectification struct {
	Of          feedback.Subject
	Email, Name *string
}

// PersonCounts are how many records of a person were changed.
type PersonCounts struct {
	Requests int64 `json:"requests" doc:"How many were changed or deleted."`
	Votes    int64 `json:"votes"`
	Comments int64 `json:"comments" doc:"Held ones too."`
	Records  int64 `json:"records" doc:"Sessions and blocks on portals."`
}

// Total is what Erasure and FindPerson both count.
func (c PersonCounts) Total() int64 { return c.Requests + c.Votes + c.Comments + c.Records }

// Plus returns the counts with those of another part.
func (c PersonCounts) Plus(o PersonCounts) PersonCounts {
	return PersonCounts{c.Requests + o.Requests, c.Votes + o.Votes, c.Comments + o.Comments, c.Records + o.Records}
}

// Part is what one part of a change of a person did.
type Part struct {
	PersonCounts
	Deleted int64         // requests that were deleted
	Kept    []feedback.ID // requests that were to be deleted, but other people are behind them
	Next    *PersonPlace  // nil after the last part
}

// matchesAtOnce is how many records of a person a part changes.
const matchesAtOnce = 20

// personChange is an erasure or a rectification in progress.
type personChange struct {
	s         *Store
	accountID feedback.ID
	by        feedback.Actor
	of        feedback.Subject           // empty if old data is deleted
	is        func(feedback.Person) bool // whether a person is to be changed
	to        func(feedback.Person) feedback.Person
	kind      feedback.ChangeKind // of the entry in the log at the end
	ofRequest feedback.ChangeKind // of those about requests
	erase     bool
	delete    bool
	until     feedback.Time // 0, or old data is deleted: people who have voted for the same later than this stay

	// What the transaction of the part has done.
	part    Part
	touched map[feedback.ID]feedback.ID // the apps of the requests that it has changed
	recount map[feedback.ID]bool        // requests of which people have become one
}

// ErasePerson erases a part of what the account stores about a person: where it continues is in the result. allowed is
// how many records may still be erased; beyond, it changes nothing and returns ErrMoreThanExpected. With the last part
// it logs the counts of all parts: before has those of the parts until now.
func (s *Store) ErasePerson(
	ctx context.Context, accountID feedback.ID, by feedback.Actor, e Erasure, at PersonPlace, before PersonCounts, allowed int64,
) (Part, error) {
	c := personChange{
		s: s, accountID: accountID, by: by, of: e.Of, is: e.Of.Is, kind: feedback.PersonErased, ofRequest: feedback.RequestErased, erase: true,
		delete: e.Delete,
		to:     func(p feedback.Person) feedback.Person { return p.Erased(e.Salt) },
	}
	mode := "anonymise"
	if e.Delete {
		mode = "delete"
	}
	return c.run(ctx, at, before, &allowed, mode)
}

// RectifyPerson corrects a part of what the account stores about a person.
func (s *Store) RectifyPerson(
	ctx context.Context, accountID feedback.ID, by feedback.Actor, r Rectification, at PersonPlace, before PersonCounts,
) (Part, error) {
	c := personChange{
		s: s, accountID: accountID, by: by, of: r.Of, is: r.Of.Is, kind: feedback.PersonRectified, ofRequest: feedback.RequestRectified,
		to: func(p feedback.Person) feedback.Person {
			if p.Email != nil && r.Email != nil {
				p.Email = r.Email
			}
			if p.Name != nil && r.Name != nil {
				p.Name = r.Name
			}
			return p
		},
	}
	return c.run(ctx, at, before, nil, "")
}

// run changes one part.
func (c *personChange) run(ctx context.Context, at PersonPlace, before PersonCounts, allowed *int64, mode string) (Part, error) {
	var matched []trace
	next, err := c.s.readTraces(ctx, c.accountID, at, func(t trace) bool {
		if c.is(t.person) {
			matched = append(matched, t)
		}
		return len(matched) < matchesAtOnce
	})
	if err != nil {
		return Part{}, err
	}
	last := next == nil && !c.erase
	if len(matched) > 0 || last {
		err = c.s.db.WritePart(ctx, c.accountID, func(ctx context.Context, tx *sql.Tx) error {
			c.begin()
			if err := c.apply(ctx, tx, matched); err != nil {
				return err
			}
			if allowed != nil && c.part.Total() > *allowed {
				return feedback.ErrMoreThanExpected
			}
			if !last {
				return nil
			}
			return c.end(ctx, tx, before.Plus(c.part.PersonCounts), mode)
		})
	}
	if c.part.Next = next; err != nil || next != nil || last {
		return c.part, err
	}
	c.part.Next, err = c.forget(ctx, at, before.Plus(c.part.PersonCounts), mode)
	return c.part, err
}

// begin forgets what the transaction has done, which may be tried again.
func (c *personChange) begin() {
	c.part, c.touched, c.recount = Part{}, map[feedback.ID]feedback.ID{}, map[feedback.ID]bool{}
}

// end deletes what is known of the address, and logs what was done.
func (c *personChange) end(ctx context.Context, tx *sql.Tx, all PersonCounts, mode string) error {
	if c.of.Email != "" {
		if err := mail.Forget(ctx, tx, c.accountID, c.of.Email); err != nil {
			return err
		}
	}
	after := c.of.Hashes()
	after["requests"], after["votes"], after["comments"] = all.Requests, all.Votes, all.Comments
	if c.erase {
		after["mode"] = mode
		if err := webhook.ForgetBatches(ctx, tx, c.accountID); err != nil {
			return err
		}
	}
	return changelog.Record(ctx, tx, c.accountID, feedback.At(c.s.now()), feedback.Change{Kind: c.kind, Actor: c.by, After: after})
}

// apply changes the rows that were found, as they are once nobody else can change them.
func (c *personChange) apply(ctx context.Context, tx *sql.Tx, matched []trace) error {
	if len(matched) == 0 {
		return nil
	}
	gates := map[countKey]int64{}
	var ids []feedback.ID
	for _, t := range matched {
		if id := t.requestID(); id != (feedback.ID{}) {
			ids = append(ids, id)
		}
	}
	if err := addGates(ctx, tx, c.accountID, gates, ids); err != nil {
		return err
	}
	if len(gates) > 0 {
		if err := c.s.count(ctx, tx, c.accountID, gates); err != nil {
			return err
		}
	}
	for _, t := range matched {
		if err := c.applyOne(ctx, tx, t); err != nil {
			return err
		}
	}
	return c.conclude(ctx, tx)
}

func (t trace) requestID() feedback.ID {
	switch {
	case t.request != nil:
		return t.request.ID
	case t.vote != nil:
		return t.vote.RequestID
	case t.comment != nil:
		return t.comment.RequestID
	case t.held != nil:
		return t.held.RequestID
	}
	return feedback.ID{}
}

func (c *personChange) applyOne(ctx context.Context, tx *sql.Tx, t trace) error {
	id := t.requestID()
	if id == (feedback.ID{}) {
		c.part.Records++
		return c.record(ctx, tx, t)
	}
	r, err := readRequest(ctx, tx, c.accountID, id)
	if errors.Is(err, feedback.ErrRequestNotFound) { // it or its app was deleted meanwhile
		return nil
	}
	if err != nil {
		return err
	}
	submitter, key := r.Person()
	switch {
	case t.request != nil && !c.changes(submitter):
		return nil
	case t.request == nil && !c.changes(t.person):
		return nil
	}
	if c.until != 0 && (t.request != nil || t.vote != nil) {
		who := key
		if t.vote != nil {
			who = t.key
		}
		if stays, err := c.votedLater(ctx, tx, r, who); err != nil || stays {
			return err
		}
	}
	c.touched[r.ID] = r.AppID
	switch {
	case t.comment != nil:
		c.part.Comments++
		return c.comment(ctx, tx, r, *t.comment)
	case t.held != nil:
		c.part.Comments++
		return c.held(ctx, tx, t)
	case t.vote != nil:
		c.part.Votes++
		if t.key != key {
			return c.vote(ctx, tx, r, t.key)
		}
	}
	if c.changes(submitter) { // the vote alone may have the address
		c.part.Requests++
	}
	return c.request(ctx, tx, r) // with the vote of the submitter
}

// changes reports whether a person is the one who is changed, and not yet.
func (c *personChange) changes(p feedback.Person) bool {
	return c.is(p) && (c.delete || !reflect.DeepEqual(p, c.to(p)))
}

// conclude completes what the part has done to requests.
func (c *personChange) conclude(ctx context.Context, tx *sql.Tx) error {
	roots := slices.SortedFunc(maps.Keys(c.recount), feedback.ID.Compare)
	tallies, err := c.s.tallyRoots(ctx, tx, c.accountID, nil, roots, nil)
	if err != nil {
		return err
	}
	if err := c.s.saveRoots(ctx, tx, c.accountID, c.by, tallies); err != nil {
		return err
	}
	if len(c.touched) == 0 {
		return nil
	}
	now := feedback.At(c.s.now())
	ids := slices.SortedFunc(maps.Keys(c.touched), feedback.ID.Compare)
	changes := make([]feedback.Change, 0, len(ids))
	for _, id := range ids {
		changes = append(changes, feedback.Change{Kind: c.ofRequest, Actor: c.by, AppID: new(c.touched[id]), RequestID: &id})
	}
	if c.erase {
		if err := webhook.ForgetRequests(ctx, tx, c.accountID, ids); err != nil {
			return err
		}
	}
	p, set := database.Parameters{c.accountID}, "version = version + 1"
	if c.until == 0 { // otherwise, it is not a change that somebody made
		p, set = append(p, now), touched
	}
	if _, err := tx.ExecContext(ctx, "UPDATE requests SET "+set+
		" WHERE account_id = $1 AND id IN ("+database.List(&p, ids)+")", p...); err != nil {
		return err
	}
	return changelog.Record(ctx, tx, c.accountID, now, changes...)
}

// comment changes a comment of the person. What the submitter of a request wrote in the widget has only the name that
// the request has.
func (c *personChange) comment(ctx context.Context, tx *sql.Tx, r feedback.Request, found feedback.Comment) error {
	now, err := readComment(ctx, tx, c.accountID, r.ID, found.ID)
	if errors.Is(err, feedback.ErrCommentNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if c.delete {
		return c.s.removeComment(ctx, tx, c.accountID, c.by, r, now, nil)
	}
	if now.Person == nil {
		return nil
	}
	p := c.to(*now.Person)
	_, err = tx.ExecContext(ctx, "UPDATE comments SET person = $4, person_email = $5, person_name = $6, person_external_id = $7,"+
		" person_verified = $8 WHERE account_id = $1 AND request_id = $2 AND id = $3",
		c.accountID, r.ID, now.ID, p.Key(), p.Email, p.Name, p.ExternalID, p.Verified)
	return err
}

func (c *personChange) held(ctx context.Context, tx *sql.Tx, t trace) error {
	if c.delete {
		_, err := tx.ExecContext(ctx, "DELETE FROM held_comments WHERE account_id = $1 AND id = $2", c.accountID, t.held.ID)
		return err
	}
	p := c.to(t.person)
	_, err := tx.ExecContext(ctx, "UPDATE held_comments SET person = $3, email = $4, name = $5, external_id = $6, verified = $7"+
		" WHERE account_id = $1 AND id = $2", c.accountID, t.held.ID, p.Key(), p.Email, p.Name, p.ExternalID, p.Verified)
	return err
}

// record changes a session or a block. An erased person is no longer signed in or blocked.
func (c *personChange) record(ctx context.Context, tx *sql.Tx, t trace) error {
	if t.key == "" {
		hash, err := hex.DecodeString(t.place.Text)
		if err != nil {
			return err
		}
		if c.erase {
			return visitors.EndSession(ctx, tx, c.accountID, hash)
		}
		return visitors.RenameSession(ctx, tx, c.accountID, hash, c.to(t.person))
	}
	if c.erase {
		_, _, err := visitors.Unblock(ctx, tx, c.accountID, t.record.AppID, t.key)
		return err
	}
	return visitors.RenameBlocked(ctx, tx, c.accountID, t.record.AppID, t.key, c.to(t.person))
}

// rootOf returns the request where the votes for a request count.
func (c *personChange) rootOf(ctx context.Context, tx *sql.Tx, r feedback.Request) (feedback.Request, error) {
	if r.MergedIntoID == nil || r.Box == feedback.Bin {
		return r, nil
	}
	return readRequest(ctx, tx, c.accountID, *r.MergedIntoID)
}

// vote changes the votes of the person with a key that count where those for a request do. All of them change, also
// those without the address: otherwise one person would become two.
func (c *personChange) vote(ctx context.Context, tx *sql.Tx, r feedback.Request, key string) error {
	root, err := c.rootOf(ctx, tx, r)
	if err != nil {
		return err
	}
	if c.delete {
		return c.s.removeVote(ctx, tx, c.accountID, c.by, &root, key)
	}
	found, err := database.All(ctx, tx, scanReaderVoter, "SELECT request_id, "+voteColumns+", reader FROM votes"+
		" WHERE account_id = $1 AND person = $3 AND request_id IN "+countingHere, c.accountID, root.ID, key)
	for _, v := range found {
		if err == nil {
			err = c.rename(ctx, tx, root, v)
		}
		if err == nil && c.until != 0 {
			err = c.submission(ctx, tx, v.RequestID, key)
		}
	}
	return err
}

// submission erases the submitter of a request if they have a key. A later part would give them another name than that of
// their votes.
func (c *personChange) submission(ctx context.Context, tx *sql.Tx, id feedback.ID, key string) error {
	r, err := readRequest(ctx, tx, c.accountID, id)
	if err != nil {
		return err
	}
	if submitter, of := r.Person(); of != key || !c.changes(submitter) {
		return nil
	}
	return c.submitter(ctx, tx, r)
}

// votedLater reports whether the person with a key has voted later than until where the votes for a request count.
// Otherwise one of their votes would have them and another one not, and they would count twice.
func (c *personChange) votedLater(ctx context.Context, tx *sql.Tx, r feedback.Request, key string) (later bool, err error) {
	root, err := c.rootOf(ctx, tx, r)
	if err != nil {
		return false, err
	}
	err = tx.QueryRowContext(ctx, "SELECT (SELECT 1 FROM votes WHERE account_id = $1 AND person = $3 AND created_at > $4"+
		" AND request_id IN "+countingHere+" LIMIT 1) IS NOT NULL", c.accountID, root.ID, key, c.until).Scan(&later)
	return later, err
}

// rename gives a vote to the person who stands for the old one. If they have voted for the request, too, one vote is left.
func (c *personChange) rename(ctx context.Context, tx *sql.Tx, root feedback.Request, v Voter) error {
	c.touched[v.RequestID] = root.AppID
	p := c.to(v.Person)
	now := p.Key()
	if now != v.Key {
		var here, there bool
		if err := tx.QueryRowContext(ctx, "SELECT COUNT(*) > 0, COALESCE(MAX(CASE WHEN request_id = $4 THEN 1 ELSE 0 END), 0) = 1"+
			" FROM votes WHERE account_id = $1 AND person = $3 AND request_id IN "+countingHere,
			c.accountID, root.ID, now, v.RequestID).Scan(&there, &here); err != nil {
			return err
		}
		if there {
			c.recount[root.ID], c.recount[v.RequestID] = true, true
		}
		if here {
			_, err := tx.ExecContext(ctx, "DELETE FROM votes WHERE account_id = $1 AND request_id = $2 AND person = $3",
				c.accountID, v.RequestID, v.Key)
			return err
		}
	}
	reader := v.reader
	if c.erase {
		reader = nil
	}
	if _, err := tx.ExecContext(ctx, "UPDATE votes SET person = $4, email = $5, name = $6, external_id = $7, verified = $8, reader = $9"+
		" WHERE account_id = $1 AND request_id = $2 AND person = $3",
		c.accountID, v.RequestID, v.Key, now, p.Email, p.Name, p.ExternalID, p.Verified, reader); err != nil {
		return err
	}
	return c.leave(ctx, tx, root.AppID, v.reader, v.RequestID, root.ID)
}

func scanReaderVoter(r database.Row) (v Voter, err error) {
	var reader feedback.Reader
	v, err = scanVoter(database.RowWith{Row: r, More: []any{&reader}})
	v.reader = reader
	return v, err
}

// leave takes a reader whose row was erased from the readers of a request and of its root, unless another row has it, and
// ends their links.
func (c *personChange) leave(ctx context.Context, tx *sql.Tx, appID feedback.ID, reader feedback.Reader, id, root feedback.ID) error {
	if !c.erase || reader == nil {
		return nil
	}
	for _, id := range slices.Compact([]feedback.ID{id, root}) {
		if _, err := tx.ExecContext(ctx, "UPDATE requests SET readers = readers - 1 WHERE account_id = $1 AND id = $2"+
			" AND (SELECT 1 FROM votes v WHERE v.account_id = $1 AND v.reader = $3 AND v.request_id IN "+countingHere+" LIMIT 1) IS NULL"+
			" AND (SELECT 1 FROM requests q WHERE q.account_id = $1 AND q.reader = $3 AND q.id IN "+countingHere+" LIMIT 1) IS NULL",
			c.accountID, id, reader); err != nil {
			return err
		}
	}
	return readers.Forget(ctx, tx, c.accountID, appID, reader)
}

// request changes a request of the person with their vote for it.
func (c *personChange) request(ctx context.Context, tx *sql.Tx, r feedback.Request) error {
	_, key := r.Person()
	if c.delete {
		gone, err := c.deleteRequest(ctx, tx, r, key)
		if err != nil || gone {
			return err
		}
		c.part.Kept = append(c.part.Kept, r.ID)
	} else if err := c.vote(ctx, tx, r, key); err != nil {
		return err
	}
	return c.submitter(ctx, tx, r)
}

// submitter changes the submitter of a request.
func (c *personChange) submitter(ctx context.Context, tx *sql.Tx, r feedback.Request) error {
	old, _ := r.Person()
	p := c.to(old)
	set := database.Parameters{c.accountID, r.ID, p.Email, p.Name, p.ExternalID, p.Verified}
	statement := "UPDATE requests SET submitter_email = $3, submitter_name = $4, submitter_external_id = $5, submitter_verified = $6"
	if !c.erase {
		_, err := tx.ExecContext(ctx, statement+" WHERE account_id = $1 AND id = $2", set...)
		return err
	}
	var reader feedback.Reader
	if err := tx.QueryRowContext(ctx, "SELECT reader FROM requests WHERE account_id = $1 AND id = $2", c.accountID, r.ID).
		Scan(&reader); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, statement+", metadata = '{}', attachments = '[]', idempotency_key = NULL, fingerprint = NULL,"+
		" notify = NULL, reader = NULL WHERE account_id = $1 AND id = $2", set...); err != nil {
		return err
	}
	ids := []feedback.ID{r.ID}
	if err := uploads.Release(ctx, tx, c.accountID, ids); err != nil {
		return err
	}
	if err := mail.RemoveRequests(ctx, tx, c.accountID, ids); err != nil {
		return err
	}
	if _, err := c.s.Readers.EndLinks(ctx, tx, c.accountID, r.ID); err != nil { // the team's, which the person may have
		return err
	}
	root, err := c.rootOf(ctx, tx, r)
	if err != nil {
		return err
	}
	return c.leave(ctx, tx, r.AppID, reader, r.ID, root.ID)
}

// deleteRequest removes the vote of the submitter, and deletes the request for good if nobody else voted for it or wrote
// on it, and nothing is merged into it that others submitted.
func (c *personChange) deleteRequest(ctx context.Context, tx *sql.Tx, r feedback.Request, key string) (gone bool, err error) {
	if err := c.deleteMerged(ctx, tx, r); err != nil {
		return false, err
	}
	if err := c.vote(ctx, tx, r, key); err != nil {
		return false, err
	}
	var others bool
	if err := tx.QueryRowContext(ctx, "SELECT (SELECT 1 FROM votes WHERE account_id = $1 AND request_id = $2 LIMIT 1) IS NOT NULL"+
		" OR (SELECT 1 FROM comments WHERE account_id = $1 AND request_id = $2 AND person IS NOT NULL LIMIT 1) IS NOT NULL"+
		" OR (SELECT 1 FROM held_comments WHERE account_id = $1 AND request_id = $2 LIMIT 1) IS NOT NULL"+
		" OR (SELECT 1 FROM requests WHERE account_id = $1 AND merged_into_id = $2 LIMIT 1) IS NOT NULL",
		c.accountID, r.ID).Scan(&others); err != nil || others {
		return false, err
	}
	root, err := c.rootOf(ctx, tx, r)
	if err != nil {
		return false, err
	}
	c.part.Deleted++
	if err := c.s.purge(ctx, tx, c.accountID, c.by, r); err != nil {
		return false, err
	}
	delete(c.touched, r.ID)
	delete(c.recount, r.ID)
	if root.ID != r.ID {
		c.touched[root.ID], c.recount[root.ID] = root.AppID, true
	}
	return true, nil
}

// deleteMerged does the same with what the person submitted and is merged into their request.
func (c *personChange) deleteMerged(ctx context.Context, tx *sql.Tx, r feedback.Request) error {
	merged, err := database.All(ctx, tx, row.Scan, "SELECT "+row.Columns+" FROM requests r WHERE r.account_id = $1 AND r.merged_into_id = $2",
		c.accountID, r.ID)
	if err != nil {
		return err
	}
	for _, m := range merged {
		if p, _ := m.Person(); !c.is(p) {
			continue
		}
		c.part.Requests++
		c.touched[m.ID] = m.AppID
		if err := c.request(ctx, tx, m); err != nil {
			return err
		}
	}
	return nil
}

// purge deletes a request for good, which has no votes and is not the root of others. The caller holds the gate.
func (s *Store) purge(ctx context.Context, tx *sql.Tx, accountID feedback.ID, by feedback.Actor, r feedback.Request) error {
	if err := s.count(ctx, tx, accountID, map[countKey]int64{{r.AppID, r.Box, r.Status}: -1}); err != nil {
		return err
	}
	if err := s.detach(ctx, tx, accountID, []feedback.ID{r.ID}); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "DELETE FROM requests WHERE account_id = $1 AND id = $2", accountID, r.ID); err != nil {
		return err
	}
	return changelog.Record(ctx, tx, accountID, feedback.At(s.now()), feedback.Change{
		Kind: feedback.RequestPurged, Actor: by, AppID: &r.AppID, Before: map[string]any{"id": r.ID},
	})
}
