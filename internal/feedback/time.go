package feedback

import (
	"fmt"
	"time"
)

// Time is a time in microseconds since 1970, truncated to the millisecond, so that stored
// times equal those that callers see.
type Time int64

const timeLayout = "2006-01-02T15:04:05.000Z"

// At returns t, truncated to the millisecond.
func At(t time.Time) Time { return Time(t.UnixMilli() * 1000) }

// Std returns t as a time.Time in UTC.
func (t Time) Std() time.Time { return time.UnixMicro(int64(t)).UTC() }

// MarshalText returns t in RFC 3339, in UTC with milliseconds.
func (t Time) MarshalText() ([]byte, error) { return []byte(t.Std().Format(timeLayout)), nil }

// UnmarshalText parses any RFC 3339 time.
func (t *Time) UnmarshalText(b []byte) error {
	std, err := time.Parse(time.RFC3339Nano, string(b))
	if err != nil {
		return fmt.Errorf("not an RFC 3339 time: %w", err)
	}
	*t = At(std)
	return nil
}

// Day is a day in UTC, counted from 1970.
type Day int64

// DayOf returns the day of a time.
func DayOf(t time.Time) Day { return Day(t.Unix() / int64(oneDay/time.Second)) }

const oneDay = 24 * time.Hour

// Begin returns the first moment of the day.
func (d Day) Begin() time.Time { return time.Unix(int64(d)*int64(oneDay/time.Second), 0).UTC() }

// String returns the day in RFC 3339, such as 2026-11-29.
func (d Day) String() string { return d.Begin().Format(time.DateOnly) }

// MarshalText returns the day in RFC 3339.
func (d Day) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText parses a day in RFC 3339.
func (d *Day) UnmarshalText(b []byte) error {
	t, err := time.Parse(time.DateOnly, string(b))
	if err != nil {
		return fmt.Errorf("not a day such as 2026-11-29: %w", err)
	}
	*d = DayOf(t)
	return nil
}
