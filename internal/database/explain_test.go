package database

import (
	"crypto/x509"
	"fmt"
	"strings"
	"testing"
)

// TestExplainCertificate: an operator reads how to name an authority that the machine does not know.
func TestExplainCertificate(t *testing.T) {
	err := (&DB{}).Explain(fmt.Errorf("tls error: %w", x509.UnknownAuthorityError{}))
	if text := err.Error(); !strings.Contains(text, "add sslrootcert") || !strings.Contains(text, "tls error: ") {
		t.Error(text)
	}
}
