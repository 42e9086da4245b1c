package webhook

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"syscall"
	"time"

	"code.dny.dev/ssrf"

	"gatherkit/internal/database"
	"gatherkit/internal/deadline"
)

var (
	connectTime = deadline.Of(5 * time.Second)
	callTime    = deadline.Of(15 * time.Second)
	// answerTime is how long a call reads the body of an answer. Its status has already decided.
	answerTime = deadline.Of(2 * time.Second)
	idleTime   = deadline.Of(30 * time.Second) // for a connection without a call
)

const (
	maxHeaders  = 16 << 10       // bytes of an answer
	maxResponse = 4 << 10        // bytes of an answer's body that are kept
	maxPayload  = 16 << 10       // bytes of a payload that are kept
	maxWait     = 24 * time.Hour // that an endpoint can ask for with Retry-After
)

var (
	errAddress  = errors.New("this address is not allowed")
	errRedirect = errors.New("redirects are not followed")
	errOurs     = errors.New("this service failed")
)

// client calls endpoints. It connects to public addresses, and to those that the operator has allowed. It
// checks the address that it connects to, so a name cannot lead elsewhere after the check.
type client struct {
	open  http.Client // for https
	plain http.Client // for http, only to addresses that the operator has allowed
}

func newClient(allowed []netip.Prefix) *client {
	var v4, v6 []netip.Prefix
	for _, p := range allowed {
		if p.Addr().Is4() {
			v4 = append(v4, p)
		} else {
			v6 = append(v6, p)
		}
	}
	guard := ssrf.New(ssrf.WithAnyPort(), ssrf.WithAllowedV4Prefixes(v4...), ssrf.WithAllowedV6Prefixes(v6...))
	public := func(network, address string, c syscall.RawConn) error {
		if guard.Safe(network, address, c) != nil {
			return errAddress
		}
		return nil
	}
	inner := func(_, address string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err == nil {
			for _, p := range allowed {
				if p.Contains(at.Addr()) {
					return nil
				}
			}
		}
		return errAddress
	}
	return &client{newHTTPClient(public), newHTTPClient(inner)}
}

func newHTTPClient(control func(string, string, syscall.RawConn) error) http.Client {
	dialer := net.Dialer{Timeout: connectTime, Control: control}
	return http.Client{
		Timeout:       callTime,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{ // without Proxy: a proxy would connect to any address
			DialContext: dialer.DialContext, TLSHandshakeTimeout: connectTime, MaxResponseHeaderBytes: maxHeaders,
			DisableCompression: true, IdleConnTimeout: idleTime, MaxIdleConnsPerHost: sendsOfEndpoint, MaxIdleConns: sends, ForceAttemptHTTP2: true,
		},
	}
}

// answer is the result of a call. err is nil only if an endpoint has accepted the message.
type answer struct {
	status     int // 0 if there was none
	body       string
	payload    string // the beginning of what was sent, unless it was delivered
	retryAfter time.Duration
	took       time.Duration
	err        error
}

// post sends a body to an endpoint.
func (c *client) post(ctx context.Context, url string, header http.Header, body []byte) answer {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return answer{err: err}
	}
	r.Header = header
	by := &c.open
	if r.URL.Scheme == "http" {
		by = &c.plain
	}
	got, err := by.Do(r)
	if err != nil {
		return answer{err: err}
	}
	defer func() { _ = got.Body.Close() }()
	defer time.AfterFunc(answerTime, cancel).Stop()
	text, _ := io.ReadAll(io.LimitReader(got.Body, maxResponse)) // its beginning is enough
	a := answer{
		status: got.StatusCode, body: database.Storable(text, maxResponse),
		retryAfter: retryAfter(got.Header.Get("Retry-After"), time.Now()),
	}
	switch {
	case a.status >= 300 && a.status < 400:
		a.err = errRedirect
	case a.status < 200 || a.status >= 300:
		a.err = fmt.Errorf("status %d", a.status)
	}
	return a
}

// retryAfter returns how long a header asks to wait (RFC 9110, section 10.2.3), at most a day.
func retryAfter(value string, now time.Time) time.Duration {
	var wait time.Duration
	if seconds, err := strconv.ParseInt(value, 10, 32); err == nil {
		wait = time.Duration(seconds) * time.Second
	} else if at, err := http.ParseTime(value); err == nil {
		wait = at.Sub(now)
	}
	return max(0, min(wait, maxWait))
}

// outcome is the result of an attempt, and says whose fault a failure is.
type outcome string

const (
	delivered outcome = "delivered"
	refused   outcome = "refused" // because of this message: the others go on
	failed    outcome = "failed"  // because of the endpoint: the others wait
	gone      outcome = "gone"    // the endpoint wants no more
)

func (a answer) outcome() outcome {
	switch a.status {
	case http.StatusGone:
		return gone
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity:
		return refused
	}
	if a.err != nil {
		return failed
	}
	return delivered
}

// sentence describes in words why a call failed. It does not contain an address, because names can lead
// to addresses that callers must not learn.
func (a answer) sentence() string {
	var dns *net.DNSError
	var authority x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	var record tls.RecordHeaderError
	var timeout net.Error
	switch {
	case errors.Is(a.err, errOurs):
		return "This service failed before or after the call. Its log says why."
	case errors.Is(a.err, errRedirect):
		return fmt.Sprintf("The endpoint answered %d; redirects are not followed.", a.status)
	case a.status != 0:
		return strings.TrimSpace(fmt.Sprintf("The endpoint answered %d %s", a.status, http.StatusText(a.status))) + "."
	case errors.Is(a.err, errAddress):
		return "This address is not allowed."
	case errors.As(a.err, &dns):
		return "The name of the host was not found."
	case errors.As(a.err, &authority), errors.As(a.err, &name), errors.As(a.err, &invalid):
		return "The certificate of the endpoint is not valid."
	case errors.As(a.err, &record), errors.Is(a.err, http.ErrSchemeMismatch):
		return "The endpoint does not speak TLS."
	case errors.Is(a.err, syscall.ECONNREFUSED):
		return "The endpoint refused the connection."
	case errors.As(a.err, &timeout) && timeout.Timeout():
		return "The endpoint did not answer in time."
	}
	return "The connection failed."
}
