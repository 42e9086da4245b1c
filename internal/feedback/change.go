package feedback

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Change is one entry of an account's log of changes: who changed what, and the values
// before and after. The log is the only record of past values.
type Change struct {
	Kind      ChangeKind
	Actor     Actor
	AppID     *ID
	RequestID *ID
	// Before and After contain only the changed fields. For a new request both are nil.
	Before, After map[string]any
}

// ChangeKind says what happened.
type ChangeKind string

// The kinds of changes in the log.
const (
	AccountCreated   ChangeKind = "account.created"
	AccountRenamed   ChangeKind = "account.renamed"
	AccountSuspended ChangeKind = "account.suspended"
	AccountResumed   ChangeKind = "account.resumed"
	AccountRestored  ChangeKind = "account.restored"
	QuotasChanged    ChangeKind = "account.quotas_changed"
	UserCreated      ChangeKind = "user.created"
	UserInvited      ChangeKind = "user.invited"
	UserJoined       ChangeKind = "user.joined"
	UserUpdated      ChangeKind = "user.updated"
	UserRemoved      ChangeKind = "user.removed"
	RecoveryLinkMade ChangeKind = "user.recovery_link_created"
	PasswordReset    ChangeKind = "user.password_reset"
	PasswordChanged  ChangeKind = "user.password_changed"
	TokenCreated     ChangeKind = "token.created"
	TokenRevoked     ChangeKind = "token.revoked"
	WebhookCreated   ChangeKind = "webhook.created"
	WebhookUpdated   ChangeKind = "webhook.updated"
	WebhookDeleted   ChangeKind = "webhook.deleted"
	WebhookRewound   ChangeKind = "webhook.rewound"
	WebhookDisabled  ChangeKind = "webhook.disabled"

	WebhookSecretRotated ChangeKind = "webhook.secret_rotated"
	AppCreated           ChangeKind = "app.created"
	AppUpdated           ChangeKind = "app.updated"
	AppKeyRegenerated    ChangeKind = "app.key_regenerated"
	AppDeleted           ChangeKind = "app.deleted"
	PortalLinkRotated    ChangeKind = "app.portal_link_rotated"
	PersonBlocked        ChangeKind = "person.blocked"
	PersonUnblocked      ChangeKind = "person.unblocked"
	PersonErased         ChangeKind = "person.erased"
	PersonRectified      ChangeKind = "person.rectified"
	EntryCreated         ChangeKind = "entry.created"
	EntryUpdated         ChangeKind = "entry.updated"
	EntryPublished       ChangeKind = "entry.published"
	EntryUnpublished     ChangeKind = "entry.unpublished"
	EntryDeleted         ChangeKind = "entry.deleted"
	RequestCreated       ChangeKind = "request.created"
	RequestUpdated       ChangeKind = "request.updated"
	RequestDeleted       ChangeKind = "request.deleted"
	RequestRestored      ChangeKind = "request.restored"
	RequestReleased      ChangeKind = "request.released"
	RequestBlocked       ChangeKind = "request.blocked"
	RequestPurged        ChangeKind = "request.purged"
	RequestRecounted     ChangeKind = "request.recounted"
	RequestErased        ChangeKind = "request.person_erased"
	RequestRectified     ChangeKind = "request.person_rectified"
	RequestMerged        ChangeKind = "request.merged"
	RequestUnmerged      ChangeKind = "request.unmerged"
	VoteAdded            ChangeKind = "vote.added"
	VoteRemoved          ChangeKind = "vote.removed"
	CommentCreated       ChangeKind = "comment.created"
	CommentUpdated       ChangeKind = "comment.updated"
	CommentDeleted       ChangeKind = "comment.deleted"
	CommentReleased      ChangeKind = "comment.released"
	CommentBlocked       ChangeKind = "comment.blocked"
	LinkAdded            ChangeKind = "link.added"
	LinkRemoved          ChangeKind = "link.removed"
)

// ChangeKinds lists the kinds of changes.
func ChangeKinds() []ChangeKind {
	return []ChangeKind{
		AccountCreated, AccountRenamed, AccountSuspended, AccountResumed, AccountRestored, QuotasChanged,
		UserCreated, UserInvited, UserJoined, UserUpdated, UserRemoved, RecoveryLinkMade, PasswordReset, PasswordChanged,
		TokenCreated, TokenRevoked, WebhookCreated, WebhookUpdated, WebhookDeleted, WebhookRewound, WebhookDisabled, WebhookSecretRotated,
		AppCreated, AppUpdated, AppKeyRegenerated, IdentityMade, IdentityRotated, AppDeleted, PortalLinkRotated,
		PersonBlocked, PersonUnblocked, PersonErased, PersonRectified,
		EntryCreated, EntryUpdated, EntryPublished, EntryUnpublished, EntryDeleted,
		RequestCreated, RequestUpdated, RequestDeleted, RequestRestored, RequestReleased, RequestBlocked, RequestPurged, RequestRecounted,
		RequestErased, RequestRectified,
		RequestMerged, RequestUnmerged, VoteAdded, VoteRemoved, CommentCreated, CommentUpdated, CommentDeleted,
		CommentReleased, CommentBlocked, LinkAdded, LinkRemoved,
	}
}

// AboutRequests reports whether changes of the kind are about requests, and not about the account, its
// users, tokens, apps or their changelogs.
func (k ChangeKind) AboutRequests() bool {
	area, _, _ := strings.Cut(string(k), ".")
	return area == "request" || area == "vote" || area == "comment" || area == "link"
}

// Actor is who made a change.
type Actor struct {
	Kind string // one of the constants below
	ID   *ID    // the user, the token, or the app whose key was used; nil for a command
	// Quiet is true if the people who asked are not told of what the actor does.
	Quiet bool
}

// The kinds of actors: a user of the dashboard, a program with a token, a caller with an API key,
// an operator at the command line, the service's own worker.
const (
	ByUser    = "user"
	ByToken   = "token"
	ByAPIKey  = "api_key"
	ByCommand = "command"
	ByService = "service"
)

// OfTeam reports whether the actor acts for the account: one of its users, or its program.
func (a Actor) OfTeam() bool { return a.Kind == ByUser || a.Kind == ByToken }

// ByUserID is a user of the dashboard.
func ByUserID(id ID) Actor { return Actor{Kind: ByUser, ID: &id} }

// Command is the operator at the command line.
func Command() Actor { return Actor{Kind: ByCommand} }

// UserOrCommand returns the actor of a row that only users and the operator make: by is a MakerID.
func UserOrCommand(by ID) Actor {
	if by == (ID{}) {
		return Command()
	}
	return ByUserID(by)
}

// MakerID returns the id of the user in a row that only users and the operator make. It is zero for the operator.
func (a Actor) MakerID() ID {
	if a.ID == nil {
		return ID{}
	}
	return *a.ID
}

// Service is the service's own worker.
func Service() Actor { return Actor{Kind: ByService} }

// Diff returns the fields in which two records differ, with their values in each. It
// compares the JSON encodings of the records, and panics if a record cannot be encoded.
func Diff(before, after any) (old, now map[string]any) {
	b, a := fields(before), fields(after)
	old, now = map[string]any{}, map[string]any{}
	for name, v := range a {
		if !bytes.Equal(b[name], v) {
			old[name], now[name] = decoded(b[name]), decoded(v)
		}
	}
	return old, now
}

// fields returns the parts of the record's JSON encoding. The same value always has the same
// encoding.
func fields(record any) (parts map[string]json.RawMessage) {
	text, err := json.Marshal(record)
	if err == nil {
		err = json.Unmarshal(text, &parts)
	}
	if err != nil {
		panic(err)
	}
	return parts
}

// decoded returns the value of a field, or nil if there is none.
func decoded(field json.RawMessage) (v any) {
	if len(field) == 0 {
		return nil
	}
	if err := json.Unmarshal(field, &v); err != nil {
		panic(err)
	}
	return v
}
