package api

import (
	"fmt"
	"time"
)

// switchOnPortal switches on the portal of {app}, on which anyone may comment. Comments of people who are not signed in
// are held. {proof} is the identity token of a person.
func (s *service) switchOnPortal() {
	s.t.Helper()
	s.must("apps-update-settings", "owner", portalOf(s.names["app"]))
	secret := s.must("apps-identity-secret", "owner", s.filled(`{"id":"{app}"}`))["secret"].(string)
	s.names["proof"] = signedToken(s.t, secret, fmt.Sprintf(`{"sub":"7","name":"Ada","exp":%d}`, s.clock.Now().Add(time.Hour).Unix()))
}

// portalOf are parameters that switch on the portal of an app.
func portalOf(app string) string {
	return fmt.Sprintf(`{"id":%q,"settings":{"sharing":"all","portal":{"access":"public","slug":%[1]q,"comments":"anyone"}}}`, app)
}

// held returns the id of a new comment on a request, by a new browser, that is held.
func (s *service) held(who, key, request string) string {
	s.t.Helper()
	s.must("widget-comment", key, fmt.Sprintf(`{"request_id":%q,"body":"Me, too","name":"Ada","voter":%q}`, request, s.api.server.NewID()))
	list := s.must("comments-held", who, `{"limit":200}`)["comments"].([]any)
	return list[len(list)-1].(map[string]any)["id"].(string)
}

// remark returns the id of a new comment of a visitor on a request, which was held.
func (s *service) remark(who, key, request string) string {
	s.t.Helper()
	return s.must("comments-release", who, `{"id":"`+s.held(who, key, request)+`"}`)["comment"].(map[string]any)["id"].(string)
}

// addRemarks opens the portal of {app}, and adds comments of visitors to {request}: {held} and {remark}.
func (s *service) addRemarks() {
	s.t.Helper()
	s.switchOnPortal()
	s.names["remark"], s.names["held"] = s.remark("owner", "key", s.names["request"]), s.held("owner", "key", s.names["request"])
}
