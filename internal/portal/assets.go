package portal

import (
	_ "embed"
	"fmt"
	"math"
	"path"
	"regexp"
	"strconv"
	"strings"
)

var (
	//go:embed static/base.css
	baseStyle string
	//go:embed static/mine.css
	mineStyle string
	//go:embed static/portal.css
	portalStyle string

	// MineStyle is the style sheet of Mine, at mine/style.css.
	MineStyle = []byte(baseStyle + mineStyle)
	// PortalStyle is the style sheet of the portal.
	PortalStyle = []byte(baseStyle + portalStyle)
	// MineScript is the script of Mine, at mine/mine.js. It is built together with the widget.
	//
	//go:embed dist/mine.js
	MineScript []byte
	// PortalScript is the script of portals, at portal/portal.js. Their pages work without it.
	//
	//go:embed dist/portal.js
	PortalScript []byte
)

// Headers are those of the pages. Browsers send the address of a page only to the page itself: without any
// Referer, they would send "Origin: null" with forms, which is not told from that of another site.
func Headers() map[string][]string {
	return map[string][]string{
		"Content-Security-Policy":    {policy("", "'none'")},
		"Cross-Origin-Opener-Policy": {"same-origin"},
		"Referrer-Policy":            {"same-origin"},
		"X-Robots-Tag":               {"noindex"},
	}
}

// Headers are those of the pages of a portal, which only pages of the origins in embed may show in a frame.
func (s Site) Headers(embed []string) map[string][]string {
	headers := Headers()
	ancestors := "'none'"
	if len(embed) > 0 {
		ancestors = strings.Join(embed, " ")
	}
	headers["Content-Security-Policy"] = []string{policy("connect-src 'self'; ", ancestors)}
	if s.Indexed {
		delete(headers, "X-Robots-Tag")
	}
	return headers
}

// policy says what a page may load, and which pages may show it in a frame. more are directives of this page.
func policy(more, ancestors string) string {
	return "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; " + more + "form-action 'self'; " +
		"base-uri 'none'; frame-ancestors " + ancestors + "; require-trusted-types-for 'script'; trusted-types 'none'"
}

var brandColor = regexp.MustCompile(`^#[0-9A-Fa-f]{6}$`)

// Brand returns the file mine/brand/<rrggbb>.css, which has the color of an app, or the icon
// mine/brand/<rrggbb>.svg. It returns "" for other names.
func Brand(name string) string {
	extension := path.Ext(name)
	color := "#" + name[:len(name)-len(extension)]
	switch {
	case !brandColor.MatchString(color):
		return ""
	case extension == ".css":
		return fmt.Sprintf(":root{--brand:%s;--ink:%s}\n", color, ink(color))
	case extension == ".svg":
		return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="%s"/>`+
			`<path d="m9 16.5 5 5 9-11" fill="none" stroke="%s" stroke-width="3.5" stroke-linecap="round" stroke-linejoin="round"/></svg>`+"\n",
			color, ink(color))
	}
	return ""
}

// brandOf returns a color as it is in the names of the files that Brand returns, or "" if it is none. A color has one
// name, so that browsers load its files once.
func brandOf(color string) string {
	if !brandColor.MatchString(color) {
		return ""
	}
	return strings.ToLower(color[1:])
}

// ink returns black or white, whichever has the higher contrast on a color #RRGGBB: they are equal at the
// relative luminance 0.179 (WCAG 2).
func ink(color string) string {
	luminance := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		part, _ := strconv.ParseUint(color[1+2*i:3+2*i], 16, 8) // brandColor has checked it
		c := float64(part) / 255
		if c <= 0.04045 {
			luminance += weight * c / 12.92
		} else {
			luminance += weight * math.Pow((c+0.055)/1.055, 2.4)
		}
	}
	if luminance > 0.179 {
		return "#000"
	}
	return "#fff"
}
