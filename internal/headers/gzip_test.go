package headers_test

import (
	"testing"

	"gatherkit/internal/headers"
)

func TestAcceptsGzip(t *testing.T) {
	for header, want := range map[string]bool{
		"": false, "gzip": true, "GZIP": true, "br;q=1.0, gzip;q=0.8": true, "gzip;q=0": false, "gzip;q=0.000": false,
		"gzip; q=0.1": true, "deflate, br": false, "xgzip": false,
	} {
		if headers.AcceptsGzip([]string{header}) != want {
			t.Errorf("%q", header)
		}
	}
}
