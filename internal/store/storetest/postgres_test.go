package storetest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

func query(t *testing.T, database, q string) string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := conn.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	var answer string
	if err := conn.QueryRow(t.Context(), q).Scan(&answer); err != nil {
		t.Fatalf("%s: %v", q, err)
	}
	return answer
}

func TestPostgresGivesSeparateEmptyDatabases(t *testing.T) {
	urls := make(chan string, 4)
	t.Run("all", func(t *testing.T) {
		for i := range cap(urls) {
			t.Run(strconv.Itoa(i), func(t *testing.T) {
				t.Parallel()
				database := Postgres(t)
				urls <- database
				for q, want := range map[string]string{
					"SELECT count(*)::text FROM pg_stat_user_tables": "0",
					"SHOW server_encoding":                           "UTF8",
					"SHOW listen_addresses":                          "127.0.0.1",
					"SHOW unix_socket_directories":                   "",
					"SHOW max_connections":                           "400",
					"SHOW fsync":                                     "off",
					"SELECT datcollate || ' ' || datctype FROM pg_database WHERE datname = current_database()": "C.UTF-8 C.UTF-8",
				} {
					if got := query(t, database, q); got != want {
						t.Errorf("%s: got %q, want %q", q, got, want)
					}
				}
			})
		}
	})
	close(urls)
	seen := map[string]bool{}
	for database := range urls {
		if seen[database] {
			t.Errorf("%s was given twice", database)
		}
		seen[database] = true
		if conn, err := pgx.Connect(t.Context(), database); err == nil {
			t.Errorf("%s is there after its test", database)
			if err := conn.Close(t.Context()); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestPostgresListensBelowTheEphemeralPorts(t *testing.T) {
	if port := portOf(t, Postgres(t)); port >= 32768 {
		t.Fatalf("port %d is one that clients get", port)
	}
}

func portOf(t *testing.T, database string) int {
	t.Helper()
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(u.Port())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// recorder is a test that notes how it was ended.
type recorder struct {
	testing.TB
	failed, skipped string
}

func (r *recorder) Helper() {}

func (r *recorder) Fatalf(format string, args ...any) {
	r.failed = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func (r *recorder) Skipf(format string, args ...any) {
	r.skipped = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func TestMissingFailsWhatIsRequiredAndSkipsTheRest(t *testing.T) {
	const message = "this test needs postgres: install it"
	for _, test := range []struct{ require, failed, skipped string }{
		{"", "", message},
		{"browser", "", message},
		{"postgresql", "", message},
		{"postgres", message, ""},
		{"browser,postgres", message, ""},
		{"browser, postgres", message, ""},
	} {
		t.Setenv("REQUIRE", test.require)
		var r recorder
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			Missing(&r, "postgres", "install it")
		}()
		<-ended
		if r.failed != test.failed || r.skipped != test.skipped {
			t.Errorf("REQUIRE=%q: failed with %q, skipped with %q", test.require, r.failed, r.skipped)
		}
	}
}

// The test runs itself in another process, which ends in the way that an
// environment variable names, and then looks for what that process left.
func TestServerEndsWithTheTestProcess(t *testing.T) {
	const variable = "GATHERKIT_TEST_END"
	switch how := os.Getenv(variable); how {
	case "":
	case "by itself":
		fmt.Println("port", portOf(t, Postgres(t)))
		return
	case "by a panic":
		fmt.Println("port", portOf(t, Postgres(t)))
		panic("as asked")
	case "by kill":
		fmt.Println("port", portOf(t, Postgres(t)))
		t.Fatal(syscall.Kill(os.Getpid(), syscall.SIGKILL))
	case "by kill during the start":
		Postgres(t)
		t.Fatal("the start was over too early")
	}
	Postgres(t) // or the test is skipped
	for _, how := range []string{"by itself", "by a panic", "by kill", "by kill during the start"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			folder := sharedFolder(t)
			child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestServerEndsWithTheTestProcess$")
			child.Env = append(os.Environ(), variable+"="+how, "TMPDIR="+folder, portVariable+"=")
			stdout, err := child.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := child.Start(); err != nil {
				t.Fatal(err)
			}
			if how == "by kill during the start" {
				await(t, "the server's folder", func() bool { return !isEmpty(t, folder) })
				if err := child.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
			output, err := io.ReadAll(stdout)
			if err != nil {
				t.Fatal(err)
			}
			ended := child.Wait()
			if (how == "by itself") != (ended == nil) {
				t.Fatalf("the process ended %s: %v\n%s", how, ended, output)
			}
			await(t, "the end of the server's folder", func() bool { return isEmpty(t, folder) })
			if how != "by kill during the start" {
				wantDead(t, string(output))
			}
		})
	}
}

// sharedFolder is a temporary folder that the server's user may write to.
func sharedFolder(t *testing.T) string {
	t.Helper()
	folder, err := os.MkdirTemp(parentFolder(), "storetest-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(folder); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chmod(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	return folder
}

func isEmpty(t *testing.T, folder string) bool {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	return len(entries) == 0
}

// wantDead reads the port from a process's output and checks that nobody listens.
func wantDead(t *testing.T, output string) {
	t.Helper()
	lines := bufio.NewScanner(strings.NewReader(output))
	for lines.Scan() {
		if port, ok := strings.CutPrefix(lines.Text(), "port "); ok {
			if conn, err := net.Dial("tcp", "127.0.0.1:"+port); err == nil {
				t.Errorf("port %s still answers", port)
				if err := conn.Close(); err != nil {
					t.Error(err)
				}
			}
			return
		}
	}
	t.Fatalf("the process told no port:\n%s", output)
}

// await waits for something another process does.
func await(t *testing.T, what string, happened func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(Patience)
	for !happened() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("waited %v for %s", Patience, what)
		}
	}
}
