package main

import (
	"fmt"

	"gatherkit/internal/config"
	"gatherkit/internal/store"
)

type recountCommand struct {
	config.Store `embed:""`
}

// Run checks and repairs the counters, and prints those that were wrong.
func (c *recountCommand) Run(p *program) error {
	return p.withExisting(c.Store, func(s *store.Store) error {
		wrong, err := s.Recount(p.ctx)
		for _, m := range wrong {
			of := fmt.Sprintf("app %s, %s, %s", m.AppID, m.Box, m.Status)
			switch {
			case m.RequestID != nil:
				of = fmt.Sprintf("request %s, %s", m.RequestID, m.Of)
			case m.Of == "files":
				of = fmt.Sprintf("account %s, bytes of files", m.AccountID)
			}
			p.printf("%s: repaired, was %d, is now %d\n", of, m.Counted, m.Rows)
		}
		if err == nil && len(wrong) == 0 {
			p.printf("All counters are right.\n")
		}
		return err
	})
}

type migrateCommand struct {
	config.Store `embed:""`
}

// Run migrates the schema, which opening the store does.
func (c *migrateCommand) Run(p *program) error {
	return p.with(c.Store, func(*store.Store) error {
		p.printf("The database schema is up to date.\n")
		return nil
	})
}

type distributeCommand struct {
	config.Store `embed:""`
	DryRun       bool `help:"Print the statements without running them."`
}

// Run distributes the tables that are not distributed yet, and prints the statements.
func (c *distributeCommand) Run(p *program) error {
	return p.withExisting(c.Store, func(s *store.Store) error {
		statements, err := s.Distribute(p.ctx, c.DryRun)
		for _, statement := range statements {
			p.printf("%s;\n", statement)
		}
		if err == nil && len(statements) == 0 {
			p.printf("All tables are distributed.\n")
		}
		return err
	})
}
