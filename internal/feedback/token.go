package feedback

import (
	"crypto/hmac"
	"crypto/sha256"
	"database/sql/driver"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math/big"
	"math/bits"
	"strconv"
	"strings"
)

// Secrets that the service issues consist of a prefix, random base62 digits, and their
// CRC-32 as six base62 digits. Scanners can recognize leaked secrets, and the service
// rejects malformed ones without a query. The format follows GitHub's tokens (GitHub,
// "Behind GitHub's new authentication token formats", 2021).

// TokenKind is the prefix of a kind of token that contains an account's id.
type TokenKind string

// The kinds of tokens: two for sessions, one for links with which users choose a password, one for
// programs, and one for links to what somebody asked for. Three are for portals: their links, the one-time
// addresses that sign people in, and their sessions.
const (
	AccessToken  TokenKind = "gat_"
	RefreshToken TokenKind = "grt_"
	JoinToken    TokenKind = "gjt_"
	ProgramToken TokenKind = "gtk_"
	StatusToken  TokenKind = "gsl_"
	PortalToken  TokenKind = "gpl_"
	TicketToken  TokenKind = "gvt_"
	VisitorToken TokenKind = "gvs_"
)

const (
	keyPrefix    = "gk_"
	setupPrefix  = "gst_"
	exportPrefix = "gex_"
	eventPrefix  = "evt_"
	// The key of an HMAC must have at least as many bits as the hash (RFC 7518, section
	// 3.2), and 43 base62 digits have 256.
	identityPrefix = "gis_"
	identityDigits = 43
	keyDigits      = 32
	checkDigits    = 6  // base62 digits of 32 bits
	tokenDigits    = 65 // base62 digits of an account's id and 32 secret bytes
	secretBytes    = 32
	base62         = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// Hash is the form in which a secret is stored and looked up. SHA-256 without a salt is
// enough, because the secrets are too random to guess.
type Hash [sha256.Size]byte

// Value implements driver.Valuer.
func (h Hash) Value() (driver.Value, error) { return h[:], nil }

// HashSecret returns the hash of a secret.
func HashSecret(s string) Hash { return sha256.Sum256([]byte(s)) }

// NewAPIKey returns a new API key.
func NewAPIKey(rand io.Reader) string { return newKey(keyPrefix, keyDigits, rand) }

// ValidAPIKey reports whether s has the form of an API key.
func ValidAPIKey(s string) bool { return validKey(keyPrefix, s) }

// NewSetupToken returns a new token for creating the first owner.
func NewSetupToken(rand io.Reader) string { return newKey(setupPrefix, keyDigits, rand) }

// NewIdentitySecret returns a new secret for signing identity tokens.
func NewIdentitySecret(rand io.Reader) string { return newKey(identityPrefix, identityDigits, rand) }

// ValidSetupToken reports whether s has the form of a set-up token.
func ValidSetupToken(s string) bool { return validKey(setupPrefix, s) }

// NewExportToken returns a new token for a link to an export.
func NewExportToken(rand io.Reader) string { return newKey(exportPrefix, keyDigits, rand) }

// ValidExportToken reports whether s has the form of an export token.
func ValidExportToken(s string) bool { return validKey(exportPrefix, s) }

// MaskKey returns the part of an API key that may appear in logs.
func MaskKey(key string) string {
	const shown = len(keyPrefix) + 4
	if len(key) <= shown {
		return keyPrefix + "…"
	}
	return key[:shown] + "…"
}

// NewToken returns a new token. It contains the account's id, so that the lookup is
// limited to the rows of that account.
func NewToken(kind TokenKind, accountID ID, rand io.Reader) string {
	return token(kind, accountID, randomBytes(rand, secretBytes))
}

// ParseToken returns the account's id that a token contains. It returns false if s does
// not have the form of a token of this kind.
func ParseToken(kind TokenKind, s string) (ID, bool) {
	body, ok := digitsOf(string(kind), s, tokenDigits)
	if !ok {
		return ID{}, false
	}
	n, ok := new(big.Int).SetString(toBig(body), 62)
	if !ok || n.BitLen() > 8*(len(ID{})+secretBytes) {
		return ID{}, false
	}
	var raw [len(ID{}) + secretBytes]byte
	n.FillBytes(raw[:])
	return ID(raw[:len(ID{})]), true
}

// Successor returns the refresh token that replaces the token used. It is derived from
// that token and a stored nonce, so that callers who present the same token get the same
// successor although only hashes are stored.
func Successor(used string, accountID ID, nonce []byte) string {
	mac := hmac.New(sha256.New, []byte(used))
	mac.Write(nonce)
	return token(RefreshToken, accountID, mac.Sum(nil))
}

// EventID returns the id of an entry of the log of changes. A restored backup that hands out a number
// again yields another id, because the time differs.
func EventID(accountID ID, number int64, at Time) string {
	text := append([]byte(accountID.String()), ' ')
	text = append(strconv.AppendInt(text, number, 10), ' ')
	return eventPrefix + hashDigits(sha256.Sum256(strconv.AppendInt(text, int64(at), 10)))
}

// hashDigits returns a hash as base62 digits. A page of the feed has up to a thousand, and big.Int takes
// four times as long.
func hashDigits(hash Hash) string {
	const atOnce, power = 10, 839299365868340224 // 62¹⁰, which fits into a word
	var words [len(hash) / 8]uint64
	for i := range words {
		words[i] = binary.BigEndian.Uint64(hash[8*i:])
	}
	var digits [identityDigits]byte
	for end := len(digits); end > 0; end -= atOnce {
		var rest uint64
		for i := range words {
			words[i], rest = bits.Div64(rest, words[i], power)
		}
		for i := end - 1; i >= max(0, end-atOnce); i-- {
			digits[i], rest = base62[rest%62], rest/62
		}
	}
	return string(digits[:])
}

func token(kind TokenKind, accountID ID, secret []byte) string {
	n := new(big.Int).SetBytes(append(accountID[:], secret...))
	body := fromBig(n.Text(62))
	body = strings.Repeat("0", tokenDigits-len(body)) + body
	return string(kind) + body + checksum(body)
}

func newKey(prefix string, digits int, rand io.Reader) string {
	body := make([]byte, 0, digits)
	for len(body) < digits {
		for _, b := range randomBytes(rand, digits) {
			// 248 is 4 × 62: skipping larger bytes keeps all digits equally likely.
			if b < 248 && len(body) < digits {
				body = append(body, base62[b%62])
			}
		}
	}
	return prefix + string(body) + checksum(string(body))
}

func validKey(prefix, s string) bool {
	_, ok := digitsOf(prefix, s, keyDigits)
	return ok
}

// digitsOf returns the digits between the prefix and the checksum. It returns false if s
// does not have the right prefix, length, digits or checksum.
func digitsOf(prefix, s string, digits int) (string, bool) {
	if len(s) != len(prefix)+digits+checkDigits || !strings.HasPrefix(s, prefix) {
		return "", false
	}
	body, sum := s[len(prefix):len(s)-checkDigits], s[len(s)-checkDigits:]
	if strings.Trim(body, base62) != "" || checksum(body) != sum {
		return "", false
	}
	return body, true
}

func checksum(s string) string {
	n := crc32.ChecksumIEEE([]byte(s))
	var out [checkDigits]byte
	for i := checkDigits - 1; i >= 0; i-- {
		out[i], n = base62[n%62], n/62
	}
	return string(out[:])
}

// Package math/big uses the base62 digits 0-9a-zA-Z; tokens use the more common 0-9A-Za-z.
func fromBig(s string) string { return strings.Map(swapCase, s) }
func toBig(s string) string   { return strings.Map(swapCase, s) }

func swapCase(r rune) rune {
	switch {
	case 'a' <= r && r <= 'z':
		return r - 'a' + 'A'
	case 'A' <= r && r <= 'Z':
		return r - 'A' + 'a'
	}
	return r
}

func randomBytes(rand io.Reader, n int) []byte {
	b := make([]byte, n)
	if _, err := io.ReadFull(rand, b); err != nil {
		panic(fmt.Sprintf("no randomness: %v", err))
	}
	return b
}
