package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"gatherkit/internal/feedback"
)

// FuzzRead checks that only messages with the known methods reach the stream, in any spelling of their keys.
func FuzzRead(f *testing.F) {
	for _, body := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, `[]`, `{"method":"ping","METHOD":"x"}`, `{"method":"x","method":"ping"}`,
		`{"method":"notifications/initialized","params":{}}`, `{"\u006dethod":"ping"}`, `{`, ``,
	} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		got, err := read(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, Path, strings.NewReader(body)))
		if err != nil {
			return
		}
		var message map[string]any
		if err := json.Unmarshal(got, &message); err != nil {
			t.Fatal(err)
		}
		method, _ := message["method"].(string)
		if !slices.Contains(methods, method) && !strings.HasPrefix(method, "notifications/") {
			t.Errorf("%q is passed on", got)
		}
		for key := range message {
			if !slices.Contains([]string{"jsonrpc", "id", "method", "params"}, key) {
				t.Errorf("%q is passed on", got)
			}
		}
	})
}

func TestCrowd(t *testing.T) {
	c := newCrowd()
	enter := func(agent string, refused bool) (leave func()) {
		t.Helper()
		leave, err := c.enter(agent, "the account of "+agent[:1])
		if refused != (err != nil) || refused && !errors.Is(err, feedback.ErrRateLimited) {
			t.Fatalf("%s: %v", agent, err)
		}
		return leave
	}
	var leaves []func()
	for i := range maxOfAll {
		switch i {
		case maxAtOnce:
			enter("a0", true)
			leaves[0]()
			leaves[0] = enter("a0", false)
		case maxOfAccount:
			enter("a of the same account", true)
			leaves[5]()
			leaves[5] = enter("a of the same account", false)
		}
		account := []string{"a", "b"}[i/maxOfAccount]
		leaves = append(leaves, enter(fmt.Sprint(account, i/maxAtOnce), false))
	}
	enter("c", true)
	leaves[9]()
	leaves[9] = enter("c", false)
	for _, leave := range leaves {
		leave()
	}
	for range maxAtOnce {
		enter("a0", false)
	}
}
