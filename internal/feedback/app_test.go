package feedback

import (
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func aSetting[T any](t *rapid.T, name string, g *rapid.Generator[T]) *T {
	return rapid.Ptr(g, true).Draw(t, name)
}

func aSettingsChange(t *rapid.T) SettingsChange {
	change := SettingsChange{
		Sharing: aSetting(t, "sharing", rapid.SampledFrom([]string{"none", "triaged", "all"})),
		AllowedOrigins: aSetting(t, "origins", rapid.SliceOfN(rapid.SampledFrom([]string{
			"https://a.example", "HTTPS://A.example:443", "http://b.example:80", "http://b.example", "http://b.example:8080",
		}), 0, 4)),
	}
	if rapid.Bool().Draw(t, "widget") {
		text := rapid.SampledFrom([]string{"one", "two"})
		change.Widget = &WidgetChange{
			PrimaryColor: aSetting(t, "color", text), Position: aSetting(t, "position", text), ButtonText: aSetting(t, "text", text),
			ShowEmailField: aSetting(t, "show", rapid.Bool()), RequireEmail: aSetting(t, "require", rapid.Bool()),
			AllowFileUploads: aSetting(t, "uploads", rapid.Bool()),
		}
	}
	return change
}

// configure merges a change, which must be possible.
func configure(t interface{ Fatal(args ...any) }, app *App, change SettingsChange) {
	if err := app.Configure(change); err != nil {
		t.Fatal(err)
	}
}

func pick[T any](change *T, old T) T {
	if change != nil {
		return *change
	}
	return old
}

// TestSettingsMerge checks that given settings replace the old ones, that omitted ones keep
// their values, and that a required e-mail field is always shown.
func TestSettingsMerge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		app := NewApp(ID{1}, ID{2}, "A", "gk_1", start)
		for range rapid.IntRange(1, 4).Draw(t, "changes") {
			change := aSettingsChange(t)
			if err := change.Check(); err != nil {
				t.Fatal(err)
			}
			want := app.Settings
			if w := change.Widget; w != nil {
				want.Widget = WidgetSettings{
					PrimaryColor: pick(w.PrimaryColor, want.Widget.PrimaryColor), Position: pick(w.Position, want.Widget.Position),
					ButtonText: pick(w.ButtonText, want.Widget.ButtonText), ShowEmailField: pick(w.ShowEmailField, want.Widget.ShowEmailField),
					RequireEmail:     pick(w.RequireEmail, want.Widget.RequireEmail),
					AllowFileUploads: pick(w.AllowFileUploads, want.Widget.AllowFileUploads),
				}
			}
			want.Widget.ShowEmailField = want.Widget.ShowEmailField || want.Widget.RequireEmail
			want.Sharing = pick(change.Sharing, want.Sharing)
			if change.AllowedOrigins != nil {
				want.AllowedOrigins = []string{}
				for _, origin := range *change.AllowedOrigins {
					normal := map[string]string{"HTTPS://A.example:443": "https://a.example", "http://b.example:80": "http://b.example"}[origin]
					if normal == "" {
						normal = origin
					}
					if !slices.Contains(want.AllowedOrigins, normal) {
						want.AllowedOrigins = append(want.AllowedOrigins, normal)
					}
				}
			}
			configure(t, &app, change)
			if !reflect.DeepEqual(app.Settings, want) {
				t.Fatalf("settings are %+v, want %+v", app.Settings, want)
			}
			configure(t, &app, change)
			if !reflect.DeepEqual(app.Settings, want) {
				t.Fatalf("the same change again makes %+v", app.Settings)
			}
		}
	})
}

// TestConfigureKeepsTheOld checks that a change does not affect an earlier copy of the app.
func TestConfigureKeepsTheOld(t *testing.T) {
	app := NewApp(ID{1}, ID{2}, "A", "gk_1", start)
	configure(t, &app, SettingsChange{AllowedOrigins: &[]string{"https://a.example"}})
	old := app
	sent := []string{"https://b.example"}
	configure(t, &app, SettingsChange{AllowedOrigins: &sent})
	sent[0] = "https://c.example"
	if old.Settings.AllowedOrigins[0] != "https://a.example" || app.Settings.AllowedOrigins[0] != "https://b.example" {
		t.Errorf("old %v, new %v", old.Settings.AllowedOrigins, app.Settings.AllowedOrigins)
	}
	if DefaultSettings().AllowedOrigins == nil {
		t.Error("no origins must be an empty list, not null")
	}
}

// origins maps settings to the form in which browsers send the origin. It is "" for settings
// that match no browser's origin and must be refused.
var origins = map[string]string{
	"https://example.com":              "https://example.com",
	"HTTPS://Example.COM":              "https://example.com",
	"https://example.com:443":          "https://example.com",
	"http://example.com:80":            "http://example.com",
	"https://example.com:80":           "https://example.com:80",
	"http://example.com:443":           "http://example.com:443",
	"https://example.com:8443":         "https://example.com:8443",
	"http://localhost:3000":            "http://localhost:3000",
	"http://127.0.0.1:8080":            "http://127.0.0.1:8080",
	"http://[::1]":                     "http://[::1]",
	"http://[2001:DB8::1]:80":          "http://[2001:db8::1]",
	"https://a-b.example.com":          "https://a-b.example.com",
	"https://xn--bcher-kva.example":    "https://xn--bcher-kva.example",
	"chrome-extension://abcdefghijklm": "chrome-extension://abcdefghijklm",
	"capacitor://localhost":            "capacitor://localhost",

	"":                              "",
	"null":                          "",
	"*":                             "",
	"example.com":                   "",
	"//example.com":                 "",
	"://example.com":                "",
	"https:example.com":             "",
	"https:///example.com":          "",
	"https://":                      "",
	"https://:443":                  "",
	"https://example.com/":          "",
	"https://example.com/path":      "",
	"https://example.com?":          "",
	"https://example.com?q=1":       "",
	"https://example.com#":          "",
	"https://example.com#top":       "",
	"https://user@example.com":      "",
	"https://user:pw@example.com":   "",
	"https://@example.com":          "",
	"https://example.com:":          "",
	"https://example.com:port":      "",
	"https://example.com:0443":      "",
	"https://example.com:99999":     "",
	"https://*.example.com":         "",
	"https://bücher.example":        "",
	"https://exa mple.com":          "",
	" https://example.com":          "",
	"https://example.com\n":         "",
	"https://a.example,b.example":   "",
	"https://a.example;b.example":   "",
	"https://%65xample.com":         "",
	"http://[::1":                   "",
	"http://[fe80::1%25eth0]":       "",
	"javascript:alert(1)":           "",
	"mailto:ada@example.com":        "",
	"https://example.com https://b": "",
}

func TestOrigins(t *testing.T) {
	for text, want := range origins {
		t.Run(text, func(t *testing.T) {
			got, ok := parseOrigin(text)
			if ok != (want != "") || ok && got != want {
				t.Errorf("%q is taken as %q, %v; want %q", text, got, ok, want)
			}
			err := SettingsChange{AllowedOrigins: &[]string{"https://other.example", text}}.Check()
			if (err == nil) != (want != "") {
				t.Errorf("%q can be set: %v", text, err)
			}
			if err != nil && (err.Code != "apps.invalid_settings" || err.Status != 400) {
				t.Errorf("refused with %v", err)
			}
		})
	}
}

func TestAllowsOrigin(t *testing.T) {
	app := NewApp(ID{1}, ID{2}, "A", "gk_1", start)
	for origin := range origins {
		if !app.Settings.AllowsOrigin(origin) {
			t.Errorf("%q is refused though every origin is allowed", origin)
		}
	}
	configure(t, &app, SettingsChange{AllowedOrigins: &[]string{"https://Example.com:443", "http://b.example:8080"}})
	for origin, want := range map[string]bool{
		"":                         true, // no browser
		"https://example.com":      true,
		"https://EXAMPLE.com":      true,
		"https://example.com:443":  true,
		"http://example.com":       false,
		"https://example.com:8443": false,
		"https://www.example.com":  false,
		"https://example.com.evil": false,
		"https://evil-example.com": false,
		"https://example.com@evil": false,
		"http://b.example:8080":    true,
		"http://b.example":         false,
		"null":                     false,
		"junk":                     false,
	} {
		if got := app.Settings.AllowsOrigin(origin); got != want {
			t.Errorf("%q: %v", origin, got)
		}
	}
}

// FuzzOrigin checks that accepted origins are stored in the form that browsers send.
func FuzzOrigin(f *testing.F) {
	for text := range origins {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		origin, ok := parseOrigin(text)
		if !ok {
			if origin != "" {
				t.Errorf("%q is refused and yet %q", text, origin)
			}
			return
		}
		if again, ok := parseOrigin(origin); !ok || again != origin {
			t.Errorf("%q is %q, which is %q, %v", text, origin, again, ok)
		}
		for _, r := range origin {
			if r <= ' ' || r > '~' || r >= 'A' && r <= 'Z' {
				t.Errorf("%q is taken as %q, which has %q", text, origin, r)
			}
		}
	})
}
