package e2e_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"testing"

	"gatherkit/e2e/program"
	"gatherkit/internal/store/storetest"
)

// ideas is how many ideas are sent while everything fails.
const ideas = 300

// TestWidgetChaos sends ideas with a real browser while the network, the tabs and the
// service fail; widget/chaos.test.mjs says how, and counts in the end.
func TestWidgetChaos(t *testing.T) {
	node, chromium := node(t), browser(t)
	address, data := program.FreeAddress(t), t.TempDir()
	start := func() *program.Process { return program.StartOn(t, address, nil, "--data", data) }
	p := start()
	token, key := setUp(t, p)
	var mu sync.Mutex
	control := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		p.Kill(t)
		p = start()
	}))
	defer control.Close()
	cmd := exec.CommandContext(t.Context(), node, "--test", "widget/chaos.test.mjs")
	cmd.Env = append(os.Environ(), "URL="+p.URL, "KEY="+key, "TOKEN="+token, "CONTROL="+control.URL, "IDEAS="+strconv.Itoa(ideas), "CHROMIUM="+chromium)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}

// browser returns where Chromium is.
func browser(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		storetest.Missing(t, "browser", "install it with `apt-get install chromium`")
	}
	return path
}
