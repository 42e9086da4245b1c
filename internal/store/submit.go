package store

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"time"

	"gatherkit/internal/changelog"
	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
	"gatherkit/internal/quota"
	"gatherkit/internal/usage"
)

// Submission is a request that is submitted with an app's API key. The store sets its id and
// its times.
type Submission struct {
	App     feedback.App // from the key lookup; Submit checks the key again
	Request feedback.Request
	// Identity is the verified submitter, or nil. It replaces the submitter of Request when the
	// request is stored. The fingerprint is of the submitter as it was sent.
	Identity *feedback.Person
	// Portal is the person who submits on the app's portal; nil for a submission with the API key.
	Portal *feedback.Person
	// Reader hears what becomes of the request; nil for nobody.
	Reader feedback.Reader
	// Notify is the language in which the submitter wants e-mail about the request; empty for none.
	Notify string
	// Attachments are the ids of files that were uploaded before.
	Attachments []feedback.ID
	// IdempotencyKey is empty if the client sent none.
	IdempotencyKey string
	// FormerKey is the form in which the version before stored the key, or empty if that is the same.
	FormerKey string
}

// submitted is the result of one submission of a group.
type submitted struct {
	request feedback.Request
	refusal error
	added   bool // whether it is a new request
}

// Submit stores a submission and returns once it is durable. If the idempotency key was used
// before, it returns the id and the time of the first submission, or ErrIdempotencyMismatch if
// the content differs. It returns ErrInvalidAPIKey if the key or the app no longer exists,
// ErrRequestsSpent if the account's quota does not allow one more, and a field error if a file
// cannot be attached.
func (s *Store) Submit(ctx context.Context, sub Submission) (feedback.Request, error) {
	s.arrived.Add(1)
	result, err := s.submits.Do(ctx, sub.App.AccountID, sub)
	if err != nil {
		return feedback.Request{}, err
	}
	return result.request, result.refusal
}

// Submitted returns the submission that was stored with the same idempotency key, and whether
// there is one. It returns ErrIdempotencyMismatch if the content differs.
func (s *Store) Submitted(ctx context.Context, sub Submission) (feedback.Request, bool, error) {
	return replay(ctx, s.db.Reader(), sub)
}

// submitGroup stores submissions of one account in one transaction. Otherwise, submissions to
// the same app would wait for the lock of its counter row one after the other.
func (s *Store) submitGroup(ctx context.Context, accountID feedback.ID, subs []Submission) ([]submitted, error) {
	results := make([]submitted, len(subs))
	refused, err := s.writeGroup(ctx, accountID, len(subs), func(ctx context.Context, tx *sql.Tx, members []int) (map[int]error, error) {
		return s.submitRows(ctx, tx, accountID, subs, members, results)
	})
	for i, refusal := range refused {
		results[i] = submitted{refusal: refusal}
	}
	for _, result := range results {
		if err == nil && result.added {
			s.Usage.Count(accountID, usage.Submission(result.request.Attachments))
		}
	}
	return results, err
}

// submitRows stores the submissions with the indexes waiting. It returns the errors of those
// whose key is no longer valid or whose files cannot be attached, by index. If there are any,
// the caller must roll back the transaction.
func (s *Store) submitRows(
	ctx context.Context, tx *sql.Tx, accountID feedback.ID, subs []Submission, waiting []int, results []submitted,
) (map[int]error, error) {
	rows := make([]newRow, 0, len(waiting))
	for _, i := range waiting {
		results[i] = submitted{request: s.arrive(subs[i])}
		rows = append(rows, newSubmissionRow(results[i].request, subs[i]))
	}
	// All replicas insert in the same order, so that equal idempotency keys cannot deadlock.
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
		if results[i].added = added[r.ID]; results[i].added {
			n = 1
			changes = append(changes, feedback.Change{
				Kind: feedback.RequestCreated, AppID: &r.AppID, RequestID: &r.ID,
				Actor: feedback.Actor{Kind: feedback.ByAPIKey, ID: &r.AppID},
			})
		}
		deltas[countKey{r.AppID, r.Box, r.Status}] += n
	}
	if refused, err := s.overQuota(ctx, tx, accountID, waiting, results); err != nil || len(refused) > 0 {
		return refused, err
	}
	refused, err := s.passGates(ctx, tx, accountID, subs, waiting, deltas)
	if err != nil || len(refused) > 0 {
		return refused, err
	}
	if refused, err = s.attachFiles(ctx, tx, subs, waiting, results, added); err != nil || len(refused) > 0 {
		return refused, err
	}
	if err := changelog.Record(ctx, tx, accountID, feedback.At(s.now()), changes...); err != nil {
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
			return nil, database.ErrStale // the first request was deleted since the insert
		default:
			results[i].request = first
		}
	}
	return nil, nil
}

// spentFor is after how long a client tries again at the latest when the quota is used up, as the operator may raise it.
const spentFor = time.Hour

// overQuota returns ErrRequestsSpent for each new request that the account's quota of this month does not allow.
func (s *Store) overQuota(
	ctx context.Context, tx *sql.Tx, accountID feedback.ID, waiting []int, results []submitted,
) (map[int]error, error) {
	most, err := s.Quotas.Of(ctx, tx, accountID, quota.Requests)
	if err != nil || most == quota.None {
		return nil, err
	}
	first, next := quota.Month(s.now())
	used, err := s.Usage.Submitted(ctx, tx, accountID, first)
	if err != nil {
		return nil, err
	}
	reset := next.Begin().Sub(s.now())
	spent := feedback.ErrRequestsSpent.Spent(string(quota.Requests), reset).After(min(reset, spentFor))
	refused := map[int]error{}
	for _, i := range waiting {
		if !results[i].added {
			continue
		}
		used++
		if used > most {
			refused[i] = spent
		}
	}
	return refused, nil
}

// passGates updates the counters, which locks the gates, and then checks the API keys. It
// returns ErrInvalidAPIKey for each submission whose app was deleted or has another key.
func (s *Store) passGates(
	ctx context.Context, tx *sql.Tx, accountID feedback.ID, subs []Submission, waiting []int, deltas map[countKey]int64,
) (map[int]error, error) {
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
	refused, err := s.portalRefusals(ctx, tx, accountID, subs, waiting)
	if err != nil {
		return nil, err
	}
	for _, i := range waiting {
		if app := subs[i].App; subs[i].Portal == nil && keys[app.ID] != app.APIKey {
			refused[i] = feedback.ErrInvalidAPIKey
		}
	}
	return refused, nil
}

// arrive returns the request of a submission with its id, times and verified submitter. The
// times are the time of the id, so a range of times is a range of ids.
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
	n := newRow{request: r, reader: sub.Reader}
	if sub.Notify != "" {
		n.notify = &sub.Notify
	}
	if sub.IdempotencyKey != "" {
		fingerprint := sub.Request.Fingerprint(sub.Attachments)
		n.key, n.fingerprint = &sub.IdempotencyKey, fingerprint[:]
	}
	return n
}

// replay returns the response to a repeated submission: the id and the time of the first one,
// with the content that the client sent, as the stored request may have been edited since.
func replay(ctx context.Context, q database.Queryer, sub Submission) (feedback.Request, bool, error) {
	r := sub.Request
	var stored []byte
	err := q.QueryRowContext(ctx, `SELECT id, created_at, fingerprint FROM requests
		WHERE account_id = $1 AND app_id = $2 AND idempotency_key IN ($3, $4)`,
		sub.App.AccountID, sub.App.ID, sub.IdempotencyKey, cmp.Or(sub.FormerKey, sub.IdempotencyKey)).
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
