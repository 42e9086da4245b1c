package main

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"testing"

	"gatherkit/e2e/program"
	"gatherkit/internal/store/storetest"
)

// runARM runs the files for ARM in an emulator.
func runARM(t *testing.T, folder string) {
	emulator, err := exec.LookPath("qemu-aarch64-static")
	if err != nil {
		storetest.Missing(t, "qemu", "install it with `apt-get install qemu-user-static`")
	}
	if got := do(t, folder, "dpkg-deb", "--field", "gatherkit_1.2.3_arm64.deb", "Version", "Architecture"); got !=
		"Version: 1.2.3\nArchitecture: arm64\n" {
		t.Errorf("the Debian package is %s", got)
	}
	if got := do(t, folder, "rpm", "-qp", "--qf", "%{VERSION} %{ARCH} %{OS}", "gatherkit_1.2.3_aarch64.rpm"); got != "1.2.3 aarch64 linux" {
		t.Errorf("the package for rpm is %s", got)
	}
	var config struct{ Architecture string }
	text := do(t, folder, "tar", "--extract", "--to-stdout", "--file", "gatherkit_1.2.3_linux_arm64.docker.tar", "config.json")
	if err := json.Unmarshal([]byte(text), &config); err != nil || config.Architecture != "arm64" {
		t.Errorf("the image is for %q, %v", config.Architecture, err)
	}

	do(t, folder, "tar", "-xzf", "gatherkit_1.2.3_linux_arm64.tar.gz")
	binary := filepath.Join(folder, "gatherkit")
	var version struct{ Version, Platform string }
	if err := json.Unmarshal([]byte(do(t, folder, emulator, binary, "version", "--json")), &version); err != nil ||
		version.Version != "1.2.3" || version.Platform != "linux/arm64" {
		t.Errorf("the version is %+v, %v", version, err)
	}
	address := program.FreeAddress(t)
	cmd := exec.CommandContext(t.Context(), emulator, binary, "serve", "--data", t.TempDir(), "--listen", address)
	cmd.Env = program.CleanEnvironment()
	program.Launch(t, cmd, make(chan struct{}))
	program.Eventually(t, "the service answers", func() bool { return program.Answers(t, "http://"+address+"/readyz") })
	do(t, folder, emulator, binary, "healthcheck", "--url", "http://"+address)
}
