// Package docs embeds the documents that the program serves.
package docs

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// API is the API reference in Markdown. internal/api/reference_test.go generates it.
//
//go:embed api.md
var API []byte

// OpenAPI is the OpenAPI document. internal/api/reference_test.go generates it.
//
//go:embed openapi.json
var OpenAPI []byte

// Operations returns the sorted names of the operations that a program can call with its token.
func Operations() []string {
	var document struct {
		Paths map[string]struct {
			Post struct {
				Callers string `json:"x-callers"`
			} `json:"post"`
		} `json:"paths"`
	}
	if err := json.Unmarshal(OpenAPI, &document); err != nil {
		panic(fmt.Sprint("docs/openapi.json: ", err)) // the program was built with a broken document
	}
	var names []string
	for path, item := range document.Paths {
		if callers := item.Post.Callers; callers == "all" || callers == "users" { // not "sessions", and not public ones
			names = append(names, strings.TrimPrefix(path, "/api/"))
		}
	}
	slices.Sort(names)
	return names
}
