package lists_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gatherkit/internal/feedback"
	"gatherkit/internal/index"
	"gatherkit/internal/lists"
	"gatherkit/internal/signed"
)

// FuzzCursor: only signed texts are accepted, and signing an accepted cursor again gives the
// same text.
func FuzzCursor(f *testing.F) {
	key := []byte("0123456789abcdef0123456789abcdef")
	cursors := lists.Cursors{Key: key}
	id := feedback.ID{1, 2, 3}
	var texts []string
	for _, c := range []lists.Cursor{
		{Operation: "apps-list", AccountID: id, Limit: 1, After: id},
		{
			Operation: "requests-list", AccountID: id, Limit: 200, After: id,
			Filter: lists.RequestsFilter{AppID: &id, Statuses: []feedback.Status{"opened", "planned"}, Sort: index.Oldest},
		},
	} {
		text, err := cursors.Sign(c)
		if err != nil {
			f.Fatal(err)
		}
		texts = append(texts, text)
		f.Add(text)
	}
	for _, text := range []string{
		"", "A", "junk", strings.Repeat("A", 22), texts[0] + "=", texts[0] + texts[1], texts[0][:10], "\n" + texts[0],
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, ok := cursors.Parse(text)
		if ok != slices.Contains(texts, text) {
			t.Fatalf("%q is taken: %v", text, ok)
		}
		if !ok {
			if !reflect.DeepEqual(c, lists.Cursor{}) {
				t.Errorf("refused, but returned %+v", c)
			}
			return
		}
		if again, err := cursors.Sign(c); err != nil || again != text {
			t.Errorf("%q is signed again as %q, %v", text, again, err)
		}
	})
}

// TestCursorOfANewerReplica: during an upgrade, a cursor may contain a filter that this
// version does not know. It must be refused, because ignoring it would list other requests.
func TestCursorOfANewerReplica(t *testing.T) {
	key := []byte("0123456789abcdef0123456789abcdef")
	cursors := lists.Cursors{Key: key}
	text, err := cursors.Sign(lists.Cursor{Operation: "requests-list", Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	payload, _ := signed.Payload(key, text)
	for from, want := range map[string]bool{`"l":1`: true, `"l":1,"f":{"colour":"red"}`: false, `"l":1,"newer":1`: false} {
		newer := bytes.Replace(payload, []byte(`"l":1`), []byte(from), 1)
		if _, ok := cursors.Parse(signed.Text(key, newer)); ok != want {
			t.Errorf("%s: read %v, want %v", newer, ok, want)
		}
	}
}

// FuzzStatusFilter: any JSON is decoded without a panic, into sorted statuses without
// duplicates.
func FuzzStatusFilter(f *testing.F) {
	for _, text := range []string{`"opened"`, `["planned","opened","planned"]`, `[]`, `[1]`, `null`, `{}`, `""`, `[[]]`, `[null]`, `1`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if !json.Valid(text) {
			return // UnmarshalJSON is only called with valid JSON
		}
		var s lists.StatusFilter
		if err := s.UnmarshalJSON(text); err != nil {
			return
		}
		for i := 1; i < len(s); i++ {
			if s[i-1] >= s[i] {
				t.Errorf("%s is read as %q", text, s)
			}
		}
	})
}
