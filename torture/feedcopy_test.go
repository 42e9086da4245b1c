package torture_test

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gatherkit/e2e/program"
	"gatherkit/internal/store/storetest"
)

const feedcopy = "docs/examples/feedcopy"

// TestFeedCopy runs the example that copies all requests by the feed, while a team changes them in every
// way, and kills it and the service at random moments. In the end, each request must be equal to its copy.
// On PostgreSQL, there are two processes.
func TestFeedCopy(t *testing.T) {
	parallel(t)
	storetest.EachInTurn(t, func(t *testing.T, place storetest.Place) {
		c := newCopying(t, place, program.BuildPackage(t, feedcopy))
		for range program.Times(2, 10) {
			for range program.Times(5, 10) {
				c.round(t)
			}
			c.purge(t)
		}
		if wrong := c.compare(t); wrong != "" {
			t.Errorf("the copy is different:\n%s", wrong)
		}
		measured(t, "%d times kill -9 of the example and %d times of the service, %d changes: %d requests equal to their copies",
			c.kills, c.killsOfService, c.team.changes(t), c.compared)
	})
}

// TestFeedCopyOfPositionFirst is the control: a copy that stores the position before the data must lose
// changes. Otherwise, TestFeedCopy proves nothing.
func TestFeedCopyOfPositionFirst(t *testing.T) {
	storetest.Proof(t)
	parallel(t)
	const begins = "records := map[string]json.RawMessage{}"
	const first = `if err := c.db.write(ctx, func(tx *sql.Tx) error { return p.end().store(ctx, tx) }); err != nil {
			return position{}, err
		}
		`
	binary := program.BuildPackage(t, feedcopy, replacing(t, "../"+feedcopy+"/main.go", begins, first+begins)...)
	c := newCopying(t, storetest.SQLite(t), binary)
	for range 20 {
		for range 5 {
			c.round(t)
		}
		if wrong := c.compare(t); wrong != "" {
			measured(t, "control that stores the position first: different after %d kills", c.kills)
			return
		}
	}
	t.Errorf("the copy is equal after %d kills, although it stores the position first", c.kills)
}

// TestFeedCopyOfRestoredService restores an older copy of the service's database while the example runs.
// The log then ends before the position of the example, or goes on past it with other events.
func TestFeedCopyOfRestoredService(t *testing.T) {
	storetest.Proof(t)
	parallel(t)
	for name, changes := range map[string]int{"position ahead": 0, "position passed": 60} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			place := storetest.SQLite(t)
			c := newCopying(t, place, program.BuildPackage(t, feedcopy))
			c.start(t)
			c.team.change(t, 20)
			older := t.TempDir()
			c.killService(t, func() { copyFolder(t, place.Folder, older) })
			c.team.change(t, 20)
			c.wantEnd(t)
			c.killService(t, func() {
				if err := os.RemoveAll(place.Folder); err != nil {
					t.Fatal(err)
				}
				copyFolder(t, older, place.Folder)
				// The example does not reach this process.
				p := program.Start(t, program.At(place)...)
				newTeam(t, []program.Client{program.NewClient(t, p)}, c.token).change(t, changes)
				p.Kill(t)
			})
			if wrong := c.compare(t); wrong != "" {
				t.Errorf("the copy is different:\n%s", wrong)
			}
			if n := strings.Count(c.log.String(), "copying all requests"); n != 2 {
				t.Errorf("copied all requests %d times, want 2:\n%s", n, c.log.Tail())
			}
		})
	}
}

// TestFeedCopyEnds checks that the example ends when it is interrupted, and says so when its token is not
// enough.
func TestFeedCopyEnds(t *testing.T) {
	parallel(t)
	c := newCopying(t, storetest.SQLite(t), program.BuildPackage(t, feedcopy))
	c.start(t)
	c.wantEnd(t)
	if err := c.running.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	<-c.exited
	if code := c.running.ProcessState.ExitCode(); code != 0 {
		t.Errorf("interrupted: exit %d\n%s", code, c.log.Tail())
	}
	c.secret = c.clients[0].Want(t, "ok", "tokens-create", c.token, program.Params{"name": "Copy", "scope": "member"}).Secret
	c.start(t)
	<-c.exited
	if code := c.running.ProcessState.ExitCode(); code == 0 || !strings.Contains(c.log.String(), "scope admin") {
		t.Errorf("as a member: exit %d\n%s", code, c.log.Tail())
	}
}

func copyFolder(t *testing.T, from, to string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}

// copying is a service with a team that changes requests, and the example that copies them.
type copying struct {
	place     storetest.Place
	processes []*program.Process
	clients   []program.Client
	token     string // of the owner
	team      *team
	binary    string // of the example
	secret    string // the example's token
	file      string // the example's database
	running   *exec.Cmd
	exited    chan struct{} // closed when the example has exited
	log       program.Output

	kills, killsOfService, compared int
}

func newCopying(t *testing.T, place storetest.Place, binary string) *copying {
	t.Helper()
	program.AddOwner(t, place)
	c := &copying{place: place, binary: binary, file: filepath.Join(t.TempDir(), "copy.db")}
	c.processes = append(c.processes, program.Start(t, program.At(place)...))
	if place.Database != "" {
		c.processes = append(c.processes, program.Start(t, program.At(place)...))
	}
	for _, p := range c.processes {
		c.clients = append(c.clients, program.NewClient(t, p))
	}
	c.token = c.clients[0].Login(t)
	c.secret = c.clients[0].Want(t, "ok", "tokens-create", c.token, program.Params{"name": "Copy", "kind": "service", "scope": "admin"}).Secret
	c.team = newTeam(t, c.clients, c.token)
	c.team.change(t, 200) // there is something to copy
	return c
}

// start starts the example, in turn with each of the service's processes.
func (c *copying) start(t *testing.T) {
	t.Helper()
	c.running, c.exited = exec.CommandContext(t.Context(), c.binary, c.file), make(chan struct{})
	c.running.Env = append(program.CleanEnvironment(), "GATHERKIT_URL="+c.processes[c.kills%len(c.processes)].URL, "GATHERKIT_TOKEN="+c.secret)
	c.running.Stderr = &c.log
	program.Launch(t, c.running, c.exited)
}

// kill kills the example.
func (c *copying) kill(t *testing.T) {
	t.Helper()
	if err := c.running.Process.Kill(); err != nil {
		t.Fatalf("%v:\n%s", err, c.log.Tail())
	}
	<-c.exited
	c.kills++
}

// killService kills all processes of the service, and starts them again after do.
func (c *copying) killService(t *testing.T, do func()) {
	t.Helper()
	for _, p := range c.processes {
		p.Kill(t)
	}
	do()
	for i, p := range c.processes {
		c.processes[i] = program.StartOn(t, p.Address, nil, program.At(c.place)...)
		c.clients[i].HTTP.CloseIdleConnections()
	}
	c.killsOfService++
}

// round runs the example for a moment while the team works, and often kills the service meanwhile.
func (c *copying) round(t *testing.T) {
	t.Helper()
	const moment = 150 * time.Millisecond
	c.start(t)
	worked := make(chan struct{})
	go func() {
		defer close(worked)
		c.team.change(t, 20)
	}()
	<-time.After(rand.N(moment))
	if rand.IntN(2) == 0 {
		c.killService(t, func() {})
		<-time.After(rand.N(moment))
	}
	c.kill(t)
	<-worked
}

// purge makes the service remove all requests in the bin for good, as if they had been there for 31 days.
func (c *copying) purge(t *testing.T) {
	t.Helper()
	c.killService(t, func() {
		db := c.place.Raw(t)
		for _, statement := range []string{
			fmt.Sprintf("UPDATE requests SET updated_at = updated_at - %d WHERE box = 'bin'", 31*day/time.Microsecond),
			"UPDATE leases SET until = 0",
		} {
			if _, err := db.ExecContext(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
	})
	program.Eventually(t, "the bin is empty", func() bool {
		return c.clients[0].Want(t, "ok", "requests-list", c.token, program.Params{"box": "bin"}).TotalCount == 0
	})
}

// wantEnd waits until the copy is at the end of the log.
func (c *copying) wantEnd(t *testing.T) {
	t.Helper()
	end := c.clients[0].Want(t, "ok", "events-list", c.token, program.Params{}).Position
	db := c.open(t)
	program.Eventually(t, "the copy is at the end of the log", func() bool {
		select {
		case <-c.exited:
			t.Fatalf("the example exited:\n%s", c.log.Tail())
		default:
		}
		var position int64
		return db.QueryRow("SELECT number FROM position").Scan(&position) == nil && position == end
	})
}

// open opens the copy.
func (c *copying) open(t *testing.T) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+c.file+"?_pragma=busy_timeout(10000)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// compare runs the example until it has read everything, and returns how the copy differs from the
// requests, as requests-list and requests-get return them.
func (c *copying) compare(t *testing.T) string {
	t.Helper()
	select {
	case <-c.exited:
		c.start(t)
	default:
	}
	c.wantEnd(t)
	c.kill(t)
	copied := map[string]any{}
	rows, err := c.open(t).Query("SELECT id, record FROM requests")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close() //nolint:errcheck // Err returns all errors that matter
	for rows.Next() {
		var id, record string
		if err := rows.Scan(&id, &record); err != nil {
			t.Fatal(err)
		}
		var fields any
		if err := json.Unmarshal([]byte(record), &fields); err != nil {
			t.Fatal(err)
		}
		copied[id] = fields
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	listed := c.listed(t)
	c.compared = len(listed)
	for id, fields := range listed {
		one := c.result(t, "requests-get", program.Params{"id": id})["request"]
		if diff := cmp.Diff(one, fields); diff != "" {
			t.Errorf("requests-get and requests-list differ:\n%s", diff)
		}
	}
	return cmp.Diff(listed, copied)
}

// listed returns all fields of all requests by id.
func (c *copying) listed(t *testing.T) map[string]any {
	t.Helper()
	all := map[string]any{}
	for in := (program.Params{"limit": 200}); ; {
		page := c.result(t, "requests-list", in)
		for _, r := range page["requests"].([]any) {
			all[r.(map[string]any)["id"].(string)] = r
		}
		if page["has_more"] != true {
			return all
		}
		in["cursor"] = page["next_cursor"]
	}
}

// result makes a call and returns all fields of its result.
func (c *copying) result(t *testing.T, operation string, in program.Params) map[string]any {
	t.Helper()
	body, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.clients[0].URL+"/api/"+operation, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+c.token)
	response, err := c.clients[0].HTTP.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // the body is read below
	var answer struct {
		OK     bool
		Result map[string]any
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil || !answer.OK {
		t.Fatalf("%s: %s %v", operation, response.Status, err)
	}
	return answer.Result
}
