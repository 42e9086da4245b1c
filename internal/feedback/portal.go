package feedback

import (
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// PortalSettings are the settings of an app's portal: the pages on which people outside see what the app
// shares, vote and comment.
type PortalSettings struct {
	Access         Access     `json:"access" enum:"off,public,link,signed_in" doc:"Who sees the portal. link: anyone with its link. signed_in: people signed in by your product."`
	Slug           string     `json:"slug" doc:"The portal is at /p/{slug}."`
	Host           string     `json:"host" doc:"A host of its own, such as ideas.example.com; empty for none."`
	Voting         Taking     `json:"voting" enum:"anyone,verified,off" doc:"Who may vote on the portal. verified: people who are signed in."`
	Comments       Taking     `json:"comments" enum:"anyone,verified,off" doc:"Who may comment on the portal."`
	Submit         Taking     `json:"submit" enum:"anyone,verified,off" doc:"Who may submit requests on the portal."`
	Moderation     Moderation `json:"moderation" enum:"none,anonymous,all" doc:"Whose requests and comments are held until the team releases them. anonymous: those of people who are not signed in."`
	Names          string     `json:"names" enum:"none,verified" doc:"Whose names the portal shows. verified: those of people who are signed in."`
	TeamNames      bool       `json:"team_names" doc:"Whether public comments of the team show the name of their author. Otherwise, they show that of the app."`
	Descriptions   bool       `json:"descriptions" doc:"Whether the portal shows descriptions."`
	Attachments    bool       `json:"attachments" doc:"Whether the portal shows attached files."`
	Tags           []string   `json:"tags" doc:"The tags that the portal shows."`
	Index          bool       `json:"index" doc:"Whether search engines may list a public portal."`
	Theme          string     `json:"theme" enum:"auto,light,dark" doc:"The colors. auto: as the browser prefers."`
	Locale         string     `json:"locale" enum:",ar,de,en,es,fr,it,ja,nl,pt,zh" doc:"The language; empty for that of the browser."`
	Logo           string     `json:"logo" doc:"A PNG in base64 that stands beside the app's name, instead of its initial; empty for none."`
	Intro          string     `json:"intro" doc:"Text above the board."`
	SignInURL      string     `json:"sign_in_url" doc:"The page of your product that signs people in to the portal. It gets the parameter return_to. Empty for none."`
	FrameAncestors []string   `json:"frame_ancestors" doc:"Origins whose pages may show the portal in a frame."`
	HeldWords      []string   `json:"held_words" doc:"Requests and comments on the portal with one of these words are held."`
}

// Access says who sees a portal.
type Access string

// Who sees a portal.
const (
	AccessOff      Access = "off"
	AccessPublic   Access = "public"
	AccessLink     Access = "link"      // who has its link
	AccessSignedIn Access = "signed_in" // who is signed in
)

// Taking says from whom a portal takes votes, comments or requests.
type Taking string

// From whom a portal takes something.
const (
	FromAnyone   Taking = "anyone"
	FromVerified Taking = "verified" // people who are signed in
	FromNobody   Taking = "off"
)

// From reports whether a portal takes something from a person, who is signed in or not.
func (t Taking) From(signedIn bool) bool { return t == FromAnyone || t == FromVerified && signedIn }

// Check returns an error unless a portal takes something from a person, who is signed in or not: ErrSignInNeeded, or
// ErrPortalNotFound if it takes it from nobody.
func (t Taking) Check(signedIn bool) error {
	switch {
	case t == FromNobody:
		return ErrPortalNotFound
	case !t.From(signedIn):
		return ErrSignInNeeded
	}
	return nil
}

// Moderation says whose texts a portal holds until the team releases them.
type Moderation string

// Whose texts a portal holds.
const (
	HoldNone      Moderation = "none"
	HoldAnonymous Moderation = "anonymous" // people who are not signed in
	HoldAll       Moderation = "all"
)

// On reports whether somebody outside sees the portal.
func (p PortalSettings) On() bool { return p.Access != AccessOff && p.Access != "" }

// Admits returns an error unless the portal lets in a person without its link, who is signed in or not: ErrSignInNeeded,
// or ErrPortalNotFound. Calls with the API key, which everybody can read, have no link.
func (p PortalSettings) Admits(signedIn bool) error {
	switch {
	case p.Access == AccessPublic || p.Access == AccessSignedIn && signedIn:
		return nil
	case p.Access == AccessSignedIn:
		return ErrSignInNeeded
	}
	return ErrPortalNotFound
}

// defaultPortal returns the settings of the portal of a new app, which is off.
func defaultPortal() PortalSettings {
	return PortalSettings{
		Access: AccessOff, Voting: FromAnyone, Comments: FromVerified, Submit: FromAnyone, Moderation: HoldAnonymous, Names: "none",
		Descriptions: true, Index: true, Theme: "auto", Tags: []string{}, FrameAncestors: []string{}, HeldWords: []string{},
	}
}

// Holds reports whether a text of a person is held until the team releases it.
func (p PortalSettings) Holds(signedIn bool, texts ...string) bool {
	if p.Moderation == HoldAll || p.Moderation == HoldAnonymous && !signedIn {
		return true
	}
	if len(p.HeldWords) == 0 {
		return false
	}
	fold := func(text string) string { return Fold(norm.NFKC.String(text)) } // NFKC replaces full-width letters
	written := fold(strings.Join(texts, "\n"))
	return slices.ContainsFunc(p.HeldWords, func(word string) bool {
		word = fold(word)
		return word != "" && strings.Contains(written, word)
	})
}

// PortalChange is a partial change of the settings of a portal. Nil fields keep their values.
type PortalChange struct {
	Access         *Access     `json:"access,omitempty" enum:"off,public,link,signed_in" doc:"Who sees the portal. Needs a slug, and sharing that is not none."`
	Slug           *string     `json:"slug,omitempty" pattern:"^[a-z0-9]+(-[a-z0-9]+)*$" minLength:"2" maxLength:"50" example:"acme" doc:"The portal is at /p/{slug}: lower-case letters, digits and single hyphens."`
	Host           *string     `json:"host,omitempty" maxLength:"253" doc:"A host of its own, such as ideas.example.com; empty for none."`
	Voting         *Taking     `json:"voting,omitempty" enum:"anyone,verified,off" doc:"Who may vote on the portal."`
	Comments       *Taking     `json:"comments,omitempty" enum:"anyone,verified,off" doc:"Who may comment on the portal."`
	Submit         *Taking     `json:"submit,omitempty" enum:"anyone,verified,off" doc:"Who may submit requests on the portal."`
	Moderation     *Moderation `json:"moderation,omitempty" enum:"none,anonymous,all" doc:"Whose requests and comments are held until the team releases them."`
	Names          *string     `json:"names,omitempty" enum:"none,verified" doc:"Whose names the portal shows."`
	TeamNames      *bool       `json:"team_names,omitempty" doc:"Whether public comments of the team show the name of their author."`
	Descriptions   *bool       `json:"descriptions,omitempty" doc:"Whether the portal shows descriptions."`
	Attachments    *bool       `json:"attachments,omitempty" doc:"Whether the portal shows attached files."`
	Tags           *[]string   `json:"tags,omitempty" maxItems:"20" doc:"The tags that the portal shows, each of 1 to 40 characters."`
	Index          *bool       `json:"index,omitempty" doc:"Whether search engines may list a public portal."`
	Theme          *string     `json:"theme,omitempty" enum:"auto,light,dark" doc:"The colors."`
	Locale         *string     `json:"locale,omitempty" enum:",ar,de,en,es,fr,it,ja,nl,pt,zh" doc:"The language; empty for that of the browser."`
	Logo           *string     `json:"logo,omitempty" maxLength:"16000" doc:"A PNG of at most 512×512 pixels, in base64. It stands beside the app's name, instead of its initial; empty for none. Squares of 96 pixels fit best."`
	Intro          *string     `json:"intro,omitempty" maxLength:"1000" lines:"many" doc:"Text above the board."`
	SignInURL      *string     `json:"sign_in_url,omitempty" maxLength:"2048" doc:"The page of your product that signs people in; empty for none."`
	FrameAncestors *[]string   `json:"frame_ancestors,omitempty" maxItems:"20" doc:"Origins such as https://example.com whose pages may show the portal in a frame."`
	HeldWords      *[]string   `json:"held_words,omitempty" maxItems:"100" doc:"Requests and comments on the portal with one of these words are held; each of 1 to 40 characters."`
}

func (p *PortalSettings) merge(c PortalChange) {
	set(&p.Access, c.Access)
	set(&p.Slug, c.Slug)
	if c.Host != nil {
		p.Host = strings.ToLower(*c.Host)
	}
	set(&p.Voting, c.Voting)
	set(&p.Comments, c.Comments)
	set(&p.Submit, c.Submit)
	set(&p.Moderation, c.Moderation)
	set(&p.Names, c.Names)
	set(&p.TeamNames, c.TeamNames)
	set(&p.Descriptions, c.Descriptions)
	set(&p.Attachments, c.Attachments)
	set(&p.Tags, c.Tags)
	set(&p.Index, c.Index)
	set(&p.Theme, c.Theme)
	set(&p.Locale, c.Locale)
	set(&p.Logo, c.Logo)
	set(&p.Intro, c.Intro)
	set(&p.SignInURL, c.SignInURL)
	if c.FrameAncestors != nil {
		p.FrameAncestors = normalOrigins(*c.FrameAncestors)
	}
	set(&p.HeldWords, c.HeldWords)
}

// portalHost matches the name of a host with at least two parts, in ASCII.
var portalHost = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

// ValidPortalHost reports whether a portal can be at a host: a name in ASCII, without a port.
func ValidPortalHost(host string) bool {
	_, err := netip.ParseAddr(host)
	return err != nil && portalHost.MatchString(host)
}

// check returns what is wrong with a change of a portal, or "".
func (c PortalChange) check() string {
	short := func(list *[]string) bool {
		return list == nil || !slices.ContainsFunc(*list, func(s string) bool { n := len([]rune(s)); return n == 0 || n > 40 })
	}
	switch {
	case c.Host != nil && *c.Host != "" && !ValidPortalHost(strings.ToLower(*c.Host)):
		return "settings.portal.host must be the name of a host such as ideas.example.com."
	case c.Logo != nil && *c.Logo != "" && !validLogo(*c.Logo):
		return "settings.portal.logo must be a PNG of at most 512×512 pixels, in base64."
	case c.SignInURL != nil && *c.SignInURL != "" && !validSignIn(*c.SignInURL):
		return "settings.portal.sign_in_url must be an address that begins with https:// or http://."
	case c.FrameAncestors != nil && slices.ContainsFunc(*c.FrameAncestors, func(o string) bool { _, ok := parseOrigin(o); return !ok }):
		return "settings.portal.frame_ancestors must contain origins such as https://example.com: a scheme and a host, without a path."
	case !short(c.Tags):
		return "settings.portal.tags must contain tags of 1 to 40 characters."
	case !short(c.HeldWords):
		return "settings.portal.held_words must contain words of 1 to 40 characters."
	}
	return ""
}

func validSignIn(address string) bool {
	u, err := url.Parse(address)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && u.User == nil && u.Fragment == ""
}

// agree returns an error with the code apps.invalid_settings if settings contradict each other.
func (s Settings) agree() error {
	switch p := s.Portal; {
	case p.Access == AccessOff:
		return nil
	case p.Slug == "":
		return Invalid("apps", "settings", "settings.portal.slug is required before the portal is switched on.")
	case s.Sharing == "none":
		return Invalid("apps", "settings",
			"settings.sharing must be triaged or all while settings.portal.access is not off: the portal shows what the app shares.")
	}
	return nil
}
