package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"time"
)

// measureProgram reports the size of the binary, the time it takes to start, and its memory
// before it does anything.
func measureProgram(ctx context.Context, binary, folder string) error {
	info, err := os.Stat(binary)
	if err != nil {
		return err
	}
	s, err := startService(ctx, binary, []string{"--data=" + folder}, "cold") // creates the tables
	if err != nil {
		return err
	}
	s.stop()
	var starts []figures
	var idle float64
	for range 5 {
		s, err := startProgram(ctx, binary, []string{"serve", "--data=" + folder}, "/readyz")
		if err != nil {
			return err
		}
		starts = append(starts, figures{rate: s.coldStart.Seconds()})
		idle, _, err = s.memory()
		s.stop()
		if err != nil {
			return err
		}
	}
	fmt.Printf("\n| binary | start to first answer | memory at rest |\n| --- | --- | --- |\n| %.1f MB | %.0f ms | %.0f MB |\n",
		float64(info.Size())/1e6, median(starts).rate*1000, idle)
	return nil
}

// rig is a running service with direct access to its database.
type rig struct {
	*service
	database
	db     *sql.DB
	binary string
}

// measurement is a named measurement.
type measurement struct {
	name string
	// bySize says that it is repeated for each size, which is options.size.
	bySize bool
	take   func(context.Context, options, rig) error
}

// measurements are run on each kind of database in this order.
var measurements = []measurement{
	{"submit", false, measureSubmit},
	{"others", false, measureOthers},
	{"lists", false, measureLists},
	{"search", true, measureSearch},
	{"feed", true, measureFeed},
	{"webhooks", false, measureWebhooks},
	{"readers", true, measureReaders},
	{"portal", true, measurePortal},
	{"votes", false, measureVotes},
	{"bulk", false, measureBulk},
	{"deletion", false, measureDeletion},
	{"accounts", false, measureAccounts},
	{"idle", false, measureIdle},
}

// measure starts the service on a fresh database, with an account named like the measurement.
func measure(ctx context.Context, o options, binary string, k kind, m measurement) (err error) {
	d, remove, err := k.fresh(ctx, o, m.name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	s, err := startService(ctx, binary, d.flags, m.name)
	if err != nil {
		return err
	}
	defer s.stop()
	db, err := d.open(ctx, binary)
	if err != nil {
		return err
	}
	return errors.Join(m.take(ctx, o, rig{s, d, db, binary}), db.Close())
}

// measureSubmit measures submissions and the floors, alternating in each round.
func measureSubmit(ctx context.Context, o options, r rig) error {
	floor, err := startProgram(ctx, os.Args[0], []string{floorHTTP}, "/")
	if err != nil {
		return err
	}
	defer func() {
		_ = floor.cmd.Process.Kill()
		_ = floor.cmd.Wait()
	}()
	floorDatabase := r.database
	if r.driver == "sqlite" {
		floorDatabase = sqliteIn(o.folder + "/floor")
	}
	db, err := floorDatabase.open(ctx, r.binary)
	if err != nil {
		return err
	}
	commit, stop := commitFloor(db, r.driver == "pgx")
	defer func() { stop(); _ = db.Close() }()

	fmt.Print("\n| callers | submissions/s | p50 | p99 | failures | HTTP floor/s | commit floor/s | of both |\n" +
		"| --- | --- | --- | --- | --- | --- | --- | --- |\n")
	for _, callers := range o.callers {
		var https, commits, submits []figures
		for range o.rounds {
			https = append(https, load(ctx, callers, o.during, func(ctx context.Context, _ int) error {
				return floor.callWith(ctx, "floor", "X-API-Key", r.key, submission, nil)
			}))
			commits = append(commits, load(ctx, callers, o.during, commit))
			submits = append(submits, load(ctx, callers, o.during, r.submit))
		}
		h, c, m := median(https), median(commits), median(submits)
		fmt.Printf("| %d | %.0f | %s | %s | %d | %.0f | %.0f | %.2f |\n", callers, m.rate, ms(m.p50), ms(m.p99), m.failures, h.rate, c.rate,
			m.rate/(1/(1/h.rate+1/c.rate)))
	}
	_, peak, err := r.memory()
	fmt.Printf("\nPeak memory: %.0f MB.\n", peak)
	return err
}

// measureOthers measures calls around sessions, and apps-get.
func measureOthers(ctx context.Context, o options, r rig) error {
	_, app, err := r.addApp(ctx)
	if err != nil {
		return err
	}
	refresh := ""
	fmt.Print("\n| operation | calls/s, 1 caller | p50 | p99 | failures |\n| --- | --- | --- | --- | --- |\n")
	for _, c := range []struct {
		name string
		call func(context.Context, int) error
	}{
		{"auth-login", func(ctx context.Context, _ int) error {
			var tokens struct {
				RefreshToken string `json:"refresh_token"`
			}
			err := r.call(ctx, "auth-login", fmt.Sprintf(`{"email":%q,"password":%q}`, r.email, secret), &tokens)
			refresh = tokens.RefreshToken
			return err
		}},
		{"auth-refresh", func(ctx context.Context, _ int) error {
			refresh, err = r.exchange(ctx, refresh)
			return err
		}},
		{"apps-get", func(ctx context.Context, _ int) error {
			return r.call(ctx, "apps-get", fmt.Sprintf(`{"id":%q}`, app), nil)
		}},
	} {
		f := load(ctx, 1, o.during, c.call)
		fmt.Printf("| %s | %.0f | %s | %s | %d |\n", c.name, f.rate, ms(f.p50), ms(f.p99), f.failures)
	}
	return nil
}

// measureLists measures pages of lists of increasing sizes, and an export.
func measureLists(ctx context.Context, o options, r rig) error {
	var pages []*page
	app := ""
	for i, size := range o.sizes {
		var err error
		if app, err = r.seedApp(ctx, size, i+1); err != nil {
			return err
		}
		deep, err := r.cursorAt(ctx, app, size/2)
		if err != nil {
			return err
		}
		pages = append(
			pages,
			&page{size: size, name: "first", body: fmt.Sprintf(`{"app_id":%q}`, app)},
			&page{size: size, name: "first, one status", body: fmt.Sprintf(`{"app_id":%q,"status":"planned"}`, app)},
			&page{size: size, name: fmt.Sprintf("from row %d", size/2), body: fmt.Sprintf(`{"cursor":%q,"limit":50}`, deep)},
		)
	}
	var floors []figures
	for range o.rounds {
		floors = append(floors, load(ctx, 1, o.during, r.pageFloor))
		for _, p := range pages {
			list := func(ctx context.Context, _ int) error { return r.call(ctx, "requests-list", p.body, nil) }
			p.one, p.many = append(p.one, load(ctx, 1, o.during, list)), append(p.many, load(ctx, 16, o.during, list))
		}
	}
	fmt.Printf("\nThe database query for 50 rows alone, without the service: p50 %s. "+
		"`ratio` compares with the first page of the smallest list.\n", ms(median(floors).p50))
	fmt.Print("\n| requests | page | p50, 1 caller | p99 | ratio | calls/s, 16 callers | failures |\n" +
		"| --- | --- | --- | --- | --- | --- | --- |\n")
	first := median(pages[0].one)
	for _, p := range pages {
		one, many := median(p.one), median(p.many)
		fmt.Printf("| %d | %s | %s | %s | %.2f | %.0f | %d |\n", p.size, p.name, ms(one.p50), ms(one.p99),
			float64(one.p50)/float64(first.p50), many.rate, one.failures+many.failures)
	}
	return r.measureExport(ctx, app, o.sizes[len(o.sizes)-1])
}

// page is a call for a page, with its figures in each round.
type page struct {
	size       int
	name, body string
	one, many  []figures
}

// pageFloor reads 50 rows with the index that lists use.
func (r rig) pageFloor(ctx context.Context, _ int) error {
	found, err := r.db.QueryContext(ctx, "SELECT "+requestColumns+` FROM requests
		WHERE account_id = (SELECT account_id FROM accounts WHERE name = 'lists') AND box = 'live'
		ORDER BY id DESC NULLS LAST LIMIT 50`)
	if err != nil {
		return err
	}
	defer found.Close() //nolint:errcheck // Err returns all errors that matter
	columns := make([]any, requestColumnCount)
	for i := range columns {
		columns[i] = new(any)
	}
	for found.Next() {
		if err := found.Scan(columns...); err != nil {
			return err
		}
	}
	return found.Err()
}

// seedApp creates an app with size requests and returns its id.
func (r rig) seedApp(ctx context.Context, size, salt int) (string, error) {
	_, id, err := r.addApp(ctx)
	if err != nil {
		return "", err
	}
	var me struct{ Account struct{ ID string } }
	if err := r.call(ctx, "auth-me", "", &me); err != nil {
		return "", err
	}
	return id, seed(ctx, r.db, r.database, me.Account.ID, id, size, salt*100_000_000)
}

// cursorAt reads a list up to a row and returns the cursor there.
func (r rig) cursorAt(ctx context.Context, app string, row int) (string, error) {
	var answer struct {
		NextCursor string `json:"next_cursor"`
		HasMore    bool   `json:"has_more"`
	}
	body := fmt.Sprintf(`{"app_id":%q,"limit":200}`, app)
	for seen := 0; seen < row; seen += 200 {
		if err := r.call(ctx, "requests-list", body, &answer); err != nil {
			return "", err
		}
		if !answer.HasMore {
			return "", errors.New("the list ends before the row")
		}
		body = fmt.Sprintf(`{"cursor":%q}`, answer.NextCursor)
	}
	return answer.NextCursor, nil
}

// measureDeletion measures submissions before and while a large app is deleted.
func measureDeletion(ctx context.Context, o options, r rig) error {
	doomed, err := r.seedApp(ctx, o.deleted, 9)
	if err != nil {
		return err
	}
	const callers = 16
	before := load(ctx, callers, o.during, r.submit)
	began := time.Now()
	if err := r.call(ctx, "apps-delete", fmt.Sprintf(`{"id":%q}`, doomed), nil); err != nil {
		return err
	}
	answered := time.Since(began)
	while := load(ctx, callers, o.during, r.submit)
	left, pause := 1, 50*time.Millisecond
	for left > 0 {
		if err := r.db.QueryRowContext(ctx, "SELECT COUNT(*) FROM purges").Scan(&left); err != nil {
			return err
		}
		time.Sleep(pause)
	}
	fmt.Printf("\nDeleting an app with %d requests: the service answers after %s, and all rows are removed after %s. "+
		"Submissions to another app by %d callers: p99 %s before, %s meanwhile, %d failures.\n",
		o.deleted, ms(answered), time.Since(began).Round(100*time.Millisecond), callers,
		ms(before.p99), ms(while.p99), before.failures+while.failures)
	return nil
}

func ms(d time.Duration) string { return fmt.Sprintf("%.2f ms", float64(d.Microseconds())/1000) }
