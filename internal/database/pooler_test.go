package database_test

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"gatherkit/internal/store/storetest"
)

// TestPoolers: PgBouncer works if it pools sessions. If it pools transactions, it is refused, however many
// sessions it has.
func TestPoolers(t *testing.T) {
	migrations := fstest.MapFS{"0001.sql": {Data: []byte("CREATE TABLE a (n {int} NOT NULL);\n")}}
	for mode, refused := range map[string]bool{"session": false, "transaction": true} {
		for _, sessions := range []int{1, 2, 20} {
			if mode == "session" && sessions == 1 {
				continue // even a migration needs two
			}
			t.Run(fmt.Sprintf("%s/%d", mode, sessions), func(t *testing.T) {
				at := storetest.Place{Name: "postgres", Database: pooled(t, mode, sessions)}
				db, err := openWith(at, migrations)
				if err == nil {
					err = db.Close()
				}
				if got := err != nil && strings.Contains(err.Error(), "pool_mode"); got != refused || !refused && err != nil {
					t.Errorf("refused: %v, %v", got, err)
				}
			})
		}
	}
}

// pooled returns the URL of a new database behind a pooler.
func pooled(t *testing.T, mode string, sessions int) string {
	t.Helper()
	server, err := url.Parse(storetest.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	pooler, err := exec.LookPath("pgbouncer")
	if err != nil {
		if pooler, err = exec.LookPath("/usr/sbin/pgbouncer"); err != nil {
			storetest.Missing(t, "postgres", "install it with `apt-get install pgbouncer`")
		}
	}
	_, owner, _ := storetest.Server(t)        // PgBouncer does not run as root either
	folder, err := os.MkdirTemp("", "pooler") // with a short path, as that of a socket must be
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	config := filepath.Join(folder, "pgbouncer.ini")
	text := fmt.Sprintf("[databases]\n* = host=%s port=%s user=postgres\n[pgbouncer]\nlisten_addr =\nunix_socket_dir = %s\n"+
		"auth_type = any\npool_mode = %s\ndefault_pool_size = %d\n", server.Hostname(), server.Port(), folder, mode, sessions)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), pooler, config)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Credential: owner}
	if owner != nil {
		for _, path := range []string{folder, config} {
			if err := os.Chown(path, int(owner.Uid), int(owner.Gid)); err != nil {
				t.Fatal(err)
			}
		}
	}
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // it was killed
		close(ended)
	}()
	t.Cleanup(func() { <-ended })
	var dialer net.Dialer
	for {
		// The socket is there before PgBouncer listens on it.
		if conn, err := dialer.DialContext(t.Context(), "unix", filepath.Join(folder, ".s.PGSQL.6432")); err == nil {
			_ = conn.Close()
			break
		}
		select {
		case <-ended:
			t.Fatal(said.String())
		case <-time.After(5 * time.Millisecond):
		}
	}
	query := url.Values{"host": {folder}, "port": {"6432"}, "sslmode": {"disable"}}
	return "postgres://postgres@" + server.Path + "?" + query.Encode()
}
