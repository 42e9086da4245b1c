package e2e_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gatherkit/e2e/program"
	"gatherkit/internal/store/storetest"
)

// fail runs a command that must fail with exit status 1 and one line on stderr, and returns the
// message.
func fail(t *testing.T, settings []string, stdin string, args ...string) string {
	t.Helper()
	got := program.Execute(t, settings, stdin, args...)
	if got.Code != 1 || got.Stdout != "" || !strings.HasPrefix(got.Stderr, "gatherkit: ") || strings.Count(got.Stderr, "\n") != 1 {
		t.Errorf("gatherkit %q: exit %d, stdout %q, stderr %q; want exit 1 and one line on stderr",
			args, got.Code, got.Stdout, got.Stderr)
	}
	return strings.TrimSuffix(strings.TrimPrefix(got.Stderr, "gatherkit: "), "\n")
}

// alter changes a database without the program.
func alter(t *testing.T, place storetest.Place, statement string) {
	t.Helper()
	changed, err := place.Raw(t).Exec(statement)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := changed.RowsAffected(); err != nil || n == 0 {
		t.Fatalf("%s: %d rows, %v", statement, n, err)
	}
}

func TestUserCommands(t *testing.T) {
	storetest.Each(t, func(t *testing.T, place storetest.Place) {
		user := func(args ...string) []string { return append(append([]string{"user"}, args...), program.At(place)...) }
		add := func(email string) []string {
			return user("add", "--account=Acme", "--role=viewer", "--name=Ada", "--email="+email)
		}
		create := func(name string) []string {
			return user("add", "--new-account", "--account="+name, "--name=Ada", "--email="+program.Email)
		}
		program.Succeed(t, append([]string{"migrate"}, program.At(place)...)...)
		if got := program.Succeed(t, user("list")...); got != "There are no users yet; add one with gatherkit user add.\n" {
			t.Errorf("list: %q", got)
		}
		c := program.NewClient(t, program.Start(t, program.At(place)...))

		printed := regexp.MustCompile(`^Created the account "Acme" with the owner Ada \(ada@example\.com\)\.\nPassword: (\S{20,})\n$`).
			FindStringSubmatch(program.Succeed(t, create("Acme")...))
		if printed == nil {
			t.Fatal("user add does not print the expected text")
		}
		session := c.Want(t, "ok", "auth-login", "", program.Params{"email": program.Email, "password": printed[1]})
		account := regexp.MustCompile(`^Acme \([0-9a-f-]{36}\)\n {2}owner {3}ada@example\.com {2}Ada\n$`)
		if got := program.Succeed(t, user("list")...); !account.MatchString(got) {
			t.Errorf("list: %q", got)
		}

		for want, args := range map[string][]string{
			`there is no account called "Acne"; run gatherkit account list to see all accounts, or add --new-account to create it`: user(
				"add", "--account=Acne", "--role=admin", "--name=Ada", "--email=eve@example.com"),
			`an account is called "Acme" already; leave out --new-account to add a user to it`:                        create("Acme"),
			`a user with the e-mail address ada@example.com already exists; run gatherkit user list to see all users`: create("Globex"),
		} {
			if got := fail(t, nil, "", args...); got != want {
				t.Errorf("gatherkit %q: %q, want %q", args, got, want)
			}
		}

		const exists = "a user with the e-mail address ADA@example.com already exists; run gatherkit user list to see all users"
		if got := fail(t, nil, "", add("ADA@example.com")...); got != exists {
			t.Errorf("an e-mail that is already used: %q", got)
		}
		if got := fail(t, nil, "", add("ada")...); got != `"ada" is not an e-mail address; set --email to an address such as ada@example.com` {
			t.Errorf("an invalid e-mail: %q", got)
		}
		const short, long = "the password must have at least 10 characters", "the password must have at most 1,024 characters; "
		for password, want := range map[string]string{
			"": short, "nine char\n": short, strings.Repeat("x", 1025): long, strings.Repeat("é", 513): long,
		} {
			if got := fail(t, nil, password, append(add("b@example.com"), "--password-stdin")...); !strings.HasPrefix(got, want) {
				t.Errorf("password of %d bytes: %q", len(password), got)
			}
		}
		got := fail(t, nil, "", user("set-password", "--email=nobody@example.com")...)
		if !strings.HasPrefix(got, "no user with the e-mail address nobody@example.com exists, or") {
			t.Errorf("set-password: %q", got)
		}

		// White space is part of a password, but the line break at its end is not.
		const changed = " a new password \t"
		set := program.Execute(t, nil, changed+"\r\n", user("set-password", "--email="+program.Email, "--password-stdin")...)
		if set.Code != 0 || set.Stdout != "The password was changed, and all sessions of the user were ended.\n" {
			t.Errorf("set-password: %+v", set)
		}
		c.Want(t, "auth.invalid_token", "auth-me", session.AccessToken, program.Params{})
		c.Want(t, "auth.invalid_refresh_token", "auth-refresh", "", program.Params{"refresh_token": session.RefreshToken})
		c.Want(t, "auth.invalid_credentials", "auth-login", "", program.Params{"email": program.Email, "password": printed[1]})
		c.Want(t, "ok", "auth-login", "", program.Params{"email": program.Email, "password": changed})

		added := program.Succeed(t, add("eve@example.com")...)
		if !strings.Contains(added, `to the account "Acme" with the role viewer`) {
			t.Errorf("second user: %q", added)
		}
		list := program.Succeed(t, user("list")...)
		if strings.Count(list, "\n") != 3 || !strings.Contains(list, "\n  viewer  eve@example.com  Ada\n") {
			t.Errorf("list: %q", list)
		}
	})
}

// TestRolesAndRemovals: the operator changes roles and removes users, but leaves each account an owner.
func TestRolesAndRemovals(t *testing.T) {
	storetest.Each(t, func(t *testing.T, place storetest.Place) {
		program.AddOwner(t, place)
		c := program.NewClient(t, program.Start(t, program.At(place)...))
		owner := c.Login(t)
		at := func(args ...string) []string { return append(args, program.At(place)...) }
		program.Succeed(t, at("user", "add", "--account=Acme", "--role=viewer", "--name=Eve", "--email=eve@example.com")...)
		printed := program.Succeed(t, at("account", "create", "Globex",
			"--owner-email=eve@example.com", "--owner-name=Eve", "--public-url=https://f.example")...)
		if !strings.HasPrefix(printed, "Created the account \"Globex\"") || strings.Contains(printed, "API key") {
			t.Errorf("account create: %q", printed)
		}

		const last = `the account "Acme" has no other owner who can log in; make somebody else an owner first`
		for want, args := range map[string][]string{
			"users of several accounts have the e-mail address EVE@example.com; name the account with --account": at(
				"user", "remove", "--email=EVE@example.com"),
			"no user has the e-mail address bob@example.com; run gatherkit user list to see all users": at(
				"user", "remove", "--email=bob@example.com"),
			`no user of the account "Globex" has the e-mail address ` + program.Email + `; run gatherkit user list to see all users`: at(
				"user", "remove", "--email="+program.Email, "--account=Globex"),
			`there is no account called "Acne"; run gatherkit account list to see all accounts`: at(
				"user", "role", "--email=eve@example.com", "--account=Acne", "--role=owner"),
			last: at("user", "role", "--email="+program.Email, "--role=admin"),
		} {
			if got := fail(t, nil, "", args...); got != want {
				t.Errorf("gatherkit %q: %q, want %q", args, got, want)
			}
		}
		if got := fail(t, nil, "", at("user", "remove", "--email="+program.Email)...); got != last {
			t.Errorf("the last owner: %q", got)
		}

		link := regexp.MustCompile(`^Invitation for eve@example\.com in the account "Globex", which works once until 20\S+Z: ` +
			`https://f\.example/join#(gjt_\w+)\n$`)
		invited := at("user", "link", "--email=eve@example.com", "--account=Globex", "--public-url=https://f.example")
		first, second := link.FindStringSubmatch(program.Succeed(t, invited...)), link.FindStringSubmatch(program.Succeed(t, invited...))
		if first == nil || second == nil || first[1] == second[1] {
			t.Errorf("user link: %q, %q", first, second)
		}
		c.Want(t, "auth.link_not_found", "auth-check-invite", "", program.Params{"token": first[1]})
		c.Want(t, "ok", "auth-check-invite", "", program.Params{"token": second[1]})
		reset := program.Succeed(t, at("user", "link", "--email=eve@example.com", "--account=Acme", "--public-url=https://f.example")...)
		if !strings.HasPrefix(reset, `Link to choose a new password for eve@example.com in the account "Acme", `) {
			t.Errorf("user link: %q", reset)
		}
		const changed = "Eve (eve@example.com) in the account \"Acme\" has the role owner.\n"
		if got := program.Succeed(t, at("user", "role", "--email=eve@example.com", "--account=Acme", "--role=owner")...); got != changed {
			t.Errorf("user role: %q", got)
		}
		const removed = "Removed Ada (ada@example.com) from the account \"Acme\". All sessions and tokens of the user were ended.\n"
		if got := program.Succeed(t, at("user", "remove", "--email="+program.Email)...); got != removed {
			t.Errorf("user remove: %q", got)
		}
		c.Want(t, "auth.invalid_token", "auth-me", owner, program.Params{})
	})
}

// TestAccountCommands: the operator creates accounts, finds them by their names or ids, and renames them. An account's
// audit log has it all.
func TestAccountCommands(t *testing.T) {
	storetest.Each(t, func(t *testing.T, place storetest.Place) {
		at := func(args ...string) []string { return append(args, program.At(place)...) }
		program.AddOwner(t, place)
		p := program.Start(t, program.At(place)...)
		c := program.NewClient(t, p)

		printed := regexp.MustCompile(`^Created the account "Globex" \(([0-9a-f-]{36})\)\.
Invitation for eve@example\.com, which works once until 20\S+Z: https://f\.example/sub/join#(gjt_\w+)
API key of the app Shop: (gk_\w+)\n$`).FindStringSubmatch(program.Succeed(t, at("account", "create", "Globex",
			"--owner-email=eve@example.com", "--owner-name=Eve", "--app=Shop", "--public-url=https://f.example/sub/")...))
		if printed == nil {
			t.Fatal("account create does not print the expected text")
		}
		id, key := printed[1], printed[3]
		owner := c.Want(t, "ok", "auth-accept-invite", "", program.Params{"token": printed[2], "password": program.Password}).AccessToken
		c.Submit(t, key, "An idea")

		rotated := regexp.MustCompile(`^API key of the app Shop: (gk_\w+)\nThe old key no longer works\.\n$`).
			FindStringSubmatch(program.Succeed(t, at("app", "rotate-key", "--account=Globex", "Shop")...))
		if len(rotated) != 2 || rotated[1] == key {
			t.Fatalf("app rotate-key: %q", rotated)
		}
		c.Want(t, "auth.invalid_api_key", "widget-submit-request", key, program.Params{"title": "T", "description": ""})
		c.Submit(t, rotated[1], "Another idea")

		want := "The account \"Globex\" is now called \"Initech\".\n"
		if got := program.Succeed(t, at("account", "rename", id, " Initech ")...); got != want {
			t.Errorf("account rename: %q", got)
		}
		for want, args := range map[string][]string{
			`there is no account called "Globex"; run gatherkit account list to see all accounts`: at("account", "show", "Globex"),
			`an account is called "Acme" already`:                                                 at("account", "rename", "Initech", "Acme"),
			`the account "Initech" has no app "Shap"; run gatherkit account show to see its apps`: at(
				"app", "rotate-key", "--account=Initech", "Shap"),
		} {
			if got := fail(t, nil, "", args...); got != want {
				t.Errorf("gatherkit %q: %q, want %q", args, got, want)
			}
		}
		for _, named := range []string{id, "Initech"} {
			got := program.Succeed(t, at("account", "show", named)...)
			for _, want := range []string{"Name: Initech\n", "Id: " + id + "\n", "Requests: 2\n", "\n  owner   eve@example.com  Eve\n", "  Shop\n"} {
				if !strings.Contains(got, want) {
					t.Errorf("account show %s: %q has no %q", named, got, want)
				}
			}
		}
		list := strings.Split(program.Succeed(t, at("account", "list", "--sort=requests")...), "\n")
		first := strings.Join(strings.Fields(list[1]), " ")
		if len(list) != 4 || !strings.HasPrefix(first, id+" 1 1 2 0 0 ") || !strings.HasSuffix(list[2], "Acme") {
			t.Errorf("account list: %q", list)
		}

		var summaries []string
		for _, entry := range c.Want(t, "ok", "audit-list", owner, program.Params{}).Entries {
			summaries = append(summaries, entry.Summary)
		}
		for _, want := range []string{
			`An operator renamed the account from "Globex" to "Initech".`,
			`An operator regenerated the API key of the app "Shop"; the old key no longer works.`,
			`An operator invited Eve (eve@example.com) with the role owner.`, `An operator created the account.`,
		} {
			if !slices.Contains(summaries, want) {
				t.Errorf("the audit log %q has no %q", summaries, want)
			}
		}

		p.Stop(t) // and counts its last calls
		busiest := strings.Fields(strings.Split(program.Succeed(t, at("account", "list", "--sort=calls")...), "\n")[1])
		if busiest[0] != id || busiest[6] != "3" || busiest[8] != "0" || !strings.HasPrefix(busiest[9], "20") {
			t.Errorf("account list --sort=calls: %q", busiest)
		}
		used := regexp.MustCompile(`\nLast use: 20\S+Z\nIn 30 days: 3 calls that took \d+\.\d seconds, 0 mails\n`)
		if got := program.Succeed(t, at("account", "show", id)...); !used.MatchString(got) {
			t.Errorf("account show: %q", got)
		}
	})
}

// TestListOfAccounts: a list makes all of its accounts or none, and an error names the line.
func TestListOfAccounts(t *testing.T) {
	storetest.Each(t, func(t *testing.T, place storetest.Place) {
		create := append([]string{"account", "create", "--stdin", "--public-url=https://f.example"}, program.At(place)...)
		var file strings.Builder
		for i := range 200 {
			fmt.Fprintf(&file, `{"name": "Customer %d", "owner_email": "c%d@example.com", "owner_name": "Owner", "app": "Site"}`+"\n", i, i)
		}
		got := program.Execute(t, nil, file.String(), create...)
		lines := strings.Split(got.Stdout, "\n")
		last := regexp.MustCompile(`^{"name":"Customer 199","id":"[0-9a-f-]{36}",.*"api_key":"gk_`)
		if got.Code != 0 || len(lines) != 201 || !last.MatchString(lines[199]) {
			t.Fatalf("exit %d, %d lines, %s", got.Code, len(lines), got.Stderr)
		}
		const fine = `{"name": "New", "owner_email": "n@example.com", "owner_name": "N"}`
		after := func(line string) string { return fine + "\n" + line }
		const none = "; no account was created"
		for input, want := range map[string]string{
			"": "standard input is empty; send a JSON object per line",
			after(strings.Replace(fine, "New", "Customer 7", 1)): `line 2: an account is called "Customer 7" already` + none,
			after(fine): `line 2: an account is called "New" already` + none,
			after(`{"name": "B", "owner_email": "n", "owner_name": "N"}`): `line 2: "n" is not an e-mail address such as ada@example.com` + none,
			after(`{"name": "B", "owner_email": "n@example.com"}`): "line 2: the name of the owner must have 1 to 100 characters, all on one line" +
				none,
			`{"name": "B", "mail": "n@example.com"}`: "line 1 must be a JSON object such as ",
			strings.Repeat(fine+"\n", 1001):          "the list has more than 1,000 lines; split it",
		} {
			if got := fail(t, nil, input, create...); !strings.HasPrefix(got, want) {
				t.Errorf("%.200s: %q, want %q", input, got, want)
			}
		}
		list := program.Succeed(t, append([]string{"account", "list", "--json"}, program.At(place)...)...)
		if n := strings.Count(list, "\n"); n != 200 {
			t.Errorf("%d accounts", n)
		}
	})
}

func TestRecount(t *testing.T) {
	storetest.Each(t, func(t *testing.T, place storetest.Place) {
		program.AddOwner(t, place)
		c := program.NewClient(t, program.Start(t, program.At(place)...))
		token := c.Login(t)
		created := c.AddApp(t, token)
		c.Submit(t, created.APIKey, "one")
		c.Submit(t, created.APIKey, "two")
		recount := append([]string{"recount"}, program.At(place)...)
		alter(t, place, "UPDATE request_counts SET n = 7 WHERE box = 'live' AND status = 'opened'")
		alter(t, place, "INSERT INTO stored_files (account_id, bytes) SELECT account_id, 9 FROM accounts")
		repaired := regexp.MustCompile(`^account [0-9a-f-]{36}, bytes of files: repaired, was 9, is now 0
app ` + created.ID + `, live, opened: repaired, was 7, is now 2\n$`)
		if got := program.Succeed(t, recount...); !repaired.MatchString(got) {
			t.Errorf("recount: %q", got)
		}
		if got := c.Want(t, "ok", "requests-list", token, program.Params{}).TotalCount; got != 2 {
			t.Errorf("total_count is %d after the repair, want 2", got)
		}
		if got := program.Succeed(t, recount...); got != "All counters are right.\n" {
			t.Errorf("recount: %q", got)
		}
	})
}

func TestMigrate(t *testing.T) {
	storetest.Each(t, func(t *testing.T, place storetest.Place) {
		migrate := append([]string{"migrate"}, program.At(place)...)
		for range 2 {
			if got := program.Succeed(t, migrate...); got != "The database schema is up to date.\n" {
				t.Errorf("migrate: %q", got)
			}
		}
		alter(t, place, "INSERT INTO schema_version (version) VALUES (999)")
		newer := regexp.MustCompile(`the database \S+ (on )?\S+ has schema 999 but this program knows \d+; ` +
			`start a newer version of gatherkit, or restore the backup from before the upgrade$`)
		for _, command := range []string{"migrate", "serve", "recount"} {
			if got := fail(t, nil, "", append([]string{command}, program.At(place)...)...); !newer.MatchString(got) {
				t.Errorf("%s: %q", command, got)
			}
		}
	})
}

func TestVersion(t *testing.T) {
	for _, args := range [][]string{{"version"}, {"--version"}, {"-v"}, {"serve", "--version"}} {
		if got := program.Succeed(t, args...); !regexp.MustCompile(`^gatherkit \S+( \w+)?\n$`).MatchString(got) {
			t.Errorf("%q: %q", args, got)
		}
	}
	var got struct {
		Version, Go, Platform string
		Schema                int
	}
	migrations, err := filepath.Glob("../internal/store/migrations/*.sql")
	if err != nil || len(migrations) == 0 {
		t.Fatal(migrations, err)
	}
	if err := json.Unmarshal([]byte(program.Succeed(t, "version", "--json")), &got); err != nil || got.Version == "" ||
		got.Go != runtime.Version() || got.Platform != runtime.GOOS+"/"+runtime.GOARCH || got.Schema != len(migrations) {
		t.Errorf("as JSON: %+v, %v", got, err)
	}
}

// TestHelp: the program prints its help when it is asked for it, or for nothing.
func TestHelp(t *testing.T) {
	all, user := program.Succeed(t, "--help"), program.Succeed(t, "user", "--help")
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{}, all},
		{[]string{"help"}, all},
		{[]string{"-h"}, all},
		{[]string{"user"}, user},
		{[]string{"help", "user"}, user},
		{[]string{"help", "user", "add"}, program.Succeed(t, "user", "add", "--help")},
		{[]string{"help", "serve"}, program.Succeed(t, "serve", "--help")},
	} {
		if got := program.Succeed(t, test.args...); got != test.want {
			t.Errorf("gatherkit %q prints %q, want %q", test.args, got, test.want)
		}
	}
	for _, command := range []string{
		"serve", "demo", "account list", "account show", "account create", "account rename", "account quota", "account suspend",
		"account resume", "account export", "account restore", "account delete", "user add", "user list", "user role",
		"user link", "user set-password", "user remove", "people find", "people export", "people rectify", "people erase", "app rotate-key",
		"backup", "copy", "verify", "status", "recount", "migrate",
		"distribute", "login", "api", "healthcheck", "completion", "man", "version",
	} {
		if !regexp.MustCompile(`(?m)^  ` + command + `\b`).MatchString(all) {
			t.Errorf("--help does not list %s:\n%s", command, all)
		}
	}
	if !strings.Contains(user, "user set-password") || strings.Contains(user, "recount") {
		t.Errorf("the help of user is %q", user)
	}
}

// TestSuggestions: an error about the command line says what was probably meant.
func TestSuggestions(t *testing.T) {
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"serve", "--listn=:1"}, `unknown flag --listn, did you mean "--listen"?`},
		{[]string{"srve"}, `unexpected argument srve, did you mean "serve"?`},
		{[]string{"user", "lst"}, `unexpected argument lst, did you mean "list"?`},
		{[]string{"--listen", ":1"}, "unknown flag --listen; it is a flag of serve, demo"},
		{[]string{"verify", "--submit-rate=1"}, "unknown flag --submit-rate; it is a flag of serve"},
		{[]string{"version", "--password-stdin"}, "unknown flag --password-stdin; it is a flag of user add, user set-password"},
	} {
		got := program.Execute(t, nil, "", test.args...)
		if want := "gatherkit: " + test.want + "\nRun gatherkit --help for usage.\n"; got.Code != 2 || got.Stderr != want {
			t.Errorf("gatherkit %q: exit %d, stderr %q; want %q", test.args, got.Code, got.Stderr, want)
		}
	}
}

func TestWrongUsage(t *testing.T) {
	for _, args := range [][]string{
		{"frobnicate"},
		{"help", "frobnicate"},
		{"serve", "--nope"},
		{"user", "--nope"},
		{"backup"},
		{"user", "add", "--email=" + program.Email},
		{"user", "add", "--account=A", "--name=B", "--email=" + program.Email, "--role=king"},
		{"user", "add", "--account=A", "--name=B", "--email=" + program.Email},
		{"user", "add", "--new-account", "--account=A", "--name=B", "--email=" + program.Email, "--role=admin"},
		{"account", "create", "A", "--owner-email=" + program.Email, "--owner-name=B"},
		{"account", "create", "A", "--public-url=https://f.example"},
		{"account", "create", "A", "--stdin", "--public-url=https://f.example"},
		{"serve", "--submit-rate=-1"},
		{"demo", "--listen=8080"},
		{"serve", "--database=mysql://ada:hunter2@127.0.0.1/db"},
	} {
		got := program.Execute(t, nil, "", args...)
		lines := strings.Split(got.Stderr, "\n")
		if got.Code != 2 || got.Stdout != "" || len(lines) != 3 || !strings.HasPrefix(lines[0], "gatherkit: ") ||
			lines[1] != "Run gatherkit --help for usage." || strings.Contains(got.Stderr, "hunter2") {
			t.Errorf("gatherkit %q: exit %d, stdout %q, stderr %q", args, got.Code, got.Stdout, got.Stderr)
		}
	}
}
