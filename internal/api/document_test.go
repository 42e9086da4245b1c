package api

import (
	"net/http"
	"reflect"
	"testing"

	"gatherkit/internal/openapi"
)

// document returns the text of docs/openapi.json.
func document(t testing.TB, a *API) string {
	t.Helper()
	text, err := openapi.Document(a.described(t), reflect.TypeFor[widgetConfigResult]())
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// schemes says how the document calls the guards.
var schemes = map[guard]openapi.Scheme{guardPublic: openapi.Public, guardBearer: openapi.Bearer, guardWidget: openapi.Widget}

// described returns the operations as the document describes them.
func (a *API) described(t testing.TB) []openapi.Operation {
	t.Helper()
	byName := scripts(t)
	operations := make([]openapi.Operation, 0, len(a.order))
	for _, o := range a.order {
		operations = append(operations, openapi.Operation{
			Name: o.name, Summary: o.summary, Needs: o.needs(), Scheme: schemes[o.guard], Role: o.role, Callers: string(o.callers),
			Params: o.params, Takes: o.takes, Returns: o.returns, Example: exampleOf(o, readScript(t, byName[o.name])),
		})
	}
	return operations
}

// exampleOf returns the first call of the operation in its script that succeeds.
func exampleOf(o *op, script []step) openapi.Example {
	for _, s := range script {
		if s.method == http.MethodPost && s.path == "/api/"+o.name && s.status == http.StatusOK {
			return openapi.Example{Call: s.body, Answer: s.answer}
		}
	}
	return openapi.Example{}
}

// needs returns a sentence about the credentials that the operation needs.
func (o *op) needs() string {
	switch o.guard {
	case guardBearer:
		return "Needs an access token with the role " + string(o.role) + " or above." + o.callers.refused()
	case guardWidget:
		return "Needs an app's API key in the header X-API-Key."
	}
	return "Needs no credentials."
}
