// Command release builds what users install: static binaries for six platforms in archives, packages for Debian and for
// rpm, container images, a list of what is in them, and their checksums. The same commit and version give the same bytes in any folder.
package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// targets are the platforms of a release.
var targets = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64"}

// versions matches semantic versions, such as 1.2.3 or 1.2.3-rc.1.
var versions = regexp.MustCompile(`^\d+\.\d+\.\d+(-[0-9A-Za-z.]+)?$`)

func main() {
	version := flag.String("version", "", "version of the release, such as 1.2.3")
	folder := flag.String("out", "dist", "folder for the files; it must not exist")
	only := flag.String("only", strings.Join(targets, ","), "platforms to build")
	flag.Parse()
	syscall.Umask(0o022) // everybody may read what packages install
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Stdout, *version, *folder, strings.Split(*only, ","))
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// release is one release.
type release struct {
	version string
	folder  string    // of the files
	time    time.Time // of the commit, which all files in archives have
	manuals map[string]content
}

// run builds a release for some platforms, from the folder of the module.
func run(ctx context.Context, log io.Writer, version, folder string, platforms []string) error {
	if !versions.MatchString(version) {
		return fmt.Errorf("the version must be like 1.2.3 or 1.2.3-rc.1, not %q", version)
	}
	at, err := commitTime(ctx)
	if err != nil {
		return fmt.Errorf("cannot read the time of the commit: %w", err)
	}
	if err := os.Mkdir(folder, 0o755); err != nil { //nolint:gosec // everybody may read a release
		return fmt.Errorf("cannot write the release; if it is one that was interrupted, remove the folder: %w", err)
	}
	r := release{version: version, folder: folder, time: at}
	if err := r.writeManuals(ctx); err != nil {
		return fmt.Errorf("the manual page and the completion: %w", err)
	}
	for _, platform := range platforms {
		if !slices.Contains(targets, platform) {
			return fmt.Errorf("the platform must be one of %s, not %q", strings.Join(targets, ", "), platform)
		}
		if err := r.build(ctx, log, platform); err != nil {
			return fmt.Errorf("%s: %w", platform, err)
		}
	}
	return r.sums()
}

// commitTime returns the time that files have in archives: that of the commit, or of SOURCE_DATE_EPOCH
// (https://reproducible-builds.org/specs/source-date-epoch/).
func commitTime(ctx context.Context) (time.Time, error) {
	text := os.Getenv("SOURCE_DATE_EPOCH")
	if text == "" {
		out, err := exec.CommandContext(ctx, "git", "log", "-1", "--format=%ct").Output()
		if err != nil {
			return time.Time{}, err
		}
		text = strings.TrimSpace(string(out))
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	return time.Unix(seconds, 0).UTC(), err
}

// build builds the files for a platform.
func (r release) build(ctx context.Context, log io.Writer, platform string) error {
	system, arch, _ := strings.Cut(platform, "/")
	work, err := os.MkdirTemp("", "release-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }()
	name := "gatherkit"
	if system == "windows" {
		name += ".exe"
	}
	binary := filepath.Join(work, name)
	if err := r.compile(ctx, system, arch, binary); err != nil {
		return err
	}
	made := []string{}
	base := filepath.Join(r.folder, fmt.Sprintf("gatherkit_%s_%s_%s", r.version, system, arch))
	contents := []file{{binary, name, 0o755}, {"LICENSE", "LICENSE", 0o644}}
	documents, err := documents()
	if err != nil {
		return err
	}
	for _, document := range documents {
		contents = append(contents, file{document, document, 0o644})
	}
	if system == "windows" {
		made = append(made, base+".zip")
		err = r.zip(made[0], contents)
	} else {
		made = append(made, base+".tar.gz")
		err = r.tar(made[0], contents)
	}
	if err == nil && system == "linux" {
		deb := filepath.Join(r.folder, fmt.Sprintf("gatherkit_%s_%s.deb", r.version, arch))
		rpm := filepath.Join(r.folder, fmt.Sprintf("gatherkit_%s_%s.rpm", r.version, machines[arch]))
		image := base + ".docker.tar"
		made = append(made, deb, rpm, image)
		err = errors.Join(r.deb(ctx, deb, arch, binary, work), r.rpm(ctx, rpm, machines[arch], binary, work), r.image(image, arch, binary))
	}
	if err == nil {
		made = append(made, base+".cdx.json")
		err = r.bill(made[len(made)-1], binary)
	}
	for _, path := range made {
		_, _ = fmt.Fprintln(log, path)
	}
	return err
}

// compile builds the program for a platform.
func (r release) compile(ctx context.Context, system, arch, binary string) error {
	flags := "-ldflags=-s -w -buildid= -X main.version=" + r.version // which run has checked
	build := exec.CommandContext(ctx,                                //nolint:gosec // ours
		"go", "build", "-trimpath", "-buildvcs=false", flags, "-o", binary, "./cmd/gatherkit")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+arch, "GOAMD64=v1", "GOARM64=v8.0", "GOFLAGS=")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

// sums writes SHA256SUMS, as sha256sum does.
func (r release) sums() error {
	list, err := os.ReadDir(r.folder)
	if err != nil {
		return err
	}
	var text strings.Builder
	for _, entry := range list {
		sum, err := sumOf(filepath.Join(r.folder, entry.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&text, "%s  %s\n", sum, entry.Name())
	}
	return os.WriteFile(filepath.Join(r.folder, "SHA256SUMS"), []byte(text.String()), 0o644) //nolint:gosec // everybody may read it
}

func sumOf(path string) (string, error) {
	f, err := os.Open(path) //nolint:gosec // a file of the release
	if err != nil {
		return "", err
	}
	hash := sha256.New()
	_, err = io.Copy(hash, f)
	return hex.EncodeToString(hash.Sum(nil)), errors.Join(err, f.Close())
}
