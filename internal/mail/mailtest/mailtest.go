// Package mailtest is a mail server for tests, on loopback. It keeps what it gets, and can refuse anything.
package mailtest

import (
	"errors"
	"io"
	"log"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
)

// Password is the password of every user. The name does not matter.
const Password = "open sesame"

// Letter is a mail that the server has got.
type Letter struct {
	From, To string
	Body     string // as it was sent, with the header
}

// Server is a mail server.
type Server struct {
	// URL is the --smtp of the server, without a user.
	URL string

	mu      sync.Mutex
	letters []Letter
	refuse  func(phase, argument string) error
}

// New starts a mail server that ends with the test.
func New(t testing.TB) *Server {
	t.Helper()
	return start(t, true)
}

// NewASCII is New, but the server takes only addresses in ASCII: it does not have SMTPUTF8 (RFC 6531).
func NewASCII(t testing.TB) *Server {
	t.Helper()
	return start(t, false)
}

func start(t testing.TB, utf8 bool) *Server {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // of a test
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{URL: "smtp://" + listener.Addr().String() + "?from=feedback@example.com"}
	server := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return &session{server: s}, nil }))
	server.Domain, server.AllowInsecureAuth, server.EnableSMTPUTF8 = "mail.example.com", true, utf8
	server.ErrorLog = log.New(io.Discard, "", 0)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	t.Cleanup(func() {
		_ = server.Close()
		if err := <-served; err != nil && !errors.Is(err, smtp.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
			t.Error(err)
		}
	})
	return s
}

// As returns the URL with a user and a password.
func (s *Server) As(user, password string) string {
	return strings.Replace(s.URL, "://", "://"+user+":"+password+"@", 1)
}

// Refuse sets what the server answers to MAIL, RCPT and DATA, which it calls with the address. A text that
// begins with a code is an answer with this code; nil accepts. It is also called with SENT after a mail was
// accepted, before the answer.
func (s *Server) Refuse(fn func(phase, argument string) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuse = fn
}

// Answer is a refusal with a code, an enhanced code and a text.
func Answer(code int, enhanced [3]int, text string) error {
	return &smtp.SMTPError{Code: code, EnhancedCode: smtp.EnhancedCode(enhanced), Message: text}
}

// Taken returns the mails that have come since the last call.
func (s *Server) Taken() []Letter {
	s.mu.Lock()
	defer s.mu.Unlock()
	letters := s.letters
	s.letters = nil
	return letters
}

func (s *Server) asks(phase, argument string) error {
	s.mu.Lock()
	refuse := s.refuse
	s.mu.Unlock()
	if refuse == nil {
		return nil
	}
	return refuse(phase, argument)
}

// session is a connection of a client.
type session struct {
	server   *Server
	from, to string
}

// AuthMechanisms implements smtp.AuthSession.
func (s *session) AuthMechanisms() []string { return []string{sasl.Plain} }

// Auth implements smtp.AuthSession.
func (s *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, _, password string) error {
		if password != Password {
			return smtp.ErrAuthFailed
		}
		return nil
	}), nil
}

// Mail implements smtp.Session.
func (s *session) Mail(from string, _ *smtp.MailOptions) error {
	s.from = from
	return s.server.asks("MAIL", from)
}

// Rcpt implements smtp.Session.
func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.to = to
	return s.server.asks("RCPT", to)
}

// Data implements smtp.Session.
func (s *session) Data(r io.Reader) error {
	body, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	if err := s.server.asks("DATA", s.to); err != nil {
		return err
	}
	s.server.mu.Lock()
	s.server.letters = append(s.server.letters, Letter{s.from, s.to, string(body)})
	s.server.mu.Unlock()
	return s.server.asks("SENT", s.to)
}

// Reset implements smtp.Session.
func (s *session) Reset() {}

// Logout implements smtp.Session.
func (s *session) Logout() error { return nil }
