package store_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gatherkit/internal/feedback"
	"gatherkit/internal/index"
	"gatherkit/internal/mail"
	"gatherkit/internal/readers"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
	"gatherkit/internal/team"
	"gatherkit/internal/tokens"
	"gatherkit/internal/webhook"
)

// personal is in every text that people give away in requests that are purged.
const personal = "zanzibar"

// allColumns are those of every table.
func allColumns(r *storetest.Rig) map[string][]string {
	r.T.Helper()
	query := "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = current_schema()"
	if r.At.Name == "sqlite" {
		query = "SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table'"
	}
	rows, err := r.Raw.QueryContext(ctx, query)
	if err != nil {
		r.T.Fatal(err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err below has what matters
	columns := map[string][]string{}
	for rows.Next() {
		var table, column string
		if err := rows.Scan(&table, &column); err != nil {
			r.T.Fatal(err)
		}
		columns[table] = append(columns[table], column)
	}
	if err := rows.Err(); err != nil {
		r.T.Fatal(err)
	}
	return columns
}

// allRows are all rows of a table, as texts.
func allRows(r *storetest.Rig, table string, columns []string) []map[string]string {
	r.T.Helper()
	rows, err := r.Raw.QueryContext(ctx, "SELECT "+strings.Join(columns, ", ")+" FROM "+table)
	if err != nil {
		r.T.Fatal(err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err below has what matters
	var found []map[string]string
	for rows.Next() {
		values, into := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			r.T.Fatal(err)
		}
		row := map[string]string{}
		for i, v := range values {
			switch v := v.(type) {
			case nil:
			case []byte:
				row[columns[i]] = string(v)
				if len(v) == len(feedback.ID{}) {
					row[columns[i]] = feedback.ID(v).String()
				}
				if table == "index_documents" && columns[i] == "terms" {
					terms, err := index.Unpack(v)
					if err != nil {
						r.T.Fatal(err)
					}
					row[columns[i]] = strings.Join(terms, "\n")
				}
			default:
				row[columns[i]] = fmt.Sprint(v)
			}
		}
		found = append(found, row)
	}
	if err := rows.Err(); err != nil {
		r.T.Fatal(err)
	}
	return found
}

// holding are the rows of all tables that have one of the texts in any column.
func holding(r *storetest.Rig, texts ...string) map[string][]map[string]string {
	r.T.Helper()
	found := map[string][]map[string]string{}
	for table, columns := range allColumns(r) {
		for _, row := range allRows(r, table, columns) {
			all := strings.Join(slices.Collect(maps.Values(row)), "\n")
			if slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(all, text) }) {
				found[table] = append(found[table], row)
			}
		}
	}
	return found
}

// addUpload adds a file that has come and waits to be attached.
func addUpload(r *storetest.Rig, app feedback.App) feedback.ID {
	r.T.Helper()
	file := feedback.Attachment{Filename: personal + ".png", ContentType: "image/png", Size: 5}
	u, err := r.Uploads.Add(ctx, app.AccountID, feedback.Upload{AppID: app.ID, Attachment: file})
	if err != nil {
		r.T.Fatal(err)
	}
	if err := r.Uploads.Save(ctx, app.AccountID, u); err != nil {
		r.T.Fatal(err)
	}
	return u.ID
}

// confided is a request with all that people can tell the service, and its file.
func confided(r *storetest.Rig, app feedback.App) (id, file feedback.ID) {
	r.T.Helper()
	text := func(s string) *string { return &s }
	must := func(err error) {
		r.T.Helper()
		if err != nil {
			r.T.Fatal(err)
		}
	}
	request := feedback.NewRequest("A title about "+personal, "A description of "+personal)
	request.Submitter = feedback.Submitter{Email: text("a@" + personal + ".example"), Name: text(personal), ExternalID: text(personal)}
	request.Metadata = feedback.Metadata{"page": personal}
	file = addUpload(r, app)
	who := readers.Person{App: app, Reader: feedback.ReaderOfPerson(app.ID, personal)}
	request, err := r.Submit(ctx, store.Submission{
		App: app, Request: request, Attachments: []feedback.ID{file}, IdempotencyKey: personal + app.ID.String(), Reader: who.Reader,
		Notify: "en",
	})
	must(err)
	_, err = r.ChangeRequest(ctx, app.AccountID, request.ID, feedback.Command(), func(r *feedback.Request) error {
		r.Description, r.Tags = "Another description of "+personal, []string{personal}
		return nil
	})
	must(err)
	for i := range 2 {
		voter := feedback.Person{Email: text(fmt.Sprint(i, "@", personal, ".example")), Name: text(personal)}
		_, err = r.Vote(ctx, app.AccountID, feedback.Command(), store.Ballot{RequestID: request.ID, Person: voter, Source: "dashboard"})
		must(err)
	}
	colleague := r.UserOf(feedback.Account{ID: app.AccountID})
	_, err = r.AddComment(ctx, app.AccountID, feedback.Command(), feedback.Comment{
		RequestID: request.ID, Author: feedback.Author{ID: &app.AccountID, Kind: feedback.ByTeam}, Visibility: feedback.Internal,
		Body: "What " + personal + " said, @[Colleague](user:" + colleague.String() + ")",
	})
	must(err)
	_, err = r.Links.Add(ctx, app.AccountID, feedback.Command(), feedback.Link{RequestID: request.ID, URL: "https://" + personal + ".example"})
	must(err)
	_, _, err = r.Tokens.Add(ctx, app.AccountID, *colleague, tokens.Token{
		Name: "T", Scope: feedback.RoleViewer, AppID: &app.ID, ExpiresAt: feedback.At(r.Clock.Now().Add(time.Hour)),
	})
	must(err)
	hook, err := r.Webhooks.Add(ctx, app.AccountID, feedback.Command(), webhook.Webhook{
		Name: "W", URL: "https://a.example", AppID: &app.ID, Kinds: []string{}, State: webhook.On,
	})
	must(err)
	r.Exec("INSERT INTO webhook_retries (account_id, webhook_id, seq, request_id, attempts, due_at) VALUES ($1, $2, 1, $3, 1, 0)",
		app.AccountID, hook.ID, request.ID)
	r.Exec("INSERT INTO webhook_attempts (account_id, webhook_id, id, seq, events, event_id, kind, request_id, attempt, outcome, took,"+
		" payload) VALUES ($1, $2, $3, 1, 1, 'evt', 'request.updated', $3, 1, 'refused', 1, $4)", app.AccountID, hook.ID, request.ID, personal)
	_, err = r.MakeIdentitySecret(ctx, app.AccountID, app.ID, feedback.Command(), false)
	must(err)
	entry, err := r.Entries.Add(ctx, app.AccountID, feedback.Command(), feedback.Entry{
		AppID: app.ID, Title: "News", Labels: []string{}, RequestIDs: []feedback.ID{request.ID},
	})
	must(err)
	_, err = r.Entries.Publish(ctx, app.AccountID, entry.ID, feedback.Command(), nil, false)
	must(err)
	hearsBack(r, who, request.ID)
	onPortal(r, app, request.ID)
	server, err := mail.ParseServer("smtp://127.0.0.1:1?from=a@b.example") // nobody listens, so mails wait
	must(err)
	must(mail.NewSender(r.Mail, server, &url.URL{Scheme: "https", Host: "a.example"}, nil).Round(ctx))
	return request.ID, file
}

// onPortal lets visitors of the app's portal sign in and comment, and blocks one of them. What they say of a request
// goes with it; that they are signed in or blocked is a matter of the app.
func onPortal(r *storetest.Rig, app feedback.App, requestID feedback.ID) {
	r.T.Helper()
	must := func(err error) {
		r.T.Helper()
		if err != nil {
			r.T.Fatal(err)
		}
	}
	by := feedback.ByUserID(*r.UserOf(feedback.Account{ID: app.AccountID}))
	app, err := r.ChangeApp(ctx, app.AccountID, app.ID, by, func(a *feedback.App) error {
		a.Settings.Sharing = "all"
		p := &a.Settings.Portal
		p.Access, p.Comments, p.Slug, p.Host = feedback.AccessLink, feedback.FromAnyone, a.ID.String(), a.ID.String()+".example.com"
		return nil
	})
	must(err)
	_, err = r.RotateLink(ctx, app.AccountID, app.ID, by)
	must(err)
	_, err = r.Visitors.Ticket(ctx, app, feedback.Person{ExternalID: new("u1"), Verified: true})
	must(err)
	must(r.Block(ctx, app.AccountID, app.ID, by, feedback.Person{ExternalID: new("u2"), Verified: true}))
	for n, hold := range []bool{true, false} {
		p := feedback.Person{Name: new(personal), Email: new(fmt.Sprint(n, personal, "@example.com"))}
		_, err = r.PortalComment(ctx, app, requestID, p, "What "+personal+" says", hold)
		must(err)
	}
}

// hearsBack lets a person see what they asked for, and makes links for them.
func hearsBack(r *storetest.Rig, who readers.Person, requestID feedback.ID) {
	r.T.Helper()
	seen := feedback.At(r.Clock.Now())
	_, err := r.Readers.List(ctx, who, feedback.ID{}, 1, &seen)
	if err == nil {
		_, err = r.Readers.Link(ctx, who, false)
	}
	if err == nil {
		_, err = r.StatusLink(ctx, who.App.AccountID, requestID, who.App.ID)
	}
	if err != nil {
		r.T.Fatal(err)
	}
}

// TestPurgesLeaveNothing: of a deleted app, and of a request that was in the bin for 30
// days, no table keeps a row and no row keeps a word; what the log says of the account
// stays. A table that is added later must get rows in confided.
func TestPurgesLeaveNothing(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		removed := map[feedback.ID]int{}
		r := storetest.NewRig(t, at, func(o *store.Options) {
			o.RemoveFile = func(_ context.Context, id feedback.ID) error {
				removed[id]++
				return nil
			}
		})
		account := r.NewAccount("Acme")
		dropped, kept := r.NewApp(account), r.NewApp(account)
		inApp, firstFile := confided(r, dropped)
		binned, secondFile := confided(r, kept)
		stays := r.Fill(kept, 3)
		r.IndexAll()

		before := holding(r, inApp.String(), dropped.ID.String())
		r.Drop(dropped)
		maps.Copy(before, holding(r, dropped.ID.String()))
		for table, columns := range allColumns(r) {
			if (slices.Contains(columns, "request_id") || slices.Contains(columns, "app_id")) && len(before[table]) == 0 {
				t.Errorf("%s has no row of the app, and so the test shows nothing of it", table)
			}
		}
		if _, err := r.ChangeRequest(ctx, account.ID, binned, feedback.Command(), func(r *feedback.Request) error {
			r.Box = feedback.Bin
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		for more := true; more; {
			var err error
			if more, err = r.Purge(ctx); err != nil {
				t.Fatal(err)
			}
		}
		r.Clock.Move(31 * 24 * time.Hour)
		waiting := addUpload(r, kept)
		if err := r.Sweep(ctx); err != nil {
			t.Fatal(err)
		}
		r.IndexAll()

		for table, rows := range holding(r, inApp.String(), binned.String(), dropped.ID.String()) {
			for _, row := range rows {
				// The log says which request was purged, and its place in the index has its id.
				place := (table == "index_ids" || table == "index_blocks") && row["app_id"] == kept.ID.String()
				if !place && (table != "changes" || row["request_id"] != "") {
					t.Errorf("%s still has %v", table, row)
				}
			}
		}
		for table, rows := range holding(r, personal) {
			for _, row := range rows {
				if table != "uploads" || row["id"] != waiting.String() {
					t.Errorf("%s still knows what people said: %v", table, row)
				}
			}
		}
		if len(removed) != 2 || removed[firstFile] != 1 || removed[secondFile] != 1 {
			t.Errorf("the files that were removed are %v, want %s and %s, each once", removed, firstFile, secondFile)
		}
		if n := r.Count("uploads WHERE account_id = $1", account.ID); n != 1 {
			t.Errorf("%d files are left, want the one that waits", n)
		}
		if _, err := r.Request(ctx, account.ID, stays.ID); err != nil {
			t.Error(err)
		}
		list, _, err := r.Entries.List(ctx, account.ID, kept.ID, feedback.Published, feedback.ID{}, 10)
		if err != nil || len(list) != 1 || len(list[0].RequestIDs) != 0 {
			t.Errorf("the entry about the purged request is %+v, %v", list, err)
		}
		r.CheckIndex(t)
		if wrong, err := r.Recount(ctx); err != nil || len(wrong) > 0 {
			t.Errorf("wrong counters: %+v, %v", wrong, err)
		}
	})
}

// beside gives an account rows in the tables that have nothing to do with requests.
func beside(r *storetest.Rig, a feedback.Account) {
	r.T.Helper()
	args := []any{a.ID, *r.UserOf(a), feedback.HashSecret(a.ID.String())}
	for _, insert := range []string{
		"exports (account_id, session_id, token_hash, wanted, expires_at) VALUES ($1, $2, $3, '{}', 1)",
		"sessions (account_id, id, user_id, created_at) VALUES ($1, $2, $2, 1)",
		"session_tokens (account_id, session_id, hash, kind, expires_at) VALUES ($1, $2, $3, 'access', 1)",
		"join_links (account_id, user_id, token_hash, made_by, expires_at) VALUES ($1, $2, $3, $2, 1)",
		"views (account_id, owner_id, id, name, filter, sort, position, created_at, updated_at)" +
			" VALUES ($1, $2, $2, 'V', '{}', 'newest', 1, 1, 1)",
		"default_views (account_id, user_id, view_id) VALUES ($1, $2, $2)",
		"reply_templates (account_id, id, name, body, created_at, updated_at) VALUES ($1, $2, 'T', 'B', 1, 1)",
		"mail_digests (account_id, user_id, every, position, due_at) VALUES ($1, $2, 'day', 1, 1)",
		"departures (account_id, user_id, removed_by) VALUES ($1, $2, $2)",
		"usage_days (account_id, day, calls, busy_us, submissions, files, file_bytes, mails, last_at)" +
			" VALUES ($1, 1, 1, 1, 1, 1, 1, 1, 1)",
		"quotas (account_id, name, most) VALUES ($1, 'files', 1000000)",
		"set_aside (account_id, kind, subject, attempts, since, tried_at, due_at, error) VALUES ($1, 'follow', 'S', 1, 1, 1, 1, 'E')",
	} {
		used := args
		for n := len(args); !strings.Contains(insert, fmt.Sprint("$", n)); n-- {
			used = args[:n-1]
		}
		r.Exec("INSERT INTO "+insert, used...)
	}
}

// TestDeleteAccount: of a deleted account, no table keeps a row and no row keeps an id, and the account beside it stays
// as it was. A table that is added later must get rows here.
func TestDeleteAccount(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		account, other := r.NewAccount("Acme"), r.NewAccount("Globex")
		files := map[feedback.ID]bool{}
		texts := []string{account.ID.String()}
		for _, a := range []feedback.Account{account, other} {
			app := r.NewApp(a)
			id, file := confided(r, app)
			r.Fill(app, 2100)
			gone := r.NewApp(a)
			r.Drop(gone)
			beside(r, a)
			if a.ID == account.ID {
				files[file] = true
				texts = append(texts, app.ID.String(), id.String(), r.UserOf(a).String())
			}
		}
		r.IndexAll()
		for table, columns := range allColumns(r) {
			if slices.Contains(columns, "account_id") && r.Count(table+" WHERE account_id = $1", account.ID) == 0 {
				t.Errorf("%s has no row of the account, and so the test shows nothing of it", table)
			}
		}
		var broken error
		remove := func(_ context.Context, id feedback.ID) error {
			if broken == nil && !files[id] {
				t.Errorf("the file %s is not one of the account, or was removed before", id)
			}
			if broken == nil {
				delete(files, id)
			}
			return broken
		}
		deletes := func() error {
			_, _, err := r.DeleteAccount(ctx, account.ID, remove)
			return err
		}
		if err := deletes(); !errors.Is(err, store.ErrNotSuspended) {
			t.Errorf("an account that is on: %v", err)
		}
		if _, err := r.Team.Suspend(ctx, account.ID); err != nil {
			t.Fatal(err)
		}
		r.Clock.Move(store.SuspendedFor - time.Second)
		if err := deletes(); !errors.Is(err, store.ErrNotSuspended) {
			t.Errorf("an account that was suspended just now: %v", err)
		}
		r.Clock.Move(time.Second)
		before := holding(r, other.ID.String())
		broken = errors.New("the storage is away")
		if err := deletes(); !errors.Is(err, broken) {
			t.Errorf("a file that cannot be removed: %v", err)
		}
		if n := r.Count("uploads WHERE account_id = $1", account.ID); n == 0 {
			t.Error("the row of a file is gone although its content is not")
		}
		broken = nil
		if at.Name == "sqlite" { // background work adds a row to a table that is empty already
			r.Exec("CREATE TRIGGER late AFTER DELETE ON webhooks BEGIN INSERT INTO set_aside (account_id, kind, subject, attempts, since," +
				" tried_at, due_at, error) VALUES (OLD.account_id, 'follow', 'late', 1, 1, 1, 1, 'E'); END")
		}
		if err := deletes(); err != nil || len(files) > 0 {
			t.Fatalf("%v, %d files are left", err, len(files))
		}
		for table, rows := range holding(r, texts...) {
			t.Errorf("%s has %d rows of the account: %v", table, len(rows), rows[0])
		}
		if diff := cmp.Diff(before, holding(r, other.ID.String())); diff != "" {
			t.Errorf("the other account (-before +after):\n%s", diff)
		}
		if _, err := r.Team.Find(ctx, "Acme"); !errors.Is(err, team.ErrNoAccount) {
			t.Errorf("its name: %v", err)
		}
		r.NewAccount("Acme") // with the same e-mail address
	})
}
