package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// content is a file that a package installs, or a file that describes the package.
type content struct {
	text []byte
	mode os.FileMode
}

// addUser makes the user that the service runs as. Packages do not start the service, which needs settings first.
const addUser = `if ! getent passwd gatherkit >/dev/null; then
	useradd --system --user-group --no-create-home --home-dir /var/lib/gatherkit --shell /usr/sbin/nologin gatherkit
fi
`

const (
	// executable is where packages install the program.
	executable = "usr/bin/gatherkit"
	// settings is a file that belongs to the administrator: an upgrade or a removal keeps it.
	settings   = "etc/gatherkit/environment"
	noSettings = "# Settings, one per line, such as GATHERKIT_PUBLIC_URL=https://feedback.example.com. See gatherkit(1).\n"
)

// places are where a distribution has what others have elsewhere.
type places struct{ license, zsh string }

// writeManuals lets the program print its manual page and its completion for shells. It does so on this machine, because
// a program for another platform does not run here.
func (r *release) writeManuals(ctx context.Context) error {
	work, err := os.MkdirTemp("", "release-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }()
	program := filepath.Join(work, "gatherkit")
	if err := r.compile(ctx, runtime.GOOS, runtime.GOARCH, program); err != nil {
		return err
	}
	r.manuals = map[string]content{}
	for _, command := range []string{"man", "completion bash", "completion zsh", "completion fish"} {
		text, err := exec.CommandContext(ctx, program, strings.Fields(command)...).Output() //nolint:gosec // ours
		if err != nil {
			return fmt.Errorf("gatherkit %s: %w", command, err)
		}
		r.manuals[command] = content{text, 0o644}
	}
	return nil
}

// documents are the files that tell how the program is used and run. They keep their places, so that links between them
// work.
func documents() (names []string, err error) {
	names = []string{"README.md", "CHANGELOG.md"}
	for _, folder := range []string{"docs", "deploy"} {
		err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && entry.Type().IsRegular() && filepath.Ext(path) != ".go" {
				names = append(names, filepath.ToSlash(path))
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return names, nil
}

// installed returns what a package installs: the program, its manual page, the completion for shells, its unit for
// systemd, and the license.
func (r release) installed(binary string, at places) (map[string]content, error) {
	built, err := os.ReadFile(binary) //nolint:gosec // that was just built
	if err != nil {
		return nil, err
	}
	unit, err := os.ReadFile("deploy/gatherkit.service")
	if err != nil {
		return nil, err
	}
	terms, err := os.ReadFile("LICENSE")
	if err != nil {
		return nil, err
	}
	contents := map[string]content{
		executable: {built, 0o755},
		// Packages leave /usr/local to the administrator.
		"usr/lib/systemd/system/gatherkit.service": {bytes.ReplaceAll(unit, []byte("/usr/local/bin/"), []byte("/usr/bin/")), 0o644},
		settings:                         {[]byte(noSettings), 0o600},
		at.license:                       {terms, 0o644},
		"usr/share/man/man1/gatherkit.1": r.manuals["man"],
		"usr/share/bash-completion/completions/gatherkit": r.manuals["completion bash"],
		at.zsh: r.manuals["completion zsh"],
		"usr/share/fish/vendor_completions.d/gatherkit.fish": r.manuals["completion fish"],
	}
	names, err := documents()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		text, err := os.ReadFile(name) //nolint:gosec // ours
		if err != nil {
			return nil, err
		}
		contents["usr/share/doc/gatherkit/"+name] = content{text, 0o644}
	}
	return contents, nil
}

// lay writes files below a folder.
func lay(root string, files map[string]content) error {
	for name, file := range files {
		to := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil { //nolint:gosec // folders of a package
			return err
		}
		if err := os.WriteFile(to, file.text, file.mode); err != nil {
			return err
		}
	}
	return nil
}

// pack runs a program that makes a package. It gives files and the package the time of the release.
func (r release) pack(ctx context.Context, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...) //nolint:gosec // ours
	cmd.Env = append(os.Environ(), "SOURCE_DATE_EPOCH="+strconv.FormatInt(r.time.Unix(), 10))
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", name, err, out)
	}
	return nil
}

// sorted returns the version as packages write it: their tools sort 1.0.0~rc.1 before 1.0.0.
func (r release) sorted() string { return strings.Replace(r.version, "-", "~", 1) }
