package feedback

import (
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func anID() *rapid.Generator[ID] {
	return rapid.Map(rapid.SliceOfN(rapid.Byte(), 16, 16), func(b []byte) ID { return ID(b) })
}

// secretForm is a kind of secret: how it is generated and how it is recognized.
type secretForm struct {
	make  func() string
	valid func(string) bool
}

func secretForms() map[string]secretForm {
	account := NewIDs(time.Now, rand.Reader).New()
	token := func(kind TokenKind) secretForm {
		return secretForm{
			func() string { return NewToken(kind, account, rand.Reader) },
			func(s string) bool { id, ok := ParseToken(kind, s); return ok && id == account },
		}
	}
	return map[string]secretForm{
		"gk_":  {func() string { return NewAPIKey(rand.Reader) }, ValidAPIKey},
		"gst_": {func() string { return NewSetupToken(rand.Reader) }, ValidSetupToken},
		"gex_": {func() string { return NewExportToken(rand.Reader) }, ValidExportToken},
		"gis_": {
			func() string { return NewIdentitySecret(rand.Reader) },
			func(s string) bool { _, ok := digitsOf(identityPrefix, s, identityDigits); return ok },
		},
		"gat_": token(AccessToken),
		"grt_": token(RefreshToken),
		"grt_ that follows another": {
			func() string {
				return Successor(NewToken(RefreshToken, account, rand.Reader), account, []byte("nonce"))
			},
			token(RefreshToken).valid,
		},
	}
}

// TestSecrets checks that a secret is recognized only as its own kind, and that any changed,
// missing, added or swapped character makes it invalid.
func TestSecrets(t *testing.T) {
	forms := secretForms()
	for name, form := range forms {
		t.Run(name, func(t *testing.T) {
			prefix, _, _ := strings.Cut(name, " ")
			s := form.make()
			if !strings.HasPrefix(s, prefix) || strings.Trim(s[len(prefix):], base62) != "" {
				t.Fatalf("made %q", s)
			}
			if !form.valid(s) || s == form.make() {
				t.Fatalf("%q is not recognized, or was generated twice", s)
			}
			for other, otherForm := range forms {
				if otherPrefix, _, _ := strings.Cut(other, " "); otherPrefix != prefix && otherForm.valid(s) {
					t.Errorf("%q passes for %s", s, other)
				}
			}
			for i := range s {
				for _, c := range base62 + "_-+/=. \n\x00é" {
					if changed := s[:i] + string(c) + s[i+1:]; changed != s && form.valid(changed) {
						t.Fatalf("%q became %q and is still valid", s, changed)
					}
				}
				if form.valid(s[:i]) || form.valid(s[i+1:]) || form.valid(s[:i]+s[i+1:]) || form.valid(s[:i]+"0"+s[i:]) {
					t.Fatalf("%q, cut or extended at %d, is still valid", s, i)
				}
				if i > 0 && s[i] != s[i-1] && form.valid(s[:i-1]+s[i:i+1]+s[i-1:i]+s[i+1:]) {
					t.Fatalf("%q with %d and %d swapped is still valid", s, i-1, i)
				}
			}
			if form.valid(s+"\n") || form.valid(" "+s) || form.valid(strings.ToUpper(s)) {
				t.Error("white space or case does not matter")
			}
		})
	}
}

func TestTokenCarriesAccount(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		account := anID().Draw(t, "account")
		for _, kind := range []TokenKind{AccessToken, RefreshToken} {
			s := NewToken(kind, account, rand.Reader)
			if id, ok := ParseToken(kind, s); !ok || id != account {
				t.Fatalf("%q of %s is read as one of %s, %v", s, account, id, ok)
			}
			if len(s) != len(kind)+tokenDigits+checkDigits {
				t.Fatalf("%q has %d characters", s, len(s))
			}
		}
	})
}

// TestEventID checks that the digits are those of the whole hash.
func TestEventID(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		account, number, at := anID().Draw(t, "account"), rapid.Int64().Draw(t, "number"), rapid.Int64().Draw(t, "at")
		hash := sha256.Sum256(fmt.Appendf(nil, "%s %d %d", account, number, at))
		digits := fromBig(new(big.Int).SetBytes(hash[:]).Text(62))
		want := "evt_" + strings.Repeat("0", 43-len(digits)) + digits
		if got := EventID(account, number, Time(at)); got != want {
			t.Fatalf("%s, want %s", got, want)
		}
	})
}

// TestTokenTooLarge checks that a token is invalid if its 65 digits do not fit into 48 bytes.
func TestTokenTooLarge(t *testing.T) {
	body := strings.Repeat("z", tokenDigits)
	if id, ok := ParseToken(AccessToken, string(AccessToken)+body+checksum(body)); ok {
		t.Errorf("read as a token of %s", id)
	}
}

// TestSuccessor checks that a successor depends only on the used token, the account and the
// nonce.
func TestSuccessor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		account := anID().Draw(t, "account")
		nonce := rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "nonce")
		spent := NewToken(RefreshToken, account, rand.Reader)
		next := Successor(spent, account, nonce)
		if next != Successor(spent, account, nonce) {
			t.Fatal("two successors of one token")
		}
		if id, ok := ParseToken(RefreshToken, next); !ok || id != account {
			t.Fatalf("%q is not a refresh token of %s", next, account)
		}
		other := append([]byte{nonce[0] ^ 1}, nonce[1:]...)
		if next == Successor(spent, account, other) || next == Successor(NewToken(RefreshToken, account, rand.Reader), account, nonce) {
			t.Fatal("the nonce or the spent token does not matter")
		}
	})
}

// TestKeyDigits checks that all base62 digits are equally likely.
func TestKeyDigits(t *testing.T) {
	seen := map[rune]int{}
	const keys = 4000
	for range keys {
		for _, digit := range NewAPIKey(rand.Reader)[len(keyPrefix) : len(keyPrefix)+keyDigits] {
			seen[digit]++
		}
	}
	// The standard deviation is about 45; a difference of nine times that is not chance.
	want := keys * keyDigits / len(base62)
	for _, digit := range base62 {
		if n := seen[digit]; n < want-400 || n > want+400 {
			t.Errorf("%c came %d times, want about %d", digit, n, want)
		}
	}
}

func TestMaskKey(t *testing.T) {
	key := NewAPIKey(rand.Reader)
	if got := MaskKey(key); got != key[:7]+"…" {
		t.Errorf("%s is shown as %s", key, got)
	}
	for _, s := range []string{"", "gk_", "gk_abcd"} {
		if got := MaskKey(s); got != "gk_…" {
			t.Errorf("%q is shown as %s", s, got)
		}
	}
}

func TestHashSecret(t *testing.T) {
	if HashSecret("a") == HashSecret("b") || HashSecret("a") != sha256.Sum256([]byte("a")) {
		t.Error("the hash does not tell secrets apart")
	}
}
