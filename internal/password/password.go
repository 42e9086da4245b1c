// Package password hashes passwords with argon2id. It hashes only a few at a time, so that
// many concurrent logins take longer and do not need more memory.
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

// The parameters follow OWASP's Password Storage Cheat Sheet: 19 MiB, two passes, one lane.
// Each hash contains its parameters, so they can be raised for new hashes.
const (
	memoryKiB = 19 * 1024
	passes    = 2
	lanes     = 1
	saltBytes = 16
	keyBytes  = 32
)

// ErrBusy means that the context ended before it was the caller's turn to hash.
var ErrBusy = errors.New("too many passwords are being checked")

// Asker identifies who asks to hash or verify a password.
type Asker struct {
	Caller netip.Prefix
	Email  string // as returned by feedback.FoldEmail
}

// Hasher hashes and verifies passwords, at most one per processor at a time. Callers take
// turns, so that many logins from one address do not delay other addresses, not even the
// user whose e-mail they try. Each asker waits with at most one call per processor, so that
// many logins of one user do not delay other users at the same address.
type Hasher struct {
	rand    io.Reader
	most    int64
	askers  *fair.Pool[Asker]
	turns   *fair.Pool[netip.Prefix]
	pending atomic.Int64 // calls that hash or wait for their turn
}

// dummy is a hash that takes as long to verify as a real one. Its password is not known.
const dummy = "$argon2id$v=19$m=19456,t=2,p=1$Z2F0aGVya2l0IGR1bW15IQ$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

// New returns a Hasher that reads salts from rand.
func New(rand io.Reader) *Hasher {
	most := int64(runtime.GOMAXPROCS(0))
	return &Hasher{
		rand: rand, most: most, askers: fair.New[Asker](math.MaxInt64, most), turns: fair.New[netip.Prefix](most, most),
	}
}

// Hash returns the hash of a password in PHC string format. It returns ErrBusy if ctx ends
// before its turn.
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

// Verify reports whether the password has the given hash. With an empty hash, for a user
// who does not exist, it takes the same time and returns false. It returns ErrBusy if ctx
// ends before its turn. If allowed is not nil, Verify calls it at its turn and returns its
// error: an attempt that was allowed before the wait may not be allowed any more.
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
	_, err := fmt.Sscanf(fields[2]+" "+fields[3], "v=%d m=%d,t=%d,p=%d", &version, &memory, &time, &threads)
	if err != nil || version != argon2.Version {
		return false, errors.New("the stored password hash has unknown parameters")
	}
	salt, saltErr := base64.RawStdEncoding.DecodeString(fields[4])
	key, keyErr := base64.RawStdEncoding.DecodeString(fields[5])
	if err := errors.Join(saltErr, keyErr); err != nil {
		return false, fmt.Errorf("the stored password hash cannot be read: %w", err)
	}
	length := uint32(len(key)) //nolint:gosec // stored hashes are short
	derived, err := h.derive(ctx, who, allowed, password, salt, memory, time, threads, length)
	if err != nil {
		return false, err
	}
	return subtle.ConstantTimeCompare(derived, key) == 1 && known, nil
}

func (h *Hasher) derive(
	ctx context.Context, who Asker, allowed func() error, password string, salt []byte, memory, time uint32, threads uint8, length uint32,
) ([]byte, error) {
	h.pending.Add(1)
	defer func() {
		// Each hash allocates 19 MiB, which an idle service would keep for minutes. So the
		// last pending call returns the memory to the system.
		if h.pending.Add(-1) == 0 {
			debug.FreeOSMemory()
		}
	}()
	defer fair.Pause(ctx)() // hashing reads nothing
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

// encode returns b as base64 without padding, as the PHC string format requires.
func encode(b []byte) string { return base64.RawStdEncoding.EncodeToString(b) }
