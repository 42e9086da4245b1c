// Package docs embeds the documents that the program serves.
package docs

import _ "embed"

// API is the API reference in Markdown. internal/api/reference_test.go generates it.
//
//go:embed api.md
var API []byte
