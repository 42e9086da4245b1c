package feedback

import (
	"net/mail"
	"strings"
	"unicode"

	"golang.org/x/net/idna"
	"golang.org/x/text/cases"
	"golang.org/x/text/runes"
	"golang.org/x/text/unicode/norm"
	"golang.org/x/text/unicode/rangetable"
)

// Account is a customer of the service: the owner of apps and users.
type Account struct {
	ID   ID     `json:"id" format:"uuid"`
	Name string `json:"name"`
}

// User is a person who logs in to the dashboard.
type User struct {
	ID    ID     `json:"id" format:"uuid"`
	Email string `json:"email" format:"email"`
	Name  string `json:"name"`
}

// Member is a user as others of the same account see them.
type Member struct {
	User
	Role    Role `json:"role" enum:"viewer,member,admin,owner"`
	Invited bool `json:"invited" doc:"True until the user has accepted the invitation."`
}

// Role says what a user may do. Each role includes the permissions of the roles before it.
type Role string

// The roles, weakest first: a viewer reads; a member also changes requests; an
// admin also manages apps and all users except owners; an owner may do everything.
const (
	RoleViewer Role = "viewer"
	RoleMember Role = "member"
	RoleAdmin  Role = "admin"
	RoleOwner  Role = "owner"
)

// Roles lists the roles, weakest first.
func Roles() []Role { return []Role{RoleViewer, RoleMember, RoleAdmin, RoleOwner} }

// Valid reports whether r is one of the roles.
func (r Role) Valid() bool { return r.rank() >= 0 }

// Allows reports whether r includes the permissions of the role least. It returns false
// if either of them is not a valid role.
func (r Role) Allows(least Role) bool { return r.Valid() && least.Valid() && r.rank() >= least.rank() }

// Manages reports whether r may change users who have the role other, and assign that
// role to users.
func (r Role) Manages(other Role) bool { return r.Allows(RoleAdmin) && r.Allows(other) }

func (r Role) rank() int {
	for i, known := range Roles() {
		if r == known {
			return i
		}
	}
	return -1
}

// PasswordFault returns what is wrong with a password, which must be 10 to 1,024 bytes long, or "".
// The upper bound limits the time that hashing takes. The message counts characters, as people do.
func PasswordFault(s string) string {
	switch {
	case len(s) < 10:
		return "must have at least 10 characters"
	case len(s) > 1024:
		return "must have at most 1,024 characters; letters with accents, emoji and the like count as 2 to 4"
	}
	return ""
}

// ValidEmail reports whether s is a plain address such as ada@example.com, of at
// most 254 bytes (RFC 5321, 4.5.3.1.3 less the angle brackets), on a single line.
func ValidEmail(s string) bool {
	a, err := mail.ParseAddress(s)
	return err == nil && a.Name == "" && a.Address == s && len(s) <= 254 && SingleLine(s)
}

// invisible is the set of characters that are not displayed, such as soft hyphens, joiners and byte order marks.
var invisible = runes.In(rangetable.Merge(unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector))

// Fold returns the form in which names and tags are compared: without differences of case (Unicode's full case folding),
// surrounding white space and invisible characters, and with one spelling of letters that Unicode can spell in several
// ways (NFC).
func Fold(s string) string {
	if IsASCII(s) {
		return strings.ToLower(strings.TrimSpace(s))
	}
	folded := cases.Fold().String(visible(s))
	return strings.TrimSpace(norm.NFC.String(strings.ToLower(folded))) // Fold swaps upper and lower case in Cherokee
}

func visible(s string) string { return norm.NFC.String(runes.Remove(invisible).String(s)) }

// FoldEmail returns the form in which e-mail addresses are compared: as Fold does, but letter by letter, and with the
// domain as DNS has it. strauß and strauss are two mailboxes, and two domains (RFC 5891). RFC 5321 allows local parts to
// differ by case, but no common provider uses that.
func FoldEmail(s string) string {
	if IsASCII(s) {
		return Fold(s)
	}
	s = EmailWithDNSName(strings.TrimSpace(visible(s)))
	return norm.NFC.String(strings.ToLower(strings.ToUpper(s)))
}

// EmailWithDNSName returns an e-mail address with its domain as DNS has it: xn--bcher-kva.example for bücher.example
// (RFC 5891). A domain that DNS cannot have stays as it is.
func EmailWithDNSName(s string) string {
	at := strings.LastIndexByte(s, '@') + 1
	if at == 0 || IsASCII(s[at:]) {
		return s
	}
	domain, err := idna.Lookup.ToASCII(s[at:])
	if err != nil {
		return s
	}
	return s[:at] + domain
}

// IsASCII reports whether a text consists of ASCII.
func IsASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r > unicode.MaxASCII })
}
