package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"syscall"

	"gatherkit/internal/config"
	"gatherkit/internal/feedback"
	"gatherkit/internal/password"
	"gatherkit/internal/store"
	"gatherkit/web"
)

type demoCommand struct{}

const (
	demoEmail = "ada@example.com"
	demoPort  = 8080
)

// Run serves the example until the program is told to stop, and removes it.
func (demoCommand) Run(p *program) (err error) {
	folder, err := os.MkdirTemp("", "gatherkit-demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	log := slog.New(slog.NewTextHandler(p.stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	at := config.Store{Data: folder}
	secret := rand.Text()
	demo, err := p.fill(at, log, secret)
	if err != nil {
		return fmt.Errorf("fill the example: %w", err)
	}
	address, err := p.freeAddress()
	if err != nil {
		return err
	}
	c := config.Serve{Store: at, Listen: address, PublicURL: config.PublicURL{URL: &url.URL{Scheme: "http", Host: address}}}
	page := &web.Demo{AppID: demo.app.ID.String(), AppName: demo.app.Name, Key: demo.app.APIKey, Email: demoEmail, Password: secret}
	return p.serve(c, log, page, func(*store.Store, string) error {
		p.explain(c.PublicURL.String(), secret, demo)
		return nil
	})
}

// freeAddress is 127.0.0.1:8080, or the next port that is free.
func (p *program) freeAddress() (string, error) {
	for port := demoPort; port < demoPort+100; port++ {
		address := fmt.Sprintf("127.0.0.1:%d", port)
		listener, err := listen(p.ctx, address, "")
		if errors.Is(err, syscall.EADDRINUSE) {
			continue
		}
		if err != nil {
			return "", err
		}
		return address, listener.Close()
	}
	return "", fmt.Errorf("no port from %d on is free", demoPort)
}

func (p *program) explain(base, secret string, demo demo) {
	p.printf(`Gatherkit's example has %[4]d requests. It can be reached from this machine only, and is gone
when you press Ctrl-C.

Send ideas with the widget: %[1]s/demo
Decide in the dashboard:    %[1]s, as %[2]s, password %[3]s
Read about the API:         %[1]s/docs

To call it, log in and keep the token:

  TOKEN=$(curl -s %[1]s/api/auth-login -H 'Content-Type: application/json' -d '{"email":"%[2]s","password":"%[3]s"}' | sed -n 's/.*"access_token":"\([^"]*\)".*/\1/p')

List the newest requests that nobody has looked at yet:

  curl -s %[1]s/api/requests-list -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -d '{"status":"opened","limit":5}'

List what most people want, with all that was decided:

  curl -s %[1]s/api/requests-list -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -d '{"sort":"most_voted","limit":5}'

See what the widget shows somebody who types "drak mode invoice lists":

  curl -s %[1]s/api/widget-similar-requests -H "X-API-Key: %[6]s" -H 'Content-Type: application/json' -d '{"text":"drak mode invoice lists"}'

Submit one as the widget of the app "%[5]s" does:

  curl -s %[1]s/api/widget-submit-request -H "X-API-Key: %[6]s" -H 'Content-Type: application/json' -d '{"title":"Dark mode","description":"My eyes hurt at night."}'

`, base, demoEmail, secret, demo.requests, demo.app.Name, demo.app.APIKey)
}

// demo is what the example holds.
type demo struct {
	app      feedback.App
	requests int
}

// fill makes the example, on a clock that runs through the last ninety days.
func (p *program) fill(at config.Store, log *slog.Logger, secret string) (demo, error) {
	clock := newDemoClock()
	s, err := p.open(at, log, func(o *store.Options) { o.Now = clock.Now })
	if err != nil {
		return demo{}, err
	}
	made, err := fillDemo(p.ctx, s, clock, secret)
	return made, errors.Join(err, s.Close())
}

func fillDemo(ctx context.Context, s *store.Store, clock *demoClock, secret string) (demo, error) {
	hasher := password.New(rand.Reader)
	hash, err := hasher.Hash(ctx, password.Asker{}, secret)
	if err != nil {
		return demo{}, err
	}
	life := newDemoLife(s)
	for i, name := range []string{"Ada Lovelace", "Linus Ohm", "Mary Keller"} {
		user := store.NewUser{Email: strings.ToLower(strings.Fields(name)[0]) + "@example.com", Name: name, Role: feedback.RoleMember, PasswordHash: hash}
		if i == 0 {
			user.Role = feedback.RoleOwner
		}
		account, added, err := s.AddUser(ctx, "Acme", user)
		if err != nil {
			return demo{}, err
		}
		life.account, life.team = account, append(life.team, added)
	}
	var apps []feedback.App
	for _, name := range []string{"Acme Web", "Acme Mobile"} {
		app, err := s.AddApp(ctx, life.account.ID, name, userActor(life.team[0]))
		if err != nil {
			return demo{}, err
		}
		app, err = s.ChangeApp(ctx, life.account.ID, app.ID, userActor(life.team[0]), func(a *feedback.App) {
			a.Settings.Sharing, a.Settings.Widget.AllowFileUploads = "all", true
		})
		if err != nil {
			return demo{}, err
		}
		apps = append(apps, app)
	}
	ideas := demoIdeas()
	for i, idea := range ideas {
		clock.advance(len(ideas))
		if err := life.day(ctx, i, apps[i%len(apps)], idea); err != nil {
			return demo{}, err
		}
	}
	_, total, err := s.Requests(ctx, life.account.ID, store.Filter{Box: feedback.Live}, store.Page{Sort: store.Newest, Limit: 1})
	return demo{app: apps[0], requests: int(total.N)}, errors.Join(err, life.index(ctx))
}
