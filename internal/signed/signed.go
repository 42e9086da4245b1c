// Package signed makes texts that callers send back later, and tells whether this service made them.
package signed

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"slices"
)

const macBytes = 16

// encoding is the form of the texts. It refuses nonzero padding bits, so that everything signed has
// exactly one text.
var encoding = base64.RawURLEncoding.Strict()

// Text returns the signed text of a payload, which everybody can read.
func Text(key, payload []byte) string {
	return encoding.EncodeToString(slices.Concat(payload, MAC(key, payload)))
}

// Payload returns the payload of a signed text, and whether the signature is valid.
func Payload(key []byte, text string) ([]byte, bool) {
	raw, err := encoding.DecodeString(text)
	// The decoder ignores line breaks, so the text is encoded again and compared.
	if err != nil || len(raw) < macBytes || encoding.EncodeToString(raw) != text {
		return nil, false
	}
	payload, sum := raw[:len(raw)-macBytes], raw[len(raw)-macBytes:]
	return payload, hmac.Equal(sum, MAC(key, payload))
}

// MAC returns a code of a payload that only holders of the key can compute.
func MAC(key, payload []byte) []byte {
	h := hmac.New(sha256.New, key)
	h.Write(payload)
	return h.Sum(nil)[:macBytes]
}
