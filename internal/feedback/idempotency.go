package feedback

import (
	"crypto/sha256"
	"encoding/hex"
)

// StoredKey returns the form in which an idempotency key is stored. The API key is public,
// so a stranger's page could use up predictable keys of the app's backend. The keys of pages
// are therefore hashed and get a prefix, which makes them longer than any key that a backend
// can send. UUIDs of versions 4 and 7 cannot be guessed, as they have at least 74 random bits, and are stored
// unchanged. The widget sends version 7: keys in the order of time are neighbors in the index, which
// halves the log that SQLite writes.
func StoredKey(origin, key string) string {
	if key == "" || origin == "" {
		return key
	}
	if id, err := ParseID(key); err == nil && (id[6]>>4 == 4 || id[6]>>4 == 7) {
		return key
	}
	sum := sha256.Sum256([]byte(key))
	return "page:" + hex.EncodeToString(sum[:])
}
