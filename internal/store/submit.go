package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
)

// Submission is a request that comes in with an app's API key. The store gives it
// its id and its time.
type Submission struct {
	App     feedback.App // as the key found it; the key is checked again where it counts
	Request feedback.Request
	// Identity is the verified person whose request it is. It stands in the place of what
	// the request says of its submitter, which is as it was sent: of that the fingerprint
	// is taken.
	Identity *feedback.Person
	// Attachments are the ids of files that were sent before.
	Attachments []feedback.ID
	// IdempotencyKey makes a repeated submission find the first one; "" for none.
	IdempotencyKey string
}

// submitted is what became of one submission of a group.
type submitted struct {
	request feedback.Request
	refusal error
}

// Submit stores a submission and returns once it is durable. A repeated
// idempotency key with the same content returns the id and the time of the first;
// with other content it is ErrIdempotencyMismatch. ErrInvalidAPIKey says that the
// key or the app has gone meanwhile. A file that is not there to be attached is
// widget.invalid_attachments.
func (s *Store) Submit(ctx context.Context, sub Submission) (feedback.Request, error) {
	s.arrived.Add(1)
	result, err := s.submits.Do(ctx, sub.App.AccountID, sub)
	if err != nil {
		return feedback.Request{}, err
	}
	return result.request, result.refusal
}

// Submitted looks for the submission that an idempotency key has stored before.
// It returns false when there is none, and ErrIdempotencyMismatch when its content
// was another.
func (s *Store) Submitted(ctx context.Context, sub Submission) (feedback.Request, bool, error) {
	return replay(ctx, s.db.Reader(), sub)
}

// submitGroup stores submissions of one account in one transaction: the counter
// row of a busy app would let them in one by one otherwise.
func (s *Store) submitGroup(ctx context.Context, accountID feedback.ID, subs []Submission) ([]submitted, error) {
	results := make([]submitted, len(subs))
	refused, err := s.writeGroup(ctx, len(subs), func(ctx context.Context, tx *sql.Tx, members []int) (map[int]error, error) {
		return s.submitRows(ctx, tx, accountID, subs, members, results)
	})
	for i, refusal := range refused {
		results[i] = submitted{refusal: refusal}
	}
	return results, err
}

// submitRows stores those of the submissions that are waiting. It returns why some are
// refused, as their key does not open their app's gate any more, or their files are not
// there: then the rest must not be committed either.
func (s *Store) submitRows(ctx context.Context, tx *sql.Tx, accountID feedback.ID, subs []Submission, waiting []int, results []submitted) (map[int]error, error) {
	rows := make([]newRow, 0, len(waiting))
	for _, i := range waiting {
		results[i] = submitted{request: s.arrive(subs[i])}
		rows = append(rows, newSubmissionRow(results[i].request, subs[i]))
	}
	// In one order for all, or two replicas with the same keys could deadlock.
	slices.SortStableFunc(rows, func(a, b newRow) int { return strings.Compare(a.order(), b.order()) })
	added, err := s.insertRequests(ctx, tx, accountID, rows)
	if err != nil {
		return nil, err
	}
	deltas := map[countKey]int64{}
	var changes []feedback.Change
	for _, i := range waiting {
		r := &results[i].request
		n := int64(0)
		if added[r.ID] {
			n = 1
			changes = append(changes, feedback.Change{
				Kind: feedback.RequestCreated, AppID: &r.AppID, RequestID: &r.ID,
				Actor: feedback.Actor{Kind: feedback.ByAPIKey, ID: &r.AppID},
			})
		}
		deltas[countKey{r.AppID, r.Box, r.Status}] += n
	}
	refused, err := s.passGates(ctx, tx, accountID, subs, waiting, deltas)
	if err != nil || len(refused) > 0 {
		return refused, err
	}
	if refused, err = s.attachFiles(ctx, tx, subs, waiting, results, added); err != nil || len(refused) > 0 {
		return refused, err
	}
	if err := s.record(ctx, tx, accountID, feedback.At(s.now()), changes...); err != nil {
		return nil, err
	}
	for _, i := range waiting {
		if added[results[i].request.ID] {
			continue
		}
		first, found, err := replay(ctx, tx, subs[i])
		switch {
		case errors.Is(err, feedback.ErrIdempotencyMismatch):
			results[i] = submitted{refusal: err}
		case err != nil:
			return nil, err
		case !found:
			return nil, database.ErrStale // the first one was removed just now
		default:
			results[i].request = first
		}
	}
	return nil, nil
}

// passGates counts the new rows and returns the submissions whose app is gone or
// has another key by now.
func (s *Store) passGates(ctx context.Context, tx *sql.Tx, accountID feedback.ID, subs []Submission, waiting []int, deltas map[countKey]int64) (map[int]error, error) {
	if err := s.count(ctx, tx, accountID, deltas); err != nil {
		return nil, err
	}
	appIDs := make([]feedback.ID, 0, len(deltas))
	for key := range deltas {
		appIDs = append(appIDs, key.appID)
	}
	live, err := alive(ctx, tx, accountID, appIDs)
	if err != nil {
		return nil, err
	}
	keys := make(map[feedback.ID]string, len(live))
	for _, app := range live {
		keys[app.id] = app.key
	}
	refused := map[int]error{}
	for _, i := range waiting {
		if app := subs[i].App; keys[app.ID] != app.APIKey {
			refused[i] = feedback.ErrInvalidAPIKey
		}
	}
	return refused, nil
}

// arrive gives a submission its id and its time, which is the id's: so a range of
// times is a range of ids, and requests that were never changed are in one order by
// both.
func (s *Store) arrive(sub Submission) feedback.Request {
	r := sub.Request
	r.ID, r.AppID = s.ids.New(), sub.App.ID
	r.CreatedAt, r.UpdatedAt = r.ID.Time(), r.ID.Time()
	if p := sub.Identity; p != nil {
		r.Submitter = feedback.Submitter{Email: p.Email, Name: p.Name, ExternalID: p.ExternalID, Verified: p.Verified}
	}
	return r
}

func newSubmissionRow(r feedback.Request, sub Submission) newRow {
	if sub.IdempotencyKey == "" {
		return newRow{request: r}
	}
	fingerprint := sub.Request.Fingerprint(sub.Attachments)
	return newRow{request: r, key: &sub.IdempotencyKey, fingerprint: fingerprint[:]}
}

// replay answers a repeated submission with the first one's id and time and with
// what the caller sent: the row may have been edited since.
func replay(ctx context.Context, q database.Queryer, sub Submission) (feedback.Request, bool, error) {
	r := sub.Request
	var stored []byte
	err := q.QueryRowContext(ctx, `SELECT id, created_at, fingerprint FROM requests
		WHERE account_id = $1 AND app_id = $2 AND idempotency_key = $3`, sub.App.AccountID, sub.App.ID, sub.IdempotencyKey).
		Scan(&r.ID, &r.CreatedAt, &stored)
	if errors.Is(err, sql.ErrNoRows) {
		return r, false, nil
	}
	if err != nil {
		return r, false, err
	}
	if sent := r.Fingerprint(sub.Attachments); !bytes.Equal(stored, sent[:]) {
		return r, false, feedback.ErrIdempotencyMismatch
	}
	r.AppID, r.UpdatedAt = sub.App.ID, r.CreatedAt
	return r, true, nil
}
