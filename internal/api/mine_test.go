package api

// asked returns the id of a new request that the reader with the secret browser has submitted, and that the
// team has commented on publicly.
func (s *service) asked(title string) string {
	s.t.Helper()
	sent := s.must("widget-submit-request", "key", `{"title":"`+title+`","description":"","reader":"`+browser+`"}`)
	id := sent["request"].(map[string]any)["id"].(string)
	s.must("comments-create", "member", `{"request_id":"`+id+`","body":"Why?","visibility":"public"}`)
	return id
}
