package feedback

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// AuditEntry is an entry of the account's audit log.
type AuditEntry struct {
	Event
	Request *AuditRequest `json:"request" doc:"The request; null if the entry is not about one, or if its app was deleted."`
}

// AuditRequest is a request as it is now.
type AuditRequest struct {
	ID    ID     `json:"id" format:"uuid"`
	Title string `json:"title"`
	Box   Box    `json:"box" enum:"live,bin,quarantine" doc:"Where the request is now."`
}

// describeAudit describes a change of the account, its users or its apps. It returns ""
// for other changes.
func (e *Event) describeAudit() string {
	app := "an app"
	if name := cmp.Or(stringOf(e.After["name"]), e.AppName, stringOf(e.Before["name"])); name != "" {
		app = fmt.Sprintf("the app %q", name)
	}
	switch e.Kind {
	case AccountCreated:
		return "created the account"
	case AccountRenamed:
		return fmt.Sprintf("renamed the account from %s to %s", quoted(e.Before["name"]), quoted(e.After["name"]))
	case AccountSuspended:
		return "suspended the account"
	case AccountResumed:
		return "resumed the account"
	case AccountRestored:
		return fmt.Sprintf("restored the account as %s from a copy", quoted(e.After["name"]))
	case QuotasChanged:
		return e.describeQuotas()
	case AppCreated:
		return "created " + app
	case AppUpdated:
		return e.describeApp(app)
	case AppKeyRegenerated:
		return "regenerated the API key of " + app + "; the old key no longer works"
	case AppDeleted:
		return "deleted " + app + " with all its requests"
	case IdentityMade:
		return "created the identity secret of " + app
	case IdentityRotated:
		return "rotated the identity secret of " + app
	case PortalLinkRotated:
		return "replaced the link to the portal of " + app + "; the old link no longer works"
	case PersonBlocked:
		return fmt.Sprintf("blocked %v on the portal of %s", somebody(e.After["person"]), app)
	case PersonUnblocked:
		return fmt.Sprintf("unblocked %v on the portal of %s", somebody(e.Before["person"]), app)
	case PersonErased:
		return e.describePerson("erased")
	case PersonRectified:
		return e.describePerson("corrected")
	case TokenCreated:
		return fmt.Sprintf("created %s with the scope %v", e.describeToken(e.After), e.After["scope"])
	case TokenRevoked:
		return "revoked " + e.describeToken(e.Before)
	case WebhookCreated, WebhookUpdated, WebhookDeleted, WebhookRewound, WebhookDisabled, WebhookSecretRotated:
		return e.describeWebhook()
	case EntryCreated, EntryUpdated, EntryPublished, EntryUnpublished, EntryDeleted:
		return e.describeEntry()
	}
	return e.describeUser()
}

// describeQuotas lists the new quotas, such as files=10 GB.
func (e *Event) describeQuotas() string {
	var quotas []string
	for _, name := range slices.Sorted(maps.Keys(e.After)) {
		quotas = append(quotas, fmt.Sprintf("%s=%v", name, e.After[name]))
	}
	return "set the quotas " + strings.Join(quotas, ", ")
}

func (e *Event) describeApp(app string) string {
	var parts []string
	if before, renamed := e.Before["name"]; renamed {
		parts = append(parts, fmt.Sprintf("renamed the app from %s to %s", quoted(before), quoted(e.After["name"])))
		app = "its settings"
	} else {
		app = "the settings of " + app
	}
	if _, changed := e.After["settings"]; changed {
		parts = append(parts, "changed "+app)
	}
	return join(parts)
}

func (e *Event) describeUser() string {
	now, before := personLabel(e.After), personLabel(e.Before)
	switch e.Kind {
	case UserCreated:
		if e.Actor.ID != nil { // only with the set-up link, which has no creator
			return fmt.Sprintf("joined with the set-up link as %v", e.After["role"])
		}
		return fmt.Sprintf("added %s with the role %v", now, e.After["role"])
	case UserInvited:
		return fmt.Sprintf("invited %s with the role %v", now, e.After["role"])
	case UserJoined:
		return "accepted the invitation"
	case UserUpdated:
		var parts []string
		if before != now {
			parts = append(parts, fmt.Sprintf("renamed %s to %s", before, now))
		}
		if role, changed := e.After["role"]; changed {
			parts = append(parts, fmt.Sprintf("changed the role of %s from %v to %v", now, e.Before["role"], role))
		}
		return join(parts)
	case UserRemoved:
		return "removed " + before
	case RecoveryLinkMade:
		return "created a link that lets " + now + " choose a password"
	case PasswordReset:
		return "reset their password with a link"
	case PasswordChanged:
		if e.Actor.ID != nil {
			return "changed their password"
		}
		return "set the password of " + now
	}
	return ""
}

// somebody returns what the log calls a person. It may have been erased.
func somebody(label any) any {
	if label == nil {
		return "somebody"
	}
	return quoted(label)
}

// describePerson describes an erasure or a rectification.
func (e *Event) describePerson(done string) string {
	return fmt.Sprintf("%s the data of a person (requests: %v, votes: %v, comments: %v)",
		done, e.After["requests"], e.After["votes"], e.After["comments"])
}

// describeToken returns a token as the audit log shows it. Its user is named if somebody else revoked it.
func (e *Event) describeToken(token map[string]any) string {
	name, user := stringOf(token["name"]), stringOf(token["user"])
	switch {
	case token["kind"] == "service":
		return fmt.Sprintf("the service token %q", name)
	case e.Actor.Name != nil && *e.Actor.Name == user:
		return fmt.Sprintf("the token %q", name)
	}
	return fmt.Sprintf("the token %q of %s", name, user)
}

// describeWebhook describes a change of a webhook.
func (e *Event) describeWebhook() string {
	webhook := fmt.Sprintf("the webhook %q", cmp.Or(stringOf(e.After["name"]), stringOf(e.Before["name"])))
	switch e.Kind {
	case WebhookCreated:
		return fmt.Sprintf("created %s for %v", webhook, e.After["host"])
	case WebhookDeleted:
		return "deleted " + webhook
	case WebhookRewound:
		return fmt.Sprintf("set the position of %s from %v to %v", webhook, e.Before["position"], e.After["position"])
	case WebhookDisabled:
		return fmt.Sprintf("disabled %s: %v", webhook, strings.TrimSuffix(stringOf(e.After["reason"]), "."))
	case WebhookSecretRotated:
		return "rotated the secret of " + webhook
	}
	switch e.After["state"] {
	case "on":
		return "turned on " + webhook
	case "paused":
		return "paused " + webhook
	}
	return "changed " + webhook
}

// describeEntry describes a change of an entry of a changelog.
func (e *Event) describeEntry() string {
	entry := "the changelog entry " + quoted(cmp.Or(stringOf(e.After["title"]), stringOf(e.Before["title"])))
	switch e.Kind {
	case EntryCreated:
		return "created " + entry
	case EntryPublished:
		return "published " + entry
	case EntryUnpublished:
		return "took back " + entry
	case EntryDeleted:
		return "deleted " + entry
	}
	if at := stringOf(e.After["publish_at"]); at != "" {
		return "scheduled " + entry + " for " + at
	}
	if e.After["state"] == string(Draft) {
		return "made " + entry + " a draft again"
	}
	if before := stringOf(e.Before["title"]); before != "" {
		return fmt.Sprintf("renamed the changelog entry from %q to %s", before, quoted(e.After["title"]))
	}
	return "changed " + entry
}

// personLabel returns the name and e-mail of a user as the history shows them.
func personLabel(user map[string]any) string {
	name, email := stringOf(user["name"]), stringOf(user["email"])
	if email != "" {
		return name + " (" + email + ")"
	}
	return cmp.Or(name, "a user")
}

// stringOf returns v if it is a string, and "" otherwise.
func stringOf(v any) string {
	s, _ := v.(string)
	return s
}
