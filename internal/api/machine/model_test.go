package machine

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"gatherkit/internal/feedback"
)

const timeForm = "2006-01-02T15:04:05.000Z"

type object = map[string]any

// model is the state that the service should have. Nothing is removed from its lists but views, templates and webhooks, so
// their order is the order of creation. Ids and secrets are names.
type model struct {
	now         func() time.Time
	accounts    []*account
	users       []*user
	apps        []*app
	requests    []*request
	tokens      []*token // of sessions
	programs    []*program
	cursors     []*place
	exports     []*export
	uploads     []*upload
	links       []*joinLink
	statusLinks []*statusLink
	written     []submittedText
	said        []submittedText // on portals
	mentions    []*mention
	entries     []*entry
	remarks     []*remark // comments that were held
	views       []*view   // in the order that users give them
	templates   []*template
	webhooks    []*endpoint
	expects     []expected        // calls that the receiver should get
	eventIDs    map[string]string // by account and number
	down        bool              // whether the receiver answers everything with 503

	firstView map[*user]*view
	failures  map[string]*countdown // failed logins by e-mail, and all of them under ""
	seenUntil map[string]*time.Time // by app and reader; zero for never
	comments  int                   // how many there have ever been

	entriesEver int
	learned     map[string]bool // the names that the model has taken from answers
}

type (
	account struct {
		id, name  string
		log       []change
		seq       int
		sends     sends
		submitted []time.Time // when requests came from outside
	}
	change struct {
		text, request string
		number        int
		at            time.Time
		kind, actor   string
		app           string
		by            any
		changed       []string // fields; only those that kinds of events can name
		internal      bool     // only the team may see it
		told          int      // how many people outside were told
		quiet         bool     // nobody was told, as the caller wanted
		facts         *facts   // nil if the model does not know them
	}
	// facts are what an entry of the log says: what somebody did, and the changed fields.
	facts struct {
		did           string
		before, after object
	}
	user struct {
		*account
		id, email, name, password string
		role                      feedback.Role
		gone                      bool
	}
	app struct {
		*account
		id, name, key    string
		settings         object
		created, updated time.Time
		deleted          bool
		purged           bool   // the worker has removed its requests
		secret, before   string // sign identity tokens; before is the previous secret
		beforeUntil      time.Time
		blockings        []blocking
		linkMade         time.Time // of the portal; zero for never
	}
	request struct {
		*app
		id, title, description, status, idempotencyKey string
		ofPage                                         bool // sent by a page; pages and programs have separate idempotency keys
		submitter                                      object
		reader                                         string    // of the submitter; "" for nobody
		news, commentNews                              time.Time // when those who asked or voted, or only those who asked, were told
		rooted                                         time.Time // since when root is the root
		replied                                        time.Time // when the submitter wrote a comment that nobody has answered; zero if none
		metadata                                       any
		tags                                           []any
		assignee                                       any
		hidden                                         bool
		plain                                          object // the values of plainFields
		source                                         string
		votes                                          int
		given                                          []*vote    // without those of merged requests
		kept                                           bool       // whether the submitter's vote counts for the heat
		heat                                           int64      // see feedback.Heat
		comments                                       []*comment // including deleted ones
		attachments                                    []*upload
		linked                                         []link
		root, parent                                   *request // if merged: where its votes count, and what it was merged into
		former                                         string   // the status before it was merged
		version                                        int
		created, updated                               time.Time
		answered                                       time.Time // when it first got another status or a public comment
		binned, quarantined, gone                      bool
		sent                                           string // what the submitter sent
	}
	session struct {
		*user
		listedAs     string // its id, after it was listed
		opened, used time.Time
		ended        bool
	}
	token struct {
		*session
		text, next     string // next is the refresh token that replaced it
		expires, spent time.Time
		swept          bool
	}
	// place is the position where a page begins, as in a cursor.
	place struct {
		text            string
		account         *account
		operation, sort string
		filter          object
		request         string
		limit, after    int
		afterBy         int64
		afterKey        string
		began           time.Time
	}
	countdown struct {
		n      int
		resets time.Time
	}
)

func newModel(now func() time.Time) *model {
	return &model{
		now: now, firstView: map[*user]*view{}, failures: map[string]*countdown{}, learned: map[string]bool{}, eventIDs: map[string]string{},
		seenUntil: map[string]*time.Time{},
	}
}

func (a *app) live() bool { return !a.deleted }

func (r *request) live() bool { return !r.deleted && !r.gone && r.box() == "live" }

// valid reports whether the token works.
func (t *token) valid(now time.Time) bool { return t.known() && now.Before(t.expires) }

func (t *token) known() bool { return !t.ended && !t.swept }

func (t *token) refreshes() bool { return strings.HasPrefix(t.text, "{refresh") }

// find returns the first element that fits, or the zero value.
func find[T any](list []T, fits func(T) bool) (found T) {
	if i := slices.IndexFunc(list, fits); i >= 0 {
		return list[i]
	}
	return found
}

func (m *model) token(text string) *token {
	return find(m.tokens, func(t *token) bool { return t.text == text })
}

func (m *model) app(a *account, id any) *app {
	return find(m.apps, func(p *app) bool { return p.id == id && p.account == a && p.live() })
}

func (m *model) request(a *account, id any) *request {
	return find(m.requests, func(r *request) bool { return r.id == id && r.account == a && !r.deleted && !r.gone })
}

// record adds to the account's log.
func (m *model) record(a *account, kind, actor, by, app, request string) {
	a.seq++
	or := func(id string) string { return strings.Join(strings.Fields(id + " -")[:1], "") }
	a.log = append(a.log, change{
		text:    fmt.Sprint(a.seq, " ", m.now().Format(timeForm), " ", kind, " ", actor, " ", or(by), " ", or(app), " ", or(request)),
		request: request, number: a.seq,
		at: m.now(), kind: kind, actor: actor, app: app, by: by,
	})
}

// latest is the last entry of the account's log.
func (a *account) latest() *change { return &a.log[len(a.log)-1] }

// logged returns the account's log and its last number.
func (a *account) logged() string {
	var b strings.Builder
	for _, c := range a.log {
		fmt.Fprintln(&b, c.text, text(c.outside(object{})))
	}
	fmt.Fprintln(&b, a.seq)
	return b.String()
}

// userAdded adds a user that a command or the set-up has created.
func (m *model) userAdded(accountID, accountName, actor string, u user) *user {
	by := ""
	if actor == "user" { // who has created their own account
		by = u.id
	}
	u.account = find(m.accounts, func(a *account) bool { return a.id == accountID })
	if u.account == nil {
		u.account = &account{id: accountID, name: accountName}
		m.accounts = append(m.accounts, u.account)
		m.record(u.account, "account.created", actor, by, "", "")
	}
	m.users = append(m.users, &u)
	m.record(u.account, "user.created", actor, by, "", "")
	return &u
}

// forgetApps removes the changes that the worker removes with deleted apps.
func (m *model) forgetApps() {
	gone := map[string]bool{}
	for _, r := range m.requests {
		if r.purged {
			gone[r.id] = true
		}
	}
	for _, a := range m.accounts {
		m.forget(a, gone)
	}
}

// swept removes what the worker removes because of its age.
func (m *model) swept() {
	for _, t := range m.tokens {
		t.swept = t.swept || t.expires.Before(m.now().Add(-7*24*time.Hour))
	}
	month := m.now().Add(-30 * 24 * time.Hour)
	for _, a := range m.accounts {
		m.emptyBin(a, month)
	}
	for _, r := range m.requests {
		if r.created.Before(month) {
			r.idempotencyKey = ""
		}
	}
	for _, l := range m.statusLinks {
		l.ended = l.ended || l.one == nil && !l.opened && l.made.Before(month)
	}
	m.release(func(r *request) bool { return r.gone })
	m.forgetFiles()
}

func (u *user) shown() object { return object{"id": u.id, "email": u.email, "name": u.name} }

func (a *account) shown() object { return object{"id": a.id, "name": a.name} }
