// Package feedback defines the types of the service (accounts, users, apps, requests,
// changes), the rules that need no input or output, and every error code. It imports
// only the standard library.
package feedback

import (
	"bytes"
	"database/sql/driver"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// ID is a UUID. The service generates version 7 (RFC 9562), so that ids sort in the
// order of creation.
type ID [16]byte

var errID = errors.New("not a UUID")

// ParseID parses the 36 characters of a UUID, in upper or lower case. It returns an error
// for every other text.
func ParseID(s string) (ID, error) {
	var id ID
	if len(s) != 36 || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return id, errID
	}
	packed := s[:8] + s[9:13] + s[14:18] + s[19:23] + s[24:]
	if _, err := hex.Decode(id[:], []byte(packed)); err != nil {
		return ID{}, errID
	}
	return id, nil
}

// Compare orders ids by their bytes, so that those of the service are in the order of
// creation.
func (id ID) Compare(other ID) int { return bytes.Compare(id[:], other[:]) }

func (id ID) String() string {
	var b [36]byte
	hex.Encode(b[:8], id[:4])
	hex.Encode(b[9:13], id[4:6])
	hex.Encode(b[14:18], id[6:8])
	hex.Encode(b[19:23], id[8:10])
	hex.Encode(b[24:], id[10:])
	b[8], b[13], b[18], b[23] = '-', '-', '-', '-'
	return string(b[:])
}

// MarshalText returns the UUID in lower case.
func (id ID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText parses a UUID like ParseID.
func (id *ID) UnmarshalText(b []byte) (err error) {
	*id, err = ParseID(string(b))
	return err
}

// Value returns the 16 bytes of the id, which SQLite stores as a BLOB and PostgreSQL
// accepts as a uuid.
func (id ID) Value() (driver.Value, error) { return id[:], nil }

// Scan reads an id from 16 bytes (SQLite) or from its text form (PostgreSQL).
func (id *ID) Scan(src any) (err error) {
	switch v := src.(type) {
	case []byte:
		if len(v) == len(id) {
			copy(id[:], v)
			return nil
		}
		*id, err = ParseID(string(v))
	case string:
		*id, err = ParseID(v)
	default:
		err = fmt.Errorf("cannot read a UUID from %T", src)
	}
	return err
}

// FirstIDAt returns the smallest id that can be generated at t, which turns a range of
// times into a range of ids. Times before 1970 count as 1970.
func FirstIDAt(t time.Time) ID {
	var id ID
	binary.BigEndian.PutUint64(id[:], uint64(max(t.UnixMilli(), 0))<<16)
	id[6], id[8] = 0x70, 0x80
	return id
}

// Time returns when the id was generated, to the millisecond.
func (id ID) Time() Time {
	return At(time.UnixMilli(int64(binary.BigEndian.Uint64(id[:]) >> 16)))
}

// IDs generates version 7 UUIDs that increase monotonically within one process: the 12
// bits after the milliseconds are a counter (RFC 9562, section 6.2, method 1). If the
// counter is full, ids continue in the next millisecond; if the clock was set back, they
// continue in the latest one.
type IDs struct {
	now  func() time.Time
	rand io.Reader

	mu      sync.Mutex
	ms      int64
	counter uint16
}

// NewIDs returns a generator that uses the given clock and source of randomness.
func NewIDs(now func() time.Time, rand io.Reader) *IDs { return &IDs{now: now, rand: rand} }

// New returns the next id. It panics if the source of randomness fails, because the
// service cannot work without one.
func (g *IDs) New() ID {
	id := ID{}
	if _, err := io.ReadFull(g.rand, id[8:]); err != nil {
		panic(fmt.Sprintf("no randomness: %v", err))
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.counter++
	if ms := g.now().UnixMilli(); ms > g.ms {
		g.ms, g.counter = ms, 0
	} else if g.counter > 0xfff {
		g.ms, g.counter = g.ms+1, 0
	}
	binary.BigEndian.PutUint64(id[:8], uint64(g.ms)<<16|0x7000|uint64(g.counter)) //nolint:gosec // times before 1970 do not occur
	id[8] = id[8]&0x3f | 0x80
	return id
}
