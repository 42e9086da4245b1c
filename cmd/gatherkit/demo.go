package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"strings"
	"syscall"

	"gatherkit/internal/config"
	"gatherkit/internal/feedback"
	"gatherkit/internal/index"
	"gatherkit/internal/password"
	"gatherkit/internal/store"
	"gatherkit/internal/team"
	"gatherkit/internal/views"
	"gatherkit/internal/webhook"
	"gatherkit/web"
)

type demoCommand struct {
	Listen string `help:"Address to listen on. The default is 127.0.0.1:8080, or the next port that is free." env:"GATHERKIT_LISTEN" placeholder:"ADDR"`
}

// Validate checks the address; kong calls it.
func (c *demoCommand) Validate() error {
	if c.Listen == "" {
		return nil
	}
	return config.CheckListen("--listen", c.Listen)
}

const (
	demoEmail = "ada@example.com"
	demoPort  = 8080 // first port to try
	demoPorts = 100  // number of ports to try
)

// Run serves the example until the program is stopped, and then removes its data.
func (c *demoCommand) Run(p *program) (err error) {
	folder, err := os.MkdirTemp("", "gatherkit-demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	log := config.NewLog(p.stderr, "text", slog.LevelWarn)
	at := config.Store{Data: folder}
	secret := rand.Text()
	address := c.Listen
	if address == "" {
		if address, err = p.freeAddress(); err != nil {
			return err
		}
	}
	settings := config.Serve{Storage: config.Storage{Store: at}, Listen: address, WebhookAllow: thisMachine}
	demo, err := p.fill(at, log, secret, baseURL(settings, address)+web.DemoWebhookPath)
	if err != nil {
		return fmt.Errorf("cannot create the example: %w", err)
	}
	page := &web.Demo{
		AppID: demo.app.ID.String(), AppName: demo.app.Name, Key: demo.app.APIKey, Email: demoEmail, WebhookSecret: demo.webhookSecret,
	}
	if onlyLocal(address) { // otherwise, everybody who finds the service could log in
		page.Password = secret
	}
	return p.serve(&serving{Serve: settings, log: log, demo: page, announce: func(_ *store.Store, address string) error {
		p.explain(baseURL(settings, address), secret, demo, page.Password != "")
		return nil
	}})
}

// onlyLocal reports whether only this machine can reach an address to listen on.
func onlyLocal(address string) bool {
	host, _, err := net.SplitHostPort(address)
	return err == nil && (host == "localhost" || net.ParseIP(host).IsLoopback())
}

// freeAddress returns 127.0.0.1:8080, or the next port on that address that is free.
func (p *program) freeAddress() (string, error) {
	for port := demoPort; port < demoPort+demoPorts; port++ {
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
	return "", fmt.Errorf("all ports from %d to %d are in use; stop a program that uses one of them", demoPort, demoPort+demoPorts-1)
}

// explain prints where to find the example, and calls to try.
// Without local, other machines can reach it, and the link to its page contains the password.
func (p *program) explain(base, secret string, demo demo, local bool) {
	call := func(operation, header, body string) string {
		return fmt.Sprintf("curl -s %s/api/%s%s -H 'Content-Type: application/json' -d '%s'", base, operation, header, body)
	}
	reach, page := "It accepts connections only from this machine", base+"/demo"
	if !local {
		reach, page = "Other machines can reach it, and the password opens it", page+"#"+secret
	}
	user, widget := ` -H "Authorization: Bearer $TOKEN"`, ` -H "X-API-Key: `+demo.app.APIKey+`"`
	p.printf(`This example has %[4]d requests. %[11]s.
Its data is deleted when you press Ctrl-C.

Widget:    %[12]s
Portal:    %[1]s/p/acme-web/
Dashboard: %[1]s, log in as %[2]s with the password %[3]s
API docs:  %[1]s/docs

To try the API, log in and keep the token:

  TOKEN=$(%[6]s | sed -n 's/.*"access_token":"\([^"]*\)".*/\1/p')

List the newest requests with the status opened:

  %[7]s

List the requests with the most votes:

  %[8]s

Find requests that are similar to a text, typos included, as the widget does:

  %[9]s

Submit a request, as the widget of the app "%[5]s" does:

  %[10]s

`, base, demoEmail, secret, demo.requests, demo.app.Name,
		call("auth-login", "", `{"email":"`+demoEmail+`","password":"`+secret+`"}`),
		call("requests-list", user, `{"status":"opened","limit":5}`),
		call("requests-list", user, `{"sort":"most_voted","limit":5}`),
		call("widget-similar-requests", widget, `{"text":"drak mode invoice lists"}`),
		call("widget-submit-request", widget, `{"title":"Dark mode","description":"My eyes hurt at night."}`), reach, page)
}

// demo describes the example.
type demo struct {
	app           feedback.App
	requests      int
	webhookSecret string
}

// fill creates the example with a clock that runs through the last demoDays days.
func (p *program) fill(at config.Store, log *slog.Logger, secret, endpoint string) (demo, error) {
	clock := newDemoClock()
	s, err := p.open(at, log, func(o *store.Options) { o.Now = clock.Now })
	if err != nil {
		return demo{}, err
	}
	made, err := fillDemo(p.ctx, s, clock, secret)
	if err == nil {
		made.webhookSecret, err = addDemoWebhook(p.ctx, s, made.app, endpoint)
	}
	return made, errors.Join(err, s.Close())
}

// thisMachine is where the endpoint of the example is.
var thisMachine = config.Networks{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}

// addDemoWebhook adds a webhook for the page of the example, and returns its secret.
func addDemoWebhook(ctx context.Context, s *store.Store, app feedback.App, endpoint string) (string, error) {
	added, err := s.Webhooks.Add(ctx, app.AccountID, feedback.Command(), webhook.Webhook{
		Name: "The page /demo", URL: endpoint, Format: webhook.Events, Kinds: []string{}, State: webhook.On,
	})
	if err != nil {
		return "", err
	}
	secret, err := s.Webhooks.Secret(ctx, app.AccountID, feedback.Command(), added.ID, false)
	return secret.Secret, err
}

func fillDemo(ctx context.Context, s *store.Store, clock *demoClock, secret string) (demo, error) {
	hasher := password.New(rand.Reader)
	hash, err := hasher.Hash(ctx, password.Asker{}, secret)
	if err != nil {
		return demo{}, err
	}
	life := newDemoLife(s)
	for i, name := range []string{"Ada Lovelace", "Linus Ohm", "Mary Keller"} {
		email := strings.ToLower(strings.Fields(name)[0]) + "@example.com"
		user := team.NewUser{Email: email, Name: name, Role: feedback.RoleMember, PasswordHash: hash}
		if i == 0 {
			created, err := s.CreateAccounts(ctx, []store.NewAccount{{Name: "Acme", Owner: user}})
			if err != nil {
				return demo{}, err
			}
			life.account, life.team = created[0].Account, append(life.team, created[0].Owner.User)
			continue
		}
		added, err := s.Team.AddUser(ctx, life.account.ID, user)
		if err != nil {
			return demo{}, err
		}
		life.team = append(life.team, added)
	}
	apps, err := life.addApps(ctx)
	if err != nil {
		return demo{}, err
	}
	for _, view := range []views.View{
		{Name: "Most wanted", Filter: []byte(`{"status":["opened","under_review"]}`), Sort: string(index.MostVoted)},
		{Name: "Next", Filter: []byte(`{"status":["planned","in_progress"]}`), Sort: string(index.Newest)},
	} {
		view.Shared = true
		if _, err := s.Views.Add(ctx, life.account.ID, life.team[0].ID, view); err != nil {
			return demo{}, err
		}
	}
	ideas := demoIdeas()
	for i, idea := range ideas {
		clock.advance(len(ideas))
		if err := life.day(ctx, i, apps[i%len(apps)], idea); err != nil {
			return demo{}, err
		}
		if every := len(ideas) / len(news); (i+1)%every == 0 {
			if err := life.announce(ctx, apps[0], i/every); err != nil {
				return demo{}, err
			}
		}
	}
	if err := life.discuss(ctx, apps[0]); err != nil {
		return demo{}, err
	}
	_, total, err := s.Index.List(ctx, life.account.ID, index.Filter{Box: feedback.Live}, index.Page{Sort: index.Newest, Limit: 1})
	return demo{app: apps[0], requests: int(total.N)}, errors.Join(err, life.index(ctx))
}

// addApps adds the apps, whose portals are on.
func (l *demoLife) addApps(ctx context.Context) (apps []feedback.App, err error) {
	for _, made := range []struct{ name, slug, color string }{
		{"Acme Web", "acme-web", "#4F46E5"}, {"Acme Mobile", "acme-mobile", "#0F766E"},
	} {
		app, err := l.AddApp(ctx, l.account.ID, made.name, feedback.ByUserID(l.team[0].ID))
		if err != nil {
			return nil, err
		}
		app, err = l.ChangeApp(ctx, l.account.ID, app.ID, feedback.ByUserID(l.team[0].ID), func(a *feedback.App) error {
			a.Settings.Sharing, a.Settings.Widget.AllowFileUploads, a.Settings.Widget.PrimaryColor = "all", true, made.color
			portal := &a.Settings.Portal
			portal.Access, portal.Slug, portal.Comments, portal.Names = feedback.AccessPublic, made.slug, feedback.FromAnyone, "verified"
			return nil
		})
		if err != nil {
			return nil, err
		}
		apps = append(apps, app)
	}
	return apps, nil
}
