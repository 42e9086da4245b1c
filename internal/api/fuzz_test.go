package api

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"gatherkit/internal/feedback"
	"gatherkit/internal/params"
)

// refusedWell fails unless err is a proper error for invalid input.
func refusedWell(t *testing.T, err error) {
	t.Helper()
	var refusal *feedback.Error
	if !errors.As(err, &refusal) || refusal.Status != 400 || refusal.Code == "" || refusal.Message == "" || len(refusal.Message) > 10_000 {
		t.Errorf("refused with %#v", err)
	}
}

// decoders returns the operations by name, without a store. They can only decode parameters.
func decoders() map[string]*op {
	huma.ValidateStrictCasing = true
	registry := huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer)
	ops := map[string]*op{}
	for _, o := range (&API{}).operations() {
		o.params = params.New(registry, o.name, o.takes)
		ops[o.name] = &o
	}
	return ops
}

// FuzzDecode: any body is either decoded or refused with a proper error. Decoding the JSON of
// a decoded value gives the same value.
func FuzzDecode(f *testing.F) {
	ops := decoders()
	for name := range ops {
		body := uuidText.ReplaceAllString(samples[name], "")
		for _, placeholder := range []string{"{app}", "{request}"} {
			body = strings.ReplaceAll(body, placeholder, "01234567-89ab-7def-8123-456789abcdef")
		}
		f.Add(name, []byte(body))
	}
	for _, seed := range []struct{ name, body string }{
		{
			"widget-submit-request", `{"title":" T ","description":"","email":"a@b.example",` +
				`"metadata":{"a":[1,2.5,"x",null],"b":{"c":true}},"idempotency_key":" k "}`,
		},
		{"widget-submit-request", `{"title":"T","description":"","metadata":{"a":1e999}}`},
		{"widget-submit-request", `{"title":"\ud800","description":"\u0000"}`},
		{"widget-submit-request", `{"title":"T","description":"","form":{"website":" x ","seconds":1.25}}`},
		{
			"apps-update-settings", `{"id":"01234567-89ab-7def-8123-456789abcdef","settings":` +
				`{"widget":{"require_email":true,"position":"top-left"},"allowed_origins":["https://a.example"]}}`,
		},
		{"requests-list", `{"status":["opened","planned"],"sort":"oldest","limit":9223372036854775808,"cursor":"x"}`},
		{"requests-list", `{"status":null,"limit":1.0,"app_id":null}`},
		{"requests-update", `{"id":"01234567-89ab-7def-8123-456789abcdef","expected_version":1e18}`},
		{"apps-create", `{"name":"a","name":"b"}`},
		{"apps-create", `[]`},
		{"apps-create", ``},
	} {
		f.Add(seed.name, []byte(seed.body))
	}
	f.Fuzz(func(t *testing.T, name string, body []byte) {
		o := ops[name]
		if o == nil {
			return
		}
		value, err := o.params.Decode(body)
		if err != nil {
			refusedWell(t, err)
			return
		}
		if reflect.TypeOf(value) != o.takes {
			t.Fatalf("read as %T", value)
		}
		var text, second bytes.Buffer
		if err := params.WriteJSON(&text, value); err != nil {
			t.Fatalf("%#v cannot be encoded: %v", value, err)
		}
		again, err := o.params.Decode(text.Bytes())
		if err != nil {
			// Cannot happen, because empty optional fields are encoded as null or omitted.
			t.Fatalf("%s was read, but %s is refused: %v", body, &text, err)
		}
		if err := params.WriteJSON(&second, again); err != nil || !bytes.Equal(second.Bytes(), text.Bytes()) {
			t.Fatalf("%s is read as %s, %v", &text, &second, err)
		}
	})
}

// FuzzMetadata: accepted metadata has at most 8 KiB and two levels.
func FuzzMetadata(f *testing.F) {
	for _, text := range []string{
		`{}`, `null`, `{"a":1}`, `{"a":{"b":1}}`, `{"a":{"b":[]}}`, `{"a":[1,"x",null]}`, `{"a":[[]]}`,
		`{"a":"` + strings.Repeat("x", 8<<10) + `"}`,
		`{"a":"` + strings.Repeat("<", 2000) + `"}`,
	} {
		f.Add([]byte(text))
	}
	submit := decoders()["widget-submit-request"].params
	f.Fuzz(func(t *testing.T, text []byte) {
		value, err := submit.Decode(slices.Concat([]byte(`{"title":"T","description":"","metadata":`), text, []byte("}")))
		if err != nil {
			refusedWell(t, err)
			return
		}
		object := value.(widgetSubmitRequestParams).Metadata
		if err := object.Check(); err != nil {
			refusedWell(t, err)
			return
		}
		if stored, err := object.MarshalJSON(); err != nil || len(stored) > 8<<10 {
			t.Errorf("%d bytes pass, %v", len(stored), err)
		}
		for _, second := range object {
			for _, third := range members(second) {
				switch third.(type) {
				case map[string]any, []any:
					t.Errorf("%s passes", text)
				}
			}
		}
	})
}

// members returns the values in v.
func members(v any) []any {
	var list []any
	switch v := v.(type) {
	case map[string]any:
		for _, member := range v {
			list = append(list, member)
		}
	case []any:
		list = v
	}
	return list
}

// FuzzSecrets: accepted tokens, keys and ids have the right form.
func FuzzSecrets(f *testing.F) {
	for _, text := range []string{
		"", "gat_", "gk_" + strings.Repeat("0", 38), "gat_" + strings.Repeat("0", 71), "grt_" + strings.Repeat("z", 71),
		"gk_4LhYx0bqvNc2XkQm8TzWs1RfUj7PdGa90bXYZc", "gat_\xff", "gk_é",
		"01234567-89ab-7def-8123-456789abcdef", "0123456789AB-7DEF-8123-456789abcdef",
	} {
		f.Add(text)
	}
	zero := zeroReader{}
	f.Add(feedback.NewAPIKey(zero))
	f.Add(feedback.NewToken(feedback.AccessToken, feedback.ID{1}, zero))
	f.Add(feedback.NewToken(feedback.RefreshToken, feedback.ID{2}, zero))
	f.Fuzz(func(t *testing.T, text string) {
		for _, kind := range []feedback.TokenKind{feedback.AccessToken, feedback.RefreshToken} {
			if id, ok := feedback.ParseToken(kind, text); ok != (id != feedback.ID{}) && len(text) != 75 {
				t.Errorf("%q is of %s, %v", text, id, ok)
			}
		}
		if feedback.ValidAPIKey(text) && (len(text) != 41 || !strings.HasPrefix(text, "gk_")) {
			t.Errorf("%q is an API key", text)
		}
		if id, err := feedback.ParseID(text); err == nil && id.String() != strings.ToLower(text) {
			t.Errorf("%q is read as %s", text, id)
		}
	})
}

// zeroReader is a source of randomness that returns zeros.
type zeroReader struct{}

func (zeroReader) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}
