package e2e_test

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gatherkit/e2e/program"
	"gatherkit/internal/store/storetest"
)

// What the image of a release says about itself.
const (
	imageProgram = "/gatherkit" // its ENTRYPOINT; its CMD is serve
	imageUser    = 65532        // also its group
	imagePort    = "8080"
	imageData    = "/data"
)

// box is a container without Docker: the program sees nothing but a folder that it cannot write to, runs as the user
// of the image, and cannot get other rights.
type box struct {
	variables map[string]string // besides those of the image
	folders   map[string]string // host folders by their path in the box; the program can write to them as far as their mode allows
	files     map[string]file   // that the box has besides the program
}

// file is a file of root with the group of the image.
type file struct {
	content string
	mode    os.FileMode
}

// inBox mounts the folders after the first two arguments, each a host folder and a path, up to an empty argument. The
// rest is the command.
const inBox = `root=$1; user=$2; shift 2
mount --bind "$root" "$root"
while [ "$1" ]; do mount --bind "$1" "$root$2"; shift 2; done
shift
mount -o remount,bind,ro "$root"
exec setpriv --no-new-privs chroot --userspec="$user:$user" --groups= "$root" "$@"`

// command returns a command of the program in the box. port replaces that of the image.
func (b box) command(t *testing.T, port string, args ...string) *exec.Cmd {
	t.Helper()
	if os.Geteuid() != 0 {
		storetest.Missing(t, "root", "the test mounts folders")
	}
	root := filepath.Join(t.TempDir(), "root")
	folder := func(path string) {
		if err := os.MkdirAll(path, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	folder(root)
	// Only the mount keeps the program from writing.
	if err := os.Chmod(root, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(root+imageProgram, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	for path, f := range b.files {
		folder(filepath.Dir(root + path))
		if err := os.WriteFile(root+path, []byte(f.content), f.mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(root+path, 0, imageUser); err != nil {
			t.Fatal(err)
		}
	}
	all := []string{"--mount", "--propagation", "private", "sh", "-ec", inBox, "sh", root, fmt.Sprint(imageUser)}
	mounts := maps.Clone(b.folders)
	mounts["/proc"], mounts["/dev"], mounts[imageProgram] = "/proc", "/dev", program.Build(t)
	for _, path := range slices.Sorted(maps.Keys(mounts)) {
		if path != imageProgram {
			folder(root + path)
		}
		all = append(all, mounts[path], path)
	}
	all = append(append(all, "", imageProgram), args...)
	cmd := exec.CommandContext(t.Context(), "unshare", all...)
	// The folder is in /run or /tmp, and only the program's variables are in the box.
	cmd.Env = []string{"PATH=" + os.Getenv("PATH") + ":/usr/sbin:/sbin"}
	set := map[string]string{"GATHERKIT_LISTEN": ":" + imagePort, "GATHERKIT_DATA": imageData}
	maps.Copy(set, b.variables)
	for name, value := range set {
		if name == "GATHERKIT_LISTEN" {
			value = program.Replaced(t, value, ":"+imagePort, ":"+port)
		}
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	return cmd
}

// start runs serve in the box and returns when it answers.
func (b box) start(t *testing.T) *program.Process {
	t.Helper()
	address := program.FreeAddress(t)
	return program.StartCommand(t, b.command(t, strings.TrimPrefix(address, "127.0.0.1:"), "serve"), address)
}

// use starts the service in the box, stores a request, and checks that the service complains about nothing.
func (b box) use(t *testing.T) *program.Process {
	t.Helper()
	p := b.start(t)
	_, key := setUp(t, p)
	program.NewClient(t, p).Submit(t, key, "Dark mode")
	for line := range strings.Lines(p.Stderr.String()) {
		if !strings.Contains(line, `"level":"INFO"`) {
			t.Errorf("the service logs %s", line)
		}
	}
	return p
}

// owned returns a new folder of a user and the image's group, as a volume.
func owned(t *testing.T, user int, mode os.FileMode) string {
	t.Helper()
	folder := t.TempDir()
	if err := os.Chown(folder, user, imageUser); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(folder, mode); err != nil {
		t.Fatal(err)
	}
	return folder
}

// TestBox shows that a box is one.
func TestBox(t *testing.T) {
	b := box{folders: map[string]string{}}
	migrate := func(data string) string {
		b.variables = map[string]string{"GATHERKIT_DATA": data}
		out, _ := b.command(t, "1", "migrate").CombinedOutput() // the text says whether it has failed
		return string(out)
	}
	// The user has no name here, so commands have its number.
	const cannot = "gatherkit: cannot open the database: "
	if got := migrate("/elsewhere"); got != cannot+"/elsewhere does not exist, and / is on a disk that is mounted read-only\n" {
		t.Errorf("outside of folders: %s", got)
	}
	b.folders["/data"] = owned(t, 0, 0o755)
	if got := migrate("/data"); got != cannot+"/data belongs to root, but gatherkit runs as user 65532; run chown -R 65532 /data\n" {
		t.Errorf("in a folder of root: %s", got)
	}
	want := cannot + "/data/new does not exist, and user 65532 may not create it in /data; run install -d -m 0700 -o 65532 /data/new\n"
	if got := migrate("/data/new"); got != want {
		t.Errorf("below a folder of root: %s", got)
	}
	b.folders["/data"] = owned(t, imageUser, 0o700)
	if got := migrate("/data"); got != "The database schema is up to date.\n" {
		t.Errorf("in its own folder: %s", got)
	}
}
