package database

import (
	"bytes"
	"log/slog"
	"testing"
	"time"
)

// TestSlowWrites: a write that takes a second is logged with its account, and of many at once only one.
func TestSlowWrites(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
	var s slowLog
	began := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	account := [16]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}
	const line = `level=WARN msg="a write took longer than a second" account=`
	for _, write := range []struct {
		account [16]byte
		took    time.Duration
		want    string
	}{
		{account, time.Second - 1, ""},
		{account, 1500 * time.Millisecond, line + "01020304-0506-0708-090a-0b0c0d0e0f10 ms=1500 omitted=0\n"},
		{account, 2 * time.Second, ""},
		{account, 2*time.Second + 499*time.Millisecond, ""},
		{[16]byte{}, 2500 * time.Millisecond, line + "none ms=2500 omitted=2\n"},
		{account, 9 * time.Second, line + "01020304-0506-0708-090a-0b0c0d0e0f10 ms=9000 omitted=0\n"},
	} {
		out.Reset()
		s.note(log, write.account, began, began.Add(write.took))
		if out.String() != write.want {
			t.Errorf("%v: %q, want %q", write.took, &out, write.want)
		}
	}
}
