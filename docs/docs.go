// Package docs carries the documents that the program itself shows.
package docs

import _ "embed"

// API is the reference of every operation, in Markdown. It is generated: see
// internal/api/reference_test.go.
//
//go:embed api.md
var API []byte
