package webhook

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
)

// CallTime is how long a call of an endpoint may take.
var CallTime = callTime

// Trust makes a sender accept the certificates of an authority.
func (s *Sender) Trust(authority *x509.CertPool) {
	transport := s.client.open.Transport.(*http.Transport)
	transport.TLSClientConfig = &tls.Config{RootCAs: authority}
}
