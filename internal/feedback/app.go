package feedback

import (
	"cmp"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// App stands for one product or website that collects requests.
type App struct {
	ID        ID       `json:"id" format:"uuid"`
	AccountID ID       `json:"account_id" format:"uuid"`
	Name      string   `json:"name"`
	APIKey    string   `json:"api_key" doc:"Widget API key; begins with gk_."`
	Settings  Settings `json:"settings"`
	CreatedAt Time     `json:"created_at" format:"date-time"`
	UpdatedAt Time     `json:"updated_at" format:"date-time"`

	// Suspended is true while the operator has suspended the account. The app's key, portal and links do not work then.
	Suspended bool `json:"-"`

	// Version counts the changes. A change is saved only if the version is still the one
	// that was read, so that concurrent changes do not overwrite each other.
	Version int64 `json:"-"`
}

// NewApp returns an app with the default settings.
func NewApp(id, accountID ID, name, key string, now time.Time) App {
	return App{
		ID: id, AccountID: accountID, Name: name, APIKey: key, Settings: DefaultSettings(),
		CreatedAt: At(now), UpdatedAt: At(now), Version: 1,
	}
}

// Rename gives the app another name.
func (a *App) Rename(name string) { a.Name = name }

// PublicName returns what the app is called outside the team.
func (a App) PublicName() string { return cmp.Or(a.Settings.PublicName, a.Name) }

// Configure merges a change of the settings. Omitted settings keep their values. It changes nothing and
// returns an error with the code apps.invalid_settings if the settings would then contradict each other.
func (a *App) Configure(c SettingsChange) error {
	changed := a.Settings.merge(c)
	if err := changed.agree(); err != nil {
		return err
	}
	a.Settings = changed
	return nil
}

// Rekey gives the app another API key.
func (a *App) Rekey(key string) { a.APIKey = key }

// Settings are an app's settings.
type Settings struct {
	PublicName     string         `json:"public_name" doc:"What the app is called outside the team: on the portal, in mails to people who asked, and on the page of their requests. Empty for its name."`
	Widget         WidgetSettings `json:"widget"`
	Sharing        string         `json:"sharing" enum:"none,triaged,all" doc:"Which requests widget users may see (title, status and votes only). triaged: those that are under_review, planned, in_progress or completed. Suspected spam is never shown."`
	Statuses       StatusSettings `json:"statuses"`
	AllowedOrigins []string       `json:"allowed_origins" doc:"Origins from which browsers may submit; empty means any."`
	Portal         PortalSettings `json:"portal"`
	IssueTemplate  string         `json:"issue_template" doc:"Address of a page of an issue tracker that creates an issue; {title}, {description} and {url} stand for those of a request. Empty for none."`
}

// WidgetSettings are the settings that the widget follows and the service enforces.
type WidgetSettings struct {
	PrimaryColor     string `json:"primary_color" doc:"Hex color code #RRGGBB."`
	Position         string `json:"position" enum:"bottom-right,bottom-left,top-right,top-left" doc:"Placement of the widget button."`
	ButtonText       string `json:"button_text" doc:"Label of the widget button, in every language."`
	ShowEmailField   bool   `json:"show_email_field" doc:"Whether the widget shows an e-mail field."`
	RequireEmail     bool   `json:"require_email" doc:"Whether an e-mail is mandatory on submission; implies that the field is shown."`
	AllowFileUploads bool   `json:"allow_file_uploads" doc:"Whether file uploads are allowed in the widget."`
}

// DefaultSettings returns the settings of a new app.
func DefaultSettings() Settings {
	return Settings{
		Widget: WidgetSettings{
			PrimaryColor: "#4F46E5", Position: "bottom-right", ButtonText: "Feedback", ShowEmailField: true,
		},
		Sharing:        "none",
		Statuses:       defaultStatuses(),
		Portal:         defaultPortal(),
		AllowedOrigins: []string{},
	}
}

// SettingsChange is a partial change of settings. Nil fields keep their values.
type SettingsChange struct {
	PublicName     *string         `json:"public_name,omitempty" maxLength:"100" doc:"What the app is called outside the team. Empty for its name."`
	Widget         *WidgetChange   `json:"widget,omitempty"`
	Sharing        *string         `json:"sharing,omitempty" enum:"none,triaged,all" doc:"Which requests widget users may see."`
	Statuses       *StatusesChange `json:"statuses,omitempty"`
	AllowedOrigins *[]string       `json:"allowed_origins,omitempty" maxItems:"100" doc:"Origins such as https://example.com from which browsers may submit; empty means any."`
	Portal         *PortalChange   `json:"portal,omitempty"`
	IssueTemplate  *string         `json:"issue_template,omitempty" maxLength:"2048" doc:"Address of a page that creates an issue, such as https://github.com/acme/shop/issues/new?title={title}. It may contain {title}, {description} and {url}. Empty for none."`
}

// WidgetChange is a partial change of the widget's settings. Nil fields keep their values.
type WidgetChange struct {
	PrimaryColor     *string `json:"primary_color,omitempty" pattern:"^#[0-9A-Fa-f]{6}$" example:"#4F46E5" doc:"Hex color code #RRGGBB."`
	Position         *string `json:"position,omitempty" enum:"bottom-right,bottom-left,top-right,top-left" doc:"Placement of the widget button."`
	ButtonText       *string `json:"button_text,omitempty" minLength:"1" maxLength:"40" doc:"Label of the widget button, in every language."`
	ShowEmailField   *bool   `json:"show_email_field,omitempty" doc:"Whether the widget shows an e-mail field."`
	RequireEmail     *bool   `json:"require_email,omitempty" doc:"Whether an e-mail is mandatory; implies that the field is shown."`
	AllowFileUploads *bool   `json:"allow_file_uploads,omitempty" doc:"Whether file uploads are allowed."`
}

// Check returns an error with the code apps.invalid_settings if the change contains an
// origin that no browser can send, a template that is no address, or a setting of the portal that is none.
func (c SettingsChange) Check() *Error {
	if t := c.IssueTemplate; t != nil && *t != "" && !ValidLink(*t) {
		return Invalid("apps", "settings", "settings.issue_template must be an address that begins with http:// or https://,"+
			" such as https://github.com/acme/shop/issues/new?title={title}, with placeholders only after the host.")
	}
	if c.Portal != nil {
		if fault := c.Portal.check(); fault != "" {
			return Invalid("apps", "settings", fault)
		}
	}
	if c.AllowedOrigins == nil {
		return nil
	}
	for _, o := range *c.AllowedOrigins {
		if _, ok := parseOrigin(o); !ok {
			return Invalid("apps", "settings",
				"settings.allowed_origins must contain origins such as https://example.com: a scheme and a host, without a path.")
		}
	}
	return nil
}

func (s Settings) merge(c SettingsChange) Settings {
	if w := c.Widget; w != nil {
		set(&s.Widget.PrimaryColor, w.PrimaryColor)
		set(&s.Widget.Position, w.Position)
		set(&s.Widget.ButtonText, w.ButtonText)
		set(&s.Widget.ShowEmailField, w.ShowEmailField)
		set(&s.Widget.RequireEmail, w.RequireEmail)
		set(&s.Widget.AllowFileUploads, w.AllowFileUploads)
	}
	set(&s.PublicName, c.PublicName)
	set(&s.Sharing, c.Sharing)
	if c.Statuses != nil {
		s.Statuses.merge(*c.Statuses)
	}
	if c.Portal != nil {
		s.Portal.merge(*c.Portal)
	}
	set(&s.IssueTemplate, c.IssueTemplate)
	if c.AllowedOrigins != nil {
		s.AllowedOrigins = normalOrigins(*c.AllowedOrigins)
	}
	s.Widget.ShowEmailField = s.Widget.ShowEmailField || s.Widget.RequireEmail
	return s
}

// AllowsOrigin reports whether a page of the given origin may submit requests. It returns
// true for an empty origin: calls without an Origin header do not come from a browser.
func (s Settings) AllowsOrigin(origin string) bool {
	if origin == "" || len(s.AllowedOrigins) == 0 {
		return true
	}
	normalized, ok := parseOrigin(origin)
	return ok && slices.Contains(s.AllowedOrigins, normalized)
}

// hostPattern matches a host as browsers write it in an origin: in ASCII (other names
// are written as punycode), with an optional port without leading zeros.
var hostPattern = regexp.MustCompile(`^([a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?|\[[0-9a-f:.]+\])(:[1-9][0-9]{0,4})?$`)

// normalOrigins returns origins as browsers write them, each once.
func normalOrigins(list []string) []string {
	all := make([]string, 0, len(list))
	for _, o := range list {
		if origin, _ := parseOrigin(o); !slices.Contains(all, origin) {
			all = append(all, origin)
		}
	}
	return all
}

// parseOrigin returns the origin as browsers write it (RFC 6454, section 6.2): in lower
// case and without the scheme's default port.
func parseOrigin(s string) (string, bool) {
	u, err := url.Parse(strings.ToLower(s))
	if err != nil || u.Scheme == "" || !strings.EqualFold(u.Scheme+"://"+u.Host, s) || !hostPattern.MatchString(u.Host) {
		return "", false
	}
	if port := u.Port(); port != "" {
		if _, err := strconv.ParseUint(port, 10, 16); err != nil {
			return "", false
		}
	}
	host := u.Host
	switch u.Scheme {
	case "http":
		host = strings.TrimSuffix(host, ":80")
	case "https":
		host = strings.TrimSuffix(host, ":443")
	}
	return u.Scheme + "://" + host, true
}

// set stores *change in *field unless change is nil.
func set[T any](field, change *T) {
	if change != nil {
		*field = *change
	}
}
