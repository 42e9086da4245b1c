package e2e_test

import (
	"context"
	"database/sql"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/mail"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"gatherkit/e2e/program"
	"gatherkit/internal/mail/mailtest"
	"gatherkit/internal/store/storetest"
)

// TestMail: somebody asks for mail, confirms in a browser, hears once of several changes and not of an undone
// one, and stops it. An address that bounces gets no more, and a program that is killed after the mail server
// has taken a mail sends the same bytes again.
func TestMail(t *testing.T) {
	t.Parallel()
	inBrowser := newBrowserTest(t)
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		m := startMail(t, at, inBrowser)
		first := m.wants("ada@example.com", "Dark mode")
		asked := m.next("ada@example.com")
		m.browse("CONFIRM=" + m.link(asked, "confirm"))

		second, third := m.wants("ada@example.com", "Maps"), m.wants("ada@example.com", "Watches")
		m.change("requests-update", program.Params{"id": first, "status": "planned"})
		m.change("requests-update", program.Params{"id": second, "status": "completed"})
		m.change("comments-create", program.Params{"request_id": second, "body": "Here you are.", "visibility": "public"})
		m.change("requests-update", program.Params{"id": third, "status": "declined"})
		m.change("requests-update", program.Params{"id": third, "status": "opened", "quiet": true})
		m.await("three requests have news", 3, "mail_follows WHERE due_at IS NOT NULL")
		m.exec("UPDATE mail_follows SET first_at = 1, due_at = 1") // as if an hour had passed
		news := m.next("ada@example.com")
		for text, want := range map[string]bool{"Dark mode": true, "Maps": true, "Here you are.": true, "Watches": false} {
			if strings.Contains(news, text) != want {
				t.Errorf("%q is in the mail: %v, want %v\n%s", text, !want, want, news)
			}
		}
		m.await("nothing is due", 0, "mail_follows WHERE due_at IS NOT NULL")

		stop := m.links(news, "stop") // of the requests, and of all
		m.browse("LETTER="+m.page(news), "STOP_ONE="+stop[0], "STOP="+stop[len(stop)-1])
		m.await("two requests are followed", 2, "mail_follows")
		response, err := m.http.PostForm(stop[len(stop)-1], url.Values{"List-Unsubscribe": {"One-Click"}})
		if err != nil {
			t.Fatal(err)
		}
		if _ = response.Body.Close(); response.StatusCode != http.StatusOK {
			t.Fatal(response.Status)
		}
		m.await("nothing is followed", 0, "mail_follows")
		m.change("requests-update", program.Params{"id": second, "status": "planned"})
		m.await("the log was read", 0, "account_seq s JOIN mail_positions p ON p.account_id = s.account_id WHERE p.position < s.last")

		m.server.Refuse(func(phase, _ string) error {
			if phase == "RCPT" {
				return mailtest.Answer(550, [3]int{5, 1, 1}, "No such user")
			}
			return nil
		})
		m.wants("gone@example.com", "Export")
		m.await("the address has bounced", 1, "mail_people WHERE state = 'bounced'")

		var killed atomic.Bool
		m.server.Refuse(func(phase, _ string) error {
			if phase == "SENT" && !killed.Swap(true) {
				return m.process.Cmd.Process.Kill()
			}
			return nil
		})
		m.wants("grace@example.com", "Colors")
		before := m.next("grace@example.com")
		<-m.process.Exited
		m.start()
		m.exec("UPDATE mails SET due_at = 1") // as if the ten minutes of the killed process were over
		if again := m.next("grace@example.com"); again != before {
			t.Errorf("the mails differ:\n%s\n%s", before, again)
		}
		m.await("no mail waits", 0, "mails")
		if rest := m.server.Taken(); len(rest) > 0 {
			t.Errorf("%d mails too many: %+v", len(rest), rest)
		}
	})
}

// mailing is a program with a mail server.
type mailing struct {
	t         *testing.T
	server    *mailtest.Server
	inBrowser browserTest
	address   string
	settings  []string // variables
	args      []string
	process   *program.Process
	client    program.Client
	http      *http.Client
	token     string
	app       program.App
	db        *sql.DB
	letters   []mailtest.Letter
}

func startMail(t *testing.T, at storetest.Place, inBrowser browserTest) *mailing {
	t.Helper()
	m := &mailing{t: t, server: mailtest.New(t), inBrowser: inBrowser, address: program.FreeAddress(t)}
	program.AddOwner(t, at)
	m.args = append(program.At(at), "--public-url=http://"+m.address, "--smtp="+m.server.URL)
	m.start()
	m.token = m.client.Login(t)
	m.app = m.client.AddApp(t, m.token)
	m.db = at.Raw(t)
	return m
}

func (m *mailing) start() {
	m.t.Helper()
	m.process = program.StartOn(m.t, m.address, m.settings, m.args...)
	m.client = program.NewClient(m.t, m.process)
	m.http = m.client.HTTP
}

// wants submits a request about which somebody wants mail.
func (m *mailing) wants(email, title string) string {
	m.t.Helper()
	in := program.Params{"title": title, "description": "", "email": email, "notify": true, "locale": "en-GB"}
	return m.client.Want(m.t, "ok", "widget-submit-request", m.app.APIKey, in).Request.ID
}

func (m *mailing) change(operation string, in program.Params) {
	m.t.Helper()
	m.client.Want(m.t, "ok", operation, m.token, in)
}

// next returns the next mail, which is to an address.
func (m *mailing) next(to string) string {
	m.t.Helper()
	program.Eventually(m.t, "a mail to "+to, func() bool {
		m.letters = append(m.letters, m.server.Taken()...)
		return len(m.letters) > 0
	})
	letter := m.letters[0]
	m.letters = m.letters[1:]
	if letter.To != to {
		m.t.Fatalf("the mail is to %s, want %s", letter.To, to)
	}
	return letter.Body
}

// links returns the links of a mail to a page, in their order.
func (m *mailing) links(letter, page string) []string {
	m.t.Helper()
	text := strings.NewReplacer("=\r\n", "", "=3D", "=").Replace(letter)
	_, text, _ = strings.Cut(text, "text/plain") // the header has one, too
	text, _, _ = strings.Cut(text, "text/html")
	list := regexp.MustCompile(`http://[^/\s]+/mail/`+page+`\?t=[\w-]+`).FindAllString(text, -1)
	if len(list) == 0 {
		m.t.Fatalf("no link to %s: %s", page, letter)
	}
	return list
}

// page returns a file with the HTML of a mail.
func (m *mailing) page(letter string) string {
	m.t.Helper()
	message, err := mail.ReadMessage(strings.NewReader(letter))
	if err != nil {
		m.t.Fatal(err)
	}
	_, parameters, err := mime.ParseMediaType(message.Header.Get("Content-Type"))
	if err != nil {
		m.t.Fatal(err)
	}
	file := filepath.Join(m.t.TempDir(), "mail.html")
	for parts := multipart.NewReader(message.Body, parameters["boundary"]); ; {
		part, err := parts.NextPart()
		if err != nil {
			m.t.Fatal(err)
		}
		if text, err := io.ReadAll(part); err != nil {
			m.t.Fatal(err)
		} else if strings.HasPrefix(part.Header.Get("Content-Type"), "text/html") {
			if err := os.WriteFile(file, text, 0o600); err != nil {
				m.t.Fatal(err)
			}
			return file
		}
	}
}

func (m *mailing) link(letter, page string) string { return m.links(letter, page)[0] }

func (m *mailing) browse(env ...string) {
	m.t.Helper()
	env = append(env, "URL="+m.process.URL, "EMAIL="+program.Email, "PASSWORD="+program.Password)
	m.inBrowser.run(m.t, env, "--test-reporter=spec", "mail.test.mjs")
}

// await waits until a table has a number of rows.
func (m *mailing) await(what string, want int, from string) {
	m.t.Helper()
	program.Eventually(m.t, what, func() bool {
		var n int
		if err := m.db.QueryRowContext(m.t.Context(), "SELECT COUNT(*) FROM "+from).Scan(&n); err != nil {
			m.t.Fatal(err)
		}
		return n == want
	})
}

func (m *mailing) exec(statement string) {
	m.t.Helper()
	if _, err := m.db.ExecContext(context.Background(), statement); err != nil {
		m.t.Fatal(err)
	}
}
