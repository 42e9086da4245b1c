// Package blob stores the files that people attach to their requests, in a folder or in an
// S3 bucket. A received file cannot be opened until Accept has inspected it.
package blob

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"strings"
	"time"

	"golang.org/x/sync/semaphore"

	"gatherkit/internal/deadline"
	"gatherkit/internal/feedback"
)

// ErrNotFound means that a file does not exist.
var ErrNotFound = errors.New("the file does not exist")

// ErrUnreadable means that the content of a file cannot be read, because its disk is damaged or the bucket has failed.
var ErrUnreadable = errors.New("cannot be read")

// errAccepted means that a file was accepted already and is not replaced.
var errAccepted = errors.New("the file was accepted already")

// inspections is how many files are inspected at once. Each uses twice its size in memory.
const inspections = 2

// Store stores files. Its methods are safe for concurrent use, and several processes can
// use the same folder or bucket.
type Store struct {
	files      files
	inspecting *semaphore.Weighted
}

// files are a folder or a bucket. A key is a prefix and an id.
type files interface {
	// write stores a file and returns once it is durable. If it fails, it stores nothing. size is
	// the number of bytes that from has, or -1 if it is not known. A folder returns errAccepted
	// instead of replacing a file that was accepted.
	write(ctx context.Context, key string, from io.Reader, size int64) error
	// open returns a file's content and its size in bytes, or ErrNotFound.
	open(ctx context.Context, key string) (content io.ReadSeekCloser, size int64, err error)
	// size returns a file's size in bytes, or ErrNotFound.
	size(ctx context.Context, key string) (int64, error)
	// remove removes a file. It does nothing if there is none.
	remove(ctx context.Context, key string) error
}

// Open opens the store in place: an s3:// URL, or a folder, which is created if it does not
// exist. It does not connect to S3. Credentials for S3 come from the environment, in the
// variables and files of AWS tools.
func Open(place string) (*Store, error) {
	var at files
	var err error
	if Direct(place) {
		at, err = openBucket(place)
	} else {
		at, err = openFolder(place)
	}
	if err != nil {
		return nil, err
	}
	return &Store{files: at, inspecting: semaphore.NewWeighted(inspections)}, nil
}

// Try stores a file and removes it, to find out within five seconds whether files can be stored.
func (s *Store) Try(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, deadline.Of(5*time.Second))
	defer cancel()
	const key = incomingPrefix + "try"
	const text = "try"
	return errors.Join(s.files.write(ctx, key, strings.NewReader(text), int64(len(text))), s.files.remove(ctx, key))
}

// Received files are in incoming/ until they are accepted, and then in files/.
const (
	incomingPrefix = "incoming/"
	acceptedPrefix = "files/"
)

// RemoveIncomplete removes what processes that ended during a write have left in a folder. Writes that began
// after a time may still be in progress.
func (s *Store) RemoveIncomplete(ctx context.Context, began time.Time) error {
	f, is := s.files.(*folder)
	if !is {
		return nil // a bucket keeps no incomplete files
	}
	return errors.Join(f.removeIncomplete(ctx, incomingPrefix, began), f.removeIncomplete(ctx, acceptedPrefix, began))
}

func incoming(id feedback.ID) string { return incomingPrefix + id.String() }
func accepted(id feedback.ID) string { return acceptedPrefix + id.String() }

// Target returns a URL to which a client can send a file of exactly size bytes with PUT
// until life has passed. It returns "" if DirectUploads is false.
func (s *Store) Target(ctx context.Context, id feedback.ID, size int64, life time.Duration) (string, error) {
	b, direct := s.files.(*bucket)
	if !direct {
		return "", nil
	}
	return b.target(ctx, incoming(id), size, life)
}

// Direct reports whether clients send files directly to a place, to the URL that Target returns,
// and not to the service: whether it is a bucket.
func Direct(place string) bool { return strings.HasPrefix(place, "s3://") }

// DirectUploads reports whether the place of the store is Direct.
func (s *Store) DirectUploads() bool {
	_, direct := s.files.(*bucket)
	return direct
}

// Receive stores a file that was sent to the service. size is the number of bytes that from has,
// or -1 if it is not known. Accept must inspect the file before it can be opened.
func (s *Store) Receive(ctx context.Context, id feedback.ID, from io.Reader, size int64) error {
	return s.files.write(ctx, incoming(id), from, size)
}

// Accepted describes a file that was accepted.
type Accepted struct {
	ContentType string
	Size        int64  // in bytes
	SHA256      []byte // of the content
}

func describe(content []byte, contentType string) Accepted {
	sum := sha256.Sum256(content)
	return Accepted{contentType, int64(len(content)), sum[:]}
}

// Accept inspects a received file, removes metadata from images, and makes it available to
// Open. In a folder, an accepted file never changes, even if another one is received with the same
// id; in a bucket, one that arrives during Accept may replace it. Accept returns ErrNotFound if no
// file was received, and feedback.ErrInvalidFile if the file does not have the announced size or
// must not be attached.
func (s *Store) Accept(ctx context.Context, announced feedback.Attachment) (Accepted, error) {
	if err := s.inspecting.Acquire(ctx, 1); err != nil {
		return Accepted{}, err
	}
	defer s.inspecting.Release(1)
	sent, err := s.read(ctx, incoming(announced.ID))
	switch {
	case errors.Is(err, ErrNotFound): // an earlier call may have accepted it
		return s.describeAccepted(ctx, announced)
	case err == nil && int64(len(sent)) != announced.Size:
		err = feedback.ErrInvalidFile.With("The file must have the announced size of %d bytes.", announced.Size)
	}
	if err != nil {
		return Accepted{}, err
	}
	clean, contentType, err := inspect(sent, announced.ContentType)
	if err != nil {
		return Accepted{}, err
	}
	err = s.files.write(ctx, accepted(announced.ID), bytes.NewReader(clean), int64(len(clean)))
	if err != nil && !errors.Is(err, errAccepted) {
		return Accepted{}, err
	}
	if err := s.Discard(ctx, announced.ID); err != nil {
		return Accepted{}, err
	}
	if err != nil { // a concurrent call has accepted it
		return s.describeAccepted(ctx, announced)
	}
	return describe(clean, contentType), nil
}

func (s *Store) describeAccepted(ctx context.Context, announced feedback.Attachment) (Accepted, error) {
	content, err := s.read(ctx, accepted(announced.ID))
	if err != nil {
		return Accepted{}, err
	}
	_, contentType, err := inspect(content, announced.ContentType)
	return describe(content, contentType), err
}

// Discard removes a received file that was not accepted. It does nothing if there is none.
func (s *Store) Discard(ctx context.Context, id feedback.ID) error {
	return s.files.remove(ctx, incoming(id))
}

// read returns the content of a file. It returns feedback.ErrInvalidFile if the file is too
// large, which is possible with direct uploads.
func (s *Store) read(ctx context.Context, key string) ([]byte, error) {
	r, size, err := s.files.open(ctx, key)
	if err != nil {
		return nil, err
	}
	defer r.Close() //nolint:errcheck // only read from
	if size > feedback.MaxUpload {
		return nil, feedback.ErrInvalidFile.With("A file may be at most %d MiB.", feedback.MaxUpload>>20)
	}
	content := make([]byte, size)
	_, err = io.ReadFull(r, content)
	return content, err
}

// Open opens an accepted file. It returns ErrNotFound if there is none.
func (s *Store) Open(ctx context.Context, id feedback.ID) (io.ReadSeekCloser, error) {
	r, _, err := s.files.open(ctx, accepted(id))
	return r, err
}

// Remove removes a file, whether it was accepted or not. It does nothing if there is none.
func (s *Store) Remove(ctx context.Context, id feedback.ID) error {
	return errors.Join(s.Discard(ctx, id), s.files.remove(ctx, accepted(id)))
}
