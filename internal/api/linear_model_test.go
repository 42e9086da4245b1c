package api

import (
	"slices"
	"strings"

	"github.com/anishathalye/porcupine"

	"gatherkit/internal/feedback"
)

// The model of an app: its key, the number of its requests, and whether it is deleted.
type (
	appState struct {
		key     string
		n       int
		deleted bool
	}
	submitWith string   // a key; the answer is a code
	regenerate struct{} // the answer is the new key or a code
	countThem  struct{} // the answer is a number or a code
	readFirst  struct{} // reads the first request; the answer is a code
	deleteApp  struct{} // the answer is a code
)

func appModel(key string, n int) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return appState{key: key, n: n} },
		Step: func(state, input, output any) (bool, any) {
			app := state.(appState)
			switch call := input.(type) {
			case submitWith:
				if string(call) != app.key || app.deleted {
					return output == feedback.ErrInvalidAPIKey.Code, app
				}
				app.n++
				return output == "ok", app
			case readFirst:
				if app.deleted {
					return output == feedback.ErrRequestNotFound.Code, app
				}
				return output == "ok", app
			}
			if app.deleted {
				return output == feedback.ErrAppNotFound.Code, app
			}
			switch input.(type) {
			case regenerate:
				key := output.(string)
				return feedback.ValidAPIKey(key) && key != app.key, appState{key, app.n, false}
			case countThem:
				return output == app.n, app
			case deleteApp:
				return output == "ok", appState{deleted: true}
			}
			return false, app
		},
	}
}

// The model of a session: its refresh tokens in the order of their creation. Only the last
// one has not been used. Its clock does not move.
type (
	sessionState struct {
		tokens string // separated by spaces
		dead   bool
	}
	refreshWith string // a refresh token; the answer is refreshed
	refreshed   struct{ code, refresh string }
	callWith    string // an access token; the answer is a code
)

func sessionModel(refresh string) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return sessionState{tokens: refresh} },
		Step: func(state, input, output any) (bool, any) {
			session := state.(sessionState)
			if _, ok := input.(callWith); ok {
				want := "ok"
				if session.dead {
					want = feedback.ErrInvalidToken.Code
				}
				return output == want, session
			}
			refused := refreshed{code: feedback.ErrInvalidRefreshToken.Code}
			got, tokens := output.(refreshed), strings.Fields(session.tokens)
			i := slices.Index(tokens, string(input.(refreshWith)))
			switch {
			case session.dead || i < 0:
				return got == refused, session
			case i == len(tokens)-1:
				fresh := got.code == "ok" && !slices.Contains(tokens, got.refresh)
				return fresh, sessionState{tokens: session.tokens + " " + got.refresh}
			case i == len(tokens)-2:
				return got == refreshed{"ok", tokens[i+1]}, session
			}
			return got == refused, sessionState{session.tokens, true}
		},
	}
}

// The model of a request: whether it is in the bin, and its version.
type (
	requestState struct {
		bin     bool
		version int
	}
	requestCall string // an operation, or "count"; the answer is requestAnswer
	// requestAnswer contains the version, or the number for a count.
	requestAnswer struct {
		code string
		n    int
	}
)

var requestModel = porcupine.Model{
	Init: func() any { return requestState{version: 1} },
	Step: func(state, input, output any) (bool, any) {
		r := state.(requestState)
		missing := requestAnswer{code: feedback.ErrRequestNotFound.Code}
		next, want := r, requestAnswer{"ok", r.version}
		switch input.(requestCall) {
		case "count":
			if want.n = 1; r.bin {
				want.n = 0
			}
		case "requests-get":
			if r.bin {
				want = missing
			}
		case "requests-delete":
			if want = missing; !r.bin {
				next, want = requestState{true, r.version + 1}, requestAnswer{code: "ok"}
			}
		case "requests-restore":
			if r.bin {
				next = requestState{false, r.version + 1}
				want.n = next.version
			}
		}
		return output == want, next
	},
}

// The model of a request's votes: who has given one.
type (
	voteState [3]bool
	castVote  struct { // answered with how many votes there are then
		voter  int
		remove bool
	}
	readVotes struct{} // answered with a number
)

var votesModel = porcupine.Model{
	Init: func() any { return voteState{} },
	Step: func(state, input, output any) (bool, any) {
		all := state.(voteState)
		if call, ok := input.(castVote); ok {
			all[call.voter] = !call.remove
		}
		n := 1 // the submitter
		for _, voted := range all {
			if voted {
				n++
			}
		}
		return output == n, all
	},
}
