package api

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gatherkit/internal/index"
	"gatherkit/internal/store/storetest"
)

var update = flag.Bool("update", false, "rewrite the answers in testdata and the generated documents")

// A script in testdata contains calls and their answers as text. It is a test and the
// documentation of an operation:
//
//	# Prose for the documentation.
//
//	wait 15m                                  moves the clock and updates the index
//
//	SIGN token {secret}                       signs an identity token named {token}
//	{"sub": "42", "exp": 1767226200}
//
//	POST /api/apps-create                     a call with headers and a body
//	Authorization: Bearer {owner}
//	{"name": "Shop"}
//
//	200                                       the answer with headers to compare and the body
//	{"ok": true, …}
//	let shop = result.app.id                  names a value {shop}
//
// SETUP makes a call like POST that is not part of the documentation. PUT sends the text below
// it without changes. In answers, named values are replaced by {name}, and other random values
// by {id} or {secret}.

// step is a call with its answer, prose, a wait, or a token to sign.
type step struct {
	prose string
	wait  string
	sign  [2]string // the token's name and the secret; the claims are the body

	method  string // POST, SETUP or PUT
	path    string
	headers [][2]string
	body    string

	status        int
	answerHeaders [][2]string
	answer        string
	lets          [][2]string
}

func readScript(t testing.TB, file string) []step {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var steps []step
	for block := range strings.SplitSeq(strings.TrimSpace(string(text)), "\n\n") {
		lines := strings.Split(strings.TrimSpace(block), "\n")
		first := lines[0]
		switch {
		case strings.HasPrefix(first, "#"):
			for i := range lines {
				lines[i] = strings.TrimPrefix(strings.TrimPrefix(lines[i], "#"), " ")
			}
			steps = append(steps, step{prose: strings.Join(lines, "\n")})
		case strings.HasPrefix(first, "wait "):
			steps = append(steps, step{wait: strings.TrimPrefix(first, "wait ")})
		case strings.HasPrefix(first, "SIGN "):
			name, secret, _ := strings.Cut(strings.TrimPrefix(first, "SIGN "), " ")
			steps = append(steps, step{sign: [2]string{name, secret}, body: strings.Join(lines[1:], "\n")})
		case strings.HasPrefix(first, "POST "), strings.HasPrefix(first, "SETUP "), strings.HasPrefix(first, "PUT "):
			method, path, _ := strings.Cut(first, " ")
			s := step{method: method, path: path}
			s.headers, s.body, _ = parts(lines[1:])
			steps = append(steps, s)
		default:
			s := &steps[len(steps)-1]
			if s.path == "" || s.status != 0 {
				t.Fatalf("%s: an answer without a call: %s", file, first)
			}
			if s.status, err = strconv.Atoi(first); err != nil {
				t.Fatalf("%s: expected a status, got %q", file, first)
			}
			s.answerHeaders, s.answer, s.lets = parts(lines[1:])
		}
	}
	return steps
}

var headerLine = regexp.MustCompile(`^[A-Z][A-Za-z-]*: `)

// parts splits the lines of a block into headers, JSON and lets.
func parts(lines []string) (headers [][2]string, body string, lets [][2]string) {
	var text []string
	for _, line := range lines {
		if rest, ok := strings.CutPrefix(line, "let "); ok {
			name, path, _ := strings.Cut(rest, " = ")
			lets = append(lets, [2]string{name, path})
		} else if len(text) == 0 && headerLine.MatchString(line) {
			name, value, _ := strings.Cut(line, ": ")
			headers = append(headers, [2]string{name, value})
		} else {
			text = append(text, line)
		}
	}
	return headers, strings.Join(text, "\n"), lets
}

func writeScript(t testing.TB, file string, steps []step) {
	t.Helper()
	var blocks []string
	for _, s := range steps {
		switch {
		case s.prose != "":
			blocks = append(blocks, "# "+strings.ReplaceAll(s.prose, "\n", "\n# "))
		case s.wait != "":
			blocks = append(blocks, "wait "+s.wait)
		case s.sign[0] != "":
			blocks = append(blocks, join("SIGN "+s.sign[0]+" "+s.sign[1], nil, s.body, nil))
		default:
			blocks = append(blocks, s.callText(), s.answerText())
		}
	}
	if err := os.WriteFile(file, []byte(strings.Join(blocks, "\n\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (s step) callText() string {
	return join(s.method+" "+s.path, s.headers, s.body, nil)
}

func (s step) answerText() string {
	return join(strconv.Itoa(s.status), s.answerHeaders, s.answer, s.lets)
}

func join(first string, headers [][2]string, body string, lets [][2]string) string {
	lines := []string{first}
	for _, h := range headers {
		lines = append(lines, h[0]+": "+h[1])
	}
	if body != "" {
		lines = append(lines, body)
	}
	for _, l := range lets {
		lines = append(lines, "let "+l[0]+" = "+l[1])
	}
	return strings.Join(lines, "\n")
}

// play runs a script and returns it with the actual answers.
func (s *service) play(steps []step) []step {
	s.t.Helper()
	played := slices.Clone(steps)
	for i := range played {
		st := &played[i]
		if st.wait != "" {
			d, err := time.ParseDuration(st.wait)
			if err != nil {
				s.t.Fatal(err)
			}
			s.clock.Move(d)
			s.index()
		}
		if st.sign[0] != "" {
			s.names[st.sign[0]] = signedToken(s.t, s.filled(st.sign[1]), s.filled(st.body))
		}
		if st.path == "" {
			continue
		}
		s.clock.Move(time.Second)
		method := "POST"
		if st.method == "PUT" {
			method = st.method
		}
		r := httptest.NewRequest(method, s.filled(st.path), strings.NewReader(s.filled(st.body)))
		if st.body != "" {
			r.Header.Set("Content-Type", "application/json")
		}
		for _, h := range st.headers {
			r.Header.Set(h[0], s.filled(h[1]))
		}
		got := serve(s.api, r)
		got.code(s.t)
		for _, let := range st.lets {
			s.names[let[0]] = lookUp(s.t, got, let[1])
		}
		st.status = got.status
		st.answerHeaders = slices.Clone(st.answerHeaders)
		for h := range st.answerHeaders {
			st.answerHeaders[h][1] = s.masked(got.header.Get(st.answerHeaders[h][0]))
		}
		st.answer = s.masked(indent(s.t, got.body))
	}
	return played
}

// index brings the inverted index up to date.
func (s *service) index() {
	s.t.Helper()
	if err := s.store.Index.FollowAll(context.Background(), index.Chunk); err != nil {
		s.t.Fatal(err)
	}
}

// filled replaces {names} by their values.
func (s *service) filled(text string) string {
	for name, value := range s.names {
		text = strings.ReplaceAll(text, "{"+name+"}", value)
	}
	return text
}

var (
	linkText   = regexp.MustCompile(`/(attachments|uploads)/[\w-]{40,}`)
	eventText  = regexp.MustCompile(`\bevt_[0-9A-Za-z]{43}\b`)
	uuidText   = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	cursorMask = regexp.MustCompile(`"next_cursor": "[^"{][^"]*"`)
	secretText = regexp.MustCompile(`\b(gat|grt|gjt|gtk|gk|gst|gex|gis|gpl|gvt)_[0-9A-Za-z]{38,}`)
)

// masked replaces values by their {names}, and other random values by {id} and the like.
func (s *service) masked(text string) string {
	for _, name := range sortedNames(s.names) {
		if value := s.names[name]; len(value) >= 20 {
			text = strings.ReplaceAll(text, value, "{"+name+"}")
		}
	}
	text = cursorMask.ReplaceAllString(text, `"next_cursor": "{cursor}"`)
	text = linkText.ReplaceAllString(text, "/$1/{link}")
	text = uuidText.ReplaceAllString(text, "{id}")
	text = eventText.ReplaceAllString(text, "{event}")
	return secretText.ReplaceAllString(text, "{secret}")
}

func sortedNames(names map[string]string) []string {
	var sorted []string
	for name := range names {
		sorted = append(sorted, name)
	}
	slices.Sort(sorted)
	return sorted
}

// lookUp returns the value at a path such as result.apps.0.id or header.Set-Cookie. For
// result.link#, it returns the part of the link after #.
func lookUp(t testing.TB, a answer, path string) string {
	t.Helper()
	if name, ok := strings.CutPrefix(path, "header."); ok {
		return a.header.Get(name)
	}
	path, token := strings.CutSuffix(path, "#")
	var v any
	if err := json.Unmarshal(a.body, &v); err != nil {
		t.Fatal(err)
	}
	for key := range strings.SplitSeq(path, ".") {
		switch inner := v.(type) {
		case map[string]any:
			v = inner[key]
		case []any:
			n, err := strconv.Atoi(key)
			if err != nil || n >= len(inner) {
				t.Fatalf("no %s in %s", path, a.body)
			}
			v = inner[n]
		}
	}
	if v == nil {
		t.Fatalf("no %s in %s", path, a.body)
	}
	text := fmt.Sprint(v)
	if token {
		_, text, _ = strings.Cut(text, "#")
	}
	return text
}

func indent(t testing.TB, body []byte) string {
	t.Helper()
	var out bytes.Buffer
	if err := json.Indent(&out, body, "", "  "); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	return out.String()
}

// scripts returns the files in testdata by the operation that they document.
func scripts(t testing.TB) map[string]string {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	byName := map[string]string{}
	for _, file := range files {
		byName[strings.TrimSuffix(filepath.Base(file), ".txt")] = file
	}
	return byName
}

// TestScripts runs every script on both databases. The answers must be those in the script.
func TestScripts(t *testing.T) {
	each := storetest.Each
	if *update { // SQLite writes the answers, and PostgreSQL must give the same ones
		each = storetest.EachInTurn
	}
	for name, file := range scripts(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			each(t, func(t *testing.T, at storetest.Place) {
				want := readScript(t, file)
				var s *service
				if strings.HasPrefix(name, "setup-") {
					s = newFreshService(t, at)
				} else {
					s = newService(t, at)
				}
				got := s.play(want)
				if *update && at.Name == "sqlite" {
					writeScript(t, file, got)
					return
				}
				for i := range want {
					if diff := cmp.Diff(want[i].answerText(), got[i].answerText()); want[i].path != "" && diff != "" {
						t.Errorf("%s (-want +got):\n%s", want[i].callText(), diff)
					}
				}
			})
		})
	}
}

// TestEveryOperationHasAScript: every operation is documented.
func TestEveryOperationHasAScript(t *testing.T) {
	byName := scripts(t)
	for _, o := range newService(t, storetest.SQLite(t)).api.order {
		if byName[o.name] == "" {
			t.Errorf("testdata/%s.txt is missing", o.name)
		}
	}
}
