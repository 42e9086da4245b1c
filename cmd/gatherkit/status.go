package main

import (
	"fmt"
	"strconv"
	"time"

	"gatherkit/internal/config"
	"gatherkit/internal/feedback"
	"gatherkit/internal/mail"
	"gatherkit/internal/store"
)

type statusCommand struct {
	config.Store `embed:""`
}

// listed is how many failures of a kind the command prints.
const listed = 100

// Run prints how the background work does, and what has failed.
func (c *statusCommand) Run(p *program) error {
	return p.withExisting(c.Store, func(s *store.Store) error {
		behind, err := s.Index.Backlog(p.ctx)
		if err != nil {
			return err
		}
		p.printf("Changes that the search index has not processed yet: %d\n", behind)
		if err := p.printMail(s); err != nil {
			return err
		}
		if err := p.printWebhooks(s); err != nil {
			return err
		}
		return p.printSetAside(s)
	})
}

func (p *program) printMail(s *store.Store) error {
	q, err := s.Mail.Queue(p.ctx)
	if err != nil {
		return err
	}
	p.printf("Mails that wait: %d\nMails that were given up in the last seven days: %d\n", q.Waiting, q.GivenUp)
	if q.State != mail.OK {
		p.printf("Mail server: %s since %s: %s\n", q.State, inUTC(*q.Since), printable(*q.Error))
	}
	return nil
}

func (p *program) printWebhooks(s *store.Store) error {
	failing, err := s.Webhooks.Failing(p.ctx, listed)
	if err != nil {
		return err
	}
	p.printf("Webhooks that fail or are disabled: %s\n", number(len(failing)))
	for _, f := range failing {
		p.printf("  account %s, webhook %s: %s since %s: %s\n", f.AccountID, f.ID, f.State, inUTC(f.Since), printable(f.Error))
	}
	return nil
}

func (p *program) printSetAside(s *store.Store) error {
	items, err := s.SetAside.All(p.ctx, listed)
	if err != nil {
		return err
	}
	p.printf("Background work that failed and is tried again: %s\n", number(len(items)))
	for _, i := range items {
		p.printf("  account %s, %s, %s: failed %d times since %s, next attempt at %s: %s\n",
			i.AccountID, i.Kind, printable(i.Subject), i.Attempts, inUTC(i.Since), inUTC(i.RetryAt), printable(i.Error))
	}
	return nil
}

// number prints how many failures there are, of which at most listed were read.
func number(n int) string {
	if n == listed {
		return fmt.Sprintf("%d or more", n)
	}
	return strconv.Itoa(n)
}

func inUTC(t feedback.Time) string { return t.Std().UTC().Format(time.RFC3339) }
