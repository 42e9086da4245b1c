package api

import (
	"cmp"
	"slices"
	"strings"

	"gatherkit/internal/feedback"
)

// rule is the specification of an operation.
type rule struct {
	guard  guard
	least  feedback.Role
	fields []field // in documented order
	// answer returns the expected answer to valid parameters: a code and the result. got is
	// the actual result, from which it takes random ids and secrets.
	answer func(m *model, w who, in, got object) (string, object)
}

// who is the caller.
type who struct {
	*session
	app            *app
	bearer, origin string
	identity       *identity
}

// field is a parameter. decode returns the decoded value, or false if the value is refused.
type field struct {
	name     string
	required bool
	decode   func(v any) (any, bool)
	clears   bool // null clears the field
}

func need(name string, decode func(any) (any, bool)) field { return field{name, true, decode, false} }

func may(name string, decode func(any) (any, bool)) field { return field{name, false, decode, false} }

func clears(name string, decode func(any) (any, bool)) field {
	return field{name, false, decode, true}
}

var (
	oneID  = []field{need("id", anID)}
	paging = []field{may("limit", positive), may("cursor", verbatim(0, 1e6))}

	where = []field{
		may("status", someStatuses), may("app_id", anID), may("tag", trimmed(1, 40)), may("assignee_id", line(0, 1e6)), may("query", trimmed(0, 200)),
		may("source", oneOf("widget", "dashboard", "api", "import")), may("created_after", aTime), may("created_before", aTime),
		may("box", oneOf("live", "bin", "quarantine")),
	}
	ofRequest = []field{need("request_id", anID), paging[0], paging[1]}
	aPerson   = []field{need("request_id", anID), may("email", line(0, 254)), may("name", line(0, 200)), may("external_id", line(0, 200))}
)

var rules = map[string]rule{
	"setup-create-owner": {guardPublic, "", []field{
		need("token", verbatim(0, 1e6)), need("account_name", line(1, 100)), need("name", line(1, 100)), need("email", line(3, 254)), need("password", verbatim(0, 1024)),
	}, (*model).setUp},
	"setup-status":         {guardPublic, "", nil, (*model).setUpYet},
	"sessions-list":        {guardBearer, feedback.RoleViewer, nil, (*model).listSessions},
	"sessions-revoke":      {guardBearer, feedback.RoleViewer, oneID, (*model).revokeSession},
	"auth-login":           {guardPublic, "", []field{need("email", line(0, 254)), need("password", verbatim(0, 1024))}, (*model).logIn},
	"auth-refresh":         {guardPublic, "", []field{may("refresh_token", verbatim(0, 1e6))}, (*model).refresh},
	"auth-logout":          {guardBearer, feedback.RoleViewer, nil, (*model).logOut},
	"auth-me":              {guardBearer, feedback.RoleViewer, nil, (*model).me},
	"auth-change-password": {guardBearer, feedback.RoleViewer, []field{need("current_password", verbatim(0, 1024)), need("new_password", verbatim(0, 1024))}, (*model).changePassword},
	"apps-create":          {guardBearer, feedback.RoleAdmin, []field{need("name", line(1, 100))}, (*model).createApp},
	"apps-list":            {guardBearer, feedback.RoleViewer, paging, (*model).listApps},
	"apps-get":             {guardBearer, feedback.RoleViewer, oneID, (*model).getApp},
	"apps-update":          {guardBearer, feedback.RoleAdmin, []field{need("id", anID), need("name", line(1, 100))}, (*model).updateApp},
	"apps-update-settings": {guardBearer, feedback.RoleAdmin, []field{need("id", anID), need("settings", someSettings)}, (*model).configureApp},
	"apps-regenerate-key":  {guardBearer, feedback.RoleAdmin, oneID, (*model).rekeyApp},
	"apps-identity-secret": {guardBearer, feedback.RoleAdmin, []field{need("id", anID), may("rotate", aBool)}, (*model).identitySecret},
	"apps-delete":          {guardBearer, feedback.RoleAdmin, oneID, (*model).deleteApp},
	"widget-submit-request": {guardWidget, "", []field{
		need("title", cleanedLine(1, 200)), need("description", trimmed(0, 10_000)), may("email", cleanedLine(0, 254)), may("name", cleanedLine(0, 200)),
		may("external_id", cleanedLine(0, 200)), may("metadata", someMetadata), may("attachments", someFiles), may("idempotency_key", verbatim(1, 64)),
		may("identity_token", verbatim(0, 1e6)), may("form", someForm),
	}, (*model).submit},
	"widget-create-upload": {guardWidget, "", []field{
		need("filename", trimmed(1, 200)), need("content_type", oneOf(feedback.UploadTypes()...)), need("size", fileSize),
	}, (*model).createUpload},
	"requests-list": {guardBearer, feedback.RoleViewer, append(
		slices.Clone(where), may("sort", oneOf("newest", "oldest", "most_voted", "recently_updated")), paging[0], paging[1],
	), (*model).listRequests},
	"requests-facets": {guardBearer, feedback.RoleViewer, where, (*model).requestFacets},
	"requests-export": {guardBearer, feedback.RoleViewer, append(
		slices.Clone(where), need("format", oneOf("csv", "jsonl")), may("bom", aBool),
	), (*model).exportRequests},
	"requests-stats":          {guardBearer, feedback.RoleViewer, []field{may("app_id", anID), may("from", dayOrTimeText), may("to", dayOrTimeText)}, (*model).requestStats},
	"requests-similar":        {guardBearer, feedback.RoleViewer, []field{may("id", anID), may("app_id", anID), may("text", trimmed(1, 200))}, (*model).similarRequests},
	"widget-similar-requests": {guardWidget, "", []field{need("text", trimmed(1, 200))}, (*model).widgetSimilar},
	"requests-create": {guardBearer, feedback.RoleMember, []field{
		need("app_id", anID), need("title", line(1, 200)), may("description", trimmed(0, 10_000)), may("status", oneOf(settable...)), may("tags", someTags),
		may("submitter", someSubmitter), may("eta", aDate), may("assignee_id", anID),
	}, (*model).createRequest},
	"requests-bulk-update": {guardBearer, feedback.RoleMember, []field{
		may("ids", someIDs), may("filter", someFilter), may("expected_count", notNegative), need("set", someSet),
	}, (*model).bulkUpdate},
	"requests-history": {guardBearer, feedback.RoleViewer, ofRequest, (*model).listHistory},
	"tags-list":        {guardBearer, feedback.RoleViewer, paging, (*model).listTags},
	"requests-get":     {guardBearer, feedback.RoleViewer, oneID, (*model).getRequest},
	"requests-update": {guardBearer, feedback.RoleMember, []field{
		need("id", anID), may("title", line(1, 200)), may("description", trimmed(0, 10_000)), may("status", oneOf(settable...)),
		may("tags", someTags), clears("assignee_id", anID), clears("eta", aDate), may("expected_version", positive),
	}, (*model).updateRequest},
	"requests-merge":   {guardBearer, feedback.RoleMember, []field{need("id", anID), need("into_id", anID)}, (*model).mergeRequest},
	"requests-unmerge": {guardBearer, feedback.RoleMember, oneID, (*model).unmergeRequest},
	"requests-release": {guardBearer, feedback.RoleMember, oneID, (*model).releaseRequest},
	"requests-block":   {guardBearer, feedback.RoleMember, oneID, (*model).blockRequest},
	"requests-delete":  {guardBearer, feedback.RoleMember, oneID, (*model).deleteRequest},
	"requests-restore": {guardBearer, feedback.RoleMember, oneID, (*model).restoreRequest},
	"votes-add":        {guardBearer, feedback.RoleMember, aPerson, (*model).addVote},
	"votes-remove":     {guardBearer, feedback.RoleMember, aPerson, (*model).removeVote},
	"votes-list":       {guardBearer, feedback.RoleViewer, ofRequest, (*model).listVotes},
	"widget-vote": {guardWidget, "", []field{
		need("request_id", anID), may("voter", aVoter), may("remove", aBool), may("identity_token", verbatim(0, 1e6)),
	}, (*model).widgetVote},
	"comments-list": {guardBearer, feedback.RoleViewer, ofRequest, (*model).listComments},
	"comments-create": {guardBearer, feedback.RoleMember, []field{
		need("request_id", anID), need("body", trimmed(1, 10_000)), may("visibility", oneOf("internal", "public")),
	}, (*model).createComment},
	"comments-update": {guardBearer, feedback.RoleMember, []field{
		need("request_id", anID), need("id", anID), may("body", trimmed(1, 10_000)), may("visibility", oneOf("internal", "public")),
	}, (*model).updateComment},
	"comments-delete": {guardBearer, feedback.RoleMember, []field{need("request_id", anID), need("id", anID)}, (*model).deleteComment},
	"users-list":      {guardBearer, feedback.RoleViewer, paging, (*model).listUsers},
	"users-invite": {guardBearer, feedback.RoleAdmin, []field{
		need("email", line(3, 254)), need("name", line(1, 100)), need("role", oneOf("viewer", "member", "admin", "owner")),
	}, (*model).inviteUser},
	"users-recover":      {guardBearer, feedback.RoleAdmin, oneID, (*model).recoverUser},
	"users-update":       {guardBearer, feedback.RoleAdmin, []field{need("id", anID), may("name", line(1, 100)), may("role", oneOf("viewer", "member", "admin", "owner"))}, (*model).updateUser},
	"users-remove":       {guardBearer, feedback.RoleAdmin, oneID, (*model).removeUser},
	"auth-check-invite":  {guardPublic, "", []field{need("token", verbatim(0, 1e6))}, (*model).checkInvite},
	"auth-accept-invite": {guardPublic, "", []field{need("token", verbatim(0, 1e6)), need("password", verbatim(0, 1024)), may("name", line(1, 100))}, (*model).acceptInvite},
	"audit-list":         {guardBearer, feedback.RoleAdmin, paging, (*model).listAudit},
}

// predict returns the expected answer to a call. It changes the model as the call changes the
// service.
func (m *model) predict(c aCall, got object) (string, object) {
	r, known := rules[c.operation]
	if !known {
		return "api.unknown_operation", nil
	}
	w := who{origin: c.origin, bearer: c.who, identity: c.identity}
	switch t := m.token(c.who); {
	case r.guard == guardBearer && (c.who == "" || strings.HasPrefix(c.who, "{key")):
		return "auth.missing_token", nil
	case r.guard == guardBearer && (t == nil || t.refreshes() || !t.known()):
		return "auth.invalid_token", nil
	case r.guard == guardBearer && !t.valid(m.now()):
		return "auth.token_expired", nil
	case r.guard == guardBearer:
		roles := []feedback.Role{feedback.RoleViewer, feedback.RoleMember, feedback.RoleAdmin, feedback.RoleOwner}
		if slices.Index(roles, t.role) < slices.Index(roles, r.least) {
			return "auth.forbidden", nil
		}
		w.session = t.session
	case r.guard == guardWidget && !strings.HasPrefix(c.who, "{key"):
		return "auth.missing_api_key", nil
	case r.guard == guardWidget:
		if w.app = find(m.apps, func(a *app) bool { return a.key == c.who && a.live() }); w.app == nil {
			return "auth.invalid_api_key", nil
		}
	}
	if c.in == nil {
		return "api.invalid_json", nil
	}
	in, code := r.read(c)
	if code != "" {
		return code, nil
	}
	m.learn(got)
	return r.answer(m, w, in, got)
}

// read decodes the parameters. Omitted parameters stay omitted.
func (r rule) read(c aCall) (object, string) {
	for name := range c.in {
		if !slices.ContainsFunc(r.fields, func(f field) bool { return f.name == name }) {
			return nil, "api.unknown_parameter"
		}
	}
	area, _, _ := strings.Cut(c.operation, "-")
	in := object{}
	for _, f := range r.fields {
		v, sent := c.in[f.name]
		if v == nil && !f.required {
			if sent && f.clears {
				in[f.name] = nil
			}
			continue
		}
		clean, ok := f.decode(v)
		if !ok {
			return nil, area + ".invalid_" + f.name
		}
		in[f.name] = clean
	}
	return in, ""
}

// fresh returns a random text in the result, which the service must have just created.
func (m *model) fresh(got object, kind string, path ...string) string {
	v := any(got)
	for _, name := range path {
		inner, _ := v.(object)
		v = inner[name]
	}
	text, _ := v.(string)
	if !strings.HasPrefix(text, "{"+kind) || m.learned[text] {
		return "a fresh " + kind
	}
	m.learned[text] = true
	return text
}

// item is a record in a list. Lists are sorted by by and key, if they are set, and then by n,
// which is the order of creation.
type item struct {
	n     int
	by    int64
	key   string
	shown object
}

func (i item) compare(n int, by int64, key string) int {
	return cmp.Or(cmp.Compare(i.by, by), cmp.Compare(i.key, key), cmp.Compare(i.n, n))
}

// page returns a page of a list.
func (m *model) page(at place, list []item, got object, name string) (string, object) {
	total := len(list)
	slices.SortFunc(list, func(a, b item) int { return a.compare(b.n, b.by, b.key) })
	down := at.sort != "" && at.sort != "oldest"
	if down {
		slices.Reverse(list)
	}
	rest := slices.DeleteFunc(list, func(i item) bool {
		order := i.compare(at.after, at.afterBy, at.afterKey)
		return at.after > 0 && (down && order >= 0 || !down && order <= 0)
	})
	shown := []object{}
	for _, i := range rest[:min(at.limit, len(rest))] {
		shown = append(shown, i.shown)
	}
	next, more := "", len(rest) > at.limit
	if more {
		last := rest[at.limit-1]
		at.after, at.afterBy, at.afterKey = last.n, last.by, last.key
		next = m.cursorTo(at, got)
	}
	return "ok", object{name: shown, "next_cursor": next, "has_more": more, "total_count": total}
}

// cursorTo returns the cursor of a place, which is the same each time.
func (m *model) cursorTo(at place, got object) string {
	known := find(m.cursors, func(p *place) bool { return p.at() == at.at() })
	if known == nil {
		at.text = m.fresh(got, "cursor", "next_cursor")
		known = &at
		m.cursors = append(m.cursors, known)
	}
	return known.text
}

func (p place) at() place {
	p.text = ""
	return p
}

// resume returns the place where a page starts, which is first without a cursor.
func (m *model) resume(w who, in object, first place) (place, bool) {
	text, _ := in["cursor"].(string)
	first.account = w.account
	if text != "" {
		from := find(m.cursors, func(p *place) bool { return p.text == text })
		if from == nil || from.account != w.account || from.operation != first.operation {
			return place{}, false
		}
		first = *from
	}
	if n, ok := in["limit"].(int); ok {
		first.limit = min(n, 200)
	}
	return first, true
}
