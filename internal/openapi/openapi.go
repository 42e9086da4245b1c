// Package openapi writes the OpenAPI document of operations.
package openapi

import (
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"gatherkit/internal/feedback"
	"gatherkit/internal/params"
)

// Scheme is the kind of credentials that an operation needs.
type Scheme string

// The schemes.
const (
	Public Scheme = "none"
	Bearer Scheme = "Bearer"
	Widget Scheme = "X-API-Key"
)

// Operation is what the document says about an operation.
type Operation struct {
	Name, Summary  string
	Needs          string // a sentence about the credentials
	Scheme         Scheme
	Role           feedback.Role // least role; "" unless the scheme is Bearer
	Callers        string        // who may call it, if there is a role
	Params         *params.Params
	Takes, Returns reflect.Type
}

const errorRef = "#/components/schemas/Failure"

// Document returns the OpenAPI 3.1 document of operations, in their order. The registry has the schemas
// of their parameters.
func Document(registry huma.Registry, server string, operations []Operation) ([]byte, error) {
	doc := &huma.OpenAPI{
		OpenAPI: "3.1.0",
		Info: &huma.Info{
			Title: "Gatherkit", Version: "1",
			Description: "Collects feature requests. Every operation is a POST with a JSON object. " +
				"Every answer is {ok: true, result} or {ok: false, error}.",
			License: &huma.License{Name: "Apache-2.0", Identifier: "Apache-2.0"},
		},
		Servers:    []*huma.Server{{URL: server}},
		Paths:      map[string]*huma.PathItem{},
		Components: &huma.Components{Schemas: registry, SecuritySchemes: securitySchemes()},
	}
	registry.Map()["Failure"] = failureSchema()
	for _, area := range Areas(operations) {
		doc.Tags = append(doc.Tags, &huma.Tag{Name: area.Name, Description: area.Title})
	}
	for _, o := range operations {
		doc.Paths["/api/"+o.Name] = &huma.PathItem{Post: describe(registry, o)}
	}
	for name, schema := range registry.Map() {
		fixNullable(registry.TypeFromRef("#/components/schemas/"+name), schema)
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

// areaTitles are the titles of the areas.
var areaTitles = map[string]string{
	"setup":    "First start",
	"auth":     "Login",
	"sessions": "Sessions",
	"apps":     "Apps",
	"widget":   "Widget",
	"mine":     "Private links",
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
	"digest":   "Digests",
	"mail":     "Mail delivery",
	"audit":    "Audit log",
	"users":    "Users",
}

// Area is the first word of operations, and its title.
type Area struct{ Name, Title string }

// Areas returns the areas of operations in the order of their first operation.
func Areas(operations []Operation) []Area {
	var areas []Area
	for _, o := range operations {
		area := Area{o.Params.Area, areaTitles[o.Params.Area]}
		if !slices.Contains(areas, area) {
			areas = append(areas, area)
		}
	}
	return areas
}

// describe describes an operation. Of its extensions, x-role is the least role that may
// call it, and x-parameters are its parameters in the order of the documentation: the error
// code is about the first one that is faulty.
func describe(registry huma.Registry, o Operation) *huma.Operation {
	operation := &huma.Operation{
		OperationID: o.Name, Summary: o.Summary, Description: o.Needs, Tags: []string{o.Params.Area},
		Security: []map[string][]string{}, Extensions: map[string]any{},
		Responses: map[string]*huma.Response{
			"200": jsonResponse("The result.", successSchema(registry, o)),
			"4XX": jsonResponse("The call was refused; error.code says why.", &huma.Schema{Ref: errorRef}),
			"5XX": jsonResponse("The service cannot process the call right now.", &huma.Schema{Ref: errorRef}),
		},
	}
	if o.Scheme != Public {
		operation.Security = append(operation.Security, map[string][]string{string(o.Scheme): {}})
	}
	if o.Role != "" {
		operation.Extensions["x-role"], operation.Extensions["x-callers"] = o.Role, o.Callers
	}
	if len(o.Params.Names) > 0 {
		operation.Extensions["x-parameters"] = o.Params.Names
		operation.RequestBody = &huma.RequestBody{
			Required: len(o.Params.Schema.Required) > 0,
			Content:  map[string]*huma.MediaType{"application/json": {Schema: registry.Schema(o.Takes, true, o.Name)}},
		}
	}
	return operation
}

func successSchema(registry huma.Registry, o Operation) *huma.Schema {
	return &huma.Schema{
		Type: huma.TypeObject, Required: []string{"ok", "result"},
		Properties: map[string]*huma.Schema{
			"ok":     {Type: huma.TypeBoolean, Enum: []any{true}},
			"result": registry.Schema(o.Returns, true, o.Name),
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
		string(Bearer): {Type: "http", Scheme: "bearer", Description: "The access token from auth-login, valid for 15 minutes."},
		string(Widget): {Type: "apiKey", In: "header", Name: "X-API-Key", Description: "The API key of one app."},
	}
}
