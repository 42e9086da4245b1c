package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"time"

	"gatherkit/internal/config"
	"gatherkit/internal/deadline"
	"gatherkit/internal/feedback"
	"gatherkit/internal/mail"
	"gatherkit/internal/store"
)

// newMailSender returns what sends mail, or nil if no mail server is set.
func newMailSender(ctx context.Context, c config.Serve, s *store.Store, metrics *registry) (*mail.Sender, error) {
	if c.SMTP == "" {
		return nil, nil //nolint:nilnil // mail is off
	}
	server, err := mail.ParseServer(c.SMTP)
	if err != nil {
		return nil, fmt.Errorf("--smtp: %w", err)
	}
	key, err := s.Secret(ctx, mail.KeyName)
	if err != nil {
		return nil, err
	}
	sender := mail.NewSender(s.Mail, server, c.PublicURL.URL, key)
	for _, work := range mail.Kinds() {
		metrics.countFailures(work, sender.Outcomes.Failures)
	}
	metrics.MustRegister(sender.Metrics())
	return sender, nil
}

type mailTestCommand struct {
	SMTP string `name:"smtp" help:"Mail server, as in serve." env:"GATHERKIT_SMTP" required:"" placeholder:"URL"`
	To   string `arg:"" help:"Address that gets the test mail."`
}

// Validate checks the settings; kong calls it.
func (c *mailTestCommand) Validate() error {
	if !feedback.ValidEmail(c.To) {
		return errors.New("the address must look like ada@example.com")
	}
	return nil
}

// testTime is how long the mail server may take for the whole test.
var testTime = deadline.Of(2 * time.Minute)

// Run sends a mail, and prints the conversation with the mail server.
func (c *mailTestCommand) Run(p *program) error {
	server, err := mail.ParseServer(c.SMTP)
	if err != nil {
		return fmt.Errorf("--smtp: %w", err)
	}
	ctx, cancel := context.WithTimeout(p.ctx, testTime)
	defer cancel()
	helo, err := os.Hostname()
	if err != nil {
		helo = "localhost"
	}
	p.printf("Connecting to %s, port %d.\n", server.Host, server.Port)
	id := feedback.NewIDs(time.Now, rand.Reader).New()
	err = mail.Test(ctx, server, helo, c.To, time.Now(), id, func(line string) { p.printf("%s\n", line) })
	if err != nil {
		if advice := mail.Advice(err); advice != "" {
			p.printf("\n%s\n", advice)
		}
		return err
	}
	p.printf("\nThe mail server has taken the mail to %s, from %s. If it does not arrive, look among the spam.\n", c.To, server.From)
	return nil
}
