package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gatherkit/e2e/program"
	"gatherkit/internal/store/storetest"
)

func TestMain(m *testing.M) { os.Exit(program.Main(m)) }

// TestRelease builds releases and installs them as docs/operating.md says.
func TestRelease(t *testing.T) {
	for tool, name := range map[string]string{"dpkg-deb": "dpkg", "rpmbuild": "rpm"} {
		if _, err := exec.LookPath(tool); err != nil {
			storetest.Missing(t, "rpm", "install it with `apt-get install "+name+"`")
		}
	}
	t.Setenv("SOURCE_DATE_EPOCH", "1767225600")
	folder := buildRelease(t, "..", "1.2.3", "linux/amd64")
	t.Run("twice", func(t *testing.T) { buildTwice(t, folder) })
	before := buildRelease(t, "..", "1.2.2", "linux/amd64")
	do(t, folder, "sh", "-c", `cp "$0"/*.deb "$0"/*.rpm .`, before)
	t.Run("archive", func(t *testing.T) { installArchive(t, folder) })
	t.Run("deb", func(t *testing.T) { installDeb(t, folder) })
	t.Run("rpm", func(t *testing.T) { installRPM(t, folder) })
	t.Run("container", func(t *testing.T) { runContainer(t, folder) })
	t.Run("arm64", func(t *testing.T) {
		storetest.Proof(t)
		runARM(t, buildRelease(t, "..", "1.2.3", "linux/arm64"))
	})
}

// buildRelease builds the files of a platform from the sources in a folder, and returns where they are.
func buildRelease(t *testing.T, sources, version, platform string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "dist")
	do(t, sources, "go", "run", "./release", "-version", version, "-only", platform, "-out", out)
	return out
}

// buildTwice builds the release in another folder, as somebody whose files others may not read: the files are equal.
func buildTwice(t *testing.T, folder string) {
	elsewhere := t.TempDir()
	do(t, "..", "sh", "-c", `git ls-files -z --cached --others --exclude-standard | tar --null -T - -c | tar -x -C "$0"`, elsewhere)
	out := filepath.Join(t.TempDir(), "dist")
	do(t, elsewhere, "sh", "-c", `umask 077 && go run ./release -version 1.2.3 -only linux/amd64 -out "$0"`, out)
	first, second := read(t, folder, "SHA256SUMS"), read(t, out, "SHA256SUMS")
	if first != second || strings.Count(first, "\n") != 5 {
		t.Errorf("the sums differ:\n%s\n%s", first, second)
	}
	if bill := read(t, folder, "gatherkit_1.2.3_linux_amd64.cdx.json"); !strings.Contains(bill, "pkg:golang/modernc.org/sqlite@v") {
		t.Errorf("the bill of materials is %s", bill)
	}
}

// do runs a program in a folder and returns what it prints.
func do(t *testing.T, folder, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = folder
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
	return string(out)
}

func read(t *testing.T, folder, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestVersions(t *testing.T) {
	for version, want := range map[string]bool{
		"1.2.3": true, "1.2.3-rc.1": true, "v1.2.3": false, "1.2": false, "": false, "1.2.3 -X": false, "1.2.3\n": false,
	} {
		if versions.MatchString(version) != want {
			t.Errorf("%q", version)
		}
	}
	for version, want := range map[string]string{"1.2.3": "1.2.3", "1.2.3-rc.1": "1.2.3~rc.1"} {
		if got := (release{version: version}).sorted(); got != want {
			t.Errorf("packages write %s as %s; want %s", version, got, want)
		}
	}
}
