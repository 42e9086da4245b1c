package storetest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"gatherkit/internal/feedback"
)

// BigTime is how long it took the requests of a Big to come in, from BigFirst on: some are
// older than 30 days.
const BigTime = 8 * time.Hour

// BigFirst is when the first request of a Big came in.
var BigFirst = time.Date(2025, 12, 1, 20, 0, 0, 0, time.UTC)

// Big is an installation of some size. The account Acme has all of its requests, in five
// apps, the last two of which have one request in a hundred each. As it is in life, the
// older requests are settled and the newer are not; and the newest are in the bin, as after
// a wave of spam.
type Big struct {
	*Plans
	Acme     feedback.Account
	AcmeApps []feedback.App
	Size     int // how many requests there are
	others   int // how many accounts there are beside Acme
}

var bigTemplate = Template{Name: "an installation with 300,000 requests"}

// NewBig makes an installation with 300,000 requests. The first one of a test process takes
// a while to fill, and the others are copies of it.
func NewBig(t *testing.T, at Place) *Big {
	t.Helper()
	const size, others = 300_000, 2000
	bigTemplate.Copy(t, at, func(t *testing.T, at Place) { NewBigOf(t, at, size, others) })
	r, ctx := NewRig(t, at), context.Background()
	owner, err := r.Team.Credentials(ctx, "acme@example.com")
	if err != nil {
		t.Fatal(err)
	}
	b := sized(at, size, others)
	b.Acme = feedback.Account{ID: owner.AccountID, Name: "Acme"}
	if b.AcmeApps, err = r.Apps(ctx, b.Acme.ID, feedback.ID{}, 10); err != nil {
		t.Fatal(err)
	}
	b.Plans = r.Plans()
	return b
}

// NewBigOf makes an installation of any size, filled past the store.
func NewBigOf(t *testing.T, at Place, size, others int) *Big {
	t.Helper()
	r, b := NewRig(t, at), sized(at, size, others)
	b.Acme = r.NewAccount("Acme")
	for range 5 {
		b.AcmeApps = append(b.AcmeApps, r.NewApp(b.Acme))
	}
	one := r.Fill(b.AcmeApps[0], 1)
	n := numbered{sqlite: at.Name == "sqlite", size: b.Size}
	r.WithoutIndexes("requests", "changes", func() {
		for _, s := range append(b.beside(n, r.Clock.Now()), b.requests(n, one)...) {
			r.Exec(s)
		}
	})
	r.Analyze()
	b.Plans = r.Plans()
	return b
}

func sized(at Place, size, others int) *Big {
	if at.Name == "sqlite" && (RaceDetector || !InProof()) {
		// The plans are the same, because SQLite has no statistics, and the tables are filled sooner.
		size, others = size/20, others/20
	}
	return &Big{Size: size, others: others}
}

// Deep is an id in the middle of a list.
func (b *Big) Deep() *feedback.ID {
	id := feedback.FirstIDAt(BigFirst.Add(BigTime / 2))
	return &id
}

// FillOthers gives each of the other accounts the same few requests.
func (b *Big) FillOthers() {
	b.T.Helper()
	var columns string
	if err := b.Raw.QueryRowContext(context.Background(), `SELECT string_agg(CASE column_name WHEN 'account_id' THEN 'a.account_id'
			WHEN 'id' THEN 'gen_random_uuid()' WHEN 'idempotency_key' THEN 'NULL' ELSE 'r.' || column_name END, ',' ORDER BY ordinal_position)
		FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = 'requests'`).Scan(&columns); err != nil {
		b.T.Fatal(err)
	}
	b.Exec("INSERT INTO requests SELECT " + columns +
		" FROM accounts a CROSS JOIN (SELECT * FROM requests LIMIT 20) AS r WHERE a.name = 'Other'")
	b.Analyze()
}

// beside are statements that fill all tables but those of requests.
func (b *Big) beside(n numbered, now time.Time) []string {
	rows := n.rows(b.others)
	acme, soon := n.literal(b.Acme.ID), fmt.Sprint(int64(feedback.At(now)))
	const (
		users    = `INSERT INTO users (account_id, id, email, name, role, password_hash, created_at) SELECT `
		sessions = `INSERT INTO sessions (account_id, id, user_id, created_at) SELECT `
		tokens   = `INSERT INTO session_tokens (account_id, hash, session_id, kind, expires_at) SELECT `
		programs = `INSERT INTO access_tokens (account_id, id, user_id, hash, name, scope, created_at, expires_at) SELECT `
	)
	other, app, session, user, token := n.id(1), n.id(2), n.id(3), n.id(4), n.hash()
	progress := feedback.At(BigFirst.Add(4*time.Hour - 10*time.Minute))
	return []string{
		`INSERT INTO accounts (account_id, name, created_at) SELECT ` + other + `, 'Other', 0` + rows,
		`INSERT INTO apps (account_id, id, name, api_key, settings, version, created_at, updated_at)
			SELECT ` + other + `, ` + app + `, 'A', 'gk', '{}', 1, 0, 0` + rows,
		`INSERT INTO request_counts (account_id, app_id, box, status, n) SELECT ` + other + `, ` + app + `, 'live', 'opened', 0` + rows,
		users + acme + `, ` + user + `, 'E', 'N', 'viewer', 'hash', 0` + rows,
		users + other + `, ` + user + `, 'E', 'N', 'viewer', 'hash', 0` + rows,
		sessions + other + `, ` + session + `, ` + user + `, 0` + rows,
		sessions + acme + `, ` + session + `, ` + user + `, 0` + rows,
		tokens + other + `, ` + token + `, ` + session + `, 'access', ` + soon + ` + n` + rows,
		tokens + acme + `, ` + token + `, ` + session + `, 'access', ` + soon + ` + n` + rows,
		programs + other + `, ` + session + `, ` + user + `, ` + token + `, 'T', 'viewer', 0, ` + soon + ` + n` + rows,
		programs + acme + `, ` + session + `, ` + user + `, ` + token + `, 'T', 'viewer', 0, ` + soon + ` + n` + rows,
		fmt.Sprintf(`INSERT INTO leases (name, holder, until, progress) VALUES ('worker', %s, 0, %d)`, acme, progress),
	}
}

// requests are statements that fill the tables of requests with copies of one.
func (b *Big) requests(n numbered, one feedback.Request) []string {
	var apps strings.Builder
	for i, app := range b.AcmeApps {
		fmt.Fprintf(&apps, " WHEN %d THEN %s", i, n.literal(app.ID))
	}
	appOf := "CASE CASE WHEN n % 100 = 0 THEN 3 WHEN n % 100 = 1 THEN 4 ELSE n % 3 END" + apps.String() + " END"
	statusOf := "CASE WHEN n % 7 = 0 THEN 'planned' WHEN n > " + fmt.Sprint(b.Size/3) + " THEN 'opened'" +
		" WHEN n % 4 = 0 THEN 'declined' ELSE 'completed' END"
	boxOf := "CASE WHEN n > " + fmt.Sprint(b.Size-b.Size/20) + " OR n % 20 = 7 THEN 'bin' ELSE 'live' END"
	const copied = `tags, votes, comments, metadata, source, version, submitter_verified`
	acme, rows := n.literal(b.Acme.ID), n.rows(b.Size)
	return []string{
		`INSERT INTO requests (account_id, id, app_id, box, status, title, description,
				idempotency_key, fingerprint, created_at, updated_at, ` + copied + `)
			SELECT ` + acme + `, i.id, i.app_id, i.box, i.status, 'T', 'D',
				CASE WHEN n % 2 = 0 THEN 'key' || n END, NULL, i.at, i.at, ` + copied + `
			FROM (SELECT n, (` + n.ms() + `) * 1000 AS at, ` + n.id(5) + ` AS id,
				` + appOf + ` AS app_id, ` + boxOf + ` AS box, ` + statusOf + ` AS status` + rows + `) AS i
			JOIN requests ON account_id = ` + acme + ` AND requests.id = ` + n.literal(one.ID),
		`INSERT INTO changes (account_id, seq, at, kind, actor_kind, app_id, request_id)
			SELECT ` + acme + `, 1000 + n, 0, 'request.created', 'api_key', ` + n.literal(b.AcmeApps[0].ID) + `, ` + n.id(5) + rows,
		`DELETE FROM request_counts WHERE account_id = ` + acme,
		`INSERT INTO request_counts (account_id, app_id, box, status, n)
			SELECT account_id, app_id, box, status, COUNT(*) FROM requests
			WHERE account_id = ` + acme + ` GROUP BY account_id, app_id, box, status`,
		`UPDATE account_seq SET last = 1000000 WHERE account_id = ` + acme,
	}
}

// numbered is SQL of either database for rows that are numbered by n.
type numbered struct {
	sqlite bool
	size   int // how many requests come within BigTime
}

// rows selects the numbers from 1 up to another one.
func (n numbered) rows(most int) string {
	if n.sqlite {
		return fmt.Sprintf(" FROM (WITH RECURSIVE i(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM i WHERE n < %d) SELECT n FROM i)", most)
	}
	return fmt.Sprintf(" FROM generate_series(1, %d) AS i(n)", most)
}

// ms is the time of the n-th request, in milliseconds.
func (n numbered) ms() string {
	return fmt.Sprintf("%d + n * %d", BigFirst.UnixMilli(), BigTime.Milliseconds()/int64(n.size))
}

// id is a version 7 id that is as old as the n-th request.
func (n numbered) id(kind int) string {
	if n.sqlite {
		return fmt.Sprintf("unhex(printf('%%012x7%03x8%%015x', %s, n))", kind, n.ms())
	}
	return fmt.Sprintf("(lpad(to_hex(%s), 12, '0') || '7%03x8' || lpad(to_hex(n), 15, '0'))::uuid", n.ms(), kind)
}

// hash is another one for each n.
func (n numbered) hash() string {
	if n.sqlite {
		return "unhex(printf('%064x', n))"
	}
	return "decode(encode(sha256(n::text::bytea), 'hex'), 'hex')"
}

func (n numbered) literal(id feedback.ID) string { return literal(id, n.sqlite) }
