package machine

import "strings"

// Nobody of the model has the address or the id in these calls: what an erasure does to people, TestPeopleProperty of the
// store checks.

func (m *model) findPerson(_ who, in, _ object) (string, object) {
	if refusal := whom(in); refusal != "" {
		return refusal, nil
	}
	return "ok", object{
		"requests": []any{}, "votes": []any{}, "comments": []any{}, "held_comments": []any{}, "records": []any{}, "mentions": []any{},
		"count": 0, "next_cursor": "",
	}
}

func (m *model) erasePerson(w who, in, _ object) (string, object) {
	if refusal := whom(in); refusal != "" {
		return refusal, nil
	}
	m.record(w.account, "person.erased", w.actor(), w.by(), "", "")
	result := nothingChanged()
	result["deleted_requests"], result["kept"] = 0, []any{}
	return "ok", result
}

func (m *model) rectifyPerson(w who, in, _ object) (string, object) {
	refusal := whom(in)
	email, _ := in["new_email"].(string)
	name, _ := in["new_name"].(string)
	switch {
	case refusal == "people.invalid_email":
		return refusal, nil
	case email == "" && name == "":
		return "people.invalid_new_name", nil
	case email != "" && email != "new@example.org":
		return "people.invalid_new_email", nil
	case refusal != "":
		return refusal, nil
	}
	m.record(w.account, "person.rectified", w.actor(), w.by(), "", "")
	return "ok", nothingChanged()
}

// whom returns the refusal of a call that names nobody, or that continues a search that was never begun.
func whom(in object) string {
	email, _ := in["email"].(string)
	id, _ := in["external_id"].(string)
	cursor, _ := in["cursor"].(string)
	switch {
	case email == "" && id == "":
		return "people.invalid_email"
	case cursor != "":
		return "people.invalid_cursor"
	}
	return ""
}

func nothingChanged() object {
	return object{"requests": 0, "votes": 0, "comments": 0, "records": 0, "next_cursor": ""}
}

// strangerValue draws a person whom nobody knows.
func (m *machine) strangerValue(c aCall, name string) (any, bool) {
	switch c.operation {
	case "people-find", "people-erase", "people-rectify":
	default:
		return nil, false
	}
	switch name {
	case "email":
		return m.either(name, []any{"stranger@example.org", "stranger@example.org", "", nil}, []any{strings.Repeat("é", 255), "a\x00b", 7}), true
	case "external_id":
		return m.either(name, []any{"stranger", nil}, []any{strings.Repeat("é", 201), "a\tb", 7}), true
	case "name":
		return m.either(name, []any{"Nobody of that name", nil}, []any{strings.Repeat("é", 201), 7}), true
	case "new_email":
		return m.either(name, []any{"new@example.org", "", nil}, []any{"not an address", 7}), true
	case "cursor":
		return m.either(name, []any{nil}, []any{"made-up", 7}), true
	}
	return nil, false
}
