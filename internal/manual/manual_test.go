package manual_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"gatherkit/internal/manual"
)

// cli has what is hard to write for a shell or for roff.
type cli struct {
	Run struct {
		Where  string   `help:".hidden 'files' and \\n, or ~/\"x\" – as in a^b. Not this." default:"a'b" placeholder:"PLACE" complete:"folder"`
		Level  string   `help:"Level: ${enum}." enum:"low,x:high" default:"low"`
		Secret string   `help:"It's one." env:"TOOL_SECRET" required:""`
		Count  int      `help:"Count." type:"counter" short:"c"`
		On     bool     `help:"On."`
		Unseen string   `help:"Unseen." hidden:""`
		What   string   `arg:"" help:"What." complete:"operation"`
		Rest   []string `arg:"" optional:"" help:"Rest."`
	} `cmd:"" help:"Run: it's the 'first'."`
	Secretly struct{} `cmd:"" hidden:"" help:"Not listed."`
	Group    struct {
		One struct{} `cmd:"" help:"One."`
	} `cmd:"" help:"Group."`
}

func model(t *testing.T, grammar any) *kong.Application {
	t.Helper()
	parser, err := kong.New(grammar, kong.Name("tool"), kong.Description("Tool shows 100% of \\what\\ is hard."))
	if err != nil {
		t.Fatal(err)
	}
	return parser.Model
}

func TestScript(t *testing.T) {
	for shell, want := range map[string][]string{
		"bash": {
			"'tool 0') words='run group help' ;;", "'tool group 0') words='one' ;;", "'tool run 0') words='x-list x-get' ;;",
			"'tool run') words='--where --level --secret --count --on --help' ;;", "'tool run --where') folder=1 ;;",
			"'tool run --level') words='low x:high' ;;", "complete -F _tool tool",
			"'tool run --where' | \\\n            'tool run --level' | \\\n            'tool run --secret')\n            flag=$word",
		},
		"zsh": {
			"#compdef tool\n", `'run:Run: it'\''s the '\''first'\''.'`, `'--secret:It'\''s one.'`,
			`'--where:.hidden '\''files'\'' and \n, or ~/"x" – as in a^b.'`, "compdef _tool tool",
			"'x\\:high'\n",
		},
		"fish": {
			`-a run -d 'Run: it\'s the \'first\'.'`, `-l count -s c -d 'Count.'`,
			`complete -c tool -x -n '__tool_at tool run any' -l where -d '.hidden \'files\' and \\n, or ~/"x" – as in a^b.' ` +
				`-a '(__fish_complete_directories)'`,
			`-l level -d 'Level: low,x:high.' -a 'low x:high'`,
		},
	} {
		got, err := manual.Script(shell, model(t, &cli{}), []string{"x-list", "x-get"})
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range want {
			if !strings.Contains(got, part) {
				t.Errorf("%s: %s is missing in\n%s", shell, part, got)
			}
		}
		for _, hidden := range []string{"unseen", "secretly", "NAME", "%!"} {
			if strings.Contains(got, hidden) {
				t.Errorf("%s: the script contains %s", shell, hidden)
			}
		}
		again, err := manual.Script(shell, model(t, &cli{}), []string{"x-list", "x-get"})
		if err != nil || got != again {
			t.Errorf("%s: the script is not always the same", shell)
		}
		if path, err := exec.LookPath(shell); err == nil { // where there is none, the tests of the program say so
			cmd := exec.CommandContext(t.Context(), path, "-n")
			cmd.Stdin = strings.NewReader(got)
			if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
				t.Errorf("%s -n: %v\n%s", shell, err, out)
			}
		}
	}
	_, err := manual.Script("csh", model(t, &cli{}), nil)
	if err == nil || !strings.HasSuffix(err.Error(), "the shells are bash, zsh and fish") {
		t.Errorf("csh: %v", err)
	}
}

// TestUnknownKind: a mistake in a tag is found by every test that makes a script.
func TestUnknownKind(t *testing.T) {
	defer func() {
		if got := recover(); got != `where: unknown kind of completion "nonsense"` {
			t.Errorf("the panic is %v", got)
		}
	}()
	_, _ = manual.Script("bash", model(t, &struct {
		Where string `help:"Where." complete:"nonsense"`
	}{}), nil)
}

func TestPage(t *testing.T) {
	got := manual.Page(model(t, &cli{}), manual.About{
		Version: `tool "1.0"`, Files: [][2]string{{".tool", "Its 'file'."}}, SeeAlso: "More.",
	})
	for _, part := range []string{
		".TH TOOL 1 \"\" \"tool \\(dq1.0\\(dq\" \"User commands\"\n",
		"tool \\- shows 100% of \\(rswhat\\(rs is hard\n",
		".SS \"group one\"\nOne.\n",
		".TP\n\\fB\\-\\-where\\fR=\\fIPLACE\\fR\n" +
			"\\&.hidden \\(aqfiles\\(aq and \\(rsn,\\: or \\(ti/\\(dqx\\(dq \\[u2013] as in a\\(hab. Not this.\nDefault: a\\(aqb.\n",
		".TP\n\\fB\\-\\-level\\fR=\\fILEVEL\\fR\nLevel: low,\\:x:high.\nDefault: low.\n",
		".TP\n\\fB\\-\\-secret\\fR=\\fISECRET\\fR\nIt\\(aqs one.\nRequired.\nVariable: TOOL_SECRET.\n",
		".TP\n\\fB\\-c\\fR, \\fB\\-\\-count\\fR\nCount.\n",
		".TP\n\\fIwhat\\fR\nWhat.\n.TP\n[\\fIrest\\fR \\&...]\nRest.\n",
		".TP\n.B TOOL_SECRET\nFlag \\fB\\-\\-secret\\fR of run.\n",
		".TP\n.I \\&.tool\nIts \\(aqfile\\(aq.\n", ".SH SEE ALSO\nMore.\n",
	} {
		if !strings.Contains(got, part) {
			t.Errorf("the page does not contain\n%s\nin\n%s", part, got)
		}
	}
	for _, part := range []string{"Unseen", "Not listed", `.SS "group"`, "%!"} {
		if strings.Contains(got, part) {
			t.Errorf("the page contains %s", part)
		}
	}
	if n := strings.Count(got, `\-\-help`); n != 1 {
		t.Errorf("--help is there %d times, want once", n)
	}
}
