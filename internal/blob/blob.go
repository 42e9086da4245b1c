// Package blob stores the files that people attach to their requests, in a folder or in an
// S3 bucket. A received file cannot be opened until Accept has inspected it.
package blob

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"gocloud.dev/blob"
	"gocloud.dev/blob/fileblob"
	_ "gocloud.dev/blob/s3blob" // for s3:// addresses
	"gocloud.dev/gcerrors"
	"golang.org/x/sync/semaphore"

	"gatherkit/internal/access"
	"gatherkit/internal/durable"
	"gatherkit/internal/feedback"
)

// ErrNotFound means that a file does not exist.
var ErrNotFound = errors.New("the file does not exist")

// inspections is how many files are inspected at once. Each uses twice its size in memory.
const inspections = 2

// Store stores files. Its methods are safe for concurrent use, and several processes can
// use the same folder or bucket.
type Store struct {
	bucket     *blob.Bucket
	folder     string // empty for a bucket in S3
	inspecting *semaphore.Weighted
}

// Open opens the store in place: an s3:// URL, or a folder, which is created if it does not
// exist. Credentials for S3 come from the environment, as the AWS SDK documents.
func Open(ctx context.Context, place string) (*Store, error) {
	s := &Store{inspecting: semaphore.NewWeighted(inspections)}
	var err error
	if Direct(place) {
		s.bucket, err = blob.OpenBucket(ctx, place)
	} else {
		if err := access.CheckFolder(place); err != nil {
			return nil, fmt.Errorf("cannot open the folder of attached files: %w", err)
		}
		if err := access.Check(place, filepath.Join(place, incomingPrefix), filepath.Join(place, acceptedPrefix)); err != nil {
			return nil, fmt.Errorf("cannot open the folder of attached files: %w", err)
		}
		s.folder = place
		s.bucket, err = fileblob.OpenBucket(place, &fileblob.Options{
			CreateDir: true, DirFileMode: 0o700, Metadata: fileblob.MetadataDontWrite,
			NoTempDir: true, // temporary files are in the folder itself, because rename does not work between disks
		})
	}
	if err != nil {
		return nil, fmt.Errorf("cannot open the storage for attached files: %w; check --uploads", err)
	}
	return s, nil
}

// Close closes the store.
func (s *Store) Close() error { return s.bucket.Close() }

// Try stores a file and removes it, to find out within five seconds whether files can be stored.
func (s *Store) Try(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	const key = incomingPrefix + "try"
	return errors.Join(s.write(ctx, key, strings.NewReader("try")), s.delete(ctx, key))
}

// Received files are in incoming/ until they are accepted, and then in files/.
const (
	incomingPrefix = "incoming/"
	acceptedPrefix = "files/"
)

func incoming(id feedback.ID) string { return incomingPrefix + id.String() }
func accepted(id feedback.ID) string { return acceptedPrefix + id.String() }

// Target returns a URL to which a client can send a file of exactly size bytes with PUT
// until life has passed. It returns "" if DirectUploads is false.
func (s *Store) Target(ctx context.Context, id feedback.ID, size int64, life time.Duration) (string, error) {
	if !s.DirectUploads() {
		return "", nil
	}
	limitSize := func(as func(any) bool) error {
		var put *s3.PutObjectInput
		if as(&put) {
			put.ContentLength = &size
		}
		return nil
	}
	return s.bucket.SignedURL(ctx, incoming(id), &blob.SignedURLOptions{Method: "PUT", Expiry: life, BeforeSign: limitSize})
}

// Direct reports whether clients send files directly to a place, to the URL that Target returns,
// and not to the service: whether it is a bucket.
func Direct(place string) bool { return strings.HasPrefix(place, "s3://") }

// DirectUploads reports whether the place of the store is Direct.
func (s *Store) DirectUploads() bool { return s.folder == "" }

// Receive stores a file that was sent to the service. Accept must inspect it before it can
// be opened.
func (s *Store) Receive(ctx context.Context, id feedback.ID, from io.Reader) error {
	return s.write(ctx, incoming(id), from)
}

// Accept inspects a received file, removes metadata from images, and makes it available to
// Open. It returns the content type and the new size in bytes. An accepted file never
// changes, even if another one is received with the same id. Accept returns ErrNotFound if
// no file was received, and feedback.ErrInvalidFile if the file does not have the announced
// size or must not be attached.
func (s *Store) Accept(ctx context.Context, id feedback.ID, announced int64) (contentType string, size int64, err error) {
	if err := s.inspecting.Acquire(ctx, 1); err != nil {
		return "", 0, err
	}
	defer s.inspecting.Release(1)
	sent, err := s.read(ctx, incoming(id))
	switch {
	case errors.Is(err, ErrNotFound): // an earlier call may have accepted it
		return s.describeAccepted(ctx, id)
	case err == nil && int64(len(sent)) != announced:
		err = feedback.ErrInvalidFile.With("The file must have the announced size of %d bytes.", announced)
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
	if err != nil { // a concurrent call has accepted it
		return s.describeAccepted(ctx, id)
	}
	return contentType, int64(len(clean)), nil
}

// describeAccepted returns the content type and the size of an accepted file.
func (s *Store) describeAccepted(ctx context.Context, id feedback.ID) (contentType string, size int64, err error) {
	content, err := s.read(ctx, accepted(id))
	if err != nil {
		return "", 0, err
	}
	clean, contentType, err := inspect(content)
	return contentType, int64(len(clean)), err
}

// Discard removes a received file that was not accepted. It does nothing if there is none.
func (s *Store) Discard(ctx context.Context, id feedback.ID) error {
	return s.delete(ctx, incoming(id))
}

// read returns the content of a file. It returns feedback.ErrInvalidFile if the file is too
// large, which is possible with direct uploads.
func (s *Store) read(ctx context.Context, key string) ([]byte, error) {
	r, err := s.bucket.NewReader(ctx, key, nil)
	if err != nil {
		return nil, translate(err)
	}
	defer r.Close() //nolint:errcheck // the content has been read
	if r.Size() > feedback.MaxUpload {
		return nil, feedback.ErrInvalidFile.With("A file may be at most %d MiB.", feedback.MaxUpload>>20)
	}
	content := make([]byte, r.Size())
	_, err = io.ReadFull(r, content)
	return content, err
}

// Open opens an accepted file. It returns ErrNotFound if there is none.
func (s *Store) Open(ctx context.Context, id feedback.ID) (io.ReadSeekCloser, error) {
	r, err := s.bucket.NewReader(ctx, accepted(id), nil)
	if err != nil {
		return nil, translate(err)
	}
	return r, nil
}

// Remove removes a file, whether it was accepted or not. It does nothing if there is none.
func (s *Store) Remove(ctx context.Context, id feedback.ID) error {
	return errors.Join(s.Discard(ctx, id), s.delete(ctx, accepted(id)))
}

func (s *Store) delete(ctx context.Context, key string) error {
	if err := translate(s.bucket.Delete(ctx, key)); err != nil && !errors.Is(err, ErrNotFound) {
		return err
	}
	return nil
}

// write stores a file and returns once it is durable. If it fails, it stores nothing.
func (s *Store) write(ctx context.Context, key string, from io.Reader) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // canceling before Close keeps an incomplete file from being stored
	w, err := s.bucket.NewWriter(ctx, key, &blob.WriterOptions{
		ContentType: "application/octet-stream", DisableContentTypeDetection: true,
		// Some S3-compatible servers do not support IfNotExist. With S3 it is not needed,
		// because clients cannot write to accepted files.
		IfNotExist: s.folder != "" && strings.HasPrefix(key, acceptedPrefix),
	})
	if err != nil {
		return err
	}
	// The writer's own ReadFrom would allocate a buffer of a megabyte for each file.
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

// sync makes a file in the folder durable, because fileblob does not.
func (s *Store) sync(key string) error {
	file := filepath.Join(s.folder, filepath.FromSlash(key))
	return durable.Sync(file, filepath.Dir(file), s.folder)
}

// translate returns ErrNotFound if err means that a file does not exist, and otherwise err.
func translate(err error) error {
	if gcerrors.Code(err) == gcerrors.NotFound {
		return ErrNotFound
	}
	return err
}
