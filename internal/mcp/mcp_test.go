package mcp

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"gatherkit/internal/feedback"
)

// newHandler returns tools that call an operation of a test, and its log. Every token is that of a viewer, of the
// account that its first letter names.
func newHandler(t *testing.T, operation http.HandlerFunc) (*Handler, *bytes.Buffer) {
	t.Helper()
	openAPI, err := os.ReadFile("../../docs/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	h, err := New(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/auth-me" {
			account := strings.TrimSpace(strings.ToLower(r.Header.Get("Authorization"))[len("bearer "):])[:1]
			_, _ = w.Write([]byte(`{"ok":true,"result":{"account":{"id":"` + account + `"},"role":"viewer"}}`))
			return
		}
		operation(w, r)
	}), openAPI, "1", slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	return h, &log
}

// listed calls a tool with the header Authorization.
func listed(h *Handler, authorization string) *httptest.ResponseRecorder {
	const message = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"apps-list","arguments":{}}}`
	r := httptest.NewRequest(http.MethodPost, Path, strings.NewReader(message))
	r.Header.Set("Authorization", authorization)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// TestBrokenTool: an operation that panics ends neither the process nor the call, and the agent does not learn why.
func TestBrokenTool(t *testing.T) {
	h, log := newHandler(t, func(http.ResponseWriter, *http.Request) { panic("a bug") })
	got, err := h.tool("apps-list")(
		context.WithValue(t.Context(), inboundKey{}, inbound{httptest.NewRequest(http.MethodPost, Path, http.NoBody), feedback.RoleViewer}),
		&sdk.CallToolRequest{Params: &sdk.CallToolParamsRaw{}},
	)
	if err != nil || !got.IsError || got.Content[0].(*sdk.TextContent).Text != "api.internal: "+feedback.ErrInternal.Message {
		t.Errorf("%v, %v", got, err)
	}
	if answer := listed(h, "Bearer a"); answer.Code != http.StatusOK || strings.Contains(answer.Body.String(), "bug") {
		t.Errorf("%d %s", answer.Code, answer.Body)
	}
	if strings.Count(log.String(), "a bug") != 2 {
		t.Errorf("the log says %s", log)
	}
}

// TestTokenInAllForms: however an agent sends its token, it is one agent.
func TestTokenInAllForms(t *testing.T) {
	begun, end := make(chan struct{}), make(chan struct{})
	var n atomic.Int64
	h, _ := newHandler(t, func(w http.ResponseWriter, _ *http.Request) {
		if n.Add(1) <= maxAtOnce {
			begun <- struct{}{}
			<-end
		}
		_, _ = w.Write([]byte(`{"ok":true,"result":{}}`))
	})
	var calls sync.WaitGroup
	for _, form := range []string{"Bearer a", "bearer a", "BEARER  a", "Bearer a "} {
		calls.Go(func() {
			if got := listed(h, form); got.Code != http.StatusOK {
				t.Errorf("%q: %d %s", form, got.Code, got.Body)
			}
		})
		<-begun
	}
	if got := listed(h, "bEARER   a"); got.Code != feedback.ErrRateLimited.Status {
		t.Errorf("one more is answered %d %s", got.Code, got.Body)
	}
	close(end)
	calls.Wait()
}

// TestAccountsOfAgents: the agents of one account do not take the places of others.
func TestAccountsOfAgents(t *testing.T) {
	begun, end := make(chan struct{}), make(chan struct{})
	h, _ := newHandler(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.Header.Get("Authorization"), "Bearer a") {
			begun <- struct{}{}
			<-end
		}
		_, _ = w.Write([]byte(`{"ok":true,"result":{}}`))
	})
	var calls sync.WaitGroup
	for i := range maxOfAccount {
		calls.Go(func() { listed(h, fmt.Sprint("Bearer a", i)) })
		<-begun
	}
	if got := listed(h, "Bearer a more"); got.Code != feedback.ErrRateLimited.Status {
		t.Errorf("the same account is answered %d %s", got.Code, got.Body)
	}
	if got := listed(h, "Bearer b"); got.Code != http.StatusOK {
		t.Errorf("another account is answered %d %s", got.Code, got.Body)
	}
	close(end)
	calls.Wait()
}
