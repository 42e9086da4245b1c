package api

import "gatherkit/internal/openapi"

// OpenAPI returns the document that /api/openapi.json serves.
func (a *API) OpenAPI() []byte { return a.openAPI }

// schemes says how the document calls the guards.
var schemes = map[guard]openapi.Scheme{guardPublic: openapi.Public, guardBearer: openapi.Bearer, guardWidget: openapi.Widget}

// described returns the operations as the document describes them.
func (a *API) described() []openapi.Operation {
	operations := make([]openapi.Operation, 0, len(a.order))
	for _, o := range a.order {
		operations = append(operations, openapi.Operation{
			Name: o.name, Summary: o.summary, Needs: o.needs(), Scheme: schemes[o.guard], Role: o.role, Callers: string(o.callers),
			Params: o.params, Takes: o.takes, Returns: o.returns,
		})
	}
	return operations
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

func (a *API) serverURL() string {
	if a.PublicURL == nil {
		return "/"
	}
	return a.PublicURL.String()
}
