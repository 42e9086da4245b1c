package machine

import (
	"time"

	"gatherkit/internal/feedback"
)

// begin creates two accounts with apps and requests. The first account has a user with each
// role. Sometimes the set-up creates the first owner.
func (m *machine) begin() {
	m.clock.Move(time.Hour) // so that the services forget earlier texts, which they store to detect spam
	if !m.often("by command") {
		for range 3 {
			m.do(m.call("setup-status"))
			m.do(m.call("setup-create-owner"))
		}
	}
	for _, role := range []feedback.Role{feedback.RoleOwner, feedback.RoleAdmin, feedback.RoleMember, feedback.RoleViewer} {
		m.addUser("Acme", string(role), role)
	}
	m.addUser("Globex", "stranger", feedback.RoleOwner)
	for _, name := range []string{"owner", "stranger"} {
		m.addApp(m.signIn(m.userNamed(name)))
	}
	m.do(aCall{operation: "apps-create", who: m.signIn(m.userNamed("owner")), in: object{"name": "Shop"}})
	m.do(aCall{operation: "widget-submit-request", who: m.apps[2].key, in: object{"title": "Dark mode", "description": ""}})
	m.do(aCall{operation: "apps-update-settings", who: m.signIn(m.userNamed("owner")), in: object{
		"id": m.apps[2].id, "settings": object{"widget": object{"allow_file_uploads": true}},
	}})
	m.bringFiles()
	for range draw(m, "programs", 2, 0, 1, 3) {
		m.do(m.call("tokens-create"))
	}
	for range draw(m, "webhooks", 1, 0, 2, 3) {
		m.do(m.call("webhooks-create"))
	}
}

// addApp creates an app with some requests. Most apps show them to users of the widget.
func (m *machine) addApp(who string) {
	m.do(aCall{operation: "apps-create", who: who, in: object{"name": "Website"}})
	a := m.apps[len(m.apps)-1]
	sharing := draw(m, "sharing", "all", "all", "all", "triaged", "none")
	m.do(aCall{operation: "apps-update-settings", who: who, in: object{"id": a.id, "settings": object{
		"sharing": sharing, "portal": m.portalSettings(sharing), "widget": object{"allow_file_uploads": m.often("files")},
	}}})
	if m.often("identity") {
		m.do(aCall{operation: "apps-identity-secret", who: who, in: object{"id": a.id}})
	}
	for _, title := range []string{"A", "Dark mode", "A"} {
		m.do(aCall{operation: "widget-submit-request", who: a.key, in: object{
			"title": title, "description": "", "reader": draw(m, "reader", append(readers, "")...),
		}})
	}
}
