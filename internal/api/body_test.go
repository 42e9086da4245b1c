package api

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"gatherkit/internal/feedback"
	"gatherkit/internal/params"
)

// TestDecodeErrors checks the errors for bodies that do not match the schema.
func TestDecodeErrors(t *testing.T) {
	const (
		submission = `{"title":"T","description":"","`
		upper      = "01234567-89AB-7DEF-8123-456789ABCDEF"
		idItem     = `"01234567-89ab-7def-8123-456789abcdef"`
		files      = "attachments must be a list of at most 5 items, each a UUID."
		duplicates = "attachments must not contain duplicates."
		status     = " must be one of opened, under_review, planned, in_progress, completed, declined, duplicate, or a list of 1 to 7 items, " +
			"each one of opened, under_review, planned, in_progress, completed, declined, duplicate."
		metadata = "metadata must be a JSON object of at most 8 KiB and two levels."
	)
	ids := func(n int) string {
		list := make([]string, n)
		for i := range list {
			list[i] = anotherID(i)
		}
		return strings.Join(list, ",")
	}
	statuses := func(n int) string {
		return strings.Repeat(`"opened",`, n-1) + `"opened"`
	}
	var unknown, said []string
	for i := range 30 {
		unknown = append(unknown, fmt.Sprintf(`"k%d":{"a":[%d]}`, i, i))
		if i < 10 {
			said = append(said, fmt.Sprintf("form.k%d is not a known field.", i))
		}
	}
	ops := decoders()
	for _, c := range []struct {
		operation, body, code, message string
	}{
		{"widget-submit-request", submission + `attachments":[` + ids(5) + `]}`, "", ""},
		{"widget-submit-request", submission + `attachments":[` + ids(6) + `]}`, "widget.invalid_attachments", files},
		{"widget-submit-request", submission + `attachments":[` + ids(500) + `]}`, "widget.invalid_attachments", files},
		{"widget-submit-request", submission + `attachments":[` + idItem + `,` + idItem + `]}`, "widget.invalid_attachments", duplicates},
		{"widget-submit-request", submission + `attachments":[` + idItem + `,"` + upper + `"]}`, "widget.invalid_attachments", duplicates},
		{"widget-submit-request", submission + `attachments":{"a":1}}`, "widget.invalid_attachments", files},
		{
			"widget-submit-request", submission + `attachments":[[],{},` + idItem + `]}`,
			"widget.invalid_attachments", "attachments[0] must be a UUID. attachments[1] must be a UUID.",
		},
		{
			"widget-submit-request", submission + `form":{` + strings.Join(unknown, ",") + `}}`,
			"widget.invalid_form", strings.Join(said, " "),
		},
		{
			"widget-submit-request", submission + `form":{"seconds":[],"x":1}}`,
			"widget.invalid_form", "form.seconds must be a number of at least 0. form.x is not a known field.",
		},
		{
			"widget-submit-request", submission + `form":{"website":"\u0000"}}`,
			"widget.invalid_form", "form must not contain the character NUL.",
		},
		{"widget-submit-request", submission + `form":[]}`, "widget.invalid_form", "form must be an object."},
		{
			"widget-submit-request", `{"title":{"a":1},"description":[2]}`,
			"widget.invalid_title",
			"title must be text of 1 to 200 characters. description must be text of at most 10000 characters.",
		},
		{
			"widget-submit-request", submission + `zeta":1,"alpha":[1],"beta":1}`,
			"api.unknown_parameter",
			`Unknown parameter "alpha"; this operation takes ` + strings.Join(ops["widget-submit-request"].params.Names, ", ") + ".",
		},
		{"widget-submit-request", submission + `zeta":1,"title":1}`, "api.invalid_json", feedback.ErrInvalidJSON.Message},
		{"widget-submit-request", submission + `zeta":{"a":[1,{"b":1,"b":2}]}}`, "api.invalid_json", feedback.ErrInvalidJSON.Message},
		{
			"widget-submit-request", submission + `attachments":[1,2,3,4,5,6,7,{"b":1,"b":2}]}`,
			"api.invalid_json", feedback.ErrInvalidJSON.Message,
		},
		{"widget-submit-request", submission + `metadata":"x"}`, "widget.invalid_metadata", metadata},
		{ // Metadata.Check limits it to 8 KiB
			"widget-submit-request", submission + `metadata":{"a":"` + strings.Repeat(" ", 48<<10-8) + `"}}`, "", "",
		},
		{
			"widget-submit-request", submission + `metadata":{"a":"` + strings.Repeat(" ", 48<<10) + `"}}`,
			"widget.invalid_metadata", metadata,
		},
		{
			"widget-submit-request", submission + `metadata":{"a":[{"\u0000":1}]}}`,
			"widget.invalid_metadata", "metadata must not contain the character NUL.",
		},
		{"widget-submit-request", submission + `metadata":{"a":1e999}}`, "api.invalid_json", feedback.ErrInvalidJSON.Message},
		{"requests-list", `{"status":[` + statuses(7) + `]}`, "", ""},
		{"requests-list", `{"status":[` + statuses(8) + `]}`, "requests.invalid_status", "status" + status},
		{"requests-bulk-update", `{"ids":[` + ids(1000) + `],"set":{}}`, "", ""},
		{
			"requests-bulk-update", `{"ids":[` + ids(1001) + `],"set":{}}`,
			"requests.invalid_ids", "ids must be a list of 1 to 1000 items, each a UUID.",
		},
		{
			"requests-bulk-update", `{"filter":{"status":{}},"set":{"add_tags":[[]]}}`,
			"requests.invalid_filter", "filter.status" + status + " set.add_tags[0] must be text of 1 to 40 characters.",
		},
		{"requests-list", `{"limit":1e999}`, "api.invalid_json", feedback.ErrInvalidJSON.Message},
	} {
		_, err := ops[c.operation].params.Decode([]byte(c.body))
		var refusal *feedback.Error
		code, message := "", ""
		if errors.As(err, &refusal) {
			code, message = refusal.Code, refusal.Message
		}
		if code != c.code || message != c.message {
			t.Errorf("%s %.200s\n%s: %s\nwant %s: %s", c.operation, c.body, code, message, c.code, c.message)
		}
	}
}

// TestDecodeValues checks the decoded values.
func TestDecodeValues(t *testing.T) {
	ops := decoders()
	body := `{"title":" T ","description":" \n","idempotency_key":" k ","email":null,` +
		`"metadata":{"n":12345678901234567890.50,"s":" \u00e9 ","null":null},` +
		`"form":{"website":" x ","seconds":1e300}}`
	value, err := ops["widget-submit-request"].params.Decode([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	in := value.(widgetSubmitRequestParams)
	metadata, err := in.Metadata.MarshalJSON()
	if err != nil || string(metadata) != `{"n":12345678901234567890.50,"null":null,"s":" é "}` {
		t.Errorf("metadata %s, %v", metadata, err)
	}
	if in.Title != "T" || in.Description != "" || in.IdempotencyKey != " k " || in.Email != "" ||
		in.Form.Website != "x" || *in.Form.Seconds != 1<<53-1 {
		t.Errorf("%+v, form %+v", in, in.Form)
	}
	body = `{"id":"01234567-89ab-7def-8123-456789abcdef","eta":null,"tags":["b"," a"],"title":null}`
	value, err = ops["requests-update"].params.Decode([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	update := value.(requestsUpdateParams)
	if eta := update.ETA.Change(); eta == nil || *eta != nil || update.AssigneeID.Change() != nil || update.Title != nil ||
		!slices.Equal(*update.Tags, params.Tags{"b", "a"}) {
		t.Errorf("%+v", update)
	}
	for _, empty := range []string{"", " \n", "{}", " { } "} {
		if _, err := ops["apps-list"].params.Decode([]byte(empty)); err != nil {
			t.Errorf("%q: %v", empty, err)
		}
	}
}
