package openapi

import (
	"reflect"

	"github.com/danielgtaylor/huma/v2"
)

const (
	filesTag   = "files"
	configPath = "/widget/config/{api_key}.json"
)

// routes returns the paths besides the operations that programs call. What authorizes a call is in
// its path, in a link that an operation returned.
func routes(registry huma.Registry, config reflect.Type) map[string]*huma.PathItem {
	binary := &huma.Schema{Type: huma.TypeString, Format: "binary"}
	text := &huma.Schema{Type: huma.TypeString}
	widget := registry.Schema(config, true, "widget-config")
	fixNullable(config, registry.SchemaFromRef(widget.Ref))
	upload := route("upload", "token", "Send a file",
		"The URL comes from widget-create-upload, which says until when it works. It takes a file of exactly the announced size.",
		jsonResponse("The service has stored the file.", successSchema(&huma.Schema{Type: huma.TypeObject})))
	upload.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"application/octet-stream": {Schema: binary}}}
	return map[string]*huma.PathItem{
		"/uploads/{token}": {Put: upload},
		"/attachments/{token}": {Get: route("attachment-download", "token", "Download an attached file",
			"The URL is in the attachments of a request. It works for one to two hours.",
			&huma.Response{Description: "The file.", Content: map[string]*huma.MediaType{"*/*": {Schema: binary}}})},
		"/exports/{token}": {Get: route("export-download", "token", "Download an export",
			"The URL comes from requests-export. It works once, within ten minutes.",
			&huma.Response{Description: "All requests that match, newest first.", Content: map[string]*huma.MediaType{
				"text/csv": {Schema: text}, "application/jsonl": {Schema: text},
			}})},
		configPath: {Get: route("widget-config", "api_key", "Get the configuration of the widget",
			"Answers without an envelope. Browsers cache it for a minute.",
			jsonResponse("The configuration.", widget))},
	}
}

// route describes a path with one parameter.
func route(id, parameter, summary, about string, success *huma.Response) *huma.Operation {
	return &huma.Operation{
		OperationID: id, Summary: summary, Description: about, Tags: []string{filesTag}, Security: []map[string][]string{},
		Parameters: []*huma.Param{{Name: parameter, In: "path", Required: true, Schema: &huma.Schema{Type: huma.TypeString}}},
		Responses:  responses(success),
	}
}
