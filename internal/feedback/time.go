package feedback

import (
	"fmt"
	"time"
)

// Time is a moment in microseconds since 1970, cut to the millisecond, so that
// what is stored compares equal to what callers see.
type Time int64

const timeLayout = "2006-01-02T15:04:05.000Z"

// At is the moment t.
func At(t time.Time) Time { return Time(t.UnixMilli() * 1000) }

// Std is the moment as the standard library has it, in UTC.
func (t Time) Std() time.Time { return time.UnixMicro(int64(t)).UTC() }

// MarshalText writes RFC 3339 in UTC with milliseconds and Z.
func (t Time) MarshalText() ([]byte, error) { return []byte(t.Std().Format(timeLayout)), nil }

// UnmarshalText reads any RFC 3339 time.
func (t *Time) UnmarshalText(b []byte) error {
	std, err := time.Parse(time.RFC3339Nano, string(b))
	if err != nil {
		return fmt.Errorf("not an RFC 3339 time: %w", err)
	}
	*t = At(std)
	return nil
}
