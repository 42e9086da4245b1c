package machine

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/golang-jwt/jwt/v5"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/crypto/argon2"
	"pgregory.net/rapid"

	"gatherkit/internal/api"
	"gatherkit/internal/blob"
	"gatherkit/internal/feedback"
	"gatherkit/internal/index"
	"gatherkit/internal/password"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
	"gatherkit/internal/webhook"
)

// Paths of the service besides its operations, and of the page that opens join links.
const (
	serviceURL     = "https://feedback.example.com"
	uploadPath     = "/uploads/"
	attachmentPath = "/attachments/"
	exportPath     = "/exports/"
	joinPath       = "/join#"
)

const testPassword = "correct horse battery staple"

var (
	setupToken = feedback.NewSetupToken(rand.Reader)
	// cheapHash is a hash of testPassword with parameters that make it fast to verify.
	cheapHash = fmt.Sprintf("$argon2id$v=%d$m=8,t=1,p=1$%s$%s", argon2.Version,
		base64.RawStdEncoding.EncodeToString([]byte("salt of 16 bytes")),
		base64.RawStdEncoding.EncodeToString(argon2.IDKey([]byte(testPassword), []byte("salt of 16 bytes"), 1, 8, 1, 16)))
)

// service is one of the two services that are compared. Ids, secrets and cursors are random, so
// they get names such as {id3} or {key4} in the order in which they appear. Calls use the names.
type service struct {
	handler  http.Handler
	store    *store.Store
	sender   *webhook.Sender
	receiver *receiver
	db       *sql.DB // for direct access to the database
	files    string  // the folder of files
	values   map[string]string
	nameOf   map[string]string
	seen     []string // the names, in braces
}

func newService(t *testing.T, at storetest.Place, clock *storetest.Clock) *service {
	t.Helper()
	folder := t.TempDir()
	files, err := blob.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	s := &service{store: at.Open(t, clock.Now, func(o *store.Options) { o.RemoveFile = files.Remove }), db: at.Raw(t), files: folder}
	loopback := []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	s.sender = webhook.NewSender(s.store.Webhooks, webhook.Options{Home: serviceURL, Allow: loopback})
	s.receiver = newReceiver(t)
	s.handler, err = api.New(context.Background(), api.Options{
		Store: s.store, Passwords: password.New(rand.Reader), Log: slog.New(slog.DiscardHandler), Now: clock.Now,
		NewID: feedback.NewIDs(clock.Now, rand.Reader).New, Metrics: prometheus.NewRegistry(),
		PublicURL: &url.URL{Scheme: "https", Host: "feedback.example.com"}, Files: files,
		Webhooks: s.sender,
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// clear turns the service into a new installation with a set-up token. It empties the database,
// because creating a new one would take much longer.
func (s *service) clear(t *rapid.T) {
	tables := []string{
		"changes", "account_seq", "request_counts", "request_tags", "votes", "comments", "mentions", "request_links", "requests",
		"index_followed", "index_documents", "index_blocks",
		"index_ids", "index_postings", "index_words", "exports", "app_secrets", "api_keys", "purges", "apps", "session_tokens", "sessions",
		"logins", "users", "accounts", "login_failures", "setup_tokens", "installation", "leases", "uploads", "join_links", "departures",
		"views", "default_views", "reply_templates",
		"access_tokens", "webhooks", "webhook_retries", "webhook_attempts", "readers", "status_links",
		"mail_people", "mail_follows", "mails", "mail_positions", "mail_digests", "mail_server", "entries", "entry_requests",
		"portals", "portal_hosts", "portal_links", "visitor_tokens", "blocked_people", "held_comments", "usage_days", "quotas",
		"stored_files",
	}
	tx, err := s.db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range tables {
		if _, err := tx.Exec("DELETE FROM " + table); err != nil {
			t.Fatal(err)
		}
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{"incoming", "files"} {
		if err := os.RemoveAll(filepath.Join(s.files, folder)); err != nil {
			t.Fatal(err)
		}
	}
	s.values, s.nameOf, s.seen = map[string]string{}, map[string]string{nobodysID: nobodysID}, nil
	for _, voter := range voters { // the keys of those who are blocked contain them
		s.nameOf[voter.(string)] = voter.(string)
	}
	s.values[strings.Trim(receiverName, "{}")] = s.receiver.URL
	s.receiver.turn(false)
	s.receiver.took()
	if err := s.store.Team.AddSetupToken(context.Background(), setupToken); err != nil {
		t.Fatal(err)
	}
}

var (
	randomText = regexp.MustCompile(
		`whsec_[0-9A-Za-z+/]{43}=|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|` +
			`(gat|grt|gjt|gtk|gk|gis|gex|gsl|gpl|gvt|evt)_[0-9A-Za-z]{38,}|[0-9A-Za-z_-]{76,}`)
	loggedKey = regexp.MustCompile(`gk_[0-9A-Za-z]{4}…`)

	// secretKinds has the names of secrets by prefix.
	secretKinds = map[string]string{
		"gat": "access", "gjt": "join", "grt": "refresh", "gtk": "program", "gk": "key", "gis": "secret", "gex": "link", "evt": "event",
		"whsec": "signing", "gsl": "status", "gpl": "portal", "gvt": "ticket",
	}
)

// fileToken is the length of the token in a link to a file. Cursors are longer.
const fileToken = 76

// mask replaces random values by their names.
func (s *service) mask(text string) string {
	text = loggedKey.ReplaceAllString(strings.ReplaceAll(text, s.receiver.URL, receiverName), "gk_")
	return randomText.ReplaceAllStringFunc(text, func(found string) string {
		if name, ok := s.nameOf[found]; ok {
			return name
		}
		prefix, _, _ := strings.Cut(found, "_")
		kind := cmp.Or(secretKinds[prefix], "cursor")
		switch len(found) {
		case len(feedback.ID{}.String()):
			kind = "id"
		case fileToken:
			kind = "file"
		}
		name := fmt.Sprint(kind, len(s.seen))
		s.values[name], s.nameOf[found] = found, "{"+name+"}"
		s.seen = append(s.seen, s.nameOf[found])
		return s.nameOf[found]
	})
}

// fill is the reverse of mask: it replaces names by their values.
func (s *service) fill(text string) string {
	for name, value := range s.values {
		text = strings.ReplaceAll(text, "{"+name+"}", value)
	}
	return text
}

// answer returns the masked answer to a call.
func (s *service) answer(t *rapid.T, c aCall) string {
	if c.identity != nil {
		s.values[strings.Trim(identityName, "{}")] = signed(t, s.fill(c.identity.secret), s.fill(text(c.identity.claims)))
	}
	r := httptest.NewRequest(http.MethodPost, "/api/"+c.operation, strings.NewReader(s.fill(c.body)))
	r.Header.Set("Content-Type", "application/json")
	switch token := s.values[strings.Trim(c.who, "{}")]; {
	case c.who == "":
	case strings.HasPrefix(token, "gk_"):
		r.Header.Set("X-API-Key", token)
	default:
		r.Header.Set("Authorization", "Bearer "+token)
	}
	if c.origin != "" {
		r.Header.Set("Origin", c.origin)
	}
	got := s.serve(r)
	return fmt.Sprintln(got.Code, got.Header().Get("Retry-After")) + s.mask(got.Body.String())
}

func (s *service) serve(r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, r)
	return w
}

func (s *service) get(path string) *httptest.ResponseRecorder {
	return s.serve(httptest.NewRequest(http.MethodGet, path, http.NoBody))
}

func (s *service) put(path string, body io.Reader) *httptest.ResponseRecorder {
	return s.serve(httptest.NewRequest(http.MethodPut, path, body))
}

// signed returns an identity token with these claims.
func signed(t *rapid.T, secret, claims string) string {
	var fields jwt.MapClaims
	if err := json.Unmarshal([]byte(claims), &fields); err != nil {
		t.Fatalf("%s: %v", claims, err)
	}
	token, err := jwt.NewWithClaims(jwt.SigningMethodHS256, fields).SignedString([]byte(secret))
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// index brings the index up to date.
func (s *service) index(t *rapid.T) {
	if err := s.store.Index.FollowAll(context.Background(), index.Chunk); err != nil {
		t.Fatal(err)
	}
}
