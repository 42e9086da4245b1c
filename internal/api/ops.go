package api

import (
	"context"
	"reflect"
	"slices"

	"gatherkit/internal/calls"
	"gatherkit/internal/feedback"
	"gatherkit/internal/params"
	"gatherkit/internal/sessions"
	"gatherkit/internal/tokens"
)

// operations returns all operations. The guard determines the type of an operation's first
// parameter, so listing an operation with the wrong guard does not compile.
func (a *API) operations() []op {
	return slices.Concat(a.accessOperations(), a.requestOperations(), a.readerOperations(), a.portalOperations(), a.entryOperations(),
		a.templateOperations(), a.personalOperations(), a.teamOperations())
}

func (a *API) accessOperations() []op {
	const viewer, admin = feedback.RoleViewer, feedback.RoleAdmin
	return []op{
		public("setup-status", "Return whether the service has users", a.setupStatus),
		public("setup-create-owner", "Create the first account and its owner with the set-up token that the service prints", a.setupCreateOwner),
		public("auth-login", "Log in with e-mail and password", a.authLogin),
		public("auth-refresh", "Exchange a refresh token for a new pair of tokens", a.authRefresh),
		public("auth-check-invite", "Return the user that a link of users-invite or users-recover is for", a.authCheckInvite),
		public("auth-accept-invite", "Set a password with a link of users-invite or users-recover, and log in", a.authAcceptInvite),
		bearer("auth-logout", viewer, "End the session", a.authLogout).noTokens(),
		bearer("auth-me", viewer, "Return the current user or program, its account and its role", a.authMe),
		bearer("auth-change-password", viewer, "Change the password and end all other sessions", a.authChangePassword).noTokens(),

		bearer("sessions-list", viewer, "List your sessions, most recently used first", a.sessionsList).noTokens(),
		bearer("sessions-revoke", viewer, "End one of your sessions", a.sessionsRevoke).noTokens(),

		bearer("tokens-create", viewer, "Create a token for a program", a.tokensCreate).noTokens(),
		bearer("tokens-list", viewer, "List the tokens of programs", a.tokensList).noTokens(),
		bearer("tokens-revoke", viewer, "End a token; calls with it are refused from then on", a.tokensRevoke).noTokens(),

		bearer("apps-create", admin, "Create an app", a.appsCreate),
		bearer("apps-list", viewer, "List the account's apps, oldest first", a.appsList),
		bearer("apps-get", viewer, "Return one app", a.appsGet),
		bearer("apps-update", admin, "Rename an app", a.appsUpdate),
		bearer("apps-update-settings", admin, "Change an app's settings; omitted settings keep their values", a.appsUpdateSettings),
		bearer("apps-regenerate-key", admin, "Give an app a new API key; the old one stops working at once", a.appsRegenerateKey),
		bearer("apps-identity-secret", admin, "Return the secret that signs identity tokens, or replace it", a.appsIdentitySecret).noTokens(),
		bearer("apps-delete", admin, "Delete an app and all its requests", a.appsDelete),
	}
}

func (a *API) requestOperations() []op {
	const viewer, member = feedback.RoleViewer, feedback.RoleMember
	return []op{
		widget("widget-submit-request", "Submit a feature request", a.widgetSubmitRequest),
		widget("widget-create-upload", "Announce a file that will be attached to a feature request", a.widgetCreateUpload),
		widget("widget-similar-requests", "Find the requests that the app shares and that are similar to a text",
			a.widgetSimilarRequests).reading(),
		bearer("requests-list", viewer, "List feature requests", a.requestsList),
		bearer("requests-facets", viewer, "Count the requests for each possible value of the list's filter", a.requestsFacets),
		bearer("requests-get", viewer, "Return one feature request", a.requestsGet),
		bearer("requests-create", member, "Create a feature request, for yourself or on behalf of somebody", a.requestsCreate),
		bearer("requests-update", member, "Change a feature request", a.requestsUpdate),
		bearer("requests-bulk-update", member, "Change many feature requests, if the change fits all of them", a.requestsBulkUpdate),
		bearer("requests-delete", member, "Move a feature request to the bin, which keeps it for 30 days", a.requestsDelete),
		bearer("requests-restore", member, "Restore a feature request from the bin", a.requestsRestore),
		bearer("requests-release", member, "Release a feature request that is not spam from quarantine", a.requestsRelease),
		bearer("requests-block", member, "Move a feature request that is spam from quarantine to the bin", a.requestsBlock),

		bearer("requests-merge", member, "Merge a feature request into another one that asks for the same thing", a.requestsMerge).reading(),
		bearer("requests-unmerge", member, "Undo the merge of a feature request", a.requestsUnmerge).reading(),
		bearer("votes-add", member, "Vote for a feature request on behalf of somebody", a.votesAdd),
		bearer("votes-remove", member, "Remove somebody's vote", a.votesRemove),
		bearer("votes-list", viewer, "List the people who voted for a feature request, and its submitter", a.votesList),
		widget("widget-vote", "Vote for a feature request, or withdraw the vote", a.widgetVote),

		bearer("comments-list", viewer, "List the comments on a feature request, oldest first", a.commentsList),
		bearer("comments-create", member, "Comment on a feature request", a.commentsCreate),
		bearer("comments-update", member, "Change one of your comments", a.commentsUpdate),
		bearer("comments-delete", member, "Delete one of your comments, or any comment if you are an admin", a.commentsDelete),

		bearer("links-add", member, "Link a feature request to an issue of a tracker, or to another page", a.linksAdd),
		bearer("links-remove", member, "Remove a link of a feature request", a.linksRemove),

		bearer("requests-history", viewer, "List the history of a feature request, latest first", a.requestsHistory),
		bearer("requests-export", viewer, "Create a link that downloads requests once, as CSV or JSON Lines", a.requestsExport),
		bearer("requests-similar", viewer, "Find an app's requests that are similar to a text or to a request", a.requestsSimilar),
		bearer("requests-stats", viewer, "Count the live feature requests that were created in a period", a.requestsStats),
		bearer("events-list", viewer, "List the changes after a number, in order, and wait for the next one", a.eventsList),
		bearer("tags-list", viewer, "List the tags of the account's live requests in alphabetical order", a.tagsList),
	}
}

// readerOperations tell people outside the account what becomes of what they asked for.
func (a *API) readerOperations() []op {
	const member = feedback.RoleMember
	return []op{
		widget("widget-news", "Count updates to the requests that a person submitted or voted for", a.widgetNews).reading(),
		widget("widget-my-requests", "List what a person asked or voted for, newest first", a.widgetMyRequests).reading(),
		widget("widget-my-link", "Create a private link to what a person asked or voted for", a.widgetMyLink).reading(),
		widget("widget-reply", "Answer a public comment on a request that the person submitted", a.widgetReply),
		public("mine-list", "List what the holder of a private link asked or voted for, newest first", a.mineList),
		public("mine-reply", "Answer a public comment on a request of a private link", a.mineReply),
		bearer("requests-status-link", member, "Return the link that shows a request to the people to whom you give it",
			a.requestsStatusLink).noTokens(),
		bearer("requests-revoke-links", member, "End the link of requests-status-link to a request", a.requestsRevokeLinks),
	}
}

// entryOperations are about the changelogs of apps.
func (a *API) entryOperations() []op {
	const viewer, member = feedback.RoleViewer, feedback.RoleMember
	return []op{
		widget("widget-entries", "List the published entries of the app's changelog, the latest first", a.widgetEntries).reading(),
		bearer("entries-list", viewer, "List the entries of an app's changelog, newest first", a.entriesList),
		bearer("entries-get", viewer, "Return one entry of a changelog", a.entriesGet),
		bearer("entries-create", member, "Create an entry of an app's changelog, as a draft", a.entriesCreate),
		bearer("entries-update", member, "Change an entry of a changelog", a.entriesUpdate),
		bearer("entries-publish", member, "Publish an entry of a changelog, or schedule it", a.entriesPublish),
		bearer("entries-unpublish", member, "Make an entry that is published or scheduled a draft again", a.entriesUnpublish),
		bearer("entries-delete", member, "Delete an entry of a changelog", a.entriesDelete),
	}
}

// portalOperations are about the portals of apps.
func (a *API) portalOperations() []op {
	const viewer, member, admin = feedback.RoleViewer, feedback.RoleMember, feedback.RoleAdmin
	return []op{
		bearer("portal-check", admin, "Say what people outside would see on an app's portal", a.portalCheck),
		bearer("portal-rotate-link", admin, "Create or replace the link of a portal with the access link", a.portalRotateLink).noTokens(),
		bearer("comments-held", viewer, "List the comments on portals that wait until the team releases them, oldest first", a.commentsHeld),
		bearer("comments-release", member, "Publish a held comment", a.commentsRelease),
		bearer("comments-block", member, "Delete a held comment", a.commentsBlock),
		bearer("people-block", member, "Keep the author of a comment from taking part in an app's portal", a.peopleBlock),
		bearer("people-unblock", member, "Let somebody take part in an app's portal again", a.peopleUnblock),
		bearer("people-blocked", viewer, "List the people who are blocked on an app's portal", a.peopleBlocked),
		bearer("people-find", admin, "Find what is stored about a person, and the texts that mention them", a.peopleFind).reading(),
		bearer("people-rectify", admin, "Correct the name or the e-mail address of a person everywhere", a.peopleRectify).reading(),
		bearer("people-erase", admin, "Erase what is stored about a person", a.peopleErase).reading(),
		bearer("votes-discard", member, "Remove votes that were given on the portal without signing in", a.votesDiscard),
		widget("widget-board", "List the feature requests on the app's portal", a.widgetBoard).reading(),
		widget("widget-request", "Get a feature request on the app's portal, with its comments", a.widgetRequest).reading(),
		widget("widget-comment", "Comment on a feature request as on the app's portal", a.widgetComment),
		widget("widget-portal-link", "Create an address that signs a person in to the portal once", a.widgetPortalLink),
	}
}

// templateOperations are about texts for public replies.
func (a *API) templateOperations() []op {
	const member = feedback.RoleMember
	return []op{
		bearer("templates-list", member, "List the reply templates of the account", a.templatesList),
		bearer("templates-create", member, "Save a reply template", a.templatesCreate),
		bearer("templates-update", member, "Change a reply template", a.templatesUpdate),
		bearer("templates-delete", member, "Delete a reply template", a.templatesDelete),
	}
}

// personalOperations are about what users have of their own, viewers too: saved views and mentions.
// Changing a view of the team takes a member.
func (a *API) personalOperations() []op {
	const viewer = feedback.RoleViewer
	return []op{
		bearer("views-list", viewer, "List the saved views of the team and your own", a.viewsList).personal(),
		bearer("views-create", viewer, "Save a view of the list of requests", a.viewsCreate).personal(),
		bearer("views-update", viewer, "Change a saved view, its place among the others, or whether you see it first", a.viewsUpdate).personal(),
		bearer("views-delete", viewer, "Delete a saved view", a.viewsDelete).personal(),

		bearer("mentions-list", viewer, "List the comments that mention you, newest first", a.mentionsList).personal(),
		bearer("mentions-read", viewer, "Mark mentions of you as read", a.mentionsRead).personal(),

		bearer("digest-get", viewer, "Return how often you get a digest by e-mail", a.digestGet).noTokens(),
		bearer("digest-set", viewer, "Set how often you get a digest by e-mail", a.digestSet).noTokens(),
	}
}

func (a *API) teamOperations() []op {
	const viewer, admin = feedback.RoleViewer, feedback.RoleAdmin
	return []op{
		bearer("webhooks-create", admin, "Create a webhook, which receives the changes from now on", a.webhooksCreate).noTokens(),
		bearer("webhooks-list", admin, "List the webhooks and how well their deliveries work", a.webhooksList),
		bearer("webhooks-get", admin, "Return one webhook", a.webhooksGet),
		bearer("webhooks-update", admin, "Change, pause or turn on a webhook", a.webhooksUpdate).noTokens(),
		bearer("webhooks-delete", admin, "Delete a webhook with its delivery log", a.webhooksDelete),
		bearer("webhooks-secret", admin, "Return the secret that signs deliveries, or replace it", a.webhooksSecret).noTokens(),
		bearer("webhooks-test", admin, "Send a test event and return the answer", a.webhooksTest),
		bearer("webhooks-attempts", admin, "List the attempts to deliver to a webhook", a.webhooksAttempts),
		bearer("webhooks-resend", admin, "Send one event again and return the answer", a.webhooksResend),
		bearer("webhooks-rewind", admin, "Deliver everything after a number of the log again, or skip to it", a.webhooksRewind),

		bearer("mail-status", admin, "Return whether mail works, and how many mails wait", a.mailStatus),
		bearer("mail-suppress", admin, "End all mail about requests to an address that bounces or complains", a.mailSuppress),

		bearer("account-usage", admin, "Return what the account has used on each day, and its quotas", a.accountUsage),
		bearer("audit-list", admin, "List the changes of the account, its users and its apps, latest first", a.auditList),
		bearer("users-list", viewer, "List the account's users", a.usersList),
		bearer("users-invite", admin, "Add a user and create a link to invite them", a.usersInvite).noTokens(),
		bearer("users-recover", admin, "Create a link for a user who forgot their password or needs a new invitation", a.usersRecover).noTokens(),
		bearer("users-update", admin, "Change a user's name or role", a.usersUpdate).noTokens(),
		bearer("users-remove", admin, "Remove a user; their requests become unassigned, and their comments stay", a.usersRemove).noTokens(),
	}
}

// client is the sender of a call, before any credentials are checked.
type client struct {
	*calls.Client
	// refresh is the refresh token from the header or the cookie.
	refresh string
	// cookie is true if the client wants the refresh token as a cookie. setCookie is the
	// cookie to set in the answer; "" clears it.
	cookie    bool
	setCookie *string
	// leave gives back the place of the call among those of its address.
	leave func()
}

// caller is a user who is logged in, or a program with a token. The session of a program has the id of
// the token, and the user of a service token its id and name.
type caller struct {
	*client
	sessions.Session
	token *tokens.Token // nil for a user who is logged in
}

func (c caller) actor() feedback.Actor {
	if c.token != nil {
		return feedback.Actor{Kind: feedback.ByToken, ID: &c.token.ID}
	}
	return feedback.ByUserID(c.User.ID)
}

// acting is actor, and says whether the people who asked are told.
func (c caller) acting(quiet bool) feedback.Actor {
	by := c.actor()
	by.Quiet = quiet
	return by
}

// onlyApp returns the app that the caller is limited to, or nil.
func (c caller) onlyApp() *feedback.ID {
	if c.token == nil {
		return nil
	}
	return c.token.AppID
}

// visitor is a client with an app's API key, which is public.
type visitor struct {
	*client
	app feedback.App
}

// guard is the kind of credentials that an operation requires.
type guard string

const (
	guardPublic guard = "none"
	guardBearer guard = "Bearer"
	guardWidget guard = "X-API-Key"
)

// callers says who may call an operation with guardBearer.
type callers string

const (
	anyCaller    callers = "all"
	onlyUsers    callers = "users"    // no service tokens
	onlySessions callers = "sessions" // no tokens: only users who are logged in
)

// refused says in the reference which tokens the operation refuses.
func (c callers) refused() string {
	switch c {
	case onlyUsers:
		return " Service tokens cannot call it."
	case onlySessions:
		return " Tokens for programs cannot call it."
	}
	return ""
}

// op is one operation.
type op struct {
	name, summary  string
	guard          guard
	role           feedback.Role // minimum role, for guardBearer
	callers        callers
	reads          bool // it reads more than a few rows; for guardWidget
	takes, returns reflect.Type
	params         *params.Params
	// call runs the operation. who is a *client, a caller or a visitor, depending on guard.
	call func(ctx context.Context, who, in any) (any, error)
}

func public[In, Out any](name, summary string, fn func(context.Context, *client, In) (Out, error)) op {
	return newOp(name, summary, guardPublic, "", fn)
}

func bearer[In, Out any](
	name string, least feedback.Role, summary string, fn func(context.Context, caller, In) (Out, error),
) op {
	o := newOp(name, summary, guardBearer, least, fn)
	o.callers = anyCaller
	return o
}

// noTokens returns the operation for users who are logged in only. What hands out credentials, or makes something
// that hands out data later, is such an operation, so that a token that leaked cannot outlive its revocation.
func (o op) noTokens() op {
	o.callers = onlySessions
	return o
}

// personal returns the operation without service tokens, which have nothing of their own.
func (o op) personal() op {
	o.callers = onlyUsers
	return o
}

func widget[In, Out any](name, summary string, fn func(context.Context, visitor, In) (Out, error)) op {
	return newOp(name, summary, guardWidget, "", fn)
}

// reading returns the operation as one that waits for a place to read.
func (o op) reading() op {
	o.reads = true
	return o
}

func newOp[Who, In, Out any](name, summary string, g guard, least feedback.Role, fn func(context.Context, Who, In) (Out, error)) op {
	return op{
		name: name, summary: summary, guard: g, role: least,
		takes: reflect.TypeFor[In](), returns: reflect.TypeFor[Out](),
		call: func(ctx context.Context, who, in any) (any, error) { return fn(ctx, who.(Who), in.(In)) },
	}
}

// none are the parameters of an operation without parameters.
type none struct{}
