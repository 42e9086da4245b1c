package api

import (
	"bytes"
	"encoding/json"
	"net/url"

	"gatherkit/docs"
)

// OpenAPI returns the document that /api/openapi.json serves.
func (a *API) OpenAPI() []byte { return a.openAPI }

// openAPIOf returns the document of a service at an address, which is nil if none is configured.
func openAPIOf(address *url.URL) ([]byte, error) {
	if address == nil {
		return docs.OpenAPI, nil
	}
	server, err := json.Marshal(address.String())
	return bytes.Replace(docs.OpenAPI, []byte(`"url": "/"`), append([]byte(`"url": `), server...), 1), err
}
