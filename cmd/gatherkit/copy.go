package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"gatherkit/internal/config"
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
		return p.with(c.Store, func(to *store.Store) error {
			shown := ""
			copied, err := from.CopyTo(p.ctx, to, func(table string, rows int64) {
				if shown != table || rows%500_000 == 0 {
					_, _ = fmt.Fprintf(p.stderr, "copying %s: %d rows\n", table, rows)
				}
				shown = table
			})
			if err != nil {
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
			return nil
		}, func(o *store.Options) { o.Copying = true })
	})
}
