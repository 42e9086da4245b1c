package store_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"gatherkit/internal/feedback"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
	"gatherkit/internal/team"
)

// savedFiles are the files that a restoration has copied: their ids there by those here.
type savedFiles struct {
	copied  map[feedback.ID]feedback.ID
	copying func() error // before each
}

func (f *savedFiles) Copy(_ context.Context, from, to feedback.ID) error {
	if f.copying != nil {
		if err := f.copying(); err != nil {
			return err
		}
	}
	f.copied[to] = from
	return nil
}

func (f *savedFiles) Remove(_ context.Context, id feedback.ID) error {
	delete(f.copied, id)
	return nil
}

func noFiles() *savedFiles { return &savedFiles{copied: map[feedback.ID]feedback.ID{}} }

// saved is an installation with two accounts of which a backup was made.
type saved struct {
	*storetest.Rig
	backup *store.Store
	acme   feedback.Account
	app    feedback.App
	id     feedback.ID // a request of Acme's
	file   feedback.ID // that is attached to it
	rows   map[string][]string
}

func newSaved(t *testing.T, at storetest.Place) *saved {
	t.Helper()
	r := storetest.NewRig(t, at, func(o *store.Options) { o.RemoveFile = func(context.Context, feedback.ID) error { return nil } })
	v := &saved{Rig: r}
	for _, name := range []string{"Globex", "Acme"} {
		v.acme = r.NewAccount(name)
		email := "second-" + strings.ToLower(name) + "@example.com"
		second := team.NewUser{Email: email, Name: "B", Role: feedback.RoleOwner, PasswordHash: "hash"}
		if _, _, err := storetest.AddUser(r.Store, name, second); err != nil {
			t.Fatal(err)
		}
		v.app = r.NewApp(v.acme)
		v.id, v.file = confided(r, v.app)
		addUpload(r, v.app)
		r.Drop(r.NewApp(v.acme))
		beside(r, v.acme)
	}
	r.Exec("UPDATE mail_follows SET first_at = 1, due_at = 2")
	r.Exec("UPDATE webhooks SET retry_at = 1, lease_until = 2")
	r.IndexAll()
	v.backup = empty(t, storetest.SQLite(t))
	if _, err := r.CopyTo(ctx, v.backup, discard); err != nil {
		t.Fatal(err)
	}
	v.rows = v.of(v.acme.ID)
	return v
}

// of are the rows of an account.
func (v *saved) of(id feedback.ID) map[string][]string {
	v.T.Helper()
	found := rowsOf(v.Rig)
	for table, rows := range found {
		found[table] = slices.DeleteFunc(rows, func(line string) bool { return !strings.Contains(line, fmt.Sprintf("account_id=%q", id)) })
	}
	return found
}

func (v *saved) remove(account feedback.Account) {
	v.T.Helper()
	if _, err := v.Team.Suspend(ctx, account.ID); err != nil {
		v.T.Fatal(err)
	}
	v.Clock.Move(2 * store.SuspendedFor)
	_, _, err := v.DeleteAccount(ctx, account.ID, func(context.Context, feedback.ID) error { return nil })
	if err != nil {
		v.T.Fatal(err)
	}
}

// notRestored are the tables of accounts whose rows are not restored.
var notRestored = slices.Concat(
	[]string{"accounts", "api_keys", "logins", "mail_positions", "portal_hosts", "portals", "stored_files"}, // which are filled otherwise
	// Somebody may have ended a session or a link since.
	[]string{"exports", "join_links", "session_tokens", "sessions", "visitor_tokens"},
	// The index follows the log of changes from its beginning.
	[]string{"index_blocks", "index_documents", "index_followed", "index_ids", "index_postings", "index_words"},
	// A process may still count calls of the account that was deleted.
	[]string{"usage_days"},
	// What was waiting has been done.
	[]string{"mail_days", "mails", "set_aside", "webhook_attempts", "webhook_retries"},
)

// TestRestoredTables: it is decided of each table whether it is restored.
func TestRestoredTables(t *testing.T) {
	r := storetest.NewRig(t, storetest.SQLite(t))
	tables := store.RestoredTables()
	for table, columns := range allColumns(r) {
		_, is := tables[table]
		if ofAccounts := slices.Contains(columns, "account_id"); ofAccounts != (is || slices.Contains(notRestored, table)) {
			t.Errorf("%s: restored %v", table, is)
		}
		delete(tables, table)
	}
	if len(tables) > 0 {
		t.Errorf("there are no tables %v", slices.Collect(maps.Keys(tables)))
	}
}

// TestRestoreAccount: an account that was deleted is what it was when the backup was made, and works.
func TestRestoreAccount(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		v := newSaved(t, at)
		others := rowsOf(v.Rig)
		v.remove(v.acme)
		files := noFiles()
		done, err := v.RestoreAccount(ctx, store.Restoration{From: v.backup, AccountID: v.acme.ID, Name: "Acme", Files: files})
		if err != nil {
			t.Fatal(err)
		}
		if done.Account != v.acme || done.Beside || done.Suspended || len(done.Invite)+len(done.Portals) > 0 {
			t.Errorf("restored %+v", done)
		}
		if diff := gocmp.Diff(map[feedback.ID]feedback.ID{v.file: v.file}, files.copied); diff != "" {
			t.Errorf("files (-want +got):\n%s", diff)
		}
		got := v.of(v.acme.ID)
		for table := range allColumns(v.Rig) {
			_, is := store.RestoredTables()[table]
			switch table {
			case "accounts", "api_keys", "logins", "portals", "portal_hosts":
			case "stored_files": // of one file, which is attached
				v.rows[table] = []string{fmt.Sprintf("account_id=%q bytes=\"5\" ", v.acme.ID)}
			case "mail_follows", "mail_positions", "webhooks", "account_seq", "changes": // see below
				continue
			case "uploads": // without those that were not attached
				v.rows[table] = attached(v.rows[table])
			default:
				if !is {
					v.rows[table] = nil
				}
			}
			if diff := gocmp.Diff(v.rows[table], got[table]); diff != "" && len(v.rows[table])+len(got[table]) > 0 {
				t.Errorf("%s (-want +got):\n%.2000s", table, diff)
			}
		}
		if n := len(got["mail_follows"]); n != len(v.rows["mail_follows"]) || n == 0 {
			t.Errorf("%d people hear back instead of %d", n, len(v.rows["mail_follows"]))
		}
		if n := v.Count("mail_follows WHERE account_id = $1 AND (first_at IS NOT NULL OR due_at IS NOT NULL)", v.acme.ID); n != 0 {
			t.Errorf("%d mails are due that were sent", n)
		}
		for _, table := range []string{"webhooks", "mail_positions"} {
			n := v.Count(table+" WHERE account_id = $1 AND position = (SELECT MAX(seq) - 1 FROM changes WHERE account_id = $1)", v.acme.ID)
			if n != len(v.rows[table]) || n == 0 {
				t.Errorf("%s: %d do not tell again what they have told", table, n)
			}
		}
		if n := v.Count("webhooks WHERE account_id = $1 AND (retry_at IS NOT NULL OR lease_until <> 0)", v.acme.ID); n != 0 {
			t.Errorf("%d webhooks are not as if they were new", n)
		}
		if n := len(got["changes"]); n != len(v.rows["changes"])+1 {
			t.Errorf("%d changes", n)
		}
		v.works(v.acme, v.app.APIKey)
		for table, rows := range rowsOf(v.Rig) { // other accounts have the rows that they had
			for _, line := range others[table] {
				if !strings.Contains(line, fmt.Sprintf("account_id=%q", v.acme.ID)) && !slices.Contains(rows, line) {
					t.Errorf("%s had %s", table, line)
				}
			}
		}
	})
}

func attached(rows []string) []string {
	return slices.DeleteFunc(slices.Clone(rows), func(line string) bool { return strings.Contains(line, `request_id=""`) })
}

// works checks that an account can be used.
func (v *saved) works(account feedback.Account, key string) {
	v.T.Helper()
	app, err := v.AppByKey(ctx, key)
	if err != nil || app.AccountID != account.ID {
		v.T.Fatalf("the key is of %v: %v", app.AccountID, err)
	}
	if _, err := v.Submit(ctx, store.Submission{App: app, Request: feedback.NewRequest("Afterwards", "")}); err != nil {
		v.T.Error(err)
	}
	v.IndexAll()
	v.CheckIndex(v.T)
	if wrong, err := v.Recount(ctx); err != nil || len(wrong) > 0 {
		v.T.Errorf("wrong: %+v, %v", wrong, err)
	}
}

// TestRestoreBeside: an account that exists is restored as another one, in which nothing happens that already happens in the
// first.
func TestRestoreBeside(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		v := newSaved(t, at)
		before := v.of(v.acme.ID)
		files := noFiles()
		owner := &team.NewUser{Email: "restorer@example.com", Name: "Restorer"}
		r := store.Restoration{From: v.backup, AccountID: v.acme.ID, Name: "Acme before", Owner: owner, Files: files}
		done, err := v.RestoreAccount(ctx, r)
		if err != nil {
			t.Fatal(err)
		}
		if !done.Beside || len(done.Invite) != 0 || done.Name != "Acme before" || done.ID == v.acme.ID {
			t.Errorf("restored %+v", done)
		}
		if diff := gocmp.Diff(before, v.of(v.acme.ID)); diff != "" {
			t.Errorf("the first account (-want +got):\n%.2000s", diff)
		}
		got := v.of(done.ID)
		for table := range allColumns(v.Rig) {
			is := store.RestoredTables()[table]
			switch table {
			case "accounts", "api_keys", "stored_files", "mail_positions", "join_links":
				is = true
			case "users", "changes", "uploads":
				continue
			}
			want := 0
			if is {
				want = len(before[table])
			}
			if n := len(got[table]); n != want && table != "join_links" {
				t.Errorf("%s has %d rows instead of %d", table, n, want)
			}
		}
		request, err := v.Request(ctx, done.ID, v.id)
		if err != nil {
			t.Fatal(err)
		}
		file := request.Attachments[0].ID
		if len(files.copied) != 1 || files.copied[file] != v.file || file == v.file {
			t.Errorf("the file %v of %v", files.copied, request.Attachments)
		}
		if u, err := v.Uploads.Get(ctx, done.ID, file); err != nil || *u.RequestID != v.id {
			t.Errorf("the file %+v, %v", u, err)
		}
		if n := v.Count("requests WHERE account_id = $1 AND notify IS NOT NULL", done.ID); n != 0 {
			t.Errorf("%d people would hear of the copy", n)
		}
		app, err := v.App(ctx, done.ID, v.app.ID)
		if err != nil || app.APIKey == v.app.APIKey || app.Settings.Portal.On() || app.Settings.Portal.Slug != "" {
			t.Errorf("the app %+v, %v", app, err)
		}
		invitee, err := v.Team.Invitee(ctx, done.Invitation.Token)
		if err != nil || invitee.Account.ID != done.ID || invitee.Role != feedback.RoleOwner || invitee.Email != owner.Email {
			t.Errorf("the owner %+v, %v", invitee, err)
		}
		if n := v.Count("users WHERE account_id = $1 AND password_hash <> ''", done.ID); n != 0 {
			t.Errorf("%d users can log in", n)
		}
		v.works(done.Account, app.APIKey)

		v.Clock.Move(31 * day)
		r.Name, r.Owner = "Once more", &team.NewUser{Email: "restorer@example.com", Name: "Restorer"}
		if again, err := v.RestoreAccount(ctx, r); err != nil || again.ID == done.ID || len(files.copied) != 2 {
			t.Errorf("once more: %+v, %v", again, err)
		} else if n := v.Count("requests WHERE account_id = $1 AND idempotency_key IS NOT NULL", again.ID); n != 0 {
			t.Errorf("%d requests keep what is deleted after 30 days", n)
		}
	})
}

// TestRestoreRefuses: what cannot be restored leaves nothing.
func TestRestoreRefuses(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		v := newSaved(t, at)
		before := rowsOf(v.Rig)
		owner := team.NewUser{Email: "restorer@example.com", Name: "Restorer"}
		users, _, err := v.Team.Users(ctx, v.acme.ID, feedback.ID{}, 1)
		if err != nil {
			t.Fatal(err)
		}
		cut := errors.New("the cable is cut")
		for name, test := range map[string]struct {
			name  string
			owner *team.NewUser
			fails error
			want  error
		}{
			"a name that is taken":     {"Globex", &owner, nil, team.ErrAccountExists},
			"its own name":             {"Acme", &owner, nil, team.ErrAccountExists},
			"no owner":                 {"Acme before", nil, nil, store.ErrNoOwner},
			"the address of a user":    {"Acme before", &team.NewUser{Email: users[0].Email, Name: "A"}, nil, feedback.ErrEmailTaken},
			"a file cannot be copied":  {"Acme before", &owner, cut, cut},
			"the command is cancelled": {"Acme before", &owner, context.Canceled, context.Canceled},
			"another takes its place":  {"Acme before", &owner, store.ErrRestoring, store.ErrRestoring},
		} {
			t.Run(name, func(t *testing.T) {
				ctx, cancel := context.WithCancel(ctx)
				defer cancel()
				files := noFiles()
				files.copying = func() error {
					switch {
					case errors.Is(test.fails, context.Canceled):
						cancel()
						return nil
					case errors.Is(test.fails, store.ErrRestoring):
						v.Exec("DELETE FROM leases WHERE name = 'restore'")
						return nil
					}
					return test.fails
				}
				r := store.Restoration{From: v.backup, AccountID: v.acme.ID, Name: test.name, Owner: test.owner, Files: files}
				if _, err := v.RestoreAccount(ctx, r); !errors.Is(err, test.want) {
					t.Errorf("%v instead of %v", err, test.want)
				}
				if diff := gocmp.Diff(before, rowsOf(v.Rig)); diff != "" {
					t.Errorf("(-want +got):\n%.2000s", diff)
				}
				if n := v.Count("leases WHERE name = 'restore'"); n != 0 || len(files.copied) != 0 {
					t.Errorf("%d leases, files %v", n, files.copied)
				}
			})
		}
	})
}

// TestRestoreIsCompared: rows that differ from those of the backup are noticed, and deleted.
func TestRestoreIsCompared(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		v := newSaved(t, at)
		v.remove(v.acme)
		v.Exec("INSERT INTO quotas (account_id, name, most) VALUES ($1, 'files', 7)", v.acme.ID)
		r := store.Restoration{From: v.backup, AccountID: v.acme.ID, Name: "Acme", Files: noFiles()}
		if _, err := v.RestoreAccount(ctx, r); err == nil || !strings.HasPrefix(err.Error(), "restore quotas: 1 of 1 rows") {
			t.Errorf("%v", err)
		}
		if _, err := v.RestoreAccount(ctx, r); err != nil {
			t.Errorf("once more: %v", err)
		}
	})
}

// TestRestoreOfOne: one account is restored at a time. What a process that died has left is deleted by the next.
func TestRestoreOfOne(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		v := newSaved(t, at)
		left := v.NewID()
		v.Exec("INSERT INTO leases (name, holder, until, progress) VALUES ('restore', $1, 0, 0)", left)
		v.Exec("INSERT INTO quotas (account_id, name, most) VALUES ($1, 'files', 1)", left)
		v.Exec("INSERT INTO uploads (account_id, id, app_id, filename, content_type, size, ready) VALUES ($1, $1, $1, 'F', 'text/plain', 1, $2)",
			left, true)
		files := noFiles()
		files.copied[left] = left
		v.remove(v.acme)
		v.Exec("UPDATE leases SET until = $1 WHERE name = 'restore'", feedback.At(v.Clock.Now().Add(time.Second)))
		r := store.Restoration{From: v.backup, AccountID: v.acme.ID, Name: "Acme", Files: files}
		if _, err := v.RestoreAccount(ctx, r); !errors.Is(err, store.ErrRestoring) {
			t.Errorf("%v", err)
		}
		if v.Count("quotas WHERE account_id = $1", left) != 1 {
			t.Error("the other restoration has lost a row")
		}
		v.Clock.Move(2 * time.Second)
		if _, err := v.RestoreAccount(ctx, r); err != nil {
			t.Fatal(err)
		}
		if rows := v.of(left); len(rows["quotas"])+len(rows["uploads"]) > 0 || len(files.copied) != 1 {
			t.Errorf("left are %v, %v", rows["quotas"], files.copied)
		}
	})
}

// TestRestoreAfterOthers: what others have taken since the backup stays theirs.
func TestRestoreAfterOthers(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		v := newSaved(t, at)
		v.remove(v.acme)
		other := v.NewApp(v.NewAccount("Second-Acme")) // with the address of a user of Acme's
		portal := feedback.PortalSettings{Slug: v.app.ID.String(), Host: v.app.ID.String() + ".example.com"}
		take := func(slug, host string) {
			_, err := v.ChangeApp(ctx, other.AccountID, other.ID, feedback.Command(), func(a *feedback.App) error {
				a.Settings.Portal.Access, a.Settings.Portal.Slug, a.Settings.Portal.Host = feedback.AccessPublic, slug, host
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		for _, taken := range [][2]string{{portal.Slug, ""}, {"other", portal.Host}} {
			take(taken[0], taken[1])
			done, err := v.RestoreAccount(ctx, store.Restoration{From: v.backup, AccountID: v.acme.ID, Name: "Acme", Files: noFiles()})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(done.Invite, []string{"second-acme@example.com"}) || !slices.Equal(done.Portals, []string{v.app.Name}) {
				t.Errorf("restored %+v", done)
			}
			app, err := v.App(ctx, v.acme.ID, v.app.ID)
			if err != nil || app.Settings.Portal.On() {
				t.Errorf("the portal %+v, %v", app.Settings.Portal, err)
			}
			if n := v.Count("portals WHERE account_id = $1", v.acme.ID) + v.Count("portal_hosts WHERE account_id = $1", v.acme.ID); n != 0 {
				t.Errorf("the portal still has %d addresses", n)
			}
			if n := v.Count("blocked_people WHERE account_id = $1", v.acme.ID); n != len(v.rows["blocked_people"]) || n == 0 {
				t.Errorf("%d people are blocked instead of %d", n, len(v.rows["blocked_people"]))
			}
			if n := v.Count("users WHERE account_id = $1 AND password_hash = ''", v.acme.ID); n != 1 {
				t.Errorf("%d users have no password", n)
			}
			v.remove(v.acme)
		}
		v.NewAccount("ACME") // with the address of the other owner
		r := store.Restoration{From: v.backup, AccountID: v.acme.ID, Name: "Acme", Files: noFiles()}
		if _, err := v.RestoreAccount(ctx, r); !errors.Is(err, store.ErrNoOwner) {
			t.Errorf("without an owner: %v", err)
		}
		r.Owner = &team.NewUser{Email: "restorer@example.com", Name: "Restorer"}
		done, err := v.RestoreAccount(ctx, r)
		if err != nil || len(done.Invite) != 2 || done.Invitation.Token == "" {
			t.Errorf("with another owner: %+v, %v", done, err)
		}
	})
}
