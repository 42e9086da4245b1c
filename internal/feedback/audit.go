package feedback

import (
	"cmp"
	"fmt"
)

// auditDeed says what a change of the account, its users or its apps is; "" for others.
func (e *Event) auditDeed() string {
	app := "an app"
	if name := cmp.Or(text(e.After["name"]), e.AppName, text(e.Before["name"])); name != "" {
		app = fmt.Sprintf("the app %q", name)
	}
	switch e.Kind {
	case AccountCreated:
		return "made the account"
	case AppCreated:
		return "made " + app
	case AppUpdated:
		return e.appDeed(app)
	case AppKeyRegenerated:
		return "gave " + app + " a new API key; the old one stopped working"
	case AppDeleted:
		return "deleted " + app + " with all its requests"
	case IdentityMade:
		return "made the identity secret of " + app
	case IdentityRotated:
		return "gave " + app + " a new identity secret"
	}
	return e.userDeed()
}

func (e *Event) appDeed(app string) string {
	var parts []string
	if before, renamed := e.Before["name"]; renamed {
		parts = append(parts, fmt.Sprintf("renamed the app from %s to %s", said(before), said(e.After["name"])))
		app = "its settings"
	} else {
		app = "the settings of " + app
	}
	if _, changed := e.After["settings"]; changed {
		parts = append(parts, "changed "+app)
	}
	return joined(parts)
}

func (e *Event) userDeed() string {
	now, was := person(e.After), person(e.Before)
	switch e.Kind {
	case UserCreated:
		return fmt.Sprintf("added %s with the role %v", now, e.After["role"])
	case UserInvited:
		return fmt.Sprintf("invited %s with the role %v", now, e.After["role"])
	case UserJoined:
		return "accepted the invitation"
	case UserUpdated:
		var parts []string
		if was != now {
			parts = append(parts, fmt.Sprintf("renamed %s to %s", was, now))
		}
		if role, changed := e.After["role"]; changed {
			parts = append(parts, fmt.Sprintf("changed the role of %s from %v to %v", now, e.Before["role"], role))
		}
		return joined(parts)
	case UserRemoved:
		return "removed " + was
	case RecoveryLinkMade:
		return "made a link by which " + now + " can choose a password"
	case PasswordReset:
		return "chose another password by a link"
	case PasswordChanged:
		if e.Actor.ID != nil {
			return "changed their password"
		}
		return "set the password of " + now
	}
	return ""
}

// person is what the log calls a user.
func person(fields map[string]any) string {
	name, email := text(fields["name"]), text(fields["email"])
	if email != "" {
		return name + " (" + email + ")"
	}
	return cmp.Or(name, "a user")
}

func text(v any) string {
	s, _ := v.(string)
	return s
}
