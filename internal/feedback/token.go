package feedback

import (
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"hash/crc32"
	"io"
	"math/big"
	"strings"
)

// Secrets that the service hands out are a prefix, random base62 and six base62
// digits of its CRC-32, so that scanners can recognise a leaked one and junk is
// refused without asking the database. The form follows GitHub's tokens (GitHub,
// "Behind GitHub's new authentication token formats", 2021).

// TokenKind tells the kinds of tokens that carry an account's id apart by their prefix.
type TokenKind string

// The two kinds of session tokens, and those of links by which users give themselves a
// password.
const (
	AccessToken  TokenKind = "gat_"
	RefreshToken TokenKind = "grt_"
	JoinToken    TokenKind = "gjt_"
)

const (
	keyPrefix    = "gk_"
	setupPrefix  = "gst_"
	exportPrefix = "gex_"
	// An HMAC's key must hold as many bits as its hash (RFC 7518, 3.2): 43 digits do.
	identityPrefix = "gis_"
	identityDigits = 43
	keyDigits      = 32
	checkDigits    = 6  // base62 digits that hold 32 bits
	tokenDigits    = 65 // base62 digits that hold an account's id and 32 secret bytes
	secretBytes    = 32
	base62         = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// Hash is the form in which a secret is stored and looked up. Plain SHA-256 is
// enough, as the secrets hold too much randomness to be guessed.
type Hash = [sha256.Size]byte

// HashSecret returns the hash of a secret.
func HashSecret(s string) Hash { return sha256.Sum256([]byte(s)) }

// NewAPIKey makes an API key.
func NewAPIKey(rand io.Reader) string { return newKey(keyPrefix, keyDigits, rand) }

// ValidAPIKey reports whether s has the form of an API key.
func ValidAPIKey(s string) bool { return validKey(keyPrefix, s) }

// NewSetupToken makes a token with which the first owner can be created.
func NewSetupToken(rand io.Reader) string { return newKey(setupPrefix, keyDigits, rand) }

// NewIdentitySecret makes a secret with which identity tokens are signed.
func NewIdentitySecret(rand io.Reader) string { return newKey(identityPrefix, identityDigits, rand) }

// ValidSetupToken reports whether s has the form of a set-up token.
func ValidSetupToken(s string) bool { return validKey(setupPrefix, s) }

// NewExportToken makes the token of a link to an export.
func NewExportToken(rand io.Reader) string { return newKey(exportPrefix, keyDigits, rand) }

// ValidExportToken reports whether s has the form of the token of a link to an export.
func ValidExportToken(s string) bool { return validKey(exportPrefix, s) }

// MaskKey is what of a key may stand in logs.
func MaskKey(key string) string {
	const shown = len(keyPrefix) + 4
	if len(key) <= shown {
		return keyPrefix + "…"
	}
	return key[:shown] + "…"
}

// NewToken makes a token that carries the account's id, so that what belongs to it is
// found within the account's own rows.
func NewToken(kind TokenKind, accountID ID, rand io.Reader) string {
	return token(kind, accountID, randomBytes(rand, secretBytes))
}

// ParseToken returns the account's id that a token carries, and false
// for anything that this service cannot have made.
func ParseToken(kind TokenKind, s string) (ID, bool) {
	body, ok := checked(string(kind), s, tokenDigits)
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

// Successor is the refresh token that follows another. It is computed from the
// spent token and a stored nonce, so that everybody who presents the same spent
// token gets the same successor although only hashes are stored.
func Successor(spent string, accountID ID, nonce []byte) string {
	mac := hmac.New(sha256.New, []byte(spent))
	mac.Write(nonce)
	return token(RefreshToken, accountID, mac.Sum(nil))
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
			// 248 = 4 · 62: dropping what lies above keeps the digits equally likely.
			if b < 248 && len(body) < digits {
				body = append(body, base62[b%62])
			}
		}
	}
	return prefix + string(body) + checksum(string(body))
}

func validKey(prefix, s string) bool {
	_, ok := checked(prefix, s, keyDigits)
	return ok
}

// checked returns the digits between prefix and checksum.
func checked(prefix, s string, digits int) (string, bool) {
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

// math/big writes base 62 as 0-9a-zA-Z; tokens use the more common 0-9A-Za-z.
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
