package feedback

import (
	"encoding/json"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

func jsonOf(t *rapid.T, v any) map[string]any {
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func aRequest(t *rapid.T, name string) Request {
	word := rapid.SampledFrom([]string{"", "a", "b"})
	r := NewRequest(word.Draw(t, name+" title"), word.Draw(t, name+" description"))
	r.Status = rapid.SampledFrom(Statuses()).Draw(t, name+" status")
	r.Votes = rapid.Int64Range(0, 2).Draw(t, name+" votes")
	r.Submitter.Email = rapid.Ptr(word, true).Draw(t, name+" email")
	r.Tags = rapid.SliceOfN(word, 0, 2).Draw(t, name+" tags")
	if rapid.Bool().Draw(t, name+" metadata") {
		r.Metadata = Metadata{"page": word.Draw(t, name+" page"), "deep": map[string]any{"n": 1.0}}
	}
	return r
}

// TestDiff checks that the result of Diff turns the JSON of each record into that of the
// other, and contains no equal fields.
func TestDiff(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before, after := aRequest(t, "before"), aRequest(t, "after")
		old, now := Diff(before, after)
		b, a := jsonOf(t, before), jsonOf(t, after)
		if len(old) != len(now) {
			t.Fatalf("old %v, now %v", old, now)
		}
		for name := range now {
			if _, ok := old[name]; !ok || reflect.DeepEqual(old[name], now[name]) {
				t.Fatalf("%s: old %v, now %v", name, old[name], now[name])
			}
			b[name], a[name] = now[name], old[name]
		}
		if !reflect.DeepEqual(b, jsonOf(t, after)) || !reflect.DeepEqual(a, jsonOf(t, before)) {
			t.Fatalf("old %v and now %v do not lead from %v to %v", old, now, before, after)
		}
	})
}

// TestDiffHidesWhatCallersDoNotSee checks that the log contains no versions, boxes or keys.
// Keys are masked before they are logged.
func TestDiffHidesWhatCallersDoNotSee(t *testing.T) {
	r := NewRequest("T", "")
	moved := r
	moved.Box = Bin
	if old, now := Diff(r, moved); len(old) != 0 || len(now) != 0 {
		t.Errorf("the box: %v, %v", old, now)
	}
	app := NewApp(ID{1}, ID{2}, "A", "gk_1", start)
	newer := app
	newer.Version++
	if old, now := Diff(app, newer); len(old) != 0 || len(now) != 0 {
		t.Errorf("the version: %v, %v", old, now)
	}
}

func TestApply(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := aRequest(t, "request")
		word := rapid.SampledFrom([]string{"", "x", "y"})
		change := RequestChange{
			Title: rapid.Ptr(word, true).Draw(t, "title"), Description: rapid.Ptr(word, true).Draw(t, "description"),
			Status: rapid.Ptr(rapid.SampledFrom(Settable()), true).Draw(t, "status"),
		}
		want := r
		want.Title, want.Description = pick(change.Title, r.Title), pick(change.Description, r.Description)
		want.Status = pick(change.Status, r.Status)
		r.Apply(change)
		if !reflect.DeepEqual(r, want) {
			t.Fatalf("%+v, want %+v", r, want)
		}
	})
}

// TestFingerprint checks that a fingerprint depends on what the submitter sent, and on nothing
// that the service or the team adds.
func TestFingerprint(t *testing.T) {
	r := NewRequest("T", "D")
	r.Metadata = Metadata{"a": 1.0, "b": map[string]any{"c": "d", "e": "f"}}
	same := r
	same.ID, same.AppID, same.Status, same.Votes, same.Version, same.CreatedAt = ID{1}, ID{2}, "planned", 7, 3, 9
	same.Metadata = Metadata{"b": map[string]any{"e": "f", "c": "d"}, "a": 1.0}
	if r.Fingerprint(nil) != same.Fingerprint(nil) {
		t.Error("the service's own fields, or the order of keys, count")
	}
	email, other := "a@example.com", "b@example.com"
	for name, change := range map[string]func(*Request){
		"title":          func(r *Request) { r.Title = "U" },
		"description":    func(r *Request) { r.Description = "" },
		"moved border":   func(r *Request) { r.Title, r.Description = "TD", "" },
		"metadata":       func(r *Request) { r.Metadata = Metadata{"a": 1.0} },
		"metadata deep":  func(r *Request) { r.Metadata = Metadata{"a": 1.0, "b": map[string]any{"c": "d", "e": "g"}} },
		"email":          func(r *Request) { r.Submitter.Email = &email },
		"another email":  func(r *Request) { r.Submitter.Email = &other },
		"name":           func(r *Request) { r.Submitter.Name = &email },
		"external id":    func(r *Request) { r.Submitter.ExternalID = &email },
		"email no email": func(r *Request) { r.Submitter.Email = new("") },
	} {
		changed := r
		change(&changed)
		if changed.Fingerprint(nil) == r.Fingerprint(nil) {
			t.Errorf("%s does not count", name)
		}
	}
}

func TestStatuses(t *testing.T) {
	settable := map[Status]bool{}
	for _, s := range Settable() {
		settable[s] = true
	}
	for _, s := range Statuses() {
		if settable[s] != (s != Duplicate) {
			t.Errorf("%s can be set: %v", s, settable[s])
		}
	}
	if len(settable) != len(Statuses())-1 || Statuses()[0] != Opened {
		t.Errorf("%v of %v", Settable(), Statuses())
	}
}
