package main

import (
	"errors"
	"fmt"
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

// storeAt returns the settings of a database that another setting names: a folder or a URL.
func storeAt(place string) config.Store {
	if scheme, _, isURL := strings.Cut(place, "://"); isURL && strings.HasPrefix(scheme, "postgres") {
		return config.Store{Database: config.Database(place)}
	}
	return config.Store{Data: place}
}

// errFrom says what --from can be.
var errFrom = errors.New("--from must be a folder such as ./data, or a URL such as postgres://user:password@host:5432/name")

// same reports whether the settings name the same database.
func same(one, other config.Store) bool {
	if one.Database != "" || other.Database != "" {
		return one.Database == other.Database
	}
	a, err := filepath.Abs(one.Data)
	b, otherErr := filepath.Abs(other.Data)
	return a == b && err == nil && otherErr == nil
}

// Validate checks the flags; kong calls it.
func (c *copyCommand) Validate() error {
	from := storeAt(c.From)
	if err := c.Store.Validate(); err != nil {
		return err
	}
	if err := from.Validate(); err != nil {
		return errFrom
	}
	if same(from, c.Store) {
		return errors.New("--from is the database to copy to; name that with --database or --data")
	}
	return nil
}

// Run copies the database.
func (c *copyCommand) Run(p *program) error {
	source := storeAt(c.From)
	return p.withExisting(source, func(from *store.Store) error {
		log := p.log()
		unlock, err := lockFolder(source, log)
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
