// Package e2e_test uses the program as its users do: over HTTP, on the command line and in a
// browser, as described in its documentation.
package e2e_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gatherkit/e2e/program"
)

// TestMain runs more tests in parallel than there are processors, because most of them wait for a
// browser, which waits for a service.
func TestMain(m *testing.M) {
	flag.Parse()
	parallel := flag.Lookup("test.parallel")
	if parallel.Value.String() == parallel.DefValue {
		if err := parallel.Value.Set(strconv.Itoa(2 * runtime.GOMAXPROCS(0))); err != nil {
			panic(err)
		}
	}
	os.Exit(program.Main(m))
}

// answer is the answer to a call.
type answer struct {
	status int
	proto  string
	header http.Header
	OK     bool
	Result json.RawMessage
	Error  struct{ Code, Message string }
}

// call sends a body to an operation's URL. headers has pairs of names and values.
func call(t *testing.T, client *http.Client, url, body string, headers ...string) answer {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	for pair := range slices.Chunk(headers, 2) {
		r.Header.Set(pair[0], pair[1])
	}
	response, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // the body is read below
	a := answer{status: response.StatusCode, proto: response.Proto, header: response.Header}
	if err := json.NewDecoder(response.Body).Decode(&a); err != nil {
		t.Fatalf("%s: status %d without an envelope: %v", url, a.status, err)
	}
	return a
}

// get returns a text of the result by its dotted path.
func (a answer) get(t *testing.T, path string) string {
	t.Helper()
	var value any
	if err := json.Unmarshal(a.Result, &value); err != nil || !a.OK {
		t.Fatalf("status %d, %+v, %v", a.status, a.Error, err)
	}
	for name := range strings.SplitSeq(path, ".") {
		object, _ := value.(map[string]any)
		value = object[name]
	}
	text, ok := value.(string)
	if !ok {
		t.Fatalf("no text at %s in %s", path, a.Result)
	}
	return text
}

var setupToken = regexp.MustCompile(`gst_\w+`)

// setUp creates the first owner with the set-up token that the service has printed, and an app.
// It returns an access token and the app's API key.
func setUp(t *testing.T, p *program.Process) (token, apiKey string) {
	t.Helper()
	var printed string
	program.Eventually(t, "the set-up token is printed", func() bool {
		printed = setupToken.FindString(p.Stdout.String())
		return printed != ""
	})
	token = call(t, http.DefaultClient, p.URL+"/api/setup-create-owner", fmt.Sprintf(
		`{"token":%q,"account_name":"Acme","name":"Ada","email":"ada@example.com","password":"correct horse"}`, printed)).get(t, "access_token")
	apiKey = call(t, http.DefaultClient, p.URL+"/api/apps-create", `{"name":"Web"}`, "Authorization", "Bearer "+token).get(t, "app.api_key")
	return token, apiKey
}
