package main

import (
	"fmt"
	"os"
	"path/filepath"

	"gatherkit/internal/config"
	"gatherkit/internal/database"
	"gatherkit/internal/store"
)

type backupCommand struct {
	config.Store `embed:""`
	File         string `arg:"" help:"File to write the backup to. It must not exist yet." placeholder:"FILE"`
}

// Run writes the backup.
func (c *backupCommand) Run(p *program) error {
	if c.Database != "" {
		return database.ErrNoBackup
	}
	file, err := filepath.Abs(c.File)
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Dir(file)); err != nil {
		return fmt.Errorf("cannot write the backup: %w", err)
	}
	return p.withExisting(c.Store, func(s *store.Store) error {
		if err := s.Backup(p.ctx, file); err != nil {
			return err
		}
		p.printf("Wrote the backup to %s. It contains secrets and personal data; protect it like the database.\n", file)
		return nil
	})
}

type recountCommand struct {
	config.Store `embed:""`
}

// Run checks and repairs the counters, and prints those that were wrong.
func (c *recountCommand) Run(p *program) error {
	return p.withExisting(c.Store, func(s *store.Store) error {
		wrong, err := s.Recount(p.ctx)
		for _, m := range wrong {
			if m.RequestID != nil {
				p.printf("request %s, %s: repaired, was %d, is now %d\n", m.RequestID, m.Of, m.Counted, m.Rows)
				continue
			}
			p.printf("app %s, %s, %s: repaired, was %d, is now %d\n", m.AppID, m.Box, m.Status, m.Counted, m.Rows)
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
