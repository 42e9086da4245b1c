package api

import (
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"gatherkit/internal/feedback"
	"gatherkit/internal/params"
)

const errorRef = "#/components/schemas/Failure"

// document returns the OpenAPI 3.1 document.
func (a *API) document() ([]byte, error) {
	doc := &huma.OpenAPI{
		OpenAPI: "3.1.0",
		Info: &huma.Info{
			Title: "Gatherkit", Version: "1",
			Description: "Collects feature requests. Every operation is a POST with a JSON object. " +
				"Every answer is {ok: true, result} or {ok: false, error}.",
			License: &huma.License{Name: "Apache-2.0", Identifier: "Apache-2.0"},
		},
		Servers:    []*huma.Server{{URL: a.serverURL()}},
		Paths:      map[string]*huma.PathItem{},
		Components: &huma.Components{Schemas: a.registry, SecuritySchemes: securitySchemes()},
	}
	a.registry.Map()["Failure"] = failureSchema()
	for _, area := range areas(a.order) {
		doc.Tags = append(doc.Tags, &huma.Tag{Name: area, Description: areaTitles[area]})
	}
	for _, o := range a.order {
		doc.Paths["/api/"+o.name] = &huma.PathItem{Post: a.operation(o)}
	}
	for name, schema := range a.registry.Map() {
		fixNullable(a.registry.TypeFromRef("#/components/schemas/"+name), schema)
	}
	return params.IndentedJSON(doc)
}

// fixNullable sets which fields of a record can be null: pointers without omitempty and
// parameters that null clears can, slices cannot. huma gets this wrong for slices and for
// ids, which are arrays of bytes.
func fixNullable(record reflect.Type, schema *huma.Schema) {
	if record == nil || record.Kind() != reflect.Struct {
		return
	}
	for i := range record.NumField() {
		field := record.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		property := schema.Properties[name]
		if property == nil {
			continue
		}
		nullable := params.Clears(field.Type) || field.Type.Kind() == reflect.Pointer && options != "omitempty"
		switch {
		case property.Ref == "":
			property.Nullable = nullable
		case nullable: // a reference has no type of its own that could include null
			property.AnyOf, property.Ref = []*huma.Schema{{Ref: property.Ref}, {Type: "null"}}, ""
		}
	}
}

// OpenAPI returns the document that /api/openapi.json serves.
func (a *API) OpenAPI() []byte { return a.openAPI }

func (a *API) serverURL() string {
	if a.PublicURL == nil {
		return "/"
	}
	return a.PublicURL.String()
}

// areaTitles are the titles of the areas, which are the first words of operations.
var areaTitles = map[string]string{
	"setup":    "First start",
	"auth":     "Login",
	"sessions": "Sessions",
	"apps":     "Apps",
	"widget":   "Widget",
	"requests": "Feature requests",
	"events":   "Events",
	"tags":     "Tags",
	"tokens":   "Tokens",
	"views":    "Saved views",
	"links":    "Links to issues",
	"votes":    "Votes",
	"webhooks": "Webhooks",
	"comments": "Comments",
	"mentions": "Mentions",
	"audit":    "Audit log",
	"users":    "Users",
}

// areas returns the areas of operations in the order of their first operation.
func areas(ops []*op) []string {
	var names []string
	for _, o := range ops {
		if !slices.Contains(names, o.params.Area) {
			names = append(names, o.params.Area)
		}
	}
	return names
}

// operation describes an operation. Of its extensions, x-role is the least role that may
// call it, and x-parameters are its parameters in the order of the documentation: the error
// code is about the first one that is faulty.
func (a *API) operation(o *op) *huma.Operation {
	operation := &huma.Operation{
		OperationID: o.name, Summary: o.summary, Description: o.needs(), Tags: []string{o.params.Area},
		Security: []map[string][]string{}, Extensions: map[string]any{},
		Responses: map[string]*huma.Response{
			"200": jsonResponse("The result.", a.successSchema(o)),
			"4XX": jsonResponse("The call was refused; error.code says why.", &huma.Schema{Ref: errorRef}),
			"5XX": jsonResponse("The service cannot process the call right now.", &huma.Schema{Ref: errorRef}),
		},
	}
	if o.guard != guardPublic {
		operation.Security = append(operation.Security, map[string][]string{string(o.guard): {}})
	}
	if o.role != "" {
		operation.Extensions["x-role"], operation.Extensions["x-callers"] = o.role, o.callers
	}
	if len(o.params.Names) > 0 {
		operation.Extensions["x-parameters"] = o.params.Names
		operation.RequestBody = &huma.RequestBody{
			Required: len(o.params.Schema.Required) > 0,
			Content:  map[string]*huma.MediaType{"application/json": {Schema: a.registry.Schema(o.takes, true, o.name)}},
		}
	}
	return operation
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

func (a *API) successSchema(o *op) *huma.Schema {
	return &huma.Schema{
		Type: huma.TypeObject, Required: []string{"ok", "result"},
		Properties: map[string]*huma.Schema{
			"ok":     {Type: huma.TypeBoolean, Enum: []any{true}},
			"result": a.registry.Schema(o.returns, true, o.name),
		},
	}
}

func failureSchema() *huma.Schema {
	text := &huma.Schema{Type: huma.TypeString}
	var codes []string
	for _, e := range feedback.Codes() {
		codes = append(codes, e.Code)
	}
	return &huma.Schema{
		Type: huma.TypeObject, Required: []string{"ok", "error"},
		Properties: map[string]*huma.Schema{
			"ok": {Type: huma.TypeBoolean, Enum: []any{false}},
			"error": {
				Type: huma.TypeObject, Required: []string{"code", "message"},
				Properties: map[string]*huma.Schema{
					"code": {
						Type:        huma.TypeString,
						Description: "<area>.invalid_<field> for an invalid field, or one of " + strings.Join(codes, ", ") + ".",
					},
					"message": text,
				},
			},
		},
	}
}

func jsonResponse(description string, schema *huma.Schema) *huma.Response {
	return &huma.Response{Description: description, Content: map[string]*huma.MediaType{"application/json": {Schema: schema}}}
}

func securitySchemes() map[string]*huma.SecurityScheme {
	return map[string]*huma.SecurityScheme{
		string(guardBearer): {Type: "http", Scheme: "bearer", Description: "The access token from auth-login, valid for 15 minutes."},
		string(guardWidget): {Type: "apiKey", In: "header", Name: "X-API-Key", Description: "The API key of one app."},
	}
}
