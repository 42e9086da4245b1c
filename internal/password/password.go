// Package password hashes passwords with argon2id, a few at a time, so that a
// storm of logins costs time rather than memory.
package password

import (
	"context"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math"
	"net/netip"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"

	"golang.org/x/crypto/argon2"

	"gatherkit/internal/fair"
)

// The parameters follow OWASP's Password Storage Cheat Sheet: 19 MiB, two passes,
// one lane. They stand in each hash, so they can be raised for new ones.
const (
	memoryKiB = 19 * 1024
	passes    = 2
	lanes     = 1
	saltBytes = 16
	keyBytes  = 32
)

// ErrBusy says that the caller's patience ended before its turn to hash came.
var ErrBusy = errors.New("too many passwords are being checked")

// Asker is who asks for a password to be hashed or verified.
type Asker struct {
	Caller netip.Prefix
	Email  string // folded
}

// Hasher hashes and verifies passwords, at most one for each processor at a time.
// Callers take turns, so a crowd from one address keeps nobody elsewhere waiting, not
// even the user whose e-mail it tries. An asker has no more than one turn for each
// processor in that line, so a crowd of one user's logins does not keep other users
// at the same address waiting.
type Hasher struct {
	rand   io.Reader
	most   int64
	askers *fair.Pool[Asker]
	turns  *fair.Pool[netip.Prefix]
	inside atomic.Int64 // who hashes or waits for it
}

// dummy costs as much to verify as a real hash; no password is known for it.
const dummy = "$argon2id$v=19$m=19456,t=2,p=1$Z2F0aGVya2l0IGR1bW15IQ$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

// New returns a Hasher that takes its salts from rand.
func New(rand io.Reader) *Hasher {
	most := int64(runtime.GOMAXPROCS(0))
	return &Hasher{rand: rand, most: most, askers: fair.New[Asker](math.MaxInt64, most), turns: fair.New[netip.Prefix](most, most)}
}

// Hash returns the hash of a password in PHC string format. It fails with ErrBusy
// when ctx ends before its turn.
func (h *Hasher) Hash(ctx context.Context, who Asker, password string) (string, error) {
	salt := make([]byte, saltBytes)
	if _, err := io.ReadFull(h.rand, salt); err != nil {
		return "", err
	}
	key, err := h.derive(ctx, who, nil, password, salt, memoryKiB, passes, lanes, keyBytes)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, memoryKiB, passes, lanes, encode(salt), encode(key)), nil
}

// Verify reports whether hash is the password's. An empty hash, for a user that
// does not exist, takes the same time and is never right. It fails with ErrBusy
// when ctx ends before its turn. When the turn has come it asks allowed, if there
// is one, and fails with its error: in a crowd much may have changed meanwhile.
func (h *Hasher) Verify(ctx context.Context, who Asker, hash, password string, allowed func() error) (bool, error) {
	known := hash != ""
	if !known {
		hash = dummy
	}
	fields := strings.Split(hash, "$")
	if len(fields) != 6 || fields[1] != "argon2id" {
		return false, errors.New("the stored password hash is not in PHC string format for argon2id")
	}
	var version, memory, time uint32
	var threads uint8
	if _, err := fmt.Sscanf(fields[2]+" "+fields[3], "v=%d m=%d,t=%d,p=%d", &version, &memory, &time, &threads); err != nil || version != argon2.Version {
		return false, errors.New("the stored password hash has unknown parameters")
	}
	salt, saltErr := base64.RawStdEncoding.DecodeString(fields[4])
	key, keyErr := base64.RawStdEncoding.DecodeString(fields[5])
	if err := errors.Join(saltErr, keyErr); err != nil {
		return false, fmt.Errorf("the stored password hash cannot be read: %w", err)
	}
	derived, err := h.derive(ctx, who, allowed, password, salt, memory, time, threads, uint32(len(key))) //nolint:gosec // a hash of ours is short
	if err != nil {
		return false, err
	}
	return subtle.ConstantTimeCompare(derived, key) == 1 && known, nil
}

func (h *Hasher) derive(
	ctx context.Context, who Asker, allowed func() error, password string, salt []byte, memory, time uint32, threads uint8, length uint32,
) ([]byte, error) {
	h.inside.Add(1)
	defer func() {
		// Each hash leaves 19 MiB behind, which the collector of a quiet service would keep
		// for minutes: the last one clears up.
		if h.inside.Add(-1) == 0 {
			debug.FreeOSMemory()
		}
	}()
	turn := fair.Claims{h.askers.For(who), h.turns.For(who.Caller)}
	if err := turn.Acquire(ctx, 1); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBusy, err)
	}
	defer turn.Release(1)
	if allowed != nil {
		if err := allowed(); err != nil {
			return nil, err
		}
	}
	return argon2.IDKey([]byte(password), salt, time, memory, threads, length), nil
}

func encode(b []byte) string { return base64.RawStdEncoding.EncodeToString(b) }
