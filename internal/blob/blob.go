// Package blob keeps the files that people attach to their requests: in a folder, or in
// a bucket of S3. A file first lies where it was sent to, unseen by anybody; Accept looks
// into it, and only what passes gets its place among the files that can be opened.
package blob

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"gocloud.dev/blob"
	"gocloud.dev/blob/fileblob"
	_ "gocloud.dev/blob/s3blob" // for s3:// addresses
	"gocloud.dev/gcerrors"
	"golang.org/x/sync/semaphore"

	"gatherkit/internal/feedback"
)

// ErrNotFound says that there is no such file.
var ErrNotFound = errors.New("there is no such file")

// inspections is how many files are in memory at once to be looked into: each takes its
// length twice.
const inspections = 2

// Store keeps files. Its methods are safe for concurrent use, and several processes may
// use the same place.
type Store struct {
	bucket  *blob.Bucket
	folder  string // of a store in a folder, else ""
	looking *semaphore.Weighted
}

// Open opens the store at a place: an s3:// address (credentials come from the
// environment, as the AWS SDK documents), or a folder, which is made when it is missing.
func Open(ctx context.Context, place string) (*Store, error) {
	s := &Store{looking: semaphore.NewWeighted(inspections)}
	var err error
	if strings.HasPrefix(place, "s3://") {
		s.bucket, err = blob.OpenBucket(ctx, place)
	} else {
		s.folder = place
		// Beside the files, or a rename could lead from one disk to another.
		s.bucket, err = fileblob.OpenBucket(place, &fileblob.Options{CreateDir: true, DirFileMode: 0o700, NoTempDir: true, Metadata: fileblob.MetadataDontWrite})
	}
	if err != nil {
		return nil, fmt.Errorf("open the place for uploads: %w", err)
	}
	return s, nil
}

// Close ends the store.
func (s *Store) Close() error { return s.bucket.Close() }

// The two rooms: what was sent, and what can be opened.
func incoming(id feedback.ID) string { return "incoming/" + id.String() }
func accepted(id feedback.ID) string { return acceptedRoom + id.String() }

const acceptedRoom = "files/"

// Target is where a file of so many bytes, and no other length, is to be sent straight,
// with PUT; "" where files come by way of Receive.
func (s *Store) Target(ctx context.Context, id feedback.ID, size int64, life time.Duration) (string, error) {
	if !s.SentPast() {
		return "", nil
	}
	return s.bucket.SignedURL(ctx, incoming(id), &blob.SignedURLOptions{Method: "PUT", Expiry: life, BeforeSign: func(as func(any) bool) error {
		var put *s3.PutObjectInput
		if as(&put) {
			put.ContentLength = &size
		}
		return nil
	}})
}

// SentPast reports whether files are sent straight to a Target.
func (s *Store) SentPast() bool { return s.folder == "" }

// Receive stores what was sent as a file, for Accept to look into.
func (s *Store) Receive(ctx context.Context, id feedback.ID, from io.Reader) error {
	return s.write(ctx, incoming(id), from)
}

// Accept looks into what was sent as a file of so many bytes and gives it its place,
// without what a picture says of where and by whom it was taken. It returns the content
// type that it has and its size then. What was accepted once stays as it is, whatever is
// sent after that. It refuses what was not sent with ErrNotFound, and what may not be
// attached with feedback.ErrInvalidFile.
func (s *Store) Accept(ctx context.Context, id feedback.ID, announced int64) (contentType string, size int64, err error) {
	if err := s.looking.Acquire(ctx, 1); err != nil {
		return "", 0, err
	}
	defer s.looking.Release(1)
	sent, err := s.read(ctx, incoming(id))
	switch {
	case errors.Is(err, ErrNotFound): // perhaps it was accepted before, and nobody heard of it
		return s.known(ctx, id)
	case err == nil && int64(len(sent)) != announced:
		err = feedback.ErrInvalidFile.With("The file must have the %d bytes that were announced.", announced)
	}
	if err != nil {
		return "", 0, err
	}
	clean, contentType, err := inspect(sent)
	if err != nil {
		return "", 0, err
	}
	err = s.write(ctx, accepted(id), bytes.NewReader(clean))
	if err != nil && gcerrors.Code(err) != gcerrors.FailedPrecondition {
		return "", 0, err
	}
	if err := s.Discard(ctx, id); err != nil {
		return "", 0, err
	}
	if err != nil { // sent twice at once, and the other was first
		return s.known(ctx, id)
	}
	return contentType, int64(len(clean)), nil
}

// known is what a file is that was accepted before.
func (s *Store) known(ctx context.Context, id feedback.ID) (contentType string, size int64, err error) {
	content, err := s.read(ctx, accepted(id))
	if err != nil {
		return "", 0, err
	}
	clean, contentType, err := inspect(content)
	return contentType, int64(len(clean)), err
}

// Discard removes what was sent and not accepted, if there is anything.
func (s *Store) Discard(ctx context.Context, id feedback.ID) error {
	return s.delete(ctx, incoming(id))
}

// read returns a file that was sent, which anybody may have made larger than announced.
func (s *Store) read(ctx context.Context, key string) ([]byte, error) {
	r, err := s.bucket.NewReader(ctx, key, nil)
	if err != nil {
		return nil, orNotFound(err)
	}
	defer r.Close() //nolint:errcheck // it was read
	if r.Size() > feedback.MaxUpload {
		return nil, feedback.ErrInvalidFile.With("A file may be at most %d MiB.", feedback.MaxUpload>>20)
	}
	content := make([]byte, r.Size())
	_, err = io.ReadFull(r, content)
	return content, err
}

// Open opens a file that was accepted. It refuses with ErrNotFound.
func (s *Store) Open(ctx context.Context, id feedback.ID) (io.ReadSeekCloser, error) {
	r, err := s.bucket.NewReader(ctx, accepted(id), nil)
	if err != nil {
		return nil, orNotFound(err)
	}
	return r, nil
}

// Remove removes a file, if there is one.
func (s *Store) Remove(ctx context.Context, id feedback.ID) error {
	return errors.Join(s.Discard(ctx, id), s.delete(ctx, accepted(id)))
}

func (s *Store) delete(ctx context.Context, key string) error {
	if err := orNotFound(s.bucket.Delete(ctx, key)); err != nil && !errors.Is(err, ErrNotFound) {
		return err
	}
	return nil
}

// write stores a file and returns once it is durable. What broke off leaves nothing.
func (s *Store) write(ctx context.Context, key string, from io.Reader) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // before Close, it keeps the rest from being taken for the whole
	w, err := s.bucket.NewWriter(ctx, key, &blob.WriterOptions{
		ContentType: "application/octet-stream", DisableContentTypeDetection: true,
		// Not every server that speaks S3 knows this; there, nothing is sent where it is accepted.
		IfNotExist: s.folder != "" && strings.HasPrefix(key, acceptedRoom),
	})
	if err != nil {
		return err
	}
	// By itself the writer takes a megabyte for each file that comes in.
	if _, err := io.Copy(struct{ io.Writer }{w}, from); err != nil {
		cancel()
		return errors.Join(err, ignoreCanceled(w.Close()))
	}
	if err := w.Close(); err != nil || s.folder == "" {
		return err
	}
	return s.sync(key)
}

func ignoreCanceled(err error) error {
	if gcerrors.Code(err) == gcerrors.Canceled || errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// sync makes a file of the folder durable, which fileblob leaves to the system.
func (s *Store) sync(key string) error {
	file := filepath.Join(s.folder, filepath.FromSlash(key))
	for _, name := range []string{file, filepath.Dir(file), s.folder} {
		f, err := os.Open(name) //nolint:gosec // the key is made of an id
		if err != nil {
			return err
		}
		if err := errors.Join(f.Sync(), f.Close()); err != nil {
			return err
		}
	}
	return nil
}

func orNotFound(err error) error {
	if gcerrors.Code(err) == gcerrors.NotFound {
		return ErrNotFound
	}
	return err
}
