package e2e_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatherkit/e2e/program"
	"gatherkit/internal/store/storetest"
)

// completions are lines, and what completes their last word. Folders are "one" and "two".
var completions = []struct {
	line string
	want []string
}{
	{"gatherkit ser", []string{"serve"}},
	{"gatherkit ", []string{
		"serve", "demo", "account", "user", "people", "app", "backup", "copy", "verify", "status", "recount", "migrate", "distribute",
		"mail-test",
		"login", "api", "healthcheck", "completion", "man", "version", "help",
	}},
	{"gatherkit -", []string{"--help", "--version"}},
	{"gatherkit nonsense ser", nil},
	{"gatherkit user ", []string{"add", "list", "role", "link", "set-password", "remove"}},
	{"gatherkit help us", []string{"user"}},
	{"gatherkit help user set", []string{"set-password"}},
	{"gatherkit user set-password --p", []string{"--password-stdin"}},
	{"gatherkit serve --li", []string{"--listen"}},
	{"gatherkit demo --l", []string{"--listen"}},
	{"gatherkit serve --log-level ", []string{"debug", "info", "warn", "error"}},
	{"gatherkit serve --log-level=w", []string{"warn"}},
	{"gatherkit serve --log-format=", []string{"json", "text"}},
	{"gatherkit serve --data=one --log-format j", []string{"json"}},
	{"gatherkit serve --listen :8080 --log-format t", []string{"text"}},
	{"gatherkit serve --listen=:8080 --log-format t", []string{"text"}},
	{"gatherkit serve --listen ", nil},
	{"gatherkit serve --data t", []string{"two"}},
	{"gatherkit serve --uploads ", []string{"one", "two"}},
	{"gatherkit user add --email ada@example.com --role ", []string{"viewer", "member", "admin", "owner"}},
	{"gatherkit user add --password-stdin --role o", []string{"owner"}},
	{"gatherkit user add --account user --ro", []string{"--role"}},
	{"gatherkit backup o", []string{"one"}},
	{"gatherkit backup --data one t", []string{"two"}},
	{"gatherkit backup one --up", []string{"--uploads"}},
	{"gatherkit api requests-l", []string{"requests-list"}},
	{"gatherkit api --jsonl requests-l", []string{"requests-list"}},
	{"gatherkit api --url https://feedback.example.com:8443/x requests-l", []string{"requests-list"}},
	{"gatherkit api --url=https://feedback.example.com requests-l", []string{"requests-list"}},
	{"gatherkit api --url https:", nil},
	{"gatherkit api --url https:requests-l", nil},
	{"gatherkit api requests-list status=opened requests-l", nil},
	{"gatherkit api widget-", nil}, // they need an API key
	{"gatherkit completion z", []string{"zsh"}},
}

// shells are the programs that complete the line $1 of the script $2, and print a word on each line.
var shells = map[string]string{
	// bash divides words at these characters, too. TestShellsOnATerminal shows that it does.
	"bash": `source "$2"; COMP_WORDS=()
while IFS= read -r word; do COMP_WORDS+=("$word"); done < <(printf '%s\n' "$1" | sed 's/[=:@]\+/\n&\n/g; s/ /\n/g' | sed '/^$/d')
[[ $1 == *' ' ]] && COMP_WORDS+=('')
COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _gatherkit; printf '%s\n' "${COMPREPLY[@]}"`,
	// zsh has its words in these variables, and its functions only on a terminal. TestShellsOnATerminal has one.
	"zsh": `compdef() { }; source "$2"; words=("${(@s: :)1}"); CURRENT=${#words}; PREFIX=$words[-1]
compset() { PREFIX=${PREFIX#*=} }
_files() { local d; for d in *(/); do [[ $d == $PREFIX* ]] && print -r -- $d; done }
_describe() { local one; for one in "${(@P)2}"; do [[ $one == $PREFIX* ]] && print -r -- ${one%%:*}; done; return 0 }
_gatherkit`,
	"fish": `source $argv[2]; complete -C $argv[1] | string replace -r '\t.*' '' | string replace -r '/$' ''`,
}

// shell returns the path of a shell.
func shell(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		storetest.Missing(t, "shells", "install it with `apt-get install "+name+"`")
	}
	return path
}

// script writes the script of a shell to a file and returns its path.
func script(t *testing.T, name string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "gatherkit."+name)
	if err := os.WriteFile(file, []byte(program.Succeed(t, "completion", name)), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// complete returns what a shell would offer for the last word of a line, in alphabetical order.
func complete(t *testing.T, name, file, line string) []string {
	t.Helper()
	args := []string{"-c", shells[name], name, line, file}
	if name == "fish" { // it has no name before the arguments
		args = slices.Delete(args, 2, 3)
	}
	cmd := exec.CommandContext(t.Context(), shell(t, name), args...)
	cmd.Dir = filepath.Join(filepath.Dir(file), "work")
	cmd.Env = append(program.CleanEnvironment(), "HOME="+cmd.Dir, "LC_ALL=C")
	for _, folder := range []string{"one", "two"} {
		if err := os.MkdirAll(filepath.Join(cmd.Dir, folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(cmd.Dir, "other"), nil, 0o600); err != nil { // a file is no folder
		t.Fatal(err)
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	// The status only says whether there is anything.
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) || stderr.Len() > 0 {
		t.Fatalf("%s: %q: %v\n%s", name, line, err, stderr.String())
	}
	found := strings.Fields(string(out))
	for i, word := range found { // fish returns the whole word
		if _, value, whole := strings.Cut(word, "="); whole {
			found[i] = value
		}
	}
	slices.Sort(found)
	return found
}

func TestCompletion(t *testing.T) {
	for name := range shells {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shell(t, name)
			file := script(t, name)
			for _, test := range completions {
				want := slices.Sorted(slices.Values(test.want))
				got := complete(t, name, file, test.line)
				if name == "fish" { // it also offers short flags
					got = slices.DeleteFunc(got, func(word string) bool { return regexp.MustCompile(`^-\w$`).MatchString(word) })
				}
				if !slices.Equal(got, want) {
					t.Errorf("%q: %q, want %q", test.line, got, want)
				}
			}
		})
	}
}

// TestCompletionKnowsEveryFlag compares the flags of each command with its help.
func TestCompletionKnowsEveryFlag(t *testing.T) {
	scripts := map[string]string{}
	for name := range shells {
		shell(t, name)
		scripts[name] = script(t, name)
	}
	listed := regexp.MustCompile(`(?m)^ {2}[a-z][a-z-]*(?: [a-z][a-z-]*)*`).FindAllString(program.Succeed(t, "--help"), -1)
	if len(listed) < 15 {
		t.Fatalf("the help lists %q", listed)
	}
	for _, path := range listed {
		path = strings.TrimSpace(path)
		help := program.Succeed(t, append(strings.Fields(path), "--help")...)
		var want []string
		for _, flag := range regexp.MustCompile(`(?m)^ +(?:-\w, )?(--[a-z-]+)`).FindAllStringSubmatch(help, -1) {
			want = append(want, flag[1])
		}
		slices.Sort(want)
		for name, file := range scripts {
			if diff := cmp.Diff(want, complete(t, name, file, "gatherkit "+path+" --")); diff != "" {
				t.Errorf("%s: gatherkit %s (- help, + completion):\n%s", name, path, diff)
			}
		}
	}
}

// terminal runs a shell on a terminal, types keys, and returns what the terminal shows in the end.
func terminal(t *testing.T, folder, command, keys string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "script", "--quiet", "--command", command, "/dev/null")
	cmd.Dir = folder
	path := filepath.Dir(program.Build(t)) + ":" + os.Getenv("PATH")
	cmd.Env = append(program.CleanEnvironment(), "HOME="+folder, "LC_ALL=C", "TERM=dumb", "PATH="+path)
	cmd.Stdin = strings.NewReader(keys)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", command, err, out)
	}
	return string(out)
}

// typed are keys, and typedWant what the function gatherkit prints of the words that the shell has completed.
const typed = `gatherkit() { echo "[$*]"; }` + "\n" +
	"gatherkit use\tset\t--pas\t\ngatherkit serve --log-level=w\t\ngatherkit api --url http://h:1 requests-li\t\n" +
	"gatherkit backup fol\tx\nexit\n"

var typedWant = []string{
	"[user set-password --password-stdin]", "[serve --log-level=warn]", "[api --url http://h:1 requests-list]", "[backup folder/x]",
}

func TestShellsOnATerminal(t *testing.T) {
	const start = "autoload -U compinit; compinit -u"
	for name, test := range map[string]struct{ command, begin string }{
		"bash":           {"bash --norc --noprofile -i", "source <(gatherkit completion bash)"},
		"zsh":            {"zsh -f -i", start + "; source <(gatherkit completion zsh)"},
		"zsh, in a file": {"zsh -f -i", "mkdir f; gatherkit completion zsh >f/_gatherkit; fpath=($PWD/f $fpath); " + start},
	} {
		t.Run(name, func(t *testing.T) {
			shell(t, strings.Fields(test.command)[0])
			folder := t.TempDir()
			if err := os.Mkdir(filepath.Join(folder, "folder"), 0o700); err != nil {
				t.Fatal(err)
			}
			got := terminal(t, folder, test.command, test.begin+"\n"+typed)
			for _, want := range typedWant {
				if !strings.Contains(got, want) {
					t.Errorf("%s does not run %s:\n%s", name, want, got)
				}
			}
		})
	}
}

// TestManualPage: the page is valid roff, complete, and the same whatever the environment is.
func TestManualPage(t *testing.T) {
	page := program.Succeed(t, "man")
	groff, err := exec.LookPath("groff")
	if err != nil {
		storetest.Missing(t, "groff", "install it with `apt-get install groff-base`")
	}
	cmd := exec.CommandContext(t.Context(), groff, "-man", "-Tutf8", "-ww", "-rLL=60n", "-P-c", "-P-u", "-P-b")
	cmd.Stdin = strings.NewReader(page)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	text, err := cmd.Output()
	if err != nil || stderr.Len() > 0 {
		t.Fatalf("groff: %v\n%s", err, stderr.String())
	}
	words := strings.Join(strings.Fields(string(text)), " ")
	for _, want := range []string{
		"gatherkit - collects feature requests and loses none",
		"user set-password Set a user's password and end all sessions of the user.",
		"--listen=LISTEN Address to listen on.", "Default: 127.0.0.1:8080. Variable: GATHERKIT_LISTEN.",
		"-v, --version Print the version.",
		"folder Folder to write the backup to.", `[params ...] Parameters, such as status=opened, limit=5 or tags='["ui"]'.`,
		"this number × 10 MiB",
		"GATHERKIT_DATABASE Flag --database of serve, account list,", "one with _FILE at its end can name a file",
		"GATHERKIT_URL Flag --url of login, api, healthcheck.",
	} {
		if !strings.Contains(words, want) {
			t.Errorf("the page does not contain %q:\n%s", want, text)
		}
	}
	for _, row := range table(t, "| flag | variable | default | meaning |") {
		if !strings.Contains(words, row[0]+"=") || !strings.Contains(words, row[1]+" Flag "+row[0]+" of serve") {
			t.Errorf("the page does not list %s", row[0])
		}
	}
	if !strings.HasPrefix(page, `.TH GATHERKIT 1 "" "gatherkit `) {
		t.Errorf("the page begins with %.60q; want no date", page)
	}
	other := program.Execute(t, []string{"GATHERKIT_DATA=/elsewhere", "GATHERKIT_LOG_LEVEL=debug", "HOME=/nowhere", "COLUMNS=40"}, "", "man")
	if diff := cmp.Diff(page, other.Stdout); diff != "" {
		t.Errorf("the page depends on the environment:\n%s", diff)
	}
}
