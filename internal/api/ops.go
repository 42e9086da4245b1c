package api

import (
	"context"
	"net/netip"
	"reflect"
	"slices"

	"gatherkit/internal/feedback"
	"gatherkit/internal/store"
)

// operations lists every operation once. The guard is part of an operation's type:
// listing one under the wrong guard does not compile.
func (a *API) operations() []op {
	return slices.Concat(a.accessOperations(), a.requestOperations(), a.teamOperations())
}

func (a *API) accessOperations() []op {
	const viewer, admin = feedback.RoleViewer, feedback.RoleAdmin
	return []op{
		public("setup-status", "Say whether there is a first user yet", a.setupStatus),
		public("setup-create-owner", "Create the first account and its owner, once, with the set-up token that the service prints at its first start", a.setupCreateOwner),
		public("auth-login", "Log in with e-mail and password", a.authLogin),
		public("auth-refresh", "Exchange a refresh token for a new pair of tokens", a.authRefresh),
		public("auth-check-invite", "Say whom a link of users-invite or users-recover is for", a.authCheckInvite),
		public("auth-accept-invite", "Choose a password by a link of users-invite or users-recover, once, and log in", a.authAcceptInvite),
		bearer("auth-logout", viewer, "End the session", a.authLogout),
		bearer("auth-me", viewer, "Return who is logged in", a.authMe),
		bearer("auth-change-password", viewer, "Change the password and end all other sessions", a.authChangePassword),

		bearer("sessions-list", viewer, "List one's own sessions, the one that was used last first", a.sessionsList),
		bearer("sessions-revoke", viewer, "End one of one's own sessions", a.sessionsRevoke),

		bearer("apps-create", admin, "Create an app", a.appsCreate),
		bearer("apps-list", viewer, "List the account's apps, oldest first", a.appsList),
		bearer("apps-get", viewer, "Return one app", a.appsGet),
		bearer("apps-update", admin, "Rename an app", a.appsUpdate),
		bearer("apps-update-settings", admin, "Change an app's settings; what is absent keeps its value", a.appsUpdateSettings),
		bearer("apps-regenerate-key", admin, "Give an app a new API key; the old one stops working at once", a.appsRegenerateKey),
		bearer("apps-identity-secret", admin, "Show the secret with which your backend signs identity tokens, or give the app a new one", a.appsIdentitySecret),
		bearer("apps-delete", admin, "Delete an app and all its requests", a.appsDelete),
	}
}

func (a *API) requestOperations() []op {
	const viewer, member = feedback.RoleViewer, feedback.RoleMember
	return []op{
		widget("widget-submit-request", "Submit a feature request", a.widgetSubmitRequest),
		widget("widget-create-upload", "Say that a file is going to be sent, to be attached to a feature request", a.widgetCreateUpload),
		widget("widget-similar-requests", "Find requests like a text, of those that the app shares", a.widgetSimilarRequests),
		bearer("requests-list", viewer, "List feature requests", a.requestsList),
		bearer("requests-facets", viewer, "Count how many requests the list would have with other values of its filter", a.requestsFacets),
		bearer("requests-get", viewer, "Return one feature request", a.requestsGet),
		bearer("requests-create", member, "Write down a feature request, for oneself or for somebody", a.requestsCreate),
		bearer("requests-update", member, "Change a feature request", a.requestsUpdate),
		bearer("requests-bulk-update", member, "Change many feature requests at once, or none", a.requestsBulkUpdate),
		bearer("requests-delete", member, "Move a feature request to the bin, which keeps it for 30 days", a.requestsDelete),
		bearer("requests-restore", member, "Take a feature request out of the bin", a.requestsRestore),
		bearer("requests-release", member, "Take a feature request out of quarantine, as it is no spam", a.requestsRelease),
		bearer("requests-block", member, "Move a feature request from quarantine to the bin, as it is spam", a.requestsBlock),

		bearer("requests-merge", member, "Merge a feature request into another one that asks for the same", a.requestsMerge),
		bearer("requests-unmerge", member, "Take a feature request out of the one into which it was merged", a.requestsUnmerge),
		bearer("votes-add", member, "Vote on somebody's behalf", a.votesAdd),
		bearer("votes-remove", member, "Remove somebody's vote", a.votesRemove),
		bearer("votes-list", viewer, "List the people who want a feature request", a.votesList),
		widget("widget-vote", "Vote for a feature request, or take the vote back", a.widgetVote),

		bearer("comments-list", viewer, "List the comments on a feature request, oldest first", a.commentsList),
		bearer("comments-create", member, "Comment on a feature request", a.commentsCreate),
		bearer("comments-update", member, "Change a comment of one's own", a.commentsUpdate),
		bearer("comments-delete", member, "Delete a comment of one's own, or as an admin anybody's", a.commentsDelete),

		bearer("requests-history", viewer, "List what happened to a feature request, latest first", a.requestsHistory),
		bearer("requests-export", viewer, "Make a link by which requests can be downloaded once, as CSV or JSON Lines", a.requestsExport),
		bearer("requests-similar", viewer, "Find an app's requests like a text, or like a request", a.requestsSimilar),
		bearer("requests-stats", viewer, "Count the live feature requests that were created in a range of times", a.requestsStats),
		bearer("tags-list", viewer, "List the tags of the account's live requests in the order of their letters", a.tagsList),
	}
}

func (a *API) teamOperations() []op {
	const viewer, admin = feedback.RoleViewer, feedback.RoleAdmin
	return []op{
		bearer("audit-list", admin, "List what was done to the account, its users and its apps, latest first", a.auditList),
		bearer("users-list", viewer, "List the account's users", a.usersList),
		bearer("users-invite", admin, "Add a user, and make a link by which they choose their password", a.usersInvite),
		bearer("users-recover", admin, "Make a link by which a colleague chooses another password, or accepts an invitation after all", a.usersRecover),
		bearer("users-update", admin, "Change a user's name or role", a.usersUpdate),
		bearer("users-remove", admin, "Remove a user; their requests become nobody's, what they wrote stays", a.usersRemove),
	}
}

// client is who is at the other end, whoever that claims to be.
type client struct {
	from   netip.Prefix // the address, of which IPv6 counts by /64
	origin string       // of the page in a browser; "" elsewhere
	agent  string       // the program, as it calls itself
	// refresh is a refresh token that came beside the body: in a header or the cookie.
	refresh string
	// cookie says that the caller wants the refresh token as a cookie; setCookie is
	// the one to set, and "" clears it.
	cookie    bool
	setCookie *string
	// room is what the call holds of API.pages until it is answered.
	room room
}

// caller is a user with a valid access token.
type caller struct {
	*client
	store.Session
}

func (c caller) actor() feedback.Actor {
	return feedback.Actor{Kind: feedback.ByUser, ID: &c.User.ID}
}

// visitor is whoever holds an app's API key, which is public.
type visitor struct {
	*client
	app feedback.App
}

// guard is what a caller must show.
type guard string

const (
	guardPublic guard = "none"
	guardBearer guard = "Bearer"
	guardWidget guard = "X-API-Key"
)

// op is one operation.
type op struct {
	name, summary  string
	guard          guard
	role           feedback.Role // the least role that may call it, for guardBearer
	takes, returns reflect.Type
	params         *params
	// call runs the operation for a *client, a caller or a visitor, as guard says.
	call func(ctx context.Context, who, in any) (any, error)
}

func public[In, Out any](name, summary string, fn func(context.Context, *client, In) (Out, error)) op {
	return newOp(name, summary, guardPublic, "", fn)
}

func bearer[In, Out any](name string, least feedback.Role, summary string, fn func(context.Context, caller, In) (Out, error)) op {
	return newOp(name, summary, guardBearer, least, fn)
}

func widget[In, Out any](name, summary string, fn func(context.Context, visitor, In) (Out, error)) op {
	return newOp(name, summary, guardWidget, "", fn)
}

func newOp[Who, In, Out any](name, summary string, g guard, least feedback.Role, fn func(context.Context, Who, In) (Out, error)) op {
	return op{
		name: name, summary: summary, guard: g, role: least,
		takes: reflect.TypeFor[In](), returns: reflect.TypeFor[Out](),
		call: func(ctx context.Context, who, in any) (any, error) { return fn(ctx, who.(Who), in.(In)) },
	}
}

// none is the parameters of an operation that takes none.
type none struct{}
