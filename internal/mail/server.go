package mail

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	netmail "net/mail"
	"net/netip"
	"net/textproto"
	"net/url"
	"strconv"
	"strings"
	"time"

	gomail "github.com/wneessen/go-mail"
	"github.com/wneessen/go-mail/smtp"

	"gatherkit/internal/deadline"
	"gatherkit/internal/feedback"
)

// replyTime is how long the mail server may take for an answer.
var replyTime = deadline.Of(time.Minute)

// Server is a mail server that takes mails to all addresses, and the sender of these mails.
type Server struct {
	Host string
	Port int
	From string // address

	user, password string
	secure         bool // TLS from the beginning, instead of STARTTLS
}

// The ports for mails of users (RFC 8314, section 3.3), without and with TLS from the beginning.
const (
	submissionPort  = 587
	submissionsPort = 465
)

// ParseServer reads the URL of a mail server: smtps://user:password@host:port?from=address, or smtp:// for
// STARTTLS. Its errors do not repeat the URL, which may have a password.
func ParseServer(text string) (Server, error) {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || strings.Trim(u.Path, "/") != "" {
		return Server{}, errors.New("it must be a URL such as smtps://user:password@smtp.example.com?from=feedback@example.com;" +
			" write special characters of the password as %XX")
	}
	s := Server{Host: u.Hostname()}
	switch u.Scheme {
	case "smtps":
		s.Port, s.secure = submissionsPort, true
	case "smtp":
		s.Port = submissionPort
	default:
		return Server{}, errors.New("it must begin with smtps:// (TLS) or smtp:// (STARTTLS)")
	}
	if u.Port() != "" {
		port, err := strconv.ParseUint(u.Port(), 10, 16)
		if err != nil || port == 0 {
			return Server{}, errors.New("its port must be between 1 and 65535")
		}
		s.Port = int(port)
	}
	s.user = u.User.Username()
	s.password, _ = u.User.Password()
	query := u.Query()
	s.From = query.Get("from")
	query.Del("from")
	if len(query) > 0 {
		return Server{}, errors.New("it may only have the parameter from")
	}
	if s.From == "" {
		s.From = s.user
	}
	if !feedback.ValidEmail(s.From) {
		return Server{}, errors.New("add the address that mails come from, such as ?from=feedback@example.com")
	}
	s.From = feedback.EmailWithDNSName(s.From)
	return s, nil
}

// local reports whether the server is on this machine, so that nobody can listen between.
func (s Server) local() bool {
	at, err := netip.ParseAddr(s.Host)
	return s.Host == "localhost" || err == nil && at.IsLoopback()
}

// phase is the part of a conversation with the mail server in which something went wrong.
type phase string

const (
	connecting phase = "connecting"
	loggingIn  phase = "logging in"
	sender     phase = "giving the sender"
	recipient  phase = "giving the recipient"
	content    phase = "sending the text"
)

// failure is what went wrong in a conversation with the mail server.
type failure struct {
	phase phase
	err   error
}

func (f *failure) Error() string { return fmt.Sprintf("%s: %s", f.phase, said(f.err)) }
func (f *failure) Unwrap() error { return f.err }

// reply returns the code that the server has answered, or 0, and its text.
func (f *failure) reply() (int, string) {
	var answer *textproto.Error
	if errors.As(f.err, &answer) {
		return answer.Code, answer.Msg
	}
	return 0, ""
}

// said returns what the server said, on one line, which is not too long.
func said(err error) string {
	return feedback.FirstCharacters(strings.Join(strings.Fields(err.Error()), " "), 200)
}

// dial connects to the server and logs in. helo is the name of this machine.
func (s Server) dial(ctx context.Context, helo string, trace *transcript) (*smtp.Client, error) {
	options := []gomail.Option{
		gomail.WithPort(s.Port), gomail.WithTimeout(replyTime), gomail.WithHELO(helo),
		gomail.WithTLSConfig(&tls.Config{ServerName: s.Host, MinVersion: tls.VersionTLS12}),
	}
	method := gomail.SMTPAuthAutoDiscover
	switch {
	case s.secure:
		options = append(options, gomail.WithSSL())
	case s.local():
		method = gomail.SMTPAuthPlainNoEnc
		options = append(options, gomail.WithTLSPolicy(gomail.TLSOpportunistic))
	default:
		options = append(options, gomail.WithTLSPolicy(gomail.TLSMandatory))
	}
	if s.user != "" {
		options = append(options, gomail.WithSMTPAuth(method), gomail.WithUsername(s.user), gomail.WithPassword(s.password))
	}
	if trace != nil {
		options = append(options, gomail.WithDebugLog(), gomail.WithLogger(trace))
	}
	client, err := gomail.NewClient(s.Host, options...)
	if err != nil {
		return nil, &failure{connecting, err}
	}
	conn, err := client.DialToSMTPClientWithContext(ctx)
	switch {
	case err == nil:
		return conn, nil
	case strings.Contains(strings.ToUpper(err.Error()), "SMTP AUTH"): // the library says so, and has no type for it
		return nil, &failure{loggingIn, err}
	}
	return nil, &failure{connecting, err}
}

// errASCIIOnly is the failure for an address that has other letters than ASCII in front of the @.
var errASCIIOnly = errors.New("this mail server cannot write to addresses with letters that are not ASCII: it does not support SMTPUTF8")

// deliver gives the server a mail. Every server takes the name that DNS has for an international domain.
func (s Server) deliver(conn *smtp.Client, to string, body []byte) error {
	to = feedback.EmailWithDNSName(to)
	if international, _ := conn.Extension("SMTPUTF8"); !international && !feedback.IsASCII(to) {
		return &failure{recipient, errASCIIOnly}
	}
	if err := conn.UpdateDeadline(replyTime); err != nil {
		return &failure{connecting, err}
	}
	angle := func(address string) string { return (&netmail.Address{Address: address}).String() }
	if err := conn.Mail(angle(s.From)); err != nil {
		return &failure{sender, err}
	}
	if err := conn.Rcpt(angle(to)); err != nil {
		return &failure{recipient, err}
	}
	data, err := conn.Data()
	if err == nil {
		if _, err = data.Write(body); err == nil {
			err = data.Close()
		} else {
			_ = data.Close()
		}
	}
	if err != nil {
		return &failure{content, err}
	}
	return nil
}

// verdict is what follows from an attempt to deliver a mail.
type verdict int

const (
	delivered verdict = iota
	again             // this mail is tried again later
	bounced           // the address takes no mail
	dropped           // the server does not take this mail
	away              // no mail can be delivered now
	refused           // no mail can be delivered until the operator does something
)

// judge returns what follows from an error of dial or deliver. Codes are those of RFC 5321, section 4.2.3,
// and RFC 3463.
func judge(err error) verdict {
	var f *failure
	if err == nil {
		return delivered
	}
	if !errors.As(err, &f) {
		return away
	}
	code, text := f.reply()
	permanent := code >= 500
	switch {
	case errors.Is(err, errASCIIOnly):
		return dropped
	case f.phase == loggingIn && code < 400 || f.phase == loggingIn && permanent:
		return refused
	case code == 0 || code == 421 || f.phase == connecting || f.phase == loggingIn:
		return away
	case code == 530 || code == 535 || f.phase == sender && permanent:
		return refused
	case f.phase == sender:
		return away
	case !permanent:
		return again
	case f.phase == content:
		return dropped
	case about(text, "5.2.2", "5.3", "5.4", "5.7"): // a full mailbox, or a policy, which may be about the sender
		return again
	}
	return bounced
}

// during reports whether err happened while the server took a mail, so that the mail may be the cause.
func during(err error) bool {
	var f *failure
	return errors.As(err, &f) && (f.phase == recipient || f.phase == content)
}

// about reports whether an answer begins with one of the enhanced codes.
func about(text string, codes ...string) bool {
	for _, code := range codes {
		if text == code || strings.HasPrefix(text, code+" ") || strings.HasPrefix(text, code+".") {
			return true
		}
	}
	return false
}

// Advice returns what an operator can do about an error of Test, or "".
func Advice(err error) string {
	var f *failure
	var certificate *tls.CertificateVerificationError
	var lookup *net.DNSError
	var network *net.OpError
	if !errors.As(err, &f) {
		return ""
	}
	code, _ := f.reply()
	switch {
	case errors.Is(err, errASCIIOnly):
		return "Use a server that supports SMTPUTF8, or an address that has only ASCII letters before the @."
	case errors.As(err, new(x509.UnknownAuthorityError)):
		return "This machine does not know the authority that has signed the server's certificate. Add the authority's certificate" +
			" to those of the machine."
	case errors.As(err, new(x509.HostnameError)):
		return "The server's certificate is not valid for this name. Use the name that your provider documents."
	case errors.As(err, &certificate):
		return "The server's certificate is not valid. Its owner must renew it."
	case errors.As(err, &lookup):
		return "The name of the server is unknown. Check it for typing errors."
	case strings.Contains(f.err.Error(), "does not support STARTTLS"):
		return "The server offers no encryption on this port. Try smtps:// or another port."
	case errors.As(err, new(tls.RecordHeaderError)):
		return "The server does not begin with TLS on this port. Try smtp:// instead of smtps://."
	case f.phase == connecting && errors.As(err, &network):
		return "No connection. Check the host, the port and the firewall: many hosters block port 25 and some block 465 or 587."
	case f.phase == loggingIn:
		return "The server refuses the login. Check the user and the password; some providers need a password for programs of its own."
	case f.phase == sender:
		return "The server refuses the sender. Set ?from= to an address that your provider lets you use."
	case f.phase == recipient && code >= 500:
		return "The server refuses the recipient. Check the address. If it is right, the server may not take mail to other domains."
	case f.phase == content && code >= 500:
		return "The server refuses the text. Its answer says why."
	}
	return "Wait and try again."
}
