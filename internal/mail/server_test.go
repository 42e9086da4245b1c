package mail_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"gatherkit/internal/feedback"
	"gatherkit/internal/mail"
	"gatherkit/internal/mail/mailtest"
	"gatherkit/internal/store/storetest"
)

func TestParseServer(t *testing.T) {
	for address, want := range map[string]mail.Server{
		"smtps://a%40b.example:p%2Fw@mail.example.com":        {Host: "mail.example.com", Port: 465, From: "a@b.example"},
		"smtp://u:p@mail.example.com?from=f@example.com":      {Host: "mail.example.com", Port: 587, From: "f@example.com"},
		"smtp://localhost?from=f@bücher.example":              {Host: "localhost", Port: 587, From: "f@xn--bcher-kva.example"},
		"smtp://localhost:2525/?from=f@example.com":           {Host: "localhost", Port: 2525, From: "f@example.com"},
		"smtps://u:p@[2001:db8::1]:4650?from=f%40example.com": {Host: "2001:db8::1", Port: 4650, From: "f@example.com"},
	} {
		got, err := mail.ParseServer(address)
		if err != nil || got.Host != want.Host || got.Port != want.Port || got.From != want.From {
			t.Errorf("%s: %+v, %v", address, got, err)
		}
	}
	for _, address := range []string{
		"", "mail.example.com", "smtp://", "https://mail.example.com?from=f@example.com", "smtp://user:secret@mail.example.com",
		"smtp://mail.example.com?from=secret", "smtp://mail.example.com?from=f@example.com&tls=off",
		"smtp://mail.example.com:0?from=f@example.com",
		"smtp://mail.example.com:99999?from=f@example.com", "smtp://mail.example.com/path?from=f@example.com",
		"smtp://a@b.example:secret@mail.example.com:port", "smtp://u:se%cret@mail.example.com",
	} {
		got, err := mail.ParseServer(address)
		if err == nil {
			t.Errorf("%s: accepted as %+v", address, got)
		} else if strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "se%cret") {
			t.Errorf("%s: the error repeats the password: %v", address, err)
		}
	}
}

// TestMailTest: a test mail shows the conversation without the password, and a failure comes with advice.
func TestMailTest(t *testing.T) {
	server := mailtest.New(t)
	run := func(address string) (lines string, err error) {
		t.Helper()
		s, err := mail.ParseServer(address)
		if err != nil {
			t.Fatal(err)
		}
		var said strings.Builder
		err = mail.Test(ctx, s, "host.example.com", "ops@example.com", storetest.NewClock().Now(), feedback.ID{1}, func(line string) {
			said.WriteString(line + "\n")
		})
		return said.String(), err
	}
	lines, err := run(server.As("app", "open%20sesame"))
	if err != nil {
		t.Error(err)
	}
	for _, want := range []string{"> EHLO host.example.com", "> MAIL FROM:<feedback@example.com>", "> RCPT TO:<ops@example.com>", "< 354"} {
		if !strings.Contains(lines, want) {
			t.Errorf("%q is missing in\n%s", want, lines)
		}
	}
	if strings.Contains(lines, "sesame") || strings.Contains(lines, "b3BlbiBzZXNhbWU") {
		t.Errorf("the password is in\n%s", lines)
	}
	if letters := server.Taken(); len(letters) != 1 || letters[0].To != "ops@example.com" {
		t.Errorf("%+v", letters)
	}
	refuse := func(phase string, code int) func() {
		return func() {
			server.Refuse(func(at, _ string) error {
				if at == phase {
					return mailtest.Answer(code, [3]int{code / 100, 0, 0}, "No")
				}
				return nil
			})
		}
	}
	foreign := httptest.NewTLSServer(nil)
	defer foreign.Close()
	secure := strings.Replace(server.URL, "smtp://", "smtps://", 1)
	for name, c := range map[string]struct {
		set     func()
		address string
		advice  string
	}{
		"password":  {nil, server.As("app", "wrong"), "refuses the login"},
		"sender":    {refuse("MAIL", 553), server.URL, "refuses the sender"},
		"recipient": {refuse("RCPT", 550), server.URL, "refuses the recipient"},
		"text":      {refuse("DATA", 554), server.URL, "refuses the text"},
		"later":     {refuse("RCPT", 451), server.URL, "try again"},
		"authority": {nil, "smtps://" + foreign.Listener.Addr().String() + "?from=a@example.com", "does not know the authority"},
		"no TLS":    {nil, secure, "does not begin with TLS"},
		"name":      {nil, "smtps://mail.invalid?from=a@example.com", "name of the server is unknown"},
		"port":      {nil, "smtp://127.0.0.1:1?from=a@example.com", "No connection"},
	} {
		server.Refuse(nil)
		if c.set != nil {
			c.set()
		}
		if _, err := run(c.address); err == nil || !strings.Contains(mail.Advice(err), c.advice) {
			t.Errorf("%s: %v; %s", name, err, mail.Advice(err))
		}
	}
}
