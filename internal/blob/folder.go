package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"gatherkit/internal/access"
	"gatherkit/internal/durable"
)

// folder stores each file under its key. It resolves the whole path for each file and follows
// links, because operators move parts of a folder to another disk.
type folder struct {
	path    string     // absolute
	placing sync.Mutex // held while place looks whether a file exists
}

// temporary is how the names of incomplete files end.
const temporary = ".tmp"

func openFolder(path string) (*folder, error) {
	err := access.CheckFolder(path)
	if err == nil {
		err = access.Check(path, filepath.Join(path, incomingPrefix), filepath.Join(path, acceptedPrefix))
	}
	if err != nil {
		return nil, fmt.Errorf("cannot open the folder of attached files: %w", err)
	}
	if path, err = filepath.Abs(path); err == nil {
		err = os.MkdirAll(path, 0o700)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot open the folder of attached files: %w; check --uploads", err)
	}
	return &folder{path: path}, nil
}

func (f *folder) file(key string) string { return filepath.Join(f.path, filepath.FromSlash(key)) }

// write implements files. The file has a temporary name in its own folder until it is complete,
// because a rename does not work between disks. size is not needed.
func (f *folder) write(ctx context.Context, key string, from io.Reader, _ int64) error {
	file := f.file(key)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".*"+temporary) // with mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name()) //nolint:errcheck // a complete file does not have this name any more
	if _, err = io.Copy(temp, from); err == nil {
		err = temp.Sync()
	}
	if err := errors.Join(err, temp.Close()); err != nil {
		return err
	}
	// Not earlier, because a reader that takes too long has its own error for that.
	if err := ctx.Err(); err != nil {
		return err
	}
	placed := f.place(temp.Name(), key)
	if placed != nil && !errors.Is(placed, errAccepted) {
		return placed
	}
	// Another call may have accepted the file just now, and its name may not be durable yet.
	if err := f.sync(key); err != nil {
		return err
	}
	return placed
}

// removeIncomplete removes the incomplete files of a prefix that were last written before a time.
func (f *folder) removeIncomplete(ctx context.Context, prefix string, before time.Time) error {
	folder, err := os.Open(f.file(prefix))
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return err
	}
	defer folder.Close() //nolint:errcheck // it is only read
	for ctx.Err() == nil {
		names, err := folder.Readdirnames(1000) // the folder can have millions
		for _, name := range names {
			if !strings.HasSuffix(name, temporary) {
				continue
			}
			file := filepath.Join(folder.Name(), name)
			if info, err := os.Stat(file); err == nil && info.ModTime().Before(before) {
				if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
					return err
				}
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// place gives a complete file its name. It returns errAccepted if the name belongs to an accepted
// file, also of another process. Only where there are no hard links, as on exFAT and some network
// shares, it cannot see what another process does at the same moment.
func (f *folder) place(temp, key string) error {
	file := f.file(key)
	if !strings.HasPrefix(key, acceptedPrefix) {
		return os.Rename(temp, file)
	}
	switch err := os.Link(temp, file); {
	case err == nil:
		_ = os.Remove(temp) // before the folder is synced, or a loss of power could bring this name back
		return nil
	case errors.Is(err, fs.ErrExist):
		return errAccepted
	}
	f.placing.Lock()
	defer f.placing.Unlock()
	switch _, err := os.Lstat(file); {
	case err == nil:
		return errAccepted
	case errors.Is(err, fs.ErrNotExist):
		return os.Rename(temp, file)
	default:
		return err
	}
}

// link implements Store.Link.
func (f *folder) link(key string, from *folder) error {
	file := f.file(key)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	if err := os.Link(from.file(key), file); err != nil {
		return err
	}
	return f.sync(key)
}

// sync makes the name of a file durable.
func (f *folder) sync(key string) error { return durable.Sync(filepath.Dir(f.file(key)), f.path) }

func (f *folder) open(_ context.Context, key string) (io.ReadSeekCloser, int64, error) {
	file, err := os.Open(f.file(key))
	if err != nil {
		return nil, 0, orNotFound(err)
	}
	info, err := file.Stat()
	if err != nil {
		return nil, 0, errors.Join(err, file.Close())
	}
	return file, info.Size(), nil
}

func (f *folder) size(_ context.Context, key string) (int64, error) {
	info, err := os.Stat(f.file(key))
	if err != nil {
		return 0, orNotFound(err)
	}
	return info.Size(), nil
}

func (f *folder) remove(_ context.Context, key string) error {
	if err := os.Remove(f.file(key)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// orNotFound returns ErrNotFound if err means that a file does not exist, and otherwise err.
func orNotFound(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return ErrNotFound
	}
	return err
}
