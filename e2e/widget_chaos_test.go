package e2e_test

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"

	"gatherkit/e2e/program"
	"gatherkit/internal/store/storetest"
)

// TestWidgetChaos runs chaos.test.mjs, which sends ideas while the network, the tabs and the
// service fail. Each call to the control server kills and restarts the service.
func TestWidgetChaos(t *testing.T) {
	storetest.Proof(t)
	t.Parallel()
	inBrowser := newBrowserTest(t)
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
	inBrowser.run(t, []string{
		"URL=" + p.URL, "KEY=" + key, "TOKEN=" + token, "CONTROL=" + control.URL, "IDEAS=" + strconv.Itoa(program.Times(80, 300)),
	}, "chaos.test.mjs")
}
