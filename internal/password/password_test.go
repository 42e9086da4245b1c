package password

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"testing"
)

func TestHashAndVerify(t *testing.T) {
	ctx := context.Background()
	h := New(rand.Reader)
	hash, err := h.Hash(ctx, "correct horse")
	if err != nil {
		t.Fatal(err)
	}
	again, err := h.Hash(ctx, "correct horse")
	if err != nil || again == hash {
		t.Errorf("two hashes of one password are alike: %v", err)
	}
	for _, c := range []struct {
		hash, password string
		want           bool
	}{{hash, "correct horse", true}, {again, "correct horse", true}, {hash, "wrong horse", false}, {hash, "", false}, {"", "", false}, {"", "anything", false}} {
		got, err := h.Verify(ctx, c.hash, c.password, nil)
		if err != nil || got != c.want {
			t.Errorf("Verify(%q, %q) = %v, %v", c.hash, c.password, got, err)
		}
	}
}

// TestKnownParameters holds the hash's form, which other programs read, too.
func TestKnownParameters(t *testing.T) {
	h := New(bytes.NewReader(bytes.Repeat([]byte("salt"), 1<<10)))
	hash, err := h.Hash(context.Background(), "password")
	if err != nil || !strings.HasPrefix(hash, "$argon2id$v=19$m=19456,t=2,p=1$c2FsdHNhbHRzYWx0c2FsdA$") {
		t.Errorf("%s, %v", hash, err)
	}
}

func TestDamagedHashes(t *testing.T) {
	h := New(rand.Reader)
	for _, hash := range []string{"plain", "$2b$10$abc", "$argon2id$v=16$m=1,t=1,p=1$YQ$YQ", "$argon2id$v=19$m=x$YQ$YQ", "$argon2id$v=19$m=8,t=1,p=1$?$YQ"} {
		if ok, err := h.Verify(context.Background(), hash, "password", nil); ok || err == nil {
			t.Errorf("%s: %v, %v", hash, ok, err)
		}
	}
}

// TestPatience: who cannot wait for a turn is told so.
func TestPatience(t *testing.T) {
	h := New(rand.Reader)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := h.turns.Acquire(context.Background(), h.most); err != nil {
		t.Fatal(err)
	}
	defer h.turns.Release(h.most)
	if _, err := h.Hash(ctx, "password"); !errors.Is(err, ErrBusy) {
		t.Errorf("%v, want ErrBusy", err)
	}
}

// TestNotAllowedAnyMore: who is refused when the turn comes is not hashed for.
func TestNotAllowedAnyMore(t *testing.T) {
	refusal := errors.New("refused")
	if ok, err := New(rand.Reader).Verify(context.Background(), "", "password", func() error { return refusal }); ok || !errors.Is(err, refusal) {
		t.Errorf("%v, %v", ok, err)
	}
}
