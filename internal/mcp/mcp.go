// Package mcp offers operations as tools to agents, with the Model Context Protocol over HTTP. A tool is a call of its
// operation, with the same credentials, limits and errors.
package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"gatherkit/internal/calls"
	"gatherkit/internal/feedback"
	"gatherkit/internal/headers"
)

// Path is where agents find the tools.
const Path = "/mcp"

// Handler answers the calls of agents. Each role sees the tools that it may use.
type Handler struct {
	api    http.Handler
	roles  map[feedback.Role]*sdk.Server
	stream http.Handler
	log    *slog.Logger
	crowd  crowd
}

// document is what the tools need of the OpenAPI document.
type document struct {
	Paths map[string]struct {
		Post struct {
			Role        feedback.Role `json:"x-role"`
			RequestBody struct {
				Content map[string]struct {
					Schema map[string]any `json:"schema"`
				} `json:"content"`
			} `json:"requestBody"`
		} `json:"post"`
	} `json:"paths"`
	Components struct {
		Schemas map[string]map[string]any `json:"schemas"`
	} `json:"components"`
}

// New returns a handler that calls the operations of api, which are described in an OpenAPI document.
func New(api http.Handler, openAPI []byte, version string, log *slog.Logger) (*Handler, error) {
	var doc document
	if err := json.Unmarshal(openAPI, &doc); err != nil {
		return nil, err
	}
	h := &Handler{api: api, roles: map[feedback.Role]*sdk.Server{}, log: log, crowd: newCrowd()}
	for _, role := range []feedback.Role{feedback.RoleViewer, feedback.RoleMember, feedback.RoleAdmin, feedback.RoleOwner} {
		server := sdk.NewServer(&sdk.Implementation{Name: "gatherkit", Version: version}, &sdk.ServerOptions{
			Instructions: instructions, Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}},
			SetCacheable: func(_ context.Context, _ sdk.Request, c *sdk.Cacheable) { c.CacheScope = "private" }, // depends on the role
		})
		for _, o := range offers {
			operation := doc.Paths["/api/"+o.name].Post
			if operation.Role == "" {
				return nil, fmt.Errorf("there is no operation %s", o.name)
			}
			if !role.Allows(operation.Role) {
				continue
			}
			reads := operation.Role == feedback.RoleViewer
			replaces := !reads && !o.adds
			server.AddTool(&sdk.Tool{
				Name: o.name, Description: o.says,
				InputSchema: doc.selfContained(operation.RequestBody.Content["application/json"].Schema),
				Annotations: &sdk.ToolAnnotations{ReadOnlyHint: reads, DestructiveHint: &replaces, OpenWorldHint: &o.outside},
			}, h.tool(o.name))
		}
		h.roles[role] = server
	}
	h.stream = sdk.NewStreamableHTTPHandler(func(r *http.Request) *sdk.Server { return h.roles[callOf(r.Context()).role] },
		&sdk.StreamableHTTPOptions{
			Stateless: true, JSONResponse: true, MaxRequestBodyBytes: calls.MaxBody,
			DisableLocalhostProtection: true, // of services without credentials; here, it would refuse calls through a proxy
		})
	return h, nil
}

// inbound is the call of an agent.
type inbound struct {
	request *http.Request
	role    feedback.Role // of its token
}

type inboundKey struct{}

func callOf(ctx context.Context) inbound {
	in, _ := ctx.Value(inboundKey{}).(inbound)
	return in
}

// Before answers the calls of agents, and leaves all others to next.
func (h *Handler) Before(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == Path {
			h.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// ServeHTTP implements http.Handler. It checks the token before it reads the body, and answers as the operations do if
// the token is refused.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	who := h.call(r.Context(), r, "auth-me", nil)
	const requestID = "X-Request-Id" // of auth-me in the log; the operation of a tool has its own
	w.Header().Set(requestID, who.header.Get(requestID))
	var me struct {
		Result struct {
			Account struct{ ID string } `json:"account"`
			Role    feedback.Role       `json:"role"`
		} `json:"result"`
	}
	if err := json.Unmarshal(who.body.Bytes(), &me); err != nil || me.Result.Role == "" {
		who.send(w)
		return
	}
	leave, err := h.crowd.enter(headers.Bearer(r), me.Result.Account.ID)
	if err != nil {
		refuse(w, err)
		return
	}
	defer leave()
	if r.Method == http.MethodPost { // the stream refuses others
		body, err := read(w, r)
		if err != nil {
			refuse(w, err)
			return
		}
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	}
	h.stream.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), inboundKey{}, inbound{r, me.Result.Role})))
}

// tool returns what calls an operation for an agent.
func (h *Handler) tool(name string) sdk.ToolHandler {
	return func(ctx context.Context, in *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		params := in.Params.Arguments
		if string(params) == "null" { // how some clients send none
			params = nil
		}
		got, err := h.safely(ctx, name, params)
		if err != nil {
			h.log.ErrorContext(ctx, "a tool failed", "operation", name, "error", err)
			return failed(feedback.ErrInternal.Code + ": " + feedback.ErrInternal.Message), nil
		}
		var envelope struct {
			OK     bool            `json:"ok"`
			Result json.RawMessage `json:"result"`
			Error  struct {
				Code    string `json:"code"`
				Message string `json:"message"`
			} `json:"error"`
		}
		if err := json.Unmarshal(got.body.Bytes(), &envelope); err != nil {
			return nil, err
		}
		if !envelope.OK {
			text := envelope.Error.Code + ": " + envelope.Error.Message
			if wait := got.header.Get("Retry-After"); wait != "" {
				text += " Try again in " + wait + " seconds."
			}
			return failed(text), nil
		}
		return &sdk.CallToolResult{Content: []sdk.Content{
			&sdk.TextContent{Text: warning}, &sdk.TextContent{Text: string(envelope.Result)},
		}}, nil
	}
}

// failed is the result of a tool that says why it failed.
func failed(text string) *sdk.CallToolResult {
	return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: text}}}
}

// safely calls an operation for an agent. The SDK runs tools in goroutines of its own, where a panic would end the
// process.
func (h *Handler) safely(ctx context.Context, name string, params []byte) (got *answer, err error) {
	defer calls.PanicToError(&err)
	return h.call(ctx, callOf(ctx).request, name, params), nil
}

// refuse answers as the operations do when they refuse a call.
func refuse(w http.ResponseWriter, err error) {
	var e *feedback.Error
	if !errors.As(err, &e) {
		e = feedback.ErrInternal
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(e.Status)
	_ = json.NewEncoder(w).Encode(map[string]any{"ok": false, "error": map[string]string{"code": e.Code, "message": e.Message}})
}

// call calls an operation with the credentials and from the address of another call.
func (h *Handler) call(ctx context.Context, of *http.Request, name string, body []byte) *answer {
	r := of.Clone(ctx)
	r.Method, r.URL.Path, r.URL.RawQuery, r.RequestURI = http.MethodPost, "/api/"+name, "", ""
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	r.Header.Set("Content-Type", "application/json")
	for _, header := range []string{"Content-Encoding", "Cookie", "Origin", "Expect"} {
		r.Header.Del(header)
	}
	got := &answer{header: http.Header{}, status: http.StatusOK}
	h.api.ServeHTTP(got, r)
	return got
}

// answer keeps the answer of a call.
type answer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (a *answer) Header() http.Header { return a.header }

// WriteHeader implements http.ResponseWriter.
func (a *answer) WriteHeader(status int) { a.status = status }

// Write implements http.ResponseWriter.
func (a *answer) Write(text []byte) (int, error) { return a.body.Write(text) }

// SetReadDeadline implements what http.ResponseController looks for. The body is there already.
func (a *answer) SetReadDeadline(time.Time) error { return nil }

// SetWriteDeadline implements what http.ResponseController looks for. Nobody waits for the answer.
func (a *answer) SetWriteDeadline(time.Time) error { return nil }

// send sends the answer.
func (a *answer) send(w http.ResponseWriter) {
	for name, values := range a.header {
		w.Header()[name] = values
	}
	if a.status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body.Bytes())
}
