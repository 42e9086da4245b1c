package machine

import (
	"cmp"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
)

// What the model answers to the operations on apps.

func (m *model) createApp(w who, in, got object) (string, object) {
	a := &app{
		account: w.account, id: m.fresh(got, "id", "app", "id"), name: in["name"].(string), key: m.fresh(got, "key", "app", "api_key"),
		settings: defaultSettings(), created: m.now(), updated: m.now(),
	}
	m.apps = append(m.apps, a)
	m.record(w.account, "app.created", w.actor(), w.by(), a.id, "")
	return "ok", object{"app": a.shown()}
}

func (m *model) listApps(w who, in, got object) (string, object) {
	at, ok := m.resume(w, in, place{operation: "apps-list", limit: math.MaxInt32})
	if w.only() != "" { // one app needs no pages
		at, ok = place{limit: 1}, true
	}
	if !ok {
		return "apps.invalid_cursor", nil
	}
	var list []item
	for i, a := range m.apps {
		if a.account == w.account && a.live() && (w.only() == "" || w.only() == a.id) {
			list = append(list, item{n: i + 1, shown: a.shown()})
		}
	}
	return m.page(at, list, got, "apps")
}

func (m *model) getApp(w who, in, _ object) (string, object) {
	return m.changeApp(w, in["id"], "", func(*app) {})
}

func (m *model) updateApp(w who, in, _ object) (string, object) {
	return m.changeApp(w, in["id"], "app.updated", func(a *app) { a.name = in["name"].(string) })
}

func (m *model) configureApp(w who, in, _ object) (string, object) {
	change := in["settings"].(object)
	if list, sent := change["allowed_origins"].([]any); sent {
		normal := []any{}
		for _, origin := range list {
			if origins[origin.(string)] == "" {
				return "apps.invalid_settings", nil
			}
			normal = append(normal, origins[origin.(string)])
		}
		change["allowed_origins"] = normal
	}
	if change["issue_template"] == "javascript:{title}" || !readPortal(change["portal"]) {
		return "apps.invalid_settings", nil
	}
	if a := m.app(w.account, in["id"]); a != nil {
		if refusal := m.refusedPortal(a, merged(a.settings, change)); refusal != "" {
			return refusal, nil
		}
	}
	return m.changeApp(w, in["id"], "app.updated", func(a *app) { a.settings = merged(a.settings, change) })
}

// readPortal changes settings of a portal to their normal form. It returns false if one is wrong.
func readPortal(sent any) bool {
	portal, _ := sent.(object)
	if host, sent := portal["host"].(string); sent {
		portal["host"] = strings.ToLower(host)
	}
	if list, sent := portal["frame_ancestors"].([]any); sent {
		normal := []any{}
		for _, origin := range list {
			if origins[origin.(string)] == "" {
				return false
			}
			normal = append(normal, origins[origin.(string)])
		}
		portal["frame_ancestors"] = normal
	}
	for _, name := range []string{"tags", "held_words"} {
		list, _ := portal[name].([]any)
		if slices.ContainsFunc(list, func(word any) bool { return word == "" || len(word.(string)) > 40 }) {
			return false
		}
	}
	return portal["logo"] != "R0lG" && portal["host"] != "https://acme.example" && portal["sign_in_url"] != "javascript:alert(1)"
}

// refusedPortal says why an app cannot have settings, or "".
func (m *model) refusedPortal(a *app, settings object) string {
	portal := settings["portal"].(object)
	if portal["access"] != "off" && (portal["slug"] == "" || settings["sharing"] == "none") {
		return "apps.invalid_settings"
	}
	for _, other := range m.apps {
		if other != a && other.live() && portal["slug"] != "" && other.portal()["slug"] == portal["slug"] {
			return "apps.slug_taken"
		}
	}
	for _, other := range m.apps {
		if other != a && other.live() && portal["host"] != "" && other.portal()["host"] == portal["host"] {
			return "apps.host_taken"
		}
	}
	return ""
}

func (m *model) rekeyApp(w who, in, got object) (string, object) {
	return m.changeApp(w, in["id"], "app.key_regenerated", func(a *app) { a.key = m.fresh(got, "key", "app", "api_key") })
}

func (m *model) deleteApp(w who, in, _ object) (string, object) {
	a := m.app(w.account, in["id"])
	if a == nil {
		return "apps.not_found", nil
	}
	a.deleted = true
	m.removeEndpoints(func(e *endpoint) bool { return e.app == a.id })
	m.record(a.account, "app.deleted", w.actor(), w.by(), a.id, "")
	return "ok", object{"deleted": true, "id": a.id}
}

// changeApp changes an app. It records the change if the app differs afterwards.
func (m *model) changeApp(w who, id any, kind string, change func(*app)) (string, object) {
	a := m.app(w.account, id)
	if a == nil {
		return "apps.not_found", nil
	}
	old := *a
	change(a)
	if !reflect.DeepEqual(*a, old) {
		a.updated = m.now()
		m.record(a.account, kind, w.actor(), w.by(), a.id, "")
	}
	return "ok", object{"app": a.shown()}
}

// defaultSettings are the settings of a new app.
func defaultSettings() object {
	return object{
		"widget": object{
			"primary_color": "#4F46E5", "position": "bottom-right", "button_text": "Feedback",
			"show_email_field": true, "require_email": false, "allow_file_uploads": false,
		},
		"statuses": object{
			"opened": status(false), "under_review": status(false), "planned": status(true), "in_progress": status(true),
			"completed": status(true), "declined": status(false),
		},
		"portal": object{
			"access": "off", "slug": "", "host": "", "voting": "anyone", "comments": "verified", "submit": "anyone", "moderation": "anonymous",
			"names": "none", "team_names": false, "descriptions": true, "attachments": false, "tags": []any{}, "index": true, "theme": "auto",
			"locale": "", "logo": "", "intro": "", "sign_in_url": "", "frame_ancestors": []any{}, "held_words": []any{},
		},
		"public_name": "", "sharing": "none", "allowed_origins": []any{}, "issue_template": "",
	}
}

// publicName returns what the app is called outside.
func (a *app) publicName() string { return cmp.Or(a.settings["public_name"].(string), a.name) }

func label(text string) object { return object{"label": text} }

func status(roadmap bool) object { return object{"label": "", "roadmap": roadmap} }

// merged returns the settings after a partial change.
func merged(settings, change object) object {
	result := maps.Clone(settings)
	for name, v := range change {
		if inner, ok := v.(object); ok {
			v = merged(result[name].(object), inner)
		}
		result[name] = v
	}
	if result["require_email"] == true {
		result["show_email_field"] = true
	}
	return result
}

func (a *app) shown() object {
	return object{
		"id": a.id, "account_id": a.account.id, "name": a.name, "api_key": a.key, "settings": a.settings,
		"created_at": a.created.Format(timeForm), "updated_at": a.updated.Format(timeForm),
	}
}
