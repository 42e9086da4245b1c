package e2e_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	standard "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// drivers make the examples of docs/webhooks.md programs that exit with 0 if the delivery on standard
// input verifies, and with 3 if not. The arguments are the secret and the headers.
var drivers = map[string]struct {
	file, before, after string
	run                 []string
}{
	"go": {"main.go", `package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

`, `
func main() {
	body, _ := io.ReadAll(os.Stdin)
	header := http.Header{}
	for i, name := range []string{"webhook-id", "webhook-timestamp", "webhook-signature"} {
		header.Set(name, os.Args[i+2])
	}
	if !verified(os.Args[1], header, body) {
		os.Exit(3)
	}
}
`, []string{"go", "run", "main.go"}},
	"js": {"main.mjs", "", `
import { readFileSync } from 'node:fs'
const [secret, id, timestamp, signature] = process.argv.slice(2)
const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature }
process.exit(verified(secret, headers, readFileSync(0)) ? 0 : 3)
`, []string{"node", "main.mjs"}},
	"python": {"main.py", "", `
import sys
secret, *values = sys.argv[1:]
headers = dict(zip(["webhook-id", "webhook-timestamp", "webhook-signature"], values))
sys.exit(0 if verified(secret, headers, sys.stdin.buffer.read()) else 3)
`, []string{"python3", "main.py"}},
	"sh": {"main.sh", "", "\nverified \"$@\" || exit 3\n", []string{"sh", "main.sh"}},
}

// TestWebhookExamples: the examples of docs/webhooks.md accept what Standard Webhooks accepts, and nothing else.
func TestWebhookExamples(t *testing.T) {
	text, err := os.ReadFile("../docs/webhooks.md")
	if err != nil {
		t.Fatal(err)
	}
	const secret, other = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
	body := []byte("{\"type\": \"request.created\", \"title\": \"Ünïcode % $HOME `x` \\n\"}")
	sign := func(secret string, at time.Time) string {
		w, err := standard.NewWebhook(secret)
		if err != nil {
			t.Fatal(err)
		}
		signature, err := w.Sign("evt_1", at, body)
		if err != nil {
			t.Fatal(err)
		}
		return signature
	}
	now := time.Now()
	stamp := func(at time.Time) string { return strconv.FormatInt(at.Unix(), 10) }
	good := sign(secret, now)
	const none = "whsec_" // a secret that somebody has forgotten to set
	nothing := func() string {
		mac := hmac.New(sha256.New, nil)
		_, _ = fmt.Fprintf(mac, "evt_1.%s.%s", stamp(now), body)
		return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	}()
	cases := map[string]struct {
		id, timestamp, signature string
		body                     []byte
		want                     bool
	}{
		"signed":              {"evt_1", stamp(now), good, body, true},
		"during a rotation":   {"evt_1", stamp(now), sign(other, now) + " " + good, body, true},
		"another secret":      {"evt_1", stamp(now), sign(other, now), body, false},
		"another body":        {"evt_1", stamp(now), good, append([]byte(" "), body...), false},
		"another id":          {"evt_2", stamp(now), good, body, false},
		"another time":        {"evt_1", stamp(now.Add(time.Second)), good, body, false},
		"no signature":        {"evt_1", stamp(now), "", body, false},
		"a part of it":        {"evt_1", stamp(now), good[:len(good)-1], body, false},
		"another version":     {"evt_1", stamp(now), "v2" + good[2:], body, false},
		"an old delivery":     {"evt_1", stamp(now.Add(-6 * time.Minute)), sign(secret, now.Add(-6*time.Minute)), body, false},
		"one from the future": {"evt_1", stamp(now.Add(time.Hour)), sign(secret, now.Add(time.Hour)), body, false},
		"no time":             {"evt_1", "", good, body, false},
		"not ASCII":           {"evt_1", stamp(now), good[:len(good)-1] + "é", body, false},
		"only a version":      {"evt_1", stamp(now), "v1,", body, false},
		"octal":               {"evt_1", "08", good, body, false},
		"a very long time":    {"evt_1", strings.Repeat("9", 5000), good, body, false},
		"forged":              {"evt_1", stamp(now), nothing, body, false},
		"not a time":          {"evt_1", "x", good, body, false},
	}
	for language, d := range drivers {
		t.Run(language, func(t *testing.T) {
			block := regexp.MustCompile("(?s)```" + language + "\n(.*?)```").FindSubmatch(text)
			if block == nil {
				t.Fatal("the document has no example")
			}
			folder := t.TempDir()
			if err := os.WriteFile(filepath.Join(folder, d.file), []byte(d.before+string(block[1])+d.after), 0o600); err != nil {
				t.Fatal(err)
			}
			for name, c := range cases {
				secret := secret
				if name == "forged" {
					secret = none
				}
				cmd := exec.Command(d.run[0], append(d.run[1:len(d.run):len(d.run)], secret, c.id, c.timestamp, c.signature)...)
				cmd.Dir, cmd.Stdin = folder, bytes.NewReader(c.body)
				out, err := cmd.CombinedOutput()
				if code := cmd.ProcessState.ExitCode(); (code == 0) != c.want || err != nil && code != 3 && code != 1 { // go run exits with 1
					t.Errorf("%s: exit %d, %v\n%s", name, code, err, out)
				}
			}
		})
	}
}
