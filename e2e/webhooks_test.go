package e2e_test

import (
	"os"
	"os/exec"
	"testing"

	"gatherkit/e2e/program"
	"gatherkit/internal/store/storetest"
)

// TestWebhooks runs webhooks.test.mjs, which verifies deliveries with the library that receivers use.
func TestWebhooks(t *testing.T) {
	t.Parallel()
	path := node(t)
	place := storetest.SQLite(t)
	p, _, token, app := program.Serve(t, place, "--webhook-allow=127.0.0.0/8")
	cmd := exec.CommandContext(t.Context(), path, "webhooks.test.mjs")
	cmd.Env = append(os.Environ(), "URL="+p.URL, "TOKEN="+token, "KEY="+app.APIKey)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Error(err)
	}
	t.Logf("%s", out)
}
