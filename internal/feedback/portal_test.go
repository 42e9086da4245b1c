package feedback

import (
	"errors"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestPortalSettings: a portal that is on needs an address, and shares something. Each change says what is wrong.
func TestPortalSettings(t *testing.T) {
	const page, frames = "settings.portal.sign_in_url must be", "settings.portal.frame_ancestors must"
	on, off := AccessPublic, AccessOff
	words := func(list ...string) *[]string { return &list }
	for _, c := range []struct {
		name    string
		change  SettingsChange
		problem string
	}{
		{"nothing", SettingsChange{Portal: &PortalChange{}}, ""},
		{"off", SettingsChange{Portal: &PortalChange{Access: &off, Slug: new("")}, Sharing: new("none")}, ""},
		{"a slug alone", SettingsChange{Portal: &PortalChange{Slug: new("other")}}, ""},
		{"on without a slug", SettingsChange{Portal: &PortalChange{Access: &on, Slug: new("")}}, "settings.portal.slug is required"},
		{"on, sharing nothing", SettingsChange{Portal: &PortalChange{Access: &on}, Sharing: new("none")}, "settings.sharing must be"},
		{"no longer sharing", SettingsChange{Sharing: new("none")}, "settings.sharing must be"},
		{"host", SettingsChange{Portal: &PortalChange{Host: new("Ideas.Example.com")}}, ""},
		{"no host", SettingsChange{Portal: &PortalChange{Host: new("")}}, ""},
		{"wrong host", SettingsChange{Portal: &PortalChange{Host: new("https://ideas.example.com")}}, "settings.portal.host must be"},
		{"page", SettingsChange{Portal: &PortalChange{SignInURL: new("https://a.example/login?x=y")}}, ""},
		{"no page", SettingsChange{Portal: &PortalChange{SignInURL: new("")}}, ""},
		{"relative page", SettingsChange{Portal: &PortalChange{SignInURL: new("/login")}}, page},
		{"script", SettingsChange{Portal: &PortalChange{SignInURL: new("javascript:alert(1)")}}, page},
		{"page without a host", SettingsChange{Portal: &PortalChange{SignInURL: new("https:///login")}}, page},
		{"page with a password", SettingsChange{Portal: &PortalChange{SignInURL: new("https://a:b@c.example")}}, page},
		{"page with a fragment", SettingsChange{Portal: &PortalChange{SignInURL: new("https://c.example/#x")}}, page},
		{"frames", SettingsChange{Portal: &PortalChange{FrameAncestors: words("https://a.example")}}, ""},
		{"wrong frames", SettingsChange{Portal: &PortalChange{FrameAncestors: words("https://a.example", "a.example")}}, frames},
		{"tags", SettingsChange{Portal: &PortalChange{Tags: words("ui", strings.Repeat("é", 40))}}, ""},
		{"a long tag", SettingsChange{Portal: &PortalChange{Tags: words("ui", strings.Repeat("é", 41))}}, "settings.portal.tags must"},
		{"an empty tag", SettingsChange{Portal: &PortalChange{Tags: words("")}}, "settings.portal.tags must"},
		{"words", SettingsChange{Portal: &PortalChange{HeldWords: words(strings.Repeat("é", 40))}}, ""},
		{"a long word", SettingsChange{Portal: &PortalChange{HeldWords: words(strings.Repeat("é", 41))}}, "settings.portal.held_words must"},
		{"an empty word", SettingsChange{Portal: &PortalChange{HeldWords: words("")}}, "settings.portal.held_words must"},
	} {
		app := NewApp(ID{1}, ID{2}, "A", "gk_1", start)
		app.Settings.Sharing, app.Settings.Portal.Slug, app.Settings.Portal.Access = "all", "acme", AccessPublic
		before := app.Settings
		refusal := c.change.Check()
		if refusal == nil {
			errors.As(app.Configure(c.change), &refusal)
		}
		switch {
		case c.problem == "" && refusal != nil:
			t.Errorf("%s: %v", c.name, refusal)
		case c.problem != "" && (refusal == nil || refusal.Code != "apps.invalid_settings" || !strings.HasPrefix(refusal.Message, c.problem)):
			t.Errorf("%s: %v, want %s", c.name, refusal, c.problem)
		case c.problem != "" && !reflect.DeepEqual(app.Settings, before):
			t.Errorf("%s: the app has changed although it was refused", c.name)
		}
	}
}

// TestPortalMerge: what is given replaces the old value, in its normal form, and everything else stays.
func TestPortalMerge(t *testing.T) {
	p := defaultPortal()
	if p.On() || (PortalSettings{}).On() {
		t.Error("a new portal is on")
	}
	change := PortalChange{
		Access: new(AccessLink), Slug: new("acme"), Host: new("Ideas.Example.com"), Voting: new(FromNobody), Comments: new(FromAnyone),
		Submit: new(FromVerified), Moderation: new(HoldAll), Names: new("verified"), TeamNames: new(true), Descriptions: new(false),
		Attachments: new(true), Tags: &[]string{"ui"}, Index: new(false), Theme: new("dark"), Locale: new("de"), Intro: new("Hello"),
		SignInURL: new("https://a.example"), FrameAncestors: &[]string{"HTTPS://A.example:443"}, HeldWords: &[]string{"x"},
	}
	want := PortalSettings{
		Access: AccessLink, Slug: "acme", Host: "ideas.example.com", Voting: FromNobody, Comments: FromAnyone, Submit: FromVerified,
		Moderation: HoldAll, Names: "verified", TeamNames: true, Descriptions: false, Attachments: true, Tags: []string{"ui"},
		Index: false, Theme: "dark", Locale: "de", Intro: "Hello", SignInURL: "https://a.example",
		FrameAncestors: []string{"https://a.example"}, HeldWords: []string{"x"},
	}
	p.merge(change)
	p.merge(PortalChange{})
	if !reflect.DeepEqual(p, want) || !p.On() {
		t.Errorf("%+v, want %+v", p, want)
	}
}

// TestTaking: what is off is taken from nobody.
func TestTaking(t *testing.T) {
	for taking, want := range map[Taking][2]bool{
		FromAnyone: {true, true}, FromVerified: {false, true}, FromNobody: {false, false}, "": {false, false},
	} {
		if got := [2]bool{taking.From(false), taking.From(true)}; got != want {
			t.Errorf("%q takes from people who are not and who are signed in: %v", taking, got)
		}
	}
}

// TestHolds: a text is held for who wrote it, or for one of its words, in any case.
func TestHolds(t *testing.T) {
	for _, c := range []struct {
		moderation Moderation
		signedIn   bool
		texts      []string
		want       bool
	}{
		{HoldNone, false, []string{"Fine"}, false},
		{HoldNone, false, nil, false},
		{HoldAnonymous, false, []string{"Fine"}, true},
		{HoldAnonymous, true, []string{"Fine"}, false},
		{HoldAll, true, []string{"Fine"}, true},
		{HoldNone, true, []string{"Fine", "cheap WATCHES here"}, true},
		{HoldNone, true, []string{"GRÜSSE"}, true},
		{HoldNone, true, []string{"watch", "es"}, false},
	} {
		p := PortalSettings{Moderation: c.moderation, HeldWords: []string{"Watches", "grüsse"}}
		if got := p.Holds(c.signedIn, c.texts...); got != c.want {
			t.Errorf("%s, signed in: %v, %q is held: %v", c.moderation, c.signedIn, c.texts, got)
		}
	}
}

// TestBrowserOfKey: only the key of a browser has one, and it is the key of that browser again.
func TestBrowserOfKey(t *testing.T) {
	id := ID{1, 2, 3}
	if got := BrowserOfKey(Person{BrowserID: &id, Name: new("Ada")}.Key()); got == nil || *got != id {
		t.Errorf("%v, want %v", got, id)
	}
	for _, key := range []string{
		"", "b:", "b:x", id.String(), "x:" + id.String(), "bb:" + id.String(), Person{ExternalID: new(id.String())}.Key(),
		Person{BrowserID: &id, Email: new("ada@example.com")}.Key(),
	} {
		if got := BrowserOfKey(key); got != nil {
			t.Errorf("%q is the key of the browser %v", key, got)
		}
	}
}

// TestRoadmap: the columns are the statuses that are on the roadmap and that the app shares, in their order.
func TestRoadmap(t *testing.T) {
	for _, c := range []struct {
		sharing string
		change  StatusesChange
		want    []Status
	}{
		{"none", StatusesChange{}, nil},
		{"triaged", StatusesChange{}, []Status{"planned", "in_progress", "completed"}},
		{"all", StatusesChange{}, []Status{"planned", "in_progress", "completed"}},
		{
			"all",
			StatusesChange{Opened: &StatusChange{Roadmap: new(true)}, Planned: &StatusChange{Roadmap: new(false)}},
			[]Status{Opened, "in_progress", "completed"},
		},
		{"triaged", StatusesChange{Opened: &StatusChange{Roadmap: new(true)}}, []Status{"planned", "in_progress", "completed"}},
		{"all", StatusesChange{Planned: &StatusChange{Label: new("Next")}}, []Status{"planned", "in_progress", "completed"}},
	} {
		s := NewApp(ID{1}, ID{2}, "A", "gk_1", start).Settings
		s.Sharing = c.sharing
		s.Statuses.merge(c.change)
		if got := s.Roadmap(); !slices.Equal(got, c.want) {
			t.Errorf("sharing %s, the roadmap is %v, want %v", c.sharing, got, c.want)
		}
	}
}

// FuzzPortalHost: a portal can be at a name with a dot that fits in an address as it is, and never at an address of a machine.
func FuzzPortalHost(f *testing.F) {
	for host, want := range map[string]bool{
		"ideas.example.com": true, "a.b": true, "xn--bcher-kva.example": true, "1.a": true, "a-b.example": true,
		strings.Repeat("a", 63) + ".example": true, strings.Repeat("a", 64) + ".example": false,
		"": false, "localhost": false, "a..b": false, ".a.b": false, "a.b.": false, "-a.b": false, "a-.b": false, "a_b.c": false,
		"https://a.b": false, "a.b:80": false, "a.b/c": false, "A.b": false, "127.0.0.1": false, "::1": false,
		"bücher.example": false, "a.b\n": false, "a b.c": false, "*.a.b": false,
	} {
		if got := ValidPortalHost(host); got != want {
			f.Errorf("%q can have a portal: %v", host, got)
		}
		f.Add(host)
	}
	f.Fuzz(func(t *testing.T, host string) {
		if !ValidPortalHost(host) {
			return
		}
		_, err := netip.ParseAddr(host)
		if err == nil || !strings.Contains(host, ".") || strings.ToLower(host) != host || strings.ContainsAny(host, "/:@?#%*_ \n\"<>") {
			t.Errorf("%q", host)
		}
		for _, part := range strings.Split(host, ".") {
			if part == "" || len(part) > 63 || part[0] == '-' || part[len(part)-1] == '-' {
				t.Errorf("%q has the part %q", host, part)
			}
		}
		if !validSignIn("https://" + host + "/") {
			t.Errorf("%q is not a host in an address", host)
		}
	})
}

// TestHeldWords: a word is found in each spelling.
func TestHeldWords(t *testing.T) {
	p := PortalSettings{Moderation: HoldNone, HeldWords: []string{"Café", "λάθος", "schlecht", "straße", "\u200b"}}
	for text, want := range map[string]bool{
		"the cafe\u0301 closes": true, "ΛΆΘΟΣ!": true, "schl\u00adecht": true, "ｓｃｈｌｅｃｈｔ": true, "STRASSENBAHN": true,
		"cafe": false, "": false, "good": false,
	} {
		if p.Holds(true, "title", text) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}
