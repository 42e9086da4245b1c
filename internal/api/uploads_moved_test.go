package api

import (
	"io"
	"strings"
	"testing"

	"gatherkit/e2e/program"
	"gatherkit/internal/blob"
	"gatherkit/internal/store/storetest"
)

// TestUploadsAfterMoveToS3: links that were made while files were in a folder still take files after
// the operator has moved them to S3, whether the sender says how large a file is or not.
func TestUploadsAfterMoveToS3(t *testing.T) {
	s3 := program.StartS3(t)
	t.Setenv("AWS_ACCESS_KEY_ID", s3.Key)
	t.Setenv("AWS_SECRET_ACCESS_KEY", s3.Secret)
	s := newService(t, storetest.SQLite(t))
	s.allowFiles(true)
	folder := s.api.Files
	bucket, err := blob.Open(s3.Bucket)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		body io.Reader
		code string
	}{
		"with its size":           {strings.NewReader("words"), "ok"},
		"without its size":        {struct{ io.Reader }{strings.NewReader("words")}, "ok"},
		"too long":                {strings.NewReader("words and more"), "uploads.invalid_file"},
		"too long, without size":  {struct{ io.Reader }{strings.NewReader("words and more")}, "uploads.invalid_file"},
		"too short":               {strings.NewReader("word"), "uploads.invalid_file"},
		"too short, without size": {struct{ io.Reader }{strings.NewReader("word")}, "uploads.invalid_file"},
	} {
		s.api.Files = folder
		_, url := s.announce("key", "a.txt", len("words"))
		s.api.Files = bucket
		if got := s.put(url, test.body); got.code(t) != test.code {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}
}
