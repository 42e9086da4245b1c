package torture_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"gatherkit/e2e/program"
	"gatherkit/internal/store/storetest"
)

// TestTerminateBehindFront restarts two replicas in turn, as for an upgrade, while clients
// submit through nginx. No call fails.
func TestTerminateBehindFront(t *testing.T) {
	parallel(t)
	place := storetest.Place{Database: storetest.Postgres(t)}
	program.AddOwner(t, place)
	flags := append(program.At(place), "--submit-rate=0")
	replicas := []*program.Process{program.Start(t, flags...), program.Start(t, flags...)}
	proxy := program.NewClient(t, &program.Process{URL: "http://" + startProxy(t, replicas[0].Address, replicas[1].Address)})
	token := proxy.Login(t)
	l := startLoad(t, 16, proxy.AddApp(t, token).APIKey, proxy)
	ends := program.Times(3, 20)
	for i := range ends {
		l.AwaitMore(t, 300)
		r := replicas[i%2]
		r.Stop(t)
		if code := r.ExitCode(t); code != 0 {
			t.Errorf("exit %d:\n%s", code, r.Stderr.Tail())
		}
		l.AwaitMore(t, 100)
		replicas[i%2] = program.StartOn(t, r.Address, nil, flags...)
	}
	settled := l.settle(t, proxy, token)
	failed := 0
	for _, a := range l.attempts {
		if a.code != "ok" {
			failed++
		}
	}
	if failed > 0 {
		t.Errorf("%d of %d calls failed", failed, len(l.attempts))
	}
	measured(t, "%d times SIGTERM: %s, %d calls failed, the slowest took %v", ends, settled, failed, l.slowest("ok").Round(time.Millisecond))
}

// startProxy runs nginx in front of the upstreams until the test ends, and returns its
// address. It has the settings for replicas from deploy/nginx.conf.
func startProxy(t *testing.T, upstreams ...string) string {
	t.Helper()
	nginx, err := exec.LookPath("nginx")
	if err != nil {
		storetest.Missing(t, "nginx", "install it with `apt-get install nginx-light`, and add /usr/sbin to PATH")
	}
	folder, address, servers := t.TempDir(), program.FreeAddress(t), ""
	for _, upstream := range upstreams {
		servers += "server " + upstream + " max_fails=0; "
	}
	file := filepath.Join(folder, "nginx.conf")
	writeFile(t, file, fmt.Sprintf(`daemon off; master_process off; pid %[1]s/pid; error_log stderr crit; events {}
		http {
			access_log off; client_body_temp_path %[1]s/body; proxy_temp_path %[1]s/proxy;
			upstream gatherkit { %[2]s keepalive 64; keepalive_timeout 60s; }
			server {
				listen %[3]s; client_body_buffer_size 512k;
				location / {
					proxy_pass http://gatherkit; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_next_upstream error timeout;
				}
			}
		}`, folder, servers, address))
	cmd := exec.CommandContext(t.Context(), nginx, "-p", folder, "-c", file)
	cmd.Stderr = os.Stderr
	program.Launch(t, cmd, make(chan struct{}))
	program.Eventually(t, "nginx listens", func() bool {
		conn, err := net.Dial("tcp", address)
		return err == nil && conn.Close() == nil
	})
	return address
}
