package e2e_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"gatherkit/e2e/program"
)

var shellBlock = regexp.MustCompile("(?s)```sh\n(.*?)```")

// TestReadme runs every shell command of README.md in order, on a copy of the sources.
func TestReadme(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	var blocks []string
	for _, match := range shellBlock.FindAllStringSubmatch(string(readme), -1) {
		blocks = append(blocks, match[1])
	}
	if len(blocks) != 6 {
		t.Fatalf("README.md has %d shell blocks; this test expects 6", len(blocks))
	}
	copied := copySources(t)
	t.Run("demo", func(t *testing.T) { playDemo(t, copied, blocks[0]) })
	t.Run("tests", func(t *testing.T) {
		// A dry run, because the command runs this test, too.
		out, err := command(t, copied, "", strings.Replace(blocks[1], "make", "make --dry-run", 1)).CombinedOutput()
		if err != nil || !strings.Contains(string(out), ".ci/gate") {
			t.Errorf("%s: %v\n%s", blocks[1], err, out)
		}
	})
	t.Run("serve", func(t *testing.T) { playServe(t, copied, blocks[2:]) })
}

// copySources copies all files that git does not ignore to a new folder.
func copySources(t *testing.T) string {
	t.Helper()
	to := t.TempDir()
	script := `git ls-files -z --cached --others --exclude-standard | tar --null --ignore-failed-read -cf - -T - | tar -xf - -C "` + to + `"`
	out, err := command(t, "..", "", script).CombinedOutput()
	if err != nil {
		t.Fatalf("copy the sources: %v\n%s", err, out)
	}
	return to
}

// command returns a command that runs a shell script in a folder.
func command(t *testing.T, folder, address, script string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", script)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "GOFLAGS=-buildvcs=false "+os.Getenv("GOFLAGS"))
	if address != "" {
		cmd.Env = append(cmd.Env, "GATHERKIT_LISTEN="+address)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	return cmd
}

// background runs a shell script until the test ends, and returns the path of its output.
func background(t *testing.T, folder, address, script string) string {
	t.Helper()
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := command(t, folder, address, script)
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
		_ = cmd.Wait()
		_ = out.Close()
	})
	return out.Name()
}

// playDemo runs the demo and the calls that it prints.
func playDemo(t *testing.T, folder, script string) {
	out := background(t, folder, "", script)
	var printed string
	program.Eventually(t, "the demo prints its calls", func() bool {
		text, err := os.ReadFile(out)
		printed = string(text)
		return err == nil && strings.Contains(printed, "widget-submit-request") && strings.HasSuffix(printed, "\n\n")
	})
	var calls []string
	for line := range strings.SplitSeq(printed, "\n") {
		if call, ok := strings.CutPrefix(line, "  "); ok {
			calls = append(calls, call)
		}
	}
	if len(calls) != 5 {
		t.Fatalf("the demo prints %d calls:\n%s", len(calls), printed)
	}
	address := regexp.MustCompile(`http://127\.0\.0\.1:\d+`).FindString(printed)
	program.Eventually(t, "the demo answers", func() bool { return program.Answers(t, address+"/readyz") })
	answer, err := command(t, folder, "", strings.Join(calls, "\necho\n")).Output()
	if err != nil || strings.Count(string(answer), `{"ok":true`) != 4 {
		t.Errorf("%v\n%s", err, answer)
	}
}

// playServe builds the program, runs it in the background, and makes the documented calls.
func playServe(t *testing.T, folder string, blocks []string) {
	address := program.FreeAddress(t)
	build, serve, _ := strings.Cut(blocks[0], "\n")
	if out, err := command(t, folder, address, build).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", build, err, out)
	}
	background(t, folder, address, "exec "+serve)
	program.Eventually(t, "the service answers", func() bool { return program.Answers(t, "http://"+address+"/readyz") })
	script := strings.ReplaceAll(strings.Join(blocks[1:], "\necho\n"), "localhost:8080", address)
	out, err := command(t, folder, address, script).Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	last := strings.LastIndex(string(out), `{"ok":true`)
	if last < 0 {
		t.Fatalf("no answer:\n%s", out)
	}
	var listed struct {
		Result struct {
			Requests []struct{ Title string }
			Total    int `json:"total_count"`
		}
	}
	if err := json.Unmarshal(out[last:], &listed); err != nil || listed.Result.Total != 1 || listed.Result.Requests[0].Title != "Dark mode" {
		t.Errorf("%v\n%s", err, lines)
	}
}
