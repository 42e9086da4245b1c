// Package board reads what people outside see on the portal of an app: its ideas, which are the requests that the
// app shares, and their comments. Everything on a page is read from one state of the database.
package board

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"slices"

	"gatherkit/internal/changelog"
	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
	"gatherkit/internal/index"
	"gatherkit/internal/visitors"
)

// Boards are the portals in a database.
type Boards struct {
	db     *database.DB
	people *visitors.Visitors
	app    AppOf
}

// AppOf returns an app of an account, or ErrAppNotFound.
type AppOf func(ctx context.Context, q database.Queryer, accountID, id feedback.ID) (feedback.App, error)

// New returns the portals in a database.
func New(db *database.DB, v *visitors.Visitors, app AppOf) *Boards {
	return &Boards{db, v, app}
}

// Credentials is what a browser sends about its visitor.
type Credentials struct {
	Session string // token of somebody who is signed in
	Link    string // token of the link to the portal
	// Secret is that of a browser which has taken part without signing in, and App where it has: a browser that is
	// known to the portal of one app is new to those of others.
	Secret string
	App    feedback.ID
}

// VoterOf returns the id of the browser with a secret, or nil if there is none. Votes show it, so it does not tell
// the secret.
func VoterOf(secret string) *feedback.ID {
	if secret == "" {
		return nil
	}
	sum := sha256.Sum256([]byte("voter " + secret))
	id := feedback.ID(sum[:16])
	return &id
}

// View is one state of a portal, as a visitor sees it.
type View struct {
	App    feedback.App
	Number int64            // of the last entry in the account's log of changes
	Person *feedback.Person // who is signed in, or nil
	Secret string           // of a browser that has taken part in this portal without signing in, or ""
	// Behind is true if the index does not have all changes, so that the same state will look different later.
	Behind bool

	db     *database.DB
	q      database.Queryer
	key    string // of the person or the browser; "" if nothing is known
	reader feedback.Reader
	shown  map[string]bool // the tags that visitors see, folded once for all ideas of a page; see ShowsTag
}

// Read calls read with the state of a portal. It returns ErrPortalNotFound if there is no portal, if it is off, or
// if the browser does not have its link, ErrSuspended, and ErrSignInNeeded if the visitor has to sign in first; the app of the
// view is then set.
func (b *Boards) Read(ctx context.Context, at visitors.At, who Credentials, read func(context.Context, *View) error) (*View, error) {
	v := &View{db: b.db}
	return v, b.db.Read(ctx, func(tx *sql.Tx) error {
		accountID, appID, err := visitors.Find(ctx, tx, at)
		if err != nil {
			return err
		}
		app, err := b.app(ctx, tx, accountID, appID)
		if err != nil {
			if errors.Is(err, feedback.ErrAppNotFound) { // it is being deleted
				err = feedback.ErrPortalNotFound
			}
			return err
		}
		if app.Suspended {
			return feedback.ErrSuspended
		}
		if err := b.identify(ctx, tx, v, app, who); err != nil {
			return err
		}
		if err := v.admit(ctx, who.Link); err != nil {
			return err
		}
		if v.Number, err = changelog.Last(ctx, tx, accountID); err != nil {
			return err
		}
		return read(ctx, v)
	})
}

// ReadAs is Read for a call with the API key of an app. p is the person or the browser for whom it reads, or nil.
// People who are blocked are nobody here, too. A portal that needs its link is not found, because no call has it.
func (b *Boards) ReadAs(ctx context.Context, app feedback.App, p *feedback.Person, read func(context.Context, *View) error) error {
	return b.db.Read(ctx, func(tx *sql.Tx) (err error) {
		v := &View{db: b.db, q: tx}
		if v.App, err = b.app(ctx, tx, app.AccountID, app.ID); errors.Is(err, feedback.ErrAppNotFound) {
			return feedback.ErrPortalNotFound
		} else if err != nil {
			return err
		}
		if p != nil {
			err = visitors.Check(ctx, tx, app.AccountID, app.ID, p.Key())
			if err != nil && !errors.Is(err, feedback.ErrBlocked) {
				return err
			}
			if err == nil {
				v.is(*p)
			}
		}
		if err := v.admit(ctx, ""); err != nil {
			return err
		}
		return read(ctx, v)
	})
}

// is sets who the visitor of a call is: a browser, or somebody whom an identity token verifies.
func (v *View) is(p feedback.Person) {
	v.key = p.Key()
	if p.Verified {
		v.Person, v.reader = &p, feedback.ReaderOfPerson(v.App.ID, *p.ExternalID)
	}
}

// HasHost reports whether a portal is at a host, and not off.
func (b *Boards) HasHost(ctx context.Context, host string) (bool, error) {
	accountID, appID, err := visitors.Find(ctx, b.db.Reader(), visitors.At{Host: host})
	if err == nil {
		var app feedback.App
		app, err = b.app(ctx, b.db.Reader(), accountID, appID)
		return err == nil && app.Settings.Portal.On(), none(err)
	}
	return false, none(err)
}

// none returns nil if err says that there is no such portal or app.
func none(err error) error {
	if errors.Is(err, feedback.ErrPortalNotFound) || errors.Is(err, feedback.ErrAppNotFound) {
		return nil
	}
	return err
}

// identify sets who the visitor is.
func (b *Boards) identify(ctx context.Context, q database.Queryer, v *View, app feedback.App, who Credentials) (err error) {
	v.App, v.q = app, q
	if v.Person, err = b.people.SignedIn(ctx, q, app, who.Session); err != nil {
		return err
	}
	if who.App == app.ID {
		v.Secret = who.Secret
	}
	if v.Person != nil {
		v.key, v.reader = v.Person.Key(), feedback.ReaderOfPerson(app.ID, *v.Person.ExternalID)
	} else if v.Secret != "" {
		v.key = feedback.Person{BrowserID: VoterOf(v.Secret)}.Key()
		v.reader, _ = feedback.ReaderOfSecret(app.ID, v.Secret)
	}
	return nil
}

// admit refuses those who may not see the portal. link is the token of its link, or "".
func (v *View) admit(ctx context.Context, link string) error {
	if set := v.App.Settings.Portal; set.Access != feedback.AccessLink {
		return set.Admits(v.Person != nil)
	}
	has, err := visitors.HasLink(ctx, v.q, v.App, link)
	if err == nil && !has {
		err = feedback.ErrPortalNotFound
	}
	return err
}

// Reader returns who hears back of what the visitor does, or nil if nothing is known of the visitor.
func (v *View) Reader() feedback.Reader { return v.reader }

// Statuses returns the statuses that the portal shows.
func (v *View) Statuses() []feedback.Status {
	return slices.DeleteFunc(v.App.Settings.Shared(), func(s feedback.Status) bool { return s == feedback.Duplicate })
}

// Query selects ideas.
type Query struct {
	Words  string
	Status feedback.Status // "" for all that the portal shows
	Tag    string
	Sort   index.Sort
	After  *index.Place
	Limit  int
	Brief  bool // only ids and titles are wanted
}

// Ideas is a part of the ideas that a query selects.
type Ideas struct {
	Ideas []Idea
	Total int64
	More  bool
}

func (v *View) filter(q Query) index.Filter {
	shown := false
	f := index.Filter{
		AppID: &v.App.ID, Statuses: v.Statuses(), Box: feedback.Live, Hidden: &shown, Tag: feedback.Fold(q.Tag), Query: q.Words,
		Public: true,
	}
	if q.Status != "" {
		f.Statuses = slices.DeleteFunc(f.Statuses, func(s feedback.Status) bool { return s != q.Status })
	}
	return f
}

// List returns the ideas that a query selects, with the beginnings of their descriptions.
func (v *View) List(ctx context.Context, q Query) (Ideas, error) {
	f := v.filter(q)
	if len(f.Statuses) == 0 { // no status would mean any
		return Ideas{}, nil
	}
	scope, err := v.resolve(ctx, f)
	if err != nil {
		return Ideas{}, err
	}
	if q.Words != "" && !v.App.Settings.Portal.Descriptions {
		return v.inTitles(ctx, scope, q)
	}
	requests, err := scope.Page(ctx, v.q, index.Page{Sort: q.Sort, After: q.After, Limit: q.Limit + 1, Brief: q.Brief})
	if err != nil {
		return Ideas{}, err
	}
	list := Ideas{Total: scope.Total().N, More: len(requests) > q.Limit}
	list.Ideas, err = v.ideas(ctx, requests[:min(len(requests), q.Limit)])
	for i := range list.Ideas {
		list.Ideas[i].Description = feedback.Beginning(list.Ideas[i].Description)
	}
	return list, err
}

// Count returns how many ideas have a status.
func (v *View) Count(ctx context.Context, status feedback.Status) (int64, error) {
	scope, err := v.resolve(ctx, v.filter(Query{Status: status}))
	return scope.Total().N, err
}

func (v *View) resolve(ctx context.Context, f index.Filter) (index.Scope, error) {
	scope, err := index.Resolve(ctx, v.db, v.q, v.App.AccountID, f)
	v.Behind = v.Behind || !scope.Total().Exact
	return scope, err
}

// Get returns an idea. If it is merged, it is the one that it is merged into. It returns ErrRequestNotFound if the
// portal does not show it.
func (v *View) Get(ctx context.Context, id feedback.ID) (Idea, error) {
	found, err := v.requests(ctx, id)
	if err == nil && len(found) == 1 && found[0].MergedIntoID != nil && found[0].AppID == v.App.ID && found[0].Box == feedback.Live {
		found, err = v.requests(ctx, *found[0].MergedIntoID)
	}
	if err != nil {
		return Idea{}, err
	}
	if len(found) == 0 || !v.shows(found[0]) {
		return Idea{}, feedback.ErrRequestNotFound
	}
	ideas, err := v.ideas(ctx, found)
	if err != nil {
		return Idea{}, err
	}
	return ideas[0], nil
}

// shows reports whether the portal shows a request.
func (v *View) shows(r feedback.Request) bool {
	return r.AppID == v.App.ID && r.MergedIntoID == nil && v.App.Settings.Shares(r)
}

// Similar returns those of the requests that the portal shows, in the order of the ids.
func (v *View) Similar(ctx context.Context, ids []feedback.ID) ([]Idea, error) {
	found, err := v.requests(ctx, ids...)
	if err != nil {
		return nil, err
	}
	found = slices.DeleteFunc(found, func(r feedback.Request) bool { return !v.shows(r) })
	return v.ideas(ctx, found)
}
