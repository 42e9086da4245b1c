// Package openapi writes the OpenAPI document of operations.
package openapi

import (
	"fmt"
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
	Example        Example // without an answer if there is none
}

// Example is a call of an operation and the result, as JSON. A text that consists of a name in braces
// stands for a value that is different in each installation.
type Example struct{ Call, Answer string }

const (
	mediaJSON = "application/json"
	schemaRef = "#/components/schemas/"
	errorRef  = schemaRef + "Failure"
)

// Document returns the OpenAPI 3.1 document of the operations, in their order, and of the other paths
// that programs call. config is the type of the widget's configuration. Document returns an error if
// a list of values occurs twice and has no name.
func Document(operations []Operation, config reflect.Type) ([]byte, error) {
	registry := Records(operations)
	doc := &huma.OpenAPI{
		OpenAPI: "3.1.0",
		Info: &huma.Info{
			Title: "Gatherkit", Version: "1",
			Description: "Collects feature requests. Every operation is a POST with a JSON object. " +
				"Every answer is {ok: true, result} or {ok: false, error}.",
			License: &huma.License{Name: "Apache-2.0", Identifier: "Apache-2.0"},
		},
		Servers:    []*huma.Server{{URL: "/"}},
		Components: &huma.Components{Schemas: registry, SecuritySchemes: securitySchemes()},
	}
	doc.Paths = routes(registry, config)
	registry.Map()["Failure"] = failureSchema()
	for _, area := range Areas(operations) {
		doc.Tags = append(doc.Tags, &huma.Tag{Name: area.Name, Description: area.Title})
	}
	doc.Tags = append(doc.Tags, &huma.Tag{Name: filesTag, Description: "Files and downloads"})
	results := []*huma.Schema{{Ref: errorRef}, doc.Paths[configPath].Get.Responses["200"].Content[mediaJSON].Schema}
	for _, o := range operations {
		described := describe(registry, o)
		doc.Paths["/api/"+o.Name] = &huma.PathItem{Post: described}
		results = append(results, described.Responses["200"].Content[mediaJSON].Schema)
	}
	if err := nameEnums(registry); err != nil {
		return nil, err
	}
	done := map[*huma.Schema]bool{}
	for _, result := range results {
		open(registry, result, done)
	}
	for _, o := range operations {
		if o.Example.Answer == "" {
			continue
		}
		if err := addExample(registry, doc.Paths["/api/"+o.Name].Post, o.Example); err != nil {
			return nil, fmt.Errorf("the example of %s: %w", o.Name, err)
		}
	}
	return params.IndentedJSON(doc)
}

// areaTitles are the titles of the areas.
var areaTitles = map[string]string{
	"setup":     "First start",
	"auth":      "Login",
	"sessions":  "Sessions",
	"apps":      "Apps",
	"widget":    "Widget",
	"mine":      "Private links",
	"requests":  "Feature requests",
	"portal":    "Portal",
	"people":    "People",
	"entries":   "Changelog",
	"events":    "Events",
	"tags":      "Tags",
	"tokens":    "Tokens",
	"templates": "Reply templates",
	"views":     "Saved views",
	"links":     "Links to issues",
	"votes":     "Votes",
	"webhooks":  "Webhooks",
	"comments":  "Comments",
	"mentions":  "Mentions",
	"digest":    "Digests",
	"mail":      "Mail delivery",
	"account":   "Account",
	"audit":     "Audit log",
	"users":     "Users",
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
		Responses: responses(jsonResponse("The result.", successSchema(registry.Schema(o.Returns, true, o.Name)))),
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
			Content:  map[string]*huma.MediaType{mediaJSON: {Schema: registry.Schema(o.Takes, true, o.Name)}},
		}
	}
	return operation
}

// responses returns the answers of a call: success, and those that every call can get.
func responses(success *huma.Response) map[string]*huma.Response {
	return map[string]*huma.Response{
		"200": success,
		"4XX": jsonResponse("The call was refused; error.code says why.", &huma.Schema{Ref: errorRef}),
		"5XX": jsonResponse("The service cannot process the call right now.", &huma.Schema{Ref: errorRef}),
	}
}

// successSchema returns the envelope of a result.
func successSchema(result *huma.Schema) *huma.Schema {
	return &huma.Schema{
		Type: huma.TypeObject, Required: []string{"ok", "result"},
		Properties: map[string]*huma.Schema{
			"ok":     {Type: huma.TypeBoolean, Enum: []any{true}},
			"result": result,
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
	return &huma.Response{Description: description, Content: map[string]*huma.MediaType{mediaJSON: {Schema: schema}}}
}

func securitySchemes() map[string]*huma.SecurityScheme {
	return map[string]*huma.SecurityScheme{
		string(Bearer): {
			Type: "http", Scheme: "bearer",
			Description: "The access token from auth-login, valid for 15 minutes, or the secret of a token from tokens-create.",
		},
		string(Widget): {Type: "apiKey", In: "header", Name: "X-API-Key", Description: "The API key of one app."},
	}
}
