package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"gatherkit/internal/remote"
)

// service holds the settings of commands that call a running service.
type service struct {
	URL   string `name:"url" help:"Address of the service, such as https://feedback.example.com. By default, that of gatherkit login." env:"GATHERKIT_URL" placeholder:"URL"`
	Token string `help:"Token of a program, which you create in the dashboard. By default, that of gatherkit login." env:"GATHERKIT_TOKEN" placeholder:"TOKEN"`
}

// find returns the service of the settings, or else of the last login. It never sends the token of the login to
// another address.
func (c *service) find() (remote.Service, error) {
	if c.URL != "" {
		address, err := remote.Parse(c.URL)
		if err != nil || c.Token != "" {
			return remote.Service{URL: address, Token: c.Token}, err
		}
		saved, err := load()
		if err == nil && saved.URL != address {
			saved = remote.Service{URL: address}
		}
		return saved, err
	}
	saved, err := load()
	if err == nil && saved.URL == "" {
		err = errors.New("no service is known; run gatherkit login, or set --url and --token")
	}
	if c.Token != "" {
		saved.Token = c.Token
	}
	return saved, err
}

func load() (remote.Service, error) {
	place, err := remote.Place()
	if err != nil {
		return remote.Service{}, err
	}
	return remote.Load(place)
}

type loginCommand struct {
	URL string `name:"url" required:"" help:"Address of the service, such as https://feedback.example.com." env:"GATHERKIT_URL" placeholder:"URL"`
}

// Run reads a token from standard input, checks it, and keeps it in a file.
func (c *loginCommand) Run(p *program) error {
	address, err := remote.Parse(c.URL)
	if err != nil {
		return err
	}
	token, err := p.readToken()
	if err != nil {
		return err
	}
	s := remote.Service{URL: address, Token: token}
	result, err := s.Call(p.ctx, "auth-me", struct{}{})
	if err != nil {
		return err
	}
	var me struct {
		User    struct{ Name string }
		Account struct{ Name string }
		Role    string
	}
	if err := json.Unmarshal(result, &me); err != nil {
		return err
	}
	place, err := remote.Place()
	if err != nil {
		return err
	}
	if err := s.Save(place); err != nil {
		return err
	}
	p.printf("Logged in to %s as %s (%s). The token is in %s.\n", me.Account.Name, me.User.Name, me.Role, place)
	return nil
}

// readToken reads a token from standard input, and hides it on a terminal.
func (p *program) readToken() (string, error) {
	var line string
	if input, ok := p.stdin.(*os.File); ok && term.IsTerminal(int(input.Fd())) {
		_, _ = fmt.Fprint(p.stderr, "Create a token in the dashboard under Team, Tokens. Paste it here: ")
		text, err := term.ReadPassword(int(input.Fd()))
		_, _ = fmt.Fprintln(p.stderr)
		if err != nil {
			return "", err
		}
		line = string(text)
	} else {
		text, err := bufio.NewReader(p.stdin).ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return "", err
		}
		line = text
	}
	if line = strings.TrimSpace(line); line == "" {
		return "", errors.New("there is no token; create one in the dashboard under Team, Tokens")
	}
	return line, nil
}

type apiCommand struct {
	service   `embed:""`
	JSONL     bool     `name:"jsonl" help:"Print each item of a list on a line, from all of its pages."`
	Operation string   `arg:"" help:"Operation, such as requests-list; see docs/api.md." complete:"operation"`
	Params    []string `arg:"" optional:"" help:"Parameters, such as status=opened, limit=5 or tags='[\"ui\"]'. Numbers, true, false, null, lists and objects are sent as such, everything else as text; \"5\" in quotes is text. A single - reads a JSON object from standard input."`
}

// Run calls the operation and prints its result as JSON.
func (c *apiCommand) Run(p *program) error {
	params, err := c.read(p.stdin)
	if err != nil {
		return err
	}
	s, err := c.find()
	if err != nil {
		return err
	}
	if c.JSONL {
		return s.Each(p.ctx, c.Operation, params, func(item json.RawMessage) error { return p.printJSON(item, "") })
	}
	result, err := s.Call(p.ctx, c.Operation, params)
	if err != nil {
		return err
	}
	return p.printJSON(result, "  ")
}

// read returns the parameters of the command line.
func (c *apiCommand) read(stdin io.Reader) (map[string]any, error) {
	params := map[string]any{}
	if len(c.Params) == 1 && c.Params[0] == "-" {
		decoder := json.NewDecoder(stdin)
		decoder.UseNumber()
		err := decoder.Decode(&params)
		if errors.Is(err, io.EOF) {
			return nil, errors.New("standard input is empty; send a JSON object")
		}
		if err == nil && (params == nil || decoder.More()) {
			err = errors.New("there is something else")
		}
		if err != nil {
			return nil, fmt.Errorf("standard input must be one JSON object: %w", err)
		}
		return params, nil
	}
	for _, param := range c.Params {
		name, text, ok := strings.Cut(param, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("%q is not a parameter; write it as name=value", param)
		}
		if _, twice := params[name]; twice {
			return nil, fmt.Errorf("%s is there twice; write a list as %s='[\"a\", \"b\"]'", name, name)
		}
		if params[name] = any(text); json.Valid([]byte(text)) {
			params[name] = json.RawMessage(text)
		}
	}
	return params, nil
}

// printJSON prints a value in one line, or indented.
func (p *program) printJSON(value json.RawMessage, indent string) error {
	var out bytes.Buffer
	var err error
	if indent == "" {
		err = json.Compact(&out, value)
	} else {
		err = json.Indent(&out, value, "", indent)
	}
	if err != nil {
		return err
	}
	out.WriteByte('\n')
	_, err = p.stdout.Write(out.Bytes())
	return err
}

type healthcheckCommand struct {
	URL string `name:"url" help:"Address of the service." default:"http://127.0.0.1:8080" env:"GATHERKIT_URL"`
}

// Run returns an error unless the service is ready.
func (c *healthcheckCommand) Run(p *program) error {
	address, err := remote.Parse(c.URL)
	if err != nil {
		return err
	}
	return remote.Service{URL: address}.Ready(p.ctx)
}
