package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"gatherkit/internal/store/storetest"
)

// node returns the path of Node.js. If Node.js or the packages of this folder are missing, the
// test ends as storetest.Missing describes.
func node(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("node")
	if err != nil {
		storetest.Missing(t, "browser", "install Node.js with `apt-get install nodejs npm`")
	}
	if _, err := os.Stat("node_modules"); err != nil {
		storetest.Missing(t, "browser", "run `npm ci` in the folder e2e")
	}
	return path
}

// TestOpenAPILint checks docs/openapi.json with an OpenAPI linter.
func TestOpenAPILint(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), node(t), "node_modules/@redocly/cli/bin/cli.js",
		"lint", "--config", "redocly.yaml", filepath.Join("..", "docs", "openapi.json"))
	cmd.Env = append(os.Environ(), "REDOCLY_TELEMETRY=off", "REDOCLY_SUPPRESS_UPDATE_NOTICE=true")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}
