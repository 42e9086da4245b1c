package feedback

import "testing"

// TestAuditSummaries checks the sentence for each change of the account, its users and its
// apps.
func TestAuditSummaries(t *testing.T) {
	type fields = map[string]any
	grace := fields{"id": "7", "name": "Grace"}
	with := func(more fields) fields {
		all := fields{"id": "7", "name": "Grace"}
		for name, v := range more {
			all[name] = v
		}
		return all
	}
	for want, e := range map[string]Event{
		"Ada created the account.": {Kind: AccountCreated, After: fields{"name": "Acme"}},
		`Ada renamed the account from "Acme" to "Globex".`: {
			Kind: AccountRenamed, Before: fields{"name": "Acme"}, After: fields{"name": "Globex"},
		},
		`Ada restored the account as "Acme" from a copy.`: {Kind: AccountRestored, After: fields{"name": "Acme"}},
		"Ada set the quotas files=10 GB, members=default.": {
			Kind: QuotasChanged, Before: fields{"files": "none", "members": "5"}, After: fields{"members": "default", "files": "10 GB"},
		},
		"Ada joined with the set-up link as owner.": {
			Kind: UserCreated, After: fields{"id": ID{1}.String(), "name": "Ada", "email": "ada@example.com", "role": "owner"},
		},
		"Ada invited Grace (g@example.com) with the role viewer.": {
			Kind: UserInvited, After: with(fields{"email": "g@example.com", "role": "viewer"}),
		},
		"Ada accepted the invitation.": {Kind: UserJoined, After: grace},
		"Ada renamed Grace to Hopper.": {
			Kind: UserUpdated, Before: grace, After: fields{"id": "7", "name": "Hopper"},
		},
		"Ada changed the role of Grace from viewer to admin.": {
			Kind: UserUpdated, Before: with(fields{"role": "viewer"}), After: with(fields{"role": "admin"}),
		},
		"Ada renamed Grace to Hopper and changed the role of Hopper from admin to owner.": {
			Kind: UserUpdated, Before: with(fields{"role": "admin"}), After: fields{"id": "7", "name": "Hopper", "role": "owner"},
		},
		"Ada removed Grace (g@example.com).": {
			Kind: UserRemoved, Before: with(fields{"email": "g@example.com", "role": "owner"}),
		},
		"Ada created a link that lets Grace choose a password.": {Kind: RecoveryLinkMade, After: grace},
		"Ada reset their password with a link.":                 {Kind: PasswordReset, After: grace},
		"Ada changed their password.":                           {Kind: PasswordChanged, After: grace},
		`Ada created the app "Shop".`:                           {Kind: AppCreated, After: fields{"name": "Shop"}},
		`Ada renamed the app from "Shop" to "Store".`: {
			Kind: AppUpdated, Before: fields{"name": "Shop"}, After: fields{"name": "Store"}, AppName: "Later",
		},
		`Ada changed the settings of the app "Shop".`: {
			Kind: AppUpdated, Before: fields{"settings": fields{}}, After: fields{"settings": fields{"sharing": "all"}}, AppName: "Shop",
		},
		"Ada changed the settings of an app.": {
			Kind: AppUpdated, Before: fields{"settings": fields{}}, After: fields{"settings": fields{"sharing": "all"}},
		},
		`Ada regenerated the API key of the app "Shop"; the old key no longer works.`: {Kind: AppKeyRegenerated, AppName: "Shop"},
		`Ada deleted the app "Shop" with all its requests.`:                           {Kind: AppDeleted, Before: fields{"name": "Shop"}},
		`Ada created the identity secret of the app "Shop".`:                          {Kind: IdentityMade, AppName: "Shop"},
		`Ada created the changelog entry "Dark mode".`:                                {Kind: EntryCreated, After: fields{"title": "Dark mode"}},
		`Ada changed the changelog entry "Dark mode".`: {
			Kind: EntryUpdated, Before: fields{"labels": []any{"New"}}, After: fields{"title": "Dark mode", "labels": []any{}},
		},
		`Ada renamed the changelog entry from "Dark" to "Dark mode".`: {
			Kind: EntryUpdated, Before: fields{"title": "Dark"}, After: fields{"title": "Dark mode"},
		},
		`Ada scheduled the changelog entry "Dark mode" for 2026-01-05T09:00:00.000Z.`: {
			Kind: EntryUpdated, After: fields{"title": "Dark mode", "state": "scheduled", "publish_at": "2026-01-05T09:00:00.000Z"},
		},
		`Ada made the changelog entry "Dark mode" a draft again.`: {
			Kind: EntryUpdated, Before: fields{"state": "scheduled"}, After: fields{"title": "Dark mode", "state": "draft", "publish_at": nil},
		},
		`Ada published the changelog entry "Dark mode".`: {
			Kind: EntryPublished, Before: fields{"state": "draft"}, After: fields{"title": "Dark mode", "state": "published"},
		},
		`Ada took back the changelog entry "Dark mode".`:     {Kind: EntryUnpublished, After: fields{"title": "Dark mode", "state": "draft"}},
		`Ada deleted the changelog entry "Dark mode".`:       {Kind: EntryDeleted, Before: fields{"title": "Dark mode"}},
		`Ada rotated the identity secret of the app "Shop".`: {Kind: IdentityRotated, AppName: "Shop"},
		`Ada blocked "Eve" on the portal of the app "Shop".`: {Kind: PersonBlocked, AppName: "Shop", After: fields{"person": "Eve"}},
		`Ada unblocked somebody on the portal of an app.`:    {Kind: PersonUnblocked},
		"Ada erased the data of a person (requests: 1, votes: 2, comments: 0).": {
			Kind: PersonErased, After: fields{"requests": 1, "votes": 2, "comments": 0},
		},
		"Ada corrected the data of a person (requests: 1, votes: 2, comments: 0).": {
			Kind: PersonRectified, After: fields{"requests": 1, "votes": 2, "comments": 0},
		},
		"Ada erased the data of a person.":    {Kind: RequestErased},
		"Ada corrected the data of a person.": {Kind: RequestRectified},
	} {
		e.Actor = EventActor{Kind: ByUser, ID: &ID{1}, Name: new("Ada")}
		e.Summarize()
		if e.Summary != want {
			t.Errorf("%q, want %q", e.Summary, want)
		}
	}
	added := Event{Kind: UserCreated, Actor: EventActor{Kind: ByCommand}, After: with(fields{"email": "g@example.com", "role": "owner"})}
	added.Summarize()
	if added.Summary != "An operator added Grace (g@example.com) with the role owner." {
		t.Error(added.Summary)
	}
	operator := Event{Kind: PasswordChanged, Actor: EventActor{Kind: ByCommand}, After: grace}
	operator.Summarize()
	if operator.Summary != "An operator set the password of Grace." {
		t.Error(operator.Summary)
	}
}
