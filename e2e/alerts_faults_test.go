package e2e_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gatherkit/e2e/program"
	"gatherkit/internal/mail/mailtest"
	"gatherkit/internal/store/storetest"
)

// fault makes an alert fire by what the alert is about.
type fault struct {
	alert    string
	postgres bool // whether the service uses PostgreSQL and not SQLite
	cause    func(t *testing.T, w *watched)
	start    func(t *testing.T, args ...string) *program.Process // nil for program.Start
}

var faults = []fault{
	{"GatherkitDown", false, func(t *testing.T, w *watched) { w.Kill(t) }, nil},
	{"GatherkitDatabaseDown", true, func(t *testing.T, w *watched) { w.refuse(t) }, nil},
	{"GatherkitRefusesCalls", true, func(t *testing.T, w *watched) {
		w.lock(t, "request_counts", "SHARE") // for longer than calls wait
		w.crowd(t, 16, w.tries)
	}, nil},
	{"GatherkitDefect", true, func(t *testing.T, w *watched) {
		w.sql(t, "ALTER TABLE comments RENAME TO remarks")
		id := w.Submit(t, w.key, "T")
		w.Want(t, "api.internal", "comments-list", w.token, program.Params{"request_id": id})
	}, nil},
	{"GatherkitSlow", true, func(t *testing.T, w *watched) {
		w.crowd(t, 8, w.tries)
		db := w.place.Raw(t)
		w.crowd(t, 1, func() {
			_, _ = db.Exec("DO $$ BEGIN LOCK TABLE request_counts IN SHARE MODE; PERFORM pg_sleep(1.5); END $$")
		})
	}, nil},
	{"GatherkitManyWritesWait", true, func(t *testing.T, w *watched) {
		w.crowd(t, 600, w.tries)
		w.lock(t, "request_counts", "SHARE")
	}, nil},
	{"GatherkitConnectionsRunOut", false, func(t *testing.T, w *watched) {
		for range 115 { // of 128
			conn, err := net.Dial("tcp", strings.TrimPrefix(w.Process.URL, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = conn.Close() })
		}
	}, fewFiles},
	{"GatherkitWorkFails", true, func(t *testing.T, w *watched) { w.sql(t, "ALTER TABLE purges RENAME TO lost") }, nil},
	{"GatherkitWorkStalls", true, func(t *testing.T, w *watched) { w.lock(t, "leases", "ACCESS EXCLUSIVE") }, nil},
	{"GatherkitSetAside", true, func(t *testing.T, w *watched) {
		w.sql(t, "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused by a test'; END $$")
		w.sql(t, "CREATE TRIGGER refuse BEFORE INSERT ON index_documents FOR EACH ROW EXECUTE FUNCTION refuse()")
		w.Submit(t, w.key, "T")
	}, nil},
	{"GatherkitIndexBehind", true, func(t *testing.T, w *watched) {
		w.lock(t, "index_followed", "SHARE")
		w.crowd(t, 16, w.tries)
	}, nil},
	{"GatherkitPurgeStalls", true, func(t *testing.T, w *watched) {
		w.Submit(t, w.key, "T")
		w.lock(t, "requests", "SHARE")
		apps := w.Want(t, "ok", "apps-list", w.token, program.Params{}).Apps
		w.Want(t, "ok", "apps-delete", w.token, program.Params{"id": apps[0].ID})
	}, nil},
	{"GatherkitMailDown", false, func(t *testing.T, w *watched) { w.invite(t) }, func(t *testing.T, args ...string) *program.Process {
		return startWithMail(t, "smtp://"+program.FreeAddress(t)+"?from=f@example.com", args...)
	}},
	{"GatherkitMailWaits", false, func(t *testing.T, w *watched) {
		w.sql(t, "CREATE TRIGGER refuse BEFORE UPDATE ON mails BEGIN SELECT RAISE(ABORT, 'refused by a test'); END")
		w.invite(t)
	}, func(t *testing.T, args ...string) *program.Process {
		return startWithMail(t, mailtest.New(t).URL, args...)
	}},
	{"GatherkitWebhooksFail", true, func(t *testing.T, w *watched) {
		receiver := httptest.NewServer(http.NotFoundHandler())
		t.Cleanup(receiver.Close)
		w.Want(t, "ok", "webhooks-create", w.token, program.Params{"name": "Down", "url": receiver.URL})
		w.Submit(t, w.key, "T")
	}, func(t *testing.T, args ...string) *program.Process {
		return program.Start(t, append(args, "--webhook-allow=127.0.0.0/8")...)
	}},
	{"GatherkitDiskFills", false, func(t *testing.T, w *watched) {
		if err := os.WriteFile(filepath.Join(w.place.Folder, "uploads", "file"), make([]byte, 15<<20), 0o600); err != nil {
			t.Fatal(err)
		}
	}, smallDisk},
	{"GatherkitFileErrors", false, func(t *testing.T, w *watched) {
		folder := filepath.Join(w.place.Folder, "uploads", "incoming")
		target, _ := announced(t, announce(t, w.Process, w.key, "a.txt", "text/plain", 5))
		if err := os.RemoveAll(folder); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(folder, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		put(t, http.DefaultClient, w.Process.URL+target, []byte("words"), nil)
	}, nil},
	{"GatherkitFilesMissing", false, func(t *testing.T, w *watched) {
		s := stored{w.Process, w.place, filepath.Join(w.place.Folder, "uploads"), w.key}
		if err := os.Remove(s.submit(t, "words")); err != nil {
			t.Fatal(err)
		}
		request := w.Want(t, "ok", "requests-list", w.token, program.Params{}).Requests[0]
		if status, _ := get(t, w.Process.URL+request.Attachments[0].URL); status != http.StatusNotFound {
			t.Errorf("a missing file: %d", status)
		}
	}, nil},
	{"GatherkitWriteAheadLogGrows", false, func(t *testing.T, w *watched) {
		reader, err := w.place.Raw(t).Begin() // keeps SQLite from emptying the log
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = reader.Rollback() })
		var n int
		if err := reader.QueryRow("SELECT COUNT(*) FROM requests").Scan(&n); err != nil {
			t.Fatal(err)
		}
		w.sql(t, "CREATE TABLE large (content BLOB)")
		for range 6 {
			w.sql(t, "INSERT INTO large VALUES (zeroblob(100000000))")
		}
	}, nil},
	{"GatherkitPasswordGuesses", false, func(t *testing.T, w *watched) {
		w.crowd(t, 1, func() {
			_, _ = w.Call("auth-login", "", program.Params{"email": "ada@example.com", "password": "a wrong guess"})
		})
	}, nil},
	{"GatherkitVersionsDiffer", true, func(t *testing.T, w *watched) {
		other := program.FreeAddress(t)
		binary := program.BuildWith(t, "-ldflags=-X main.version=v9.9.9")
		program.StartBinary(t, binary, program.FreeAddress(t), nil, append(program.At(w.place), "--metrics-listen="+other)...)
		w.scrape(t, w.metrics, other)
	}, nil},
}

// TestAlerts lets each alert fire once by its real fault, after Prometheus has seen the service well.
func TestAlerts(t *testing.T) {
	storetest.Proof(t)
	t.Parallel()
	for _, name := range alertNames(t) {
		if !slices.ContainsFunc(faults, func(f fault) bool { return f.alert == name }) {
			t.Errorf("no fault lets %s fire", name)
		}
	}
	for _, f := range faults {
		t.Run(f.alert, func(t *testing.T) {
			t.Parallel()
			place := storetest.SQLite(t)
			if f.postgres {
				place = storetest.Place{Name: "postgres", Database: storetest.Postgres(t)}
			}
			start := f.start
			if start == nil {
				start = program.Start
			}
			w := watch(t, place, start)
			f.cause(t, w)
			program.Eventually(t, f.alert+" fires", func() bool { return w.firing(t, f.alert) })
		})
	}
}

// invite lets the service send a mail.
func (w *watched) invite(t *testing.T) {
	t.Helper()
	w.Want(t, "ok", "users-invite", w.token, program.Params{"email": "grace@example.com", "name": "Grace", "role": "member", "send": true})
}

func startWithMail(t *testing.T, server string, args ...string) *program.Process {
	t.Helper()
	return program.Start(t, append(args, "--smtp="+server, "--public-url=http://127.0.0.1")...)
}

// smallDisk starts a service whose attached files are on a disk of 16 MiB.
func smallDisk(t *testing.T, args ...string) *program.Process {
	t.Helper()
	mountDisk(t, filepath.Join(strings.TrimPrefix(args[0], "--data="), "uploads"), "16m")
	return program.Start(t, args...)
}

// mountDisk makes a folder that is a disk of its own, until the test ends.
func mountDisk(t *testing.T, folder, size string) {
	t.Helper()
	if os.Geteuid() != 0 {
		storetest.Missing(t, "root", "run the tests as root, because they mount file systems")
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "mount", "-t", "tmpfs", "-o", "size="+size, "tmpfs", folder).CombinedOutput(); err != nil {
		t.Fatalf("mount: %v\n%s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.CommandContext(context.WithoutCancel(t.Context()), "umount", "--lazy", folder).CombinedOutput(); err != nil {
			t.Errorf("umount: %v\n%s", err, out)
		}
	})
}

// fewFiles starts a service that may open 256 files, and so accepts 128 connections.
func fewFiles(t *testing.T, args ...string) *program.Process {
	t.Helper()
	script := filepath.Join(t.TempDir(), "few")
	if err := os.WriteFile(script, []byte("#!/bin/sh\nulimit -n 256\nexec "+program.Build(t)+" \"$@\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return program.StartBinary(t, script, program.FreeAddress(t), nil, args...)
}

// refuse lets the server refuse the service until the test ends, and ends its connections.
func (w *watched) refuse(t *testing.T) {
	t.Helper()
	u, err := url.Parse(w.place.Database)
	if err != nil {
		t.Fatal(err)
	}
	name := strings.TrimPrefix(u.Path, "/")
	u.Path = "/postgres"
	db, err := sql.Open("pgx", u.String())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // nothing is left to do
	for _, statement := range []string{
		"ALTER DATABASE " + name + " ALLOW_CONNECTIONS false",
		"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '" + name + "'",
	} {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
}

// TestGrafanaDashboard asks Prometheus for what each panel shows.
func TestGrafanaDashboard(t *testing.T) {
	storetest.Proof(t)
	t.Parallel()
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal([]byte(program.Read(t, "deploy/grafana.json")), &dashboard); err != nil {
		t.Fatal(err)
	}
	w, shown := watch(t, storetest.SQLite(t), func(t *testing.T, args ...string) *program.Process {
		return startWithMail(t, "smtp://127.0.0.1?from=f@example.com", args...)
	}), 0
	w.crowd(t, 1, w.tries)
	w.crowd(t, 1, func() {
		_, _ = w.Call("auth-login", "", program.Params{"email": "ada@example.com", "password": "a wrong guess"})
	})
	for _, panel := range dashboard.Panels {
		for _, target := range panel.Targets {
			query := strings.NewReplacer("$__rate_interval", "10s", "$instance", ".*").Replace(target.Expr)
			program.Eventually(t, panel.Title+" shows something", func() bool { return len(w.asks(t, query).Data.Result) > 0 })
			shown++
		}
	}
	if shown < 25 {
		t.Errorf("the dashboard shows %d things", shown)
	}
}
