package blob

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"

	"gatherkit/internal/feedback"
)

// Size returns the size of an accepted file in bytes. It returns ErrNotFound if there is none.
func (s *Store) Size(ctx context.Context, id feedback.ID) (int64, error) {
	return s.files.size(ctx, accepted(id))
}

// Sum returns the size of an accepted file in bytes and the SHA-256 of its content. It returns ErrNotFound if there is
// none, and ErrUnreadable if its content cannot be read to the end.
func (s *Store) Sum(ctx context.Context, id feedback.ID) (size int64, sum []byte, err error) {
	r, _, err := s.files.open(ctx, accepted(id))
	if err != nil {
		return 0, nil, err
	}
	defer r.Close() //nolint:errcheck // only read from
	hash := sha256.New()
	if size, err = io.Copy(hash, r); err != nil && ctx.Err() == nil {
		err = fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	return size, hash.Sum(nil), err
}

// Copy copies an accepted file from another store, where it has the id was. It returns ErrNotFound if that store does not
// have it.
func (s *Store) Copy(ctx context.Context, id feedback.ID, from *Store, was feedback.ID) error {
	r, size, err := from.files.open(ctx, accepted(was))
	if err != nil {
		return err
	}
	defer r.Close() //nolint:errcheck // only read from
	return s.files.write(ctx, accepted(id), r, size)
}

// Link makes an accepted file of another folder appear in this folder, too, without a copy of its
// content (a hard link). It fails if the folders are on different disks, or if one of the stores
// is a bucket.
func (s *Store) Link(id feedback.ID, from *Store) error {
	to, ok := s.files.(*folder)
	source, both := from.files.(*folder)
	if !ok || !both {
		return errors.New("files can be linked only from one folder to another")
	}
	return to.link(accepted(id), source)
}
