package mcp

import (
	"encoding/json"
	"io"
	"math"
	"net/http"
	"slices"
	"strings"

	"gatherkit/internal/calls"
	"gatherkit/internal/fair"
	"gatherkit/internal/feedback"
)

// methods are those that agents need. The others would open streams that stay open.
var methods = []string{"initialize", "ping", "server/discover", "tools/list", "tools/call"}

// read reads the only message of a call. Older versions of the protocol allow many messages in one call, which would
// count as one. It returns ErrBodyTooLarge or ErrInvalidJSON.
func read(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, calls.MaxBody))
	if err != nil {
		return nil, feedback.ErrBodyTooLarge
	}
	var sent map[string]json.RawMessage
	if err := json.Unmarshal(body, &sent); err != nil {
		return nil, feedback.ErrInvalidJSON.With("Send one JSON-RPC message in each call.")
	}
	var method string
	if err := json.Unmarshal(sent["method"], &method); err != nil ||
		!slices.Contains(methods, method) && !strings.HasPrefix(method, "notifications/") {
		return nil, feedback.ErrInvalidJSON.With("The method must be one of %s.", strings.Join(methods, ", "))
	}
	// A new message, so that the stream reads the same method from keys that are there twice or in other letters.
	message := map[string]json.RawMessage{}
	for _, key := range []string{"jsonrpc", "id", "method", "params"} {
		if value, is := sent[key]; is {
			message[key] = value
		}
	}
	return json.Marshal(message)
}

// The maximum numbers of calls that are answered at once, of an agent, of the agents of an account and of all agents.
// Their answers are in memory, each a few times: a page of a list can have 8 MiB.
const (
	maxAtOnce    = 4
	maxOfAccount = 16
	maxOfAll     = 32
)

// crowd are the calls that are answered now, by their tokens and by the ids of their accounts.
type crowd struct{ agents, accounts *fair.Pool[string] }

func newCrowd() crowd {
	return crowd{fair.New[string](math.MaxInt64, maxAtOnce), fair.New[string](maxOfAll, maxOfAccount)}
}

// enter returns a function to call when the call is answered. It returns ErrRateLimited if there are too many.
func (c crowd) enter(token, account string) (leave func(), err error) {
	claims := fair.Claims{c.agents.For(token), c.accounts.For(account)}
	if !claims.TryAcquire(1) {
		return nil, feedback.ErrRateLimited.With("An agent can make %d calls at once, the agents of an account %d, and all agents together %d.",
			maxAtOnce, maxOfAccount, maxOfAll)
	}
	return func() { claims.Release(1) }, nil
}
