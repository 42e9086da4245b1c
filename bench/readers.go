package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"gatherkit/internal/feedback"
)

// measureReaders measures submissions with and without a reader, with random and with ordered keys, and what
// they write to the disk; and the calls with which a person asks for news. The app has o.size requests, each
// with a key and a reader.
func measureReaders(ctx context.Context, o options, r rig) error {
	key, app, err := r.addApp(ctx)
	if err != nil {
		return err
	}
	r.key = key
	var me struct{ Account struct{ ID string } }
	if err := r.call(ctx, "auth-me", "", &me); err != nil {
		return err
	}
	if err := seed(ctx, r.db, r.database, me.Account.ID, app, o.size, 7); err != nil {
		return err
	}
	others := "UPDATE requests SET idempotency_key = lower(hex(randomblob(16))), reader = randomblob(32)"
	if r.driver == "pgx" {
		others = "UPDATE requests SET idempotency_key = gen_random_uuid()::text, reader = sha256(convert_to(id::text, 'UTF8'))"
	}
	if _, err := r.db.ExecContext(ctx, others); err != nil {
		return err
	}
	if r.driver == "pgx" { // which would otherwise plan for requests without keys
		if _, err := r.db.ExecContext(ctx, "ANALYZE requests"); err != nil {
			return err
		}
	}
	fmt.Printf("\n%d requests:\n", o.size)
	if err := r.timeReader(ctx, o, app); err != nil {
		return err
	}
	return r.timeSecrets(ctx, o)
}

// readerRequests is how many requests the measured reader has.
const readerRequests = 5

// timeReader measures what a person calls who has submitted a few requests.
func (r rig) timeReader(ctx context.Context, o options, app string) error {
	appID, err := feedback.ParseID(app)
	if err != nil {
		return err
	}
	secret := newReader(time.Now())
	reader, _ := feedback.ReaderOfSecret(appID, secret)
	now := feedback.At(time.Now())
	if _, err := r.db.ExecContext(ctx, `UPDATE requests SET reader = $1, news_at = $2 WHERE id IN
		(SELECT id FROM requests WHERE app_id = $3 ORDER BY id DESC LIMIT $4)`, []byte(reader), int64(now), appID, readerRequests); err != nil {
		return err
	}
	var calls []*timed
	for _, operation := range []string{"widget-news", "widget-my-requests"} {
		calls = append(calls, &timed{name: operation, call: func(ctx context.Context) error {
			return r.callWith(ctx, operation, "X-API-Key", r.key, fmt.Sprintf(`{"reader":%q}`, secret), nil)
		}})
	}
	if err := r.timeAll(ctx, o, `{"limit":1}`, calls); err != nil {
		return err
	}
	fmt.Printf("\n| call | %s |\n| --- | %s |\n", timedHeader, timedRule)
	for _, c := range calls {
		fmt.Printf("| `%s` | %s |\n", c.name, c.columns())
	}
	return nil
}

// timeSecrets measures submissions in turn.
func (r rig) timeSecrets(ctx context.Context, o options) error {
	const submitters = 64
	type kind struct {
		name    string
		more    func(time.Time) string // parameters
		submits []figures
		written int64
		calls   int
	}
	random := func(time.Time) string { return newKey('4', time.UnixMilli(randomTime())) }
	ordered := func(now time.Time) string { return newKey('7', now) }
	with := func(key func(time.Time) string, reader func(time.Time) string) func(time.Time) string {
		return func(now time.Time) string {
			text := fmt.Sprintf(`"idempotency_key":%q`, key(now))
			if reader != nil {
				text += fmt.Sprintf(`,"reader":%q`, reader(now))
			}
			return text
		}
	}
	kinds := []*kind{
		{name: "random key", more: with(random, nil)},
		{name: "random key, random reader", more: with(random, scatteredReader)},
		{name: "ordered key", more: with(ordered, nil)},
		{name: "ordered key, ordered reader", more: with(ordered, newReader)},
	}
	for range o.rounds {
		for _, k := range kinds {
			before, err := r.written()
			if err != nil {
				return err
			}
			f := load(ctx, submitters, o.during, func(ctx context.Context, _ int) error {
				body := strings.TrimSuffix(submission, "}") + "," + k.more(time.Now()) + "}"
				return r.callWith(ctx, "widget-submit-request", "X-API-Key", r.key, body, nil)
			})
			after, err := r.written()
			if err != nil {
				return err
			}
			k.submits, k.written, k.calls = append(k.submits, f), k.written+after-before, k.calls+f.calls
		}
	}
	fmt.Printf("\n| %d callers submit with | submissions/s | ratio | written per submission | failures |\n"+
		"| --- | --- | --- | --- | --- |\n", submitters)
	first := median(kinds[0].submits)
	for _, k := range kinds {
		m := median(k.submits)
		fmt.Printf("| %s | %.0f | %.2f | %d bytes | %d |\n", k.name, m.rate, m.rate/first.rate, k.written/int64(max(1, k.calls)), m.failures)
	}
	return nil
}

// newReader returns the secret of a reader that was made at a time.
func newReader(at time.Time) string { return fmt.Sprintf("%012x", at.UnixMilli()) + randomHex(26) }

// scatteredReader returns a secret whose time is anywhere.
func scatteredReader(time.Time) string { return newReader(time.UnixMilli(randomTime())) }

// newKey returns a UUID that begins with a time, of a version.
func newKey(version byte, at time.Time) string {
	text := fmt.Sprintf("%012x", at.UnixMilli()) + randomHex(10)
	return text[:8] + "-" + text[8:12] + "-" + string(version) + text[13:16] + "-8" + text[17:20] + "-" + text[20:]
}

func randomHex(bytes int) string {
	raw := make([]byte, bytes)
	_, _ = rand.Read(raw) // it never fails
	return hex.EncodeToString(raw)
}

// randomTime returns milliseconds that make a text begin anywhere.
func randomTime() int64 {
	n, _ := strconv.ParseInt(randomHex(6), 16, 64)
	return n & 0x7fff_ffff_ffff
}

var writtenLine = regexp.MustCompile(`(?m)^write_bytes: (\d+)$`)

// written returns how many bytes the process has written to the disk: on SQLite its log, and what is copied
// from there to the database.
func (s *service) written() (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/io", s.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	found := writtenLine.FindSubmatch(text)
	if found == nil {
		return 0, fmt.Errorf("/proc does not say what was written: %s", text)
	}
	return strconv.ParseInt(string(found[1]), 10, 64)
}
