package machine

import (
	"slices"
	"strings"

	"gatherkit/internal/feedback"
)

// answers has the method of the model that answers each operation with a code and a result. The
// schema has accepted the parameters. got is the result of the service, from which the model
// takes only what it cannot know, such as new ids.
var answers = map[string]func(m *model, w who, in, got object) (string, object){
	"setup-create-owner":      (*model).setUp,
	"setup-status":            (*model).setUpYet,
	"sessions-list":           (*model).listSessions,
	"sessions-revoke":         (*model).revokeSession,
	"auth-login":              (*model).logIn,
	"auth-refresh":            (*model).refresh,
	"auth-logout":             (*model).logOut,
	"auth-me":                 (*model).me,
	"auth-change-password":    (*model).changePassword,
	"tokens-create":           (*model).createToken,
	"tokens-list":             (*model).listTokens,
	"tokens-revoke":           (*model).revokeToken,
	"apps-create":             (*model).createApp,
	"apps-list":               (*model).listApps,
	"apps-get":                (*model).getApp,
	"apps-update":             (*model).updateApp,
	"apps-update-settings":    (*model).configureApp,
	"apps-regenerate-key":     (*model).rekeyApp,
	"apps-identity-secret":    (*model).identitySecret,
	"apps-delete":             (*model).deleteApp,
	"widget-submit-request":   (*model).submit,
	"widget-create-upload":    (*model).createUpload,
	"requests-list":           (*model).listRequests,
	"requests-facets":         (*model).requestFacets,
	"requests-export":         (*model).exportRequests,
	"requests-stats":          (*model).requestStats,
	"requests-similar":        (*model).similarRequests,
	"widget-similar-requests": (*model).widgetSimilar,
	"requests-create":         (*model).createRequest,
	"requests-bulk-update":    (*model).bulkUpdate,
	"requests-history":        (*model).listHistory,
	"events-list":             (*model).listEvents,
	"tags-list":               (*model).listTags,
	"requests-get":            (*model).getRequest,
	"requests-update":         (*model).updateRequest,
	"requests-merge":          (*model).mergeRequest,
	"requests-unmerge":        (*model).unmergeRequest,
	"requests-release":        (*model).releaseRequest,
	"requests-block":          (*model).blockRequest,
	"requests-delete":         (*model).deleteRequest,
	"requests-restore":        (*model).restoreRequest,
	"votes-add":               (*model).addVote,
	"votes-remove":            (*model).removeVote,
	"votes-list":              (*model).listVotes,
	"widget-vote":             (*model).widgetVote,
	"requests-status-link":    (*model).linkRequest,
	"requests-revoke-links":   (*model).revokeLinks,
	"widget-news":             (*model).widgetNews,
	"widget-my-requests":      (*model).widgetMine,
	"widget-my-link":          (*model).widgetLink,
	"widget-reply":            (*model).widgetReply,
	"mine-list":               (*model).mineList,
	"mine-reply":              (*model).mineReply,
	"comments-list":           (*model).listComments,
	"comments-create":         (*model).createComment,
	"comments-update":         (*model).updateComment,
	"comments-delete":         (*model).deleteComment,
	"links-add":               (*model).addLink,
	"links-remove":            (*model).removeLink,
	"entries-create":          (*model).createEntry,
	"entries-update":          (*model).updateEntry,
	"entries-publish":         (*model).publishEntry,
	"entries-unpublish":       (*model).unpublishEntry,
	"entries-get":             (*model).getEntry,
	"entries-list":            (*model).listEntries,
	"entries-delete":          (*model).deleteEntry,
	"widget-entries":          (*model).widgetEntries,
	"portal-check":            (*model).checkPortal,
	"portal-rotate-link":      (*model).rotateLink,
	"comments-held":           (*model).listHeld,
	"comments-release":        (*model).releaseComment,
	"comments-block":          (*model).blockComment,
	"people-block":            (*model).blockPerson,
	"people-unblock":          (*model).unblockPerson,
	"people-blocked":          (*model).listBlocked,
	"people-find":             (*model).findPerson,
	"people-erase":            (*model).erasePerson,
	"people-rectify":          (*model).rectifyPerson,
	"votes-discard":           (*model).discardVotes,
	"widget-comment":          (*model).widgetComment,
	"widget-board":            (*model).widgetBoard,
	"widget-request":          (*model).widgetRequest,
	"widget-portal-link":      (*model).portalLink,
	"users-list":              (*model).listUsers,
	"users-invite":            (*model).inviteUser,
	"users-recover":           (*model).recoverUser,
	"users-update":            (*model).updateUser,
	"users-remove":            (*model).removeUser,
	"auth-check-invite":       (*model).checkInvite,
	"auth-accept-invite":      (*model).acceptInvite,
	"audit-list":              (*model).listAudit,
	"templates-list":          (*model).listTemplates,
	"templates-create":        (*model).createTemplate,
	"templates-update":        (*model).updateTemplate,
	"templates-delete":        (*model).deleteTemplate,
	"views-list":              (*model).listViews,
	"views-create":            (*model).createView,
	"views-update":            (*model).updateView,
	"views-delete":            (*model).deleteView,
	"mentions-list":           (*model).listMentions,
	"mentions-read":           (*model).readMentions,
	"digest-get":              (*model).getDigest,
	"digest-set":              (*model).setDigest,
	"mail-status":             (*model).mailStatus,
	"mail-suppress":           (*model).mailSuppress,
	"account-usage":           (*model).accountUsage,
	"webhooks-create":         (*model).createWebhook,
	"webhooks-list":           (*model).listWebhooks,
	"webhooks-get":            (*model).getWebhook,
	"webhooks-update":         (*model).updateWebhook,
	"webhooks-delete":         (*model).deleteWebhook,
	"webhooks-secret":         (*model).webhookSecret,
	"webhooks-attempts":       (*model).listAttempts,
	"webhooks-test":           (*model).testWebhook,
	"webhooks-resend":         (*model).resendWebhook,
	"webhooks-rewind":         (*model).rewindWebhook,
}

// who is the caller.
type who struct {
	*session
	program        *program      // nil unless the caller has a token for programs
	role           feedback.Role // of the user or the program
	app            *app
	bearer, origin string
	identity       *identity
	quiet          bool // of the call
}

// predict returns the answer that the service must give, and changes the model as the call
// changes the service.
func (m *model) predict(c aCall, got object) (string, object) {
	o, known := operations[c.operation]
	if !known {
		return "api.unknown_operation", nil
	}
	w := who{origin: c.origin, bearer: c.who, identity: c.identity}
	switch t, p := m.token(c.who), m.program(c.who); {
	case o.guard() == "Bearer" && (c.who == "" || strings.HasPrefix(c.who, "{key")):
		return "auth.missing_token", nil
	case o.guard() == "Bearer" && p != nil:
		if refusal := m.admit(p, o); refusal != "" {
			return refusal, nil
		}
		w.session, w.program, w.role = p.as, p, p.role()
	case o.guard() == "Bearer" && (t == nil || t.refreshes() || !t.known()):
		return "auth.invalid_token", nil
	case o.guard() == "Bearer" && !t.valid(m.now()):
		return "auth.token_expired", nil
	case o.guard() == "Bearer":
		if !atLeast(t.role, o.Least) {
			return "auth.forbidden", nil
		}
		w.session, w.role = t.session, t.role
	case o.guard() == "X-API-Key" && !strings.HasPrefix(c.who, "{key"):
		return "auth.missing_api_key", nil
	case o.guard() == "X-API-Key":
		if w.app = find(m.apps, func(a *app) bool { return a.key == c.who && a.live() }); w.app == nil {
			return "auth.invalid_api_key", nil
		}
	}
	if c.in == nil {
		return "api.invalid_json", nil
	}
	in, code := o.read(c)
	if code != "" {
		return code, nil
	}
	if refusal := m.limit(w, c.operation, in); refusal != "" {
		return refusal, nil
	}
	m.learn(got)
	w.quiet = in["quiet"] == true
	return answers[c.operation](m, w, in, got)
}

// read returns the parameters as the service reads them. Omitted ones stay omitted.
func (o operation) read(c aCall) (object, string) {
	for name := range c.in {
		if !slices.Contains(o.Names, name) {
			return nil, "api.unknown_parameter"
		}
	}
	area, _, _ := strings.Cut(c.operation, "-")
	in := object{}
	for _, name := range o.Names {
		v, sent := c.in[name]
		s := o.parameters.Properties[name]
		if v == nil && !o.requires(name) {
			if sent && s.is("null") {
				in[name] = nil
			}
			continue
		}
		clean, ok := s.read(v, textRule(c.operation, name))
		if !ok {
			return nil, area + ".invalid_" + name
		}
		in[name] = clean
	}
	for _, name := range o.Names { // which comes after all other faults
		list, _ := in[name].([]any)
		for i, item := range list {
			if o.parameters.Properties[name].UniqueItems && slices.Contains(list[:i], item) {
				return nil, area + ".invalid_" + name
			}
		}
	}
	return in, ""
}

func (o operation) requires(name string) bool { return slices.Contains(o.parameters.Required, name) }
