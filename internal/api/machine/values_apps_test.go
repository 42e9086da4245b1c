package machine

import "strings"

// appValue draws settings of an app.
func (m *machine) appValue(_ aCall, name string) (any, bool) {
	widget := func(settings object) any { return object{"widget": settings} }
	origins := func(list ...any) any { return object{"allowed_origins": append([]any{}, list...)} }
	if name == "settings" {
		return m.either(name, []any{
			widget(object{"require_email": true}), widget(object{"require_email": false, "show_email_field": false}),
			widget(object{"allow_file_uploads": true}), widget(object{"allow_file_uploads": false}),
			origins("https://A.example:443"), origins(),
			object{"sharing": "all"},
			object{"sharing": "triaged"},
			object{"public_name": "Acme"},
			object{"sharing": "none"},
			object{"issue_template": "https://a.example/new?title={title}&body={description}%0A{url}"},
			object{"issue_template": ""},
			object{"statuses": object{"planned": label("On the list"), "declined": object{}}},
			object{"statuses": object{"planned": label("")}},
			object{"portal": object{"slug": "acme"}},
			object{"portal": object{"slug": "acme-mobile", "access": "public"}, "sharing": "all"},
			object{"portal": object{"access": "signed_in", "comments": "anyone"}},
			object{"portal": object{"access": "off"}, "sharing": "none"},
			object{"portal": object{"comments": "verified", "moderation": "all"}},
			object{"portal": object{"comments": "anyone", "moderation": "none", "held_words": []any{"WHY"}}},
			object{"portal": object{"host": "Ideas.example.com", "frame_ancestors": []any{"https://A.example:443"}}},
			object{"portal": object{"host": "", "sign_in_url": "https://a.example/login", "locale": "de"}},
			object{"portal": object{"access": "off", "intro": "Hello", "tags": []any{"ui"}}},
			object{"portal": object{"logo": "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNgAAAAAgAB5Sfe/AAAAABJRU5ErkJggg=="}},
			object{"statuses": object{"planned": object{"roadmap": false}}},
			object{},
		}, []any{
			widget(object{"x": true}),
			object{"sharing": "some"},
			object{"public_name": strings.Repeat("x", 101)},
			object{"public_name": "two\nlines"},
			object{"issue_template": "javascript:{title}"},
			object{"statuses": object{"duplicate": label("Twin")}},
			object{"portal": object{"slug": "Acme"}},
			object{"portal": object{"host": "https://acme.example"}},
			object{"portal": object{"logo": "R0lG"}},
			object{"portal": object{"sign_in_url": "javascript:alert(1)"}},
			object{"portal": object{"held_words": []any{""}}},
			object{"portal": object{"tags": []any{strings.Repeat("x", 41)}}},
			object{"portal": object{"frame_ancestors": []any{"https://a.example/path"}}},
			object{"statuses": object{"planned": label(strings.Repeat("x", 41))}},
			origins("https://a.example/path"),
			[]any{},
		}), true
	}
	return nil, false
}
