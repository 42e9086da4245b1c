package store

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"gatherkit/internal/changelog"
	"gatherkit/internal/database"
	"gatherkit/internal/deadline"
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
}

// submitted is the result of one submission of a group.
type submitted struct {
	request feedback.Request
	refusal error
	added   bool // whether it is a new request
}

// errApart says that a submission cannot be stored together with those of other accounts.
var errApart = errors.New("the submission must be stored apart from those of other accounts")

// Submit stores a submission and returns once it is durable. If the idempotency key was used
// before, it returns the id and the time of the first submission, or ErrIdempotencyMismatch if
// the content differs. It returns ErrInvalidAPIKey if the key or the app no longer exists,
// ErrRequestsSpent if the account's quota does not allow one more, and a field error if a file
// cannot be attached.
//
// Submissions to all accounts that arrive at once are stored together, unless accounts are on several machines. Those
// with files or on a portal, and those of an account whose lock is taken or whose quota is nearly used up, are stored
// apart, so that nobody else waits for them. So is one that is alone: on PostgreSQL, the connection that has looked up its
// key is warm.
func (s *Store) Submit(ctx context.Context, sub Submission) (feedback.Request, error) {
	s.arrived.Add(1)
	alone := s.submitting.Add(1) == 1
	defer s.submitting.Add(-1)
	accountID := sub.App.AccountID
	apart := alone || len(sub.Attachments) > 0 || sub.Portal != nil || s.db.Distributed()
	if !apart && !s.ofAccount.Busy(accountID) && !s.delayed.has(accountID) {
		result, err := s.submits.Do(ctx, struct{}{}, sub)
		if err != nil || !errors.Is(result.refusal, errApart) {
			return result.request, cmp.Or(err, result.refusal)
		}
		began := time.Now()
		defer func() {
			if time.Since(began) > delay {
				s.delayed.add(accountID)
			}
		}()
	}
	result, err := s.ofAccount.Do(ctx, accountID, sub)
	return result.request, cmp.Or(err, result.refusal)
}

// delay is how long a submission takes apart from others if somebody keeps a lock of its account, such as a change
// of many requests.
const delay = 100 * time.Millisecond

// delayTime is for how long the next submissions of the account are stored apart.
var delayTime = deadline.Of(time.Second)

// delays are accounts whose submissions waited for a lock.
type delays struct {
	mu    sync.Mutex
	until map[feedback.ID]time.Time
}

func (d *delays) add(accountID feedback.ID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Now()
	maps.DeleteFunc(d.until, func(_ feedback.ID, until time.Time) bool { return now.After(until) })
	if d.until == nil {
		d.until = map[feedback.ID]time.Time{}
	}
	d.until[accountID] = now.Add(delayTime)
}

func (d *delays) has(accountID feedback.ID) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return time.Now().Before(d.until[accountID])
}

// Submitted returns the submission that was stored with the same idempotency key, and whether
// there is one. It returns ErrIdempotencyMismatch if the content differs.
func (s *Store) Submitted(ctx context.Context, sub Submission) (feedback.Request, bool, error) {
	firsts, err := findFirsts(ctx, s.db.Reader(), []Submission{sub})
	if err != nil {
		return sub.Request, false, err
	}
	first, found := firsts[sub.once()]
	if !found {
		return sub.Request, false, nil
	}
	r, err := first.replay(sub)
	return r, err == nil, err
}

// submitTogether stores submissions to any accounts in one transaction, which does not wait for a lock that somebody
// keeps: then all of them are stored apart.
func (s *Store) submitTogether(ctx context.Context, _ struct{}, subs []Submission) ([]submitted, error) {
	results, err := s.submitIn(ctx, s.db.WriteTogether, true, subs)
	if database.LockRefused(err) || database.DataFault(err) {
		return slices.Repeat([]submitted{{refusal: errApart}}, len(subs)), nil
	}
	return results, err
}

// submitGroup stores submissions to one account in one transaction. Otherwise, submissions to the same app would wait for
// the lock of its counter row one after the other.
func (s *Store) submitGroup(ctx context.Context, accountID feedback.ID, subs []Submission) ([]submitted, error) {
	return s.submitIn(ctx, s.of(accountID), false, subs)
}

// submitIn stores submissions, those of several accounts if together, in one transaction.
func (s *Store) submitIn(ctx context.Context, in transaction, together bool, subs []Submission) ([]submitted, error) {
	results := make([]submitted, len(subs))
	refused, err := writeGroup(ctx, in, len(subs), func(ctx context.Context, tx *sql.Tx, members []int) (map[int]error, error) {
		return s.submitRows(ctx, tx, together, subs, members, results)
	})
	for i, refusal := range refused {
		results[i] = submitted{refusal: refusal}
	}
	for i, result := range results {
		if err == nil && result.added {
			s.Usage.Count(subs[i].App.AccountID, usage.Submission(result.request.Attachments))
		}
	}
	return results, err
}

// submitRows stores the submissions with the indexes waiting. It returns the errors of those
// whose key is no longer valid or whose files cannot be attached, by index. If there are any,
// the caller must roll back the transaction. Together says that the submissions are those of several accounts.
func (s *Store) submitRows(
	ctx context.Context, tx *sql.Tx, together bool, subs []Submission, waiting []int, results []submitted,
) (map[int]error, error) {
	left, err := s.quotaLeft(ctx, tx, subs, waiting)
	if err != nil {
		return nil, err
	}
	if together {
		waiting = setApart(left, subs, waiting, results)
	}
	rows := make([]newRow, 0, len(waiting))
	for _, i := range waiting {
		results[i] = submitted{request: s.arrive(subs[i])}
		rows = append(rows, newSubmissionRow(results[i].request, subs[i]))
	}
	// All replicas insert in the same order, so that equal idempotency keys cannot deadlock.
	slices.SortStableFunc(rows, func(a, b newRow) int { return strings.Compare(a.order(), b.order()) })
	added, err := s.insertRequests(ctx, tx, rows)
	if err != nil {
		return nil, err
	}
	deltas, changes := map[feedback.ID]map[countKey]int64{}, map[feedback.ID][]feedback.Change{}
	for _, i := range waiting {
		r, accountID := &results[i].request, subs[i].App.AccountID
		n := int64(0)
		if results[i].added = added[r.ID]; results[i].added {
			n = 1
			changes[accountID] = append(changes[accountID], feedback.Change{
				Kind: feedback.RequestCreated, AppID: &r.AppID, RequestID: &r.ID,
				Actor: feedback.Actor{Kind: feedback.ByAPIKey, ID: &r.AppID},
			})
		}
		if deltas[accountID] == nil {
			deltas[accountID] = map[countKey]int64{}
		}
		deltas[accountID][countKey{r.AppID, r.Box, r.Status}] += n
	}
	if refused := s.overQuota(left, subs, waiting, results); len(refused) > 0 {
		return refused, nil
	}
	refused, err := s.passGates(ctx, tx, subs, waiting, deltas)
	if err != nil || len(refused) > 0 {
		return refused, err
	}
	if refused, err = s.attachFiles(ctx, tx, subs, waiting, results, added); err != nil || len(refused) > 0 {
		return refused, err
	}
	if err := changelog.RecordAll(ctx, tx, feedback.At(s.now()), changes); err != nil {
		return nil, err
	}
	return nil, s.replayAll(ctx, tx, subs, waiting, results)
}

// replayAll sets the results of submissions that were stored before.
func (s *Store) replayAll(ctx context.Context, tx *sql.Tx, subs []Submission, waiting []int, results []submitted) error {
	var again []Submission
	for _, i := range waiting {
		if !results[i].added {
			again = append(again, subs[i])
		}
	}
	firsts, err := findFirsts(ctx, tx, again)
	if err != nil {
		return err
	}
	for _, i := range waiting {
		if results[i].added {
			continue
		}
		first, found := firsts[subs[i].once()]
		if !found {
			return database.ErrStale // the first request was deleted since the insert
		}
		if results[i].request, err = first.replay(subs[i]); err != nil {
			results[i] = submitted{refusal: err}
		}
	}
	return nil
}

// quotaLeft returns how many requests the quota of this month still allows the accounts of submissions. Accounts without
// a quota are not in it.
func (s *Store) quotaLeft(ctx context.Context, tx *sql.Tx, subs []Submission, waiting []int) (map[feedback.ID]int64, error) {
	accounts := map[feedback.ID]bool{}
	for _, i := range waiting {
		accounts[subs[i].App.AccountID] = true
	}
	left, err := s.Quotas.OfAll(ctx, tx, slices.Collect(maps.Keys(accounts)), quota.Requests)
	if err != nil || len(left) == 0 {
		return nil, err
	}
	first, _ := quota.Month(s.now())
	used, err := s.Usage.Submitted(ctx, tx, slices.Collect(maps.Keys(left)), first)
	for accountID := range left {
		left[accountID] -= used[accountID]
	}
	return left, err
}

// setApart returns the submissions of accounts whose quota allows all of them. The others are stored apart, because a
// refusal rolls back the transaction.
func setApart(left map[feedback.ID]int64, subs []Submission, waiting []int, results []submitted) (rest []int) {
	counts := map[feedback.ID]int64{}
	for _, i := range waiting {
		counts[subs[i].App.AccountID]++
	}
	for _, i := range waiting {
		accountID := subs[i].App.AccountID
		if most, limited := left[accountID]; limited && counts[accountID] > most {
			results[i] = submitted{refusal: errApart}
		} else {
			rest = append(rest, i)
		}
	}
	return rest
}

// spentFor is after how long a client tries again at the latest when the quota is used up, as the operator may raise it.
const spentFor = time.Hour

// overQuota returns ErrRequestsSpent for each new request that the account's quota of this month does not allow.
func (s *Store) overQuota(left map[feedback.ID]int64, subs []Submission, waiting []int, results []submitted) map[int]error {
	_, next := quota.Month(s.now())
	reset := next.Begin().Sub(s.now())
	refused := map[int]error{}
	for _, i := range waiting {
		most, limited := left[subs[i].App.AccountID]
		if !limited || !results[i].added {
			continue
		}
		left[subs[i].App.AccountID]--
		if most <= 0 {
			refused[i] = feedback.ErrRequestsSpent.Spent(string(quota.Requests), reset).After(min(reset, spentFor))
		}
	}
	return refused
}

// passGates updates the counters, which locks the gates, and then checks the API keys. It
// returns ErrInvalidAPIKey for each submission whose app was deleted or has another key.
func (s *Store) passGates(
	ctx context.Context, tx *sql.Tx, subs []Submission, waiting []int, deltas map[feedback.ID]map[countKey]int64,
) (map[int]error, error) {
	if len(waiting) == 0 {
		return nil, nil
	}
	if err := s.countAll(ctx, tx, deltas); err != nil {
		return nil, err
	}
	keys := make([]string, 0, len(waiting))
	for _, i := range waiting {
		keys = append(keys, subs[i].App.APIKey)
	}
	valid, err := appsOfKeys(ctx, tx, keys)
	if err != nil {
		return nil, err
	}
	refused, err := s.portalRefusals(ctx, tx, subs, waiting)
	if err != nil {
		return nil, err
	}
	for _, i := range waiting {
		if app := subs[i].App; subs[i].Portal == nil && valid[app.APIKey] != (keyedApp{app.AccountID, app.ID}) {
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
	n := newRow{accountID: sub.App.AccountID, request: r, reader: sub.Reader}
	if sub.Notify != "" {
		n.notify = &sub.Notify
	}
	if sub.IdempotencyKey != "" {
		fingerprint := sub.Request.Fingerprint(sub.Attachments)
		n.key, n.fingerprint = &sub.IdempotencyKey, fingerprint[:]
	}
	return n
}

// once is an idempotency key of an app, with which one request is stored.
type once struct {
	accountID, appID feedback.ID
	key              string
}

func (s Submission) once() once { return once{s.App.AccountID, s.App.ID, s.IdempotencyKey} }

// first is the request that was stored with an idempotency key.
type first struct {
	id          feedback.ID
	at          feedback.Time
	fingerprint []byte
}

// findFirsts returns the requests that were stored with the idempotency keys of submissions.
func findFirsts(ctx context.Context, q database.Queryer, subs []Submission) (map[once]first, error) {
	firsts := map[once]first{}
	if len(subs) == 0 {
		return firsts, nil
	}
	var p database.Parameters
	conditions := make([]string, 0, len(subs))
	for _, sub := range database.Padded(subs) {
		conditions = append(conditions, "account_id = "+p.Add(sub.App.AccountID)+" AND app_id = "+p.Add(sub.App.ID)+
			" AND idempotency_key = "+p.Add(sub.IdempotencyKey))
	}
	err := database.Each(ctx, q, func(r database.Row) error {
		var key once
		var f first
		err := r.Scan(&key.accountID, &key.appID, &key.key, &f.id, &f.at, &f.fingerprint)
		firsts[key] = f
		return err
	}, "SELECT account_id, app_id, idempotency_key, id, created_at, fingerprint FROM requests WHERE "+strings.Join(conditions, " OR "), p...)
	return firsts, err
}

// replay returns the response to a repeated submission: the id and the time of the first one,
// with the content that the client sent, as the stored request may have been edited since. It returns
// ErrIdempotencyMismatch if the content differs.
func (f first) replay(sub Submission) (feedback.Request, error) {
	r := sub.Request
	if sent := r.Fingerprint(sub.Attachments); !bytes.Equal(f.fingerprint, sent[:]) {
		return r, feedback.ErrIdempotencyMismatch
	}
	r.ID, r.AppID, r.CreatedAt, r.UpdatedAt = f.id, sub.App.ID, f.at, f.at
	return r, nil
}
