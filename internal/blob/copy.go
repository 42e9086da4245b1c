package blob

import (
	"context"
	"os"
	"path/filepath"

	"gatherkit/internal/feedback"
)

// Size returns the size of an accepted file in bytes. It returns ErrNotFound if there is none.
func (s *Store) Size(ctx context.Context, id feedback.ID) (int64, error) {
	attributes, err := s.bucket.Attributes(ctx, accepted(id))
	if err != nil {
		return 0, translate(err)
	}
	return attributes.Size, nil
}

// Copy copies an accepted file from another store. It returns ErrNotFound if that store does not
// have it.
func (s *Store) Copy(ctx context.Context, id feedback.ID, from *Store) error {
	r, err := from.Open(ctx, id)
	if err != nil {
		return err
	}
	defer r.Close() //nolint:errcheck // only read from
	return s.write(ctx, accepted(id), r)
}

// Link makes an accepted file of another folder appear in this folder, too, without a copy of its
// content (a hard link). It fails if the folders are on different disks.
func (s *Store) Link(id feedback.ID, from *Store) error {
	key := accepted(id)
	file := filepath.Join(s.folder, filepath.FromSlash(key))
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	if err := os.Link(filepath.Join(from.folder, filepath.FromSlash(key)), file); err != nil {
		return err
	}
	return s.sync(key)
}
