package machine

// What the model answers to the operations about mail and usage. The services of the machine send no mail and never add
// their counts to the database; packages mail and usage test that.

func (m *model) getDigest(who, object, object) (string, object) {
	return "ok", object{"every": "never"}
}

func (m *model) setDigest(_ who, in, _ object) (string, object) {
	if in["every"] != "never" {
		return "mail.off", nil
	}
	return "ok", object{"every": "never"}
}

func (m *model) mailStatus(who, object, object) (string, object) {
	return "ok", object{
		"configured": false, "state": "ok", "error": nil, "since": nil, "waiting": 0, "failing": 0, "failures": []any{},
	}
}

func (m *model) mailSuppress(who, object, object) (string, object) {
	return "ok", object{"suppressed": 0}
}

func (m *model) accountUsage(w who, _, _ object) (string, object) {
	count := map[string]int{"webhooks": len(m.endpointsOf(w.account))}
	for _, at := range w.submitted {
		if now := m.now(); at.Year() == now.Year() && at.Month() == now.Month() {
			count["requests"]++
		}
	}
	for _, u := range m.uploads {
		if u.account == w.account && !u.gone {
			count["files"] += u.size
		}
	}
	for _, u := range m.users {
		if u.account == w.account && !u.gone {
			count["members"]++
		}
	}
	for _, a := range m.apps {
		if a.account == w.account && a.live() {
			count["apps"]++
		}
	}
	var quotas []any
	for _, q := range []struct {
		name string
		most any
	}{
		{"requests", nil}, {"files", nil}, {"members", nil}, {"apps", 1000}, {"webhooks", 20}, {"mails", 5000}, {"verified", 100},
	} {
		quotas = append(quotas, object{"name": q.name, "used": count[q.name], "most": q.most})
	}
	return "ok", object{"days": []any{}, "quotas": quotas}
}

// mailValue draws whether a link is sent by mail, which is mostly not asked for.
func (m *machine) mailValue(c aCall, name string) (any, bool) {
	switch {
	case name == "send":
		return m.either(name, []any{nil, nil, false}, []any{true, "yes"}), true
	case c.operation == "mail-suppress" && name == "email":
		return m.either(name, []any{"ada@example.com", "new1@example.com"}, oddTexts), true
	case name == "locale":
		return m.either(name, []any{"de", "pt-BR", "", nil}, []any{"x-very-long-tag-of-a-language-nobody-speaks", 7}), true
	}
	return nil, false
}
