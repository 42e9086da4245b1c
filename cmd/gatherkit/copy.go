package main

import (
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"

	"gatherkit/internal/config"
	"gatherkit/internal/feedback"
	"gatherkit/internal/store"
)

type copyCommand struct {
	config.Store `embed:""`
	From         string `required:"" help:"What to copy: a folder with an SQLite database, or the URL of a PostgreSQL database." env:"GATHERKIT_COPY_FROM" placeholder:"PLACE"`
}

// source returns the settings of the database to copy.
func (c *copyCommand) source() config.Store {
	if scheme, _, isURL := strings.Cut(c.From, "://"); isURL && strings.HasPrefix(scheme, "postgres") {
		return config.Store{Database: config.Database(c.From)}
	}
	return config.Store{Data: c.From}
}

// Validate checks the flags; kong calls it.
func (c *copyCommand) Validate() error {
	from := c.source()
	if err := c.Store.Validate(); err != nil {
		return err
	}
	if err := from.Validate(); err != nil {
		return errors.New("--from must be a folder such as ./data, or a URL such as postgres://user:password@host:5432/name")
	}
	same := from.Database == c.Database
	if from.Database == "" && same {
		one, err := filepath.Abs(from.Data)
		other, otherErr := filepath.Abs(c.Data)
		same = one == other && err == nil && otherErr == nil
	}
	if same {
		return errors.New("--from is the database to copy to; name that with --database or --data")
	}
	return nil
}

// Run copies the database.
func (c *copyCommand) Run(p *program) error {
	return p.withExisting(c.source(), func(from *store.Store) error {
		log := slog.New(slog.NewTextHandler(p.stderr, nil))
		unlock, err := lockFolder(c.source(), log)
		if err != nil {
			return err
		}
		defer unlock()
		return p.with(c.Store, func(to *store.Store) error {
			unlock, err := lockFolder(c.Store, log)
			if err != nil {
				return err
			}
			defer unlock()
			files := 0
			copied, err := from.CopyTo(p.ctx, to, func(table string, rows int64) {
				if rows%500_000 == 0 {
					_, _ = fmt.Fprintf(p.stderr, "%s: %d rows copied\n", table, rows)
				}
			})
			if err != nil {
				return err
			}
			if err := from.EachFile(p.ctx, func(feedback.ID, feedback.Upload) error { files++; return nil }); err != nil {
				return err
			}
			rows := int64(0)
			for _, table := range copied {
				rows += table.N
				if table.N > 0 {
					p.printf("%-18s %10d rows  %x\n", table.Name, table.N, table.Sum[:8])
				}
			}
			p.printf("Copied %d rows of %d tables. Both databases have the same rows.\n", rows, len(copied))
			if files > 0 {
				p.printf("Attached files are not in the database: %d. Name their place with --uploads, and run gatherkit verify.\n", files)
			}
			return nil
		}, func(o *store.Options) { o.Copying = true })
	})
}
