package storetest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Strace runs a test of the calling package in a process of its own, with additional environment
// variables, and returns the log of its system calls. args are for strace: they choose the calls,
// and can make them fail. Without strace on the machine it does what Missing does for "strace".
func Strace(t *testing.T, test string, settings []string, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath("strace"); err != nil {
		Missing(t, "strace", "install it with `apt-get install strace`")
	}
	log := filepath.Join(t.TempDir(), "log")
	args = append([]string{"-f", "-qq", "-o", log}, args...)
	command := exec.CommandContext(t.Context(), "strace", append(args, os.Args[0], "-test.v", "-test.run=^"+test+"$")...)
	command.Env = append(os.Environ(), settings...)
	output, err := command.CombinedOutput()
	if err != nil || !strings.Contains(string(output), "--- PASS: "+test) {
		t.Fatalf("%v: %s", err, output)
	}
	calls, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	return string(calls)
}
