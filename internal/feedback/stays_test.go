package feedback

import (
	"bytes"
	"testing"
)

// TestSecretsStay checks that the format of secrets does not change, so that those of earlier
// versions work after an upgrade.
func TestSecretsStay(t *testing.T) {
	account := ID{1, 2, 3, 4, 5, 6, 0x77, 8, 0x89, 10, 11, 12, 13, 14, 15, 16}
	random := func() *bytes.Reader { return bytes.NewReader(bytes.Repeat([]byte("\xff0 Az~\xf7\x01"), 64)) }
	for _, c := range []struct{ got, want string }{
		{NewAPIKey(random()), "gk_mW3y2z1mW3y2z1mW3y2z1mW3y2z1mW3y2et8G8"},
		{NewExportToken(random()), "gex_mW3y2z1mW3y2z1mW3y2z1mW3y2z1mW3y2et8G8"},
		{NewToken(AccessToken, account, random()), "gat_01rRt2I0MkjRGpTkL6l06xove8hM2KPiFfKG5X1QnvYzxGSbdR3HaKIPxwyWcitbl3FEOaS"},
		{
			Successor(NewToken(RefreshToken, account, random()), account, []byte("nonce")),
			"grt_01rRt2I0MkjRGpTkL6l06xNR2FLRbaWsE7mYMVO76wQT3OFBMurADNXZIiFNdPGvy1wPbEO",
		},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}
