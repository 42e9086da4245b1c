package machine

import (
	"slices"
	"time"
)

// What the model answers to the operations on reply templates.

type template struct {
	*account
	id, name, body   string
	created, updated time.Time
}

const maxTemplates = 100

func (t *template) shown() object {
	return object{
		"id": t.id, "name": t.name, "body": t.body, "created_at": t.created.Format(timeForm), "updated_at": t.updated.Format(timeForm),
	}
}

// templatesOf returns the templates of the caller's account, oldest first.
func (m *model) templatesOf(w who) (of []*template) {
	for _, t := range m.templates {
		if t.account == w.account {
			of = append(of, t)
		}
	}
	return of
}

func (m *model) template(w who, in object) *template {
	return find(m.templatesOf(w), func(t *template) bool { return t.id == in["id"] })
}

func (m *model) listTemplates(w who, _, _ object) (string, object) {
	shown := []object{}
	for _, t := range m.templatesOf(w) {
		shown = append(shown, t.shown())
	}
	return "ok", object{"templates": shown}
}

func (m *model) createTemplate(w who, in, got object) (string, object) {
	if len(m.templatesOf(w)) >= maxTemplates {
		return "templates.too_many", nil
	}
	t := &template{
		account: w.account, id: m.fresh(got, "id", "template", "id"), name: in["name"].(string), body: in["body"].(string),
		created: m.now(), updated: m.now(),
	}
	m.templates = append(m.templates, t)
	return "ok", object{"template": t.shown()}
}

func (m *model) updateTemplate(w who, in, _ object) (string, object) {
	t := m.template(w, in)
	if t == nil {
		return "templates.not_found", nil
	}
	for name, field := range map[string]*string{"name": &t.name, "body": &t.body} {
		if text, sent := in[name].(string); sent {
			*field = text
		}
	}
	t.updated = m.now()
	return "ok", object{"template": t.shown()}
}

func (m *model) deleteTemplate(w who, in, _ object) (string, object) {
	t := m.template(w, in)
	if t == nil {
		return "templates.not_found", nil
	}
	m.templates = slices.DeleteFunc(m.templates, func(other *template) bool { return other == t })
	return "ok", object{"deleted": true, "id": t.id}
}

// templateID draws the id of a template, most likely one of the caller's account.
func (m *machine) templateID(c aCall) string {
	s := m.sessionOf(c.who)
	return one(m, "template", m.templates, func(t *template) string { return t.id }, func(t *template) bool {
		return s == nil || t.account == s.account
	})
}
