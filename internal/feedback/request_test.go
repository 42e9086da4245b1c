package feedback

import (
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"
)

// TestFingerprintStays checks that fingerprints do not change, because stored ones are
// compared with those of later versions of the program.
func TestFingerprintStays(t *testing.T) {
	email := "ada@example.com"
	r := NewRequest("Dark mode", "My eyes hurt.")
	r.Submitter.Email = &email
	if err := json.Unmarshal([]byte(`{"b": 12345678901234567890, "a": "x&y"}`), &r.Metadata); err != nil {
		t.Fatal(err)
	}
	sum := r.Fingerprint(nil)
	const want = "a57b5519ceb64f9af8dda06c34d275b6b419ccf39d86f83fb193e779dbf1dbae"
	if got := hex.EncodeToString(sum[:]); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestMetadataKeepsItsText checks that numbers keep their digits, and that the size of
// metadata is the size that was sent.
func TestMetadataKeepsItsText(t *testing.T) {
	const text = `{"a":"x&y<z","b":12345678901234567890,"c":{"d":[]}}`
	var m Metadata
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		t.Fatal(err)
	}
	if got, err := m.MarshalJSON(); err != nil || string(got) != text {
		t.Errorf("%s, %v", got, err)
	}
	if got, err := Metadata(nil).MarshalJSON(); err != nil || string(got) != "{}" {
		t.Errorf("%s, %v", got, err)
	}
}

// TestMetadataHasBounds checks that metadata may have at most 8 KiB and two levels.
func TestMetadataHasBounds(t *testing.T) {
	const around = len(`{"a":""}`)
	for text, want := range map[string]bool{
		`{"a":"` + strings.Repeat("x", 8<<10-around) + `"}`:   true,
		`{"a":"` + strings.Repeat("x", 8<<10-around+1) + `"}`: false,
		`{"a":{"b":1},"c":["d",2,null]}`:                      true,
		`{"a":{"b":{}}}`:                                      false,
		`{"a":{"b":[]}}`:                                      false,
		`{"a":[1,{}]}`:                                        false,
	} {
		var m Metadata
		if err := json.Unmarshal([]byte(text), &m); err != nil {
			t.Fatal(err)
		}
		if err := m.Check(); (err == nil) != want {
			t.Errorf("%d bytes, %.40s: %v", len(text), text, err)
		}
	}
}
