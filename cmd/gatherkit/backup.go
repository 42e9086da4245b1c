package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"gatherkit/internal/blob"
	"gatherkit/internal/config"
	"gatherkit/internal/durable"
	"gatherkit/internal/feedback"
	"gatherkit/internal/store"
)

type backupCommand struct {
	config.Storage `embed:""`
	WithoutFiles   bool   `help:"Back up the database without the attached files."`
	Folder         string `arg:"" help:"Folder to write the backup to. It must not exist yet." complete:"folder" placeholder:"FOLDER"`
}

// Run writes the backup. Files are copied before the database, so that no file that the copy names is deleted
// meanwhile, and again after it, because more have arrived. Each is checked right after the second copy, because the
// service may accept the next file at any time.
func (c *backupCommand) Run(p *program) error {
	folder, err := newFolder(c.Folder)
	if err != nil {
		return err
	}
	return p.withFiles(c.Storage, func(s *store.Store, files *blob.Store) error {
		copied := 0
		err := folder.write(func(part string) error {
			if c.WithoutFiles {
				return s.Backup(p.ctx, part)
			}
			b, err := newFileBackup(files, c.Place(), filepath.Dir(part), part)
			if err != nil {
				return err
			}
			defer func() { copied = b.files }()
			for _, step := range []func() error{
				func() error { return b.copyAll(p.ctx, s) },
				func() error { return s.Backup(p.ctx, part) },
				func() error { return p.copyAndCheck(s, b) },
			} {
				if err := step(); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		p.printf("Wrote the backup to %s. Attached files: %d.\nIt contains secrets and personal data; protect it like the database.\n",
			folder, copied)
		return nil
	})
}

// folder is the path of a folder that a command writes.
type folder string

// newFolder returns the absolute path of a folder that does not exist yet.
func newFolder(name string) (folder, error) {
	path, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	if _, err := os.Lstat(path); err == nil {
		return "", fmt.Errorf("%s exists already; give the folder a new name", path)
	}
	return folder(path), nil
}

// write calls fn with a folder beside, which gets the name when fn has returned and all is on disk. If fn fails, nothing
// is left.
func (f folder) write(fn func(part string) error) (err error) {
	part := string(f) + ".part"
	if err := os.RemoveAll(part); err != nil { // of a command that was interrupted
		return err
	}
	if err := os.Mkdir(part, 0o700); err != nil {
		return fmt.Errorf("cannot write the folder: %w", err)
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(part)
		}
	}()
	for _, step := range []func() error{
		func() error { return fn(part) },
		func() error { return durable.Sync(part) },
		func() error { return os.Rename(part, string(f)) },
		func() error { return durable.Sync(filepath.Dir(part)) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// fileBackup copies attached files to the folder of a backup.
type fileBackup struct {
	from     *blob.Store // nil if the service stores no files
	to       *blob.Store
	previous *blob.Store // the files of the latest backup in the same folder, or nil
	files    int         // that the backup has
}

func newFileBackup(from *blob.Store, live, parent, part string) (b *fileBackup, err error) {
	b = &fileBackup{from: from}
	if from == nil {
		return b, nil
	}
	if b.to, err = blob.Open(uploadsIn(part)); err != nil {
		return nil, err
	}
	latest, err := latestBackup(parent, live)
	if latest != "" {
		b.previous, err = blob.Open(uploadsIn(latest))
	}
	return b, err
}

// latestBackup returns the newest of the backups in a folder, or "" if there is none. live is the
// folder of the service's own files, which may be there, too.
func latestBackup(folder, live string) (latest string, err error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return "", err
	}
	own, _ := os.Stat(live) // nil for a bucket
	var at time.Time
	for _, entry := range entries {
		backup := filepath.Join(folder, entry.Name())
		uploads, err := os.Stat(uploadsIn(backup))
		if err != nil || filepath.Ext(backup) == ".part" || os.SameFile(uploads, own) {
			continue
		}
		if info, err := entry.Info(); err == nil && info.ModTime().After(at) {
			latest, at = backup, info.ModTime()
		}
	}
	return latest, nil
}

func uploadsIn(folder string) string { return filepath.Join(folder, "uploads") }

// copyAll copies the files that the backup does not have yet.
func (b *fileBackup) copyAll(ctx context.Context, s *store.Store) error {
	return s.EachFile(ctx, func(_ feedback.ID, u feedback.Upload) error { return b.copy(ctx, u) })
}

// copy copies a file that the backup does not have yet. The previous backup's files are linked
// and take no space. It skips a file without content, which copyAndCheck reports.
func (b *fileBackup) copy(ctx context.Context, u feedback.Upload) error {
	if b.from == nil {
		return nil
	}
	if _, err := b.to.Size(ctx, u.ID); !errors.Is(err, blob.ErrNotFound) {
		return err
	}
	if !b.link(ctx, u) {
		err := b.to.Copy(ctx, u.ID, b.from, u.ID)
		if errors.Is(err, blob.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	b.files++
	return nil
}

// link links the previous backup's copy of a file and reports whether it could.
func (b *fileBackup) link(ctx context.Context, u feedback.Upload) bool {
	if b.previous == nil {
		return false
	}
	size, err := b.previous.Size(ctx, u.ID)
	return err == nil && size == u.Size && b.to.Link(u.ID, b.previous) == nil
}

// check returns what is wrong with the backup's copy of a file, or "". A copy that the backup before has in a damaged
// state is replaced by the service's.
func (b *fileBackup) check(ctx context.Context, u feedback.Upload) (fault string, err error) {
	fault, err = findFault(ctx, b.to, u)
	if err != nil || fault == "" || b.previous == nil {
		return fault, err
	}
	if live, err := findFault(ctx, b.from, u); err != nil || live != "" {
		return fault, err // the copy may be the better one
	}
	if err := b.to.Remove(ctx, u.ID); err != nil {
		return "", err
	}
	if err := b.to.Copy(ctx, u.ID, b.from, u.ID); err != nil {
		return "", err
	}
	return findFault(ctx, b.to, u)
}

type verifyCommand struct {
	config.Storage `embed:""`
}

// Run checks the database and reads each attached file. It fails if anything is missing or damaged.
func (c *verifyCommand) Run(p *program) error {
	return p.withFiles(c.Storage, func(s *store.Store, files *blob.Store) error {
		if err := s.Check(p.ctx); err != nil {
			return err
		}
		find := func(u feedback.Upload) (string, error) { return findFault(p.ctx, files, u) }
		found, err := findFaults(p.ctx, s, find, func(fault string) { p.printf("%s\n", fault) })
		if err != nil {
			return err
		}
		if c.Database == "" {
			p.printf("The database is undamaged.\n")
		}
		p.printf("Attached files: %d, missing or damaged: %d.\n", found.files, found.faults)
		if found.faults > 0 {
			return errors.New("attached files are missing or damaged; copy them from the backup, or name their place with --uploads")
		}
		return nil
	})
}

// fileCheck says how many attached files there are, how many are missing or damaged, and how many of these are missing.
type fileCheck struct{ files, faults, missing int }

// findFaults calls find with each file, and report with a line for each attached file for which find
// returns a fault.
func findFaults(
	ctx context.Context, s *store.Store, find func(feedback.Upload) (fault string, err error), report func(line string),
) (found fileCheck, err error) {
	err = s.EachFile(ctx, func(accountID feedback.ID, u feedback.Upload) error {
		fault, err := find(u)
		if err != nil || u.RequestID == nil { // a file that is not attached may be about to be deleted
			return err
		}
		found.files++
		if fault == "" {
			return nil
		}
		now, err := s.Uploads.Get(ctx, accountID, u.ID)
		if errors.Is(err, feedback.ErrUploadNotFound) || err == nil && now.RequestID == nil {
			found.files-- // its request was deleted meanwhile
			return nil
		}
		found.faults++
		if fault == missing {
			found.missing++
		}
		report(fmt.Sprintf("request %s: file %s (%q) %s", u.RequestID, u.ID, u.Filename, fault))
		return err
	})
	return found, err
}

// missing is the fault of a file that does not exist.
const missing = "is missing"

// findFault returns what is wrong with the content of a file, or "". Without a storage of files, which
// is nil then, all files are missing.
func findFault(ctx context.Context, files *blob.Store, u feedback.Upload) (string, error) {
	if files == nil {
		return missing, nil
	}
	size, sum, err := files.Sum(ctx, u.ID)
	switch {
	case errors.Is(err, blob.ErrNotFound):
		return missing, nil
	case errors.Is(err, blob.ErrUnreadable):
		return err.Error(), nil
	case err != nil:
		return "", err
	case size != u.Size:
		return fmt.Sprintf("has %d bytes instead of %d", size, u.Size), nil
	case u.SHA256 != nil && !bytes.Equal(sum, u.SHA256):
		return "is damaged: its content has changed", nil
	}
	return "", nil
}

// maxWarnings is how many missing files a backup names.
const maxWarnings = 10

// copyAndCheck copies the files that the backup does not have yet, and checks the attached ones in it. If some are
// missing or damaged, so are the service's, and copyAndCheck writes a warning to standard error. If all are missing,
// their place must be wrong, and copyAndCheck returns an error. If no place is given, copyAndCheck only says so: the
// files may be in a bucket that has backups of its own.
func (p *program) copyAndCheck(s *store.Store, b *fileBackup) error {
	find := func(u feedback.Upload) (string, error) {
		if err := b.copy(p.ctx, u); err != nil || b.from == nil {
			return "", err
		}
		return b.check(p.ctx, u)
	}
	named := 0
	found, err := findFaults(p.ctx, s, find, func(fault string) {
		if named < maxWarnings {
			_, _ = fmt.Fprintln(p.stderr, fault)
		}
		named++
	})
	switch {
	case err != nil:
		return err
	case b.from == nil && found.files > 0:
		_, _ = fmt.Fprintf(p.stderr,
			"gatherkit: warning: the backup has none of the attached files (%d); name their place with --uploads\n", found.files)
		return nil
	case found.faults == 0:
		return nil
	case found.missing == found.files:
		return fmt.Errorf("none of the attached files was found (%d); name their place with --uploads,"+
			" or back up the database with --without-files", found.files)
	}
	_, _ = fmt.Fprintf(p.stderr, "gatherkit: warning: attached files are missing or damaged in the service and in the backup: %d of %d\n",
		found.faults, found.files)
	return nil
}
