// Feedcopy keeps a copy of all live requests of an account in a SQLite database. It is an example of a
// program that consumes the feed of changes, events-list.
//
//	export GATHERKIT_URL=https://feedback.example.com GATHERKIT_TOKEN=gtk_…
//	go run ./docs/examples/feedcopy requests.db
//
// Create a service token with the scope admin in the dashboard, under Team, Tokens. A role with fewer
// rights is not enough, because only admins get the event that an app was deleted.
//
// Each row of the table requests has a request as requests-get returns it, as JSON:
//
//	SELECT record ->> 'title', record ->> 'votes' FROM requests WHERE record ->> 'status' = 'planned'
//
// A request that is in the bin, in quarantine or removed for good has no row. The URLs of files work for
// an hour only.
//
// The program may be killed at any time, because it stores what it made of a page of events in the same
// transaction as the position of the page. It then gets the same events again, and the same comes of them.
// Run only one program for each database.
package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"log"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	interrupted := ctx.Err() != nil
	stop()
	if err != nil && !interrupted {
		log.Fatal(err)
	}
}

func run(ctx context.Context, args []string) (err error) {
	url, token := os.Getenv("GATHERKIT_URL"), os.Getenv("GATHERKIT_TOKEN")
	if len(args) != 1 || url == "" || token == "" {
		return errors.New("usage: GATHERKIT_URL=https://… GATHERKIT_TOKEN=gtk_… feedcopy requests.db")
	}
	db, err := openDatabase(ctx, args[0])
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	// The timeout is longer than a call can wait for events.
	c := &copier{service{url: url, token: token, http: &http.Client{Timeout: time.Minute}, away: true}, db}
	// This is for admins only, too: it shows whether the token has the role.
	if err := c.call(ctx, "audit-list", params{"limit": 1}, nil); err != nil {
		return err
	}
	err = c.follow(ctx)
	for errors.Is(err, errNoPosition) {
		log.Print("copying all requests")
		if err = c.copyAll(ctx); err == nil {
			err = c.follow(ctx)
		}
	}
	return err
}

type copier struct {
	service
	db database
}

// errNoPosition means that the copy has no position in the log of changes, and must be made anew.
var errNoPosition = errors.New("the position is not one in this log of changes")

type page struct {
	Events   []event `json:"events"`
	Position int64   `json:"position"`
}

type event struct {
	Number    int64     `json:"number"`
	ID        string    `json:"id"`
	Kind      string    `json:"kind"`
	AppID     *string   `json:"app_id"`
	RequestID *string   `json:"request_id"`
	Request   *struct{} `json:"request"` // null unless the request is live
	Before    struct {
		ID string `json:"id"`
	} `json:"before"`
}

// follow reads the feed from the stored position, and applies each page to the copy.
func (c *copier) follow(ctx context.Context) error {
	at, err := c.db.position(ctx)
	for err == nil {
		if c.away {
			c.away = false
			err = c.checkPosition(ctx, at)
			continue
		}
		var p page
		// Each event can cost a call of requests-get, and a token has 600 a minute. Small pages are stored soon.
		err = c.events(ctx, params{"after": at.number, "limit": 100, "wait": 10}, &p)
		// After a repeated call, the page may be from another log.
		if err == nil && p.Position > at.number && !c.away {
			at, err = c.apply(ctx, p)
		}
	}
	return err
}

// events reads a page of the feed.
func (c *copier) events(ctx context.Context, in params, p *page) error {
	err := c.call(ctx, "events-list", in, p)
	if isCode(err, "events.position_ahead") {
		return errNoPosition // an older copy of the service's database was restored
	}
	return err
}

// checkPosition reads the event at a position again. If an older copy of the service's database was
// restored while the service was away, it gives the same numbers to other events.
func (c *copier) checkPosition(ctx context.Context, at position) error {
	again, err := c.positionAt(ctx, at.number)
	if err == nil && at.event != "" && again.event != at.event {
		return errNoPosition
	}
	return err
}

// positionAt returns a position with its event, if that was not erased.
func (c *copier) positionAt(ctx context.Context, number int64) (position, error) {
	var p page
	if err := c.events(ctx, params{"after": number - 1, "limit": 1}, &p); err != nil {
		return position{}, err
	}
	p.Position = number
	return p.end(), nil
}

// end returns the position of a page. There may be erased numbers after its last event.
func (p *page) end() position {
	at := position{number: p.Position}
	for _, e := range p.Events {
		if e.Number == at.number {
			at.event = e.ID
		}
	}
	return at
}

// apply stores the requests that a page of events is about as they are now, and the position of the page.
// An event says only that something has changed: if there is more to come, an event will say so. The
// numbers in erased need no attention. They are of requests that were removed for good, and each of these
// has an event request.purged, or all of its app have one app.deleted.
func (c *copier) apply(ctx context.Context, p page) (position, error) {
	records := map[string]json.RawMessage{} // by id; null for what is not live
	var apps []string                       // that were deleted
	for _, e := range p.Events {
		switch {
		case e.Kind == "app.deleted":
			apps = append(apps, *e.AppID)
		case e.Kind == "request.purged":
			records[e.Before.ID] = nil
		case e.RequestID == nil: // it is about the account, its users, its tokens or its apps
		case e.Request == nil:
			records[*e.RequestID] = nil
		default:
			if _, known := records[*e.RequestID]; known {
				continue
			}
			record, err := c.read(ctx, *e.RequestID)
			if err != nil {
				return position{}, err
			}
			records[*e.RequestID] = record
		}
	}
	at := p.end()
	return at, c.db.write(ctx, func(tx *sql.Tx) (err error) {
		for id, record := range records {
			if record != nil {
				err = insert(ctx, tx, record)
			} else {
				err = remove(ctx, tx, id)
			}
			if err != nil {
				return err
			}
		}
		for _, id := range apps {
			if err := removeApp(ctx, tx, id); err != nil {
				return err
			}
		}
		return at.store(ctx, tx)
	})
}

// read returns a request, or nil if it has been deleted since.
func (c *copier) read(ctx context.Context, id string) (json.RawMessage, error) {
	var found struct {
		Request json.RawMessage `json:"request"`
	}
	err := c.call(ctx, "requests-get", params{"id": id}, &found)
	if isCode(err, "requests.not_found") {
		return nil, nil
	}
	return found.Request, err
}

// copyAll replaces the copy. It keeps the end of the log from before the copy, so that what changes
// meanwhile is among the next events. All is one transaction: until its end, readers see the old copy.
func (c *copier) copyAll(ctx context.Context) error {
	var end page
	if err := c.events(ctx, params{}, &end); err != nil {
		return err
	}
	at, err := c.positionAt(ctx, end.Position)
	if err != nil {
		return err
	}
	return c.db.write(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, "DELETE FROM requests"); err != nil {
			return err
		}
		for in := (params{"limit": 200}); ; {
			var list struct {
				Requests   []json.RawMessage `json:"requests"`
				NextCursor string            `json:"next_cursor"`
				HasMore    bool              `json:"has_more"`
			}
			if err := c.call(ctx, "requests-list", in, &list); err != nil {
				return err
			}
			for _, record := range list.Requests {
				if err := insert(ctx, tx, record); err != nil {
					return err
				}
			}
			if !list.HasMore {
				return at.store(ctx, tx)
			}
			in["cursor"] = list.NextCursor
		}
	})
}
