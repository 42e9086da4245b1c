package program

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// S3 is a running S3 server with an empty bucket.
type S3 struct {
	URL         string // of the server, without a trailing slash
	Bucket      string // for --uploads
	Folder      string // in which each object of the bucket is a file with its key as path
	Key, Secret string // the credentials of the server's owner
}

// StartS3 starts an S3 server on a free loopback port until the test ends. Without the program, the
// test ends as storetest.Missing describes for "s3".
func StartS3(t *testing.T) S3 {
	t.Helper()
	folder, address := t.TempDir(), FreeAddress(t)
	s := S3{URL: "http://" + address, Folder: filepath.Join(folder, "files"), Key: "key", Secret: "a secret"}
	s.Bucket = "s3://files?region=us-east-1&endpoint=" + s.URL + "&use_path_style=true"
	if err := os.Mkdir(s.Folder, 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), Tool(t, "versitygw", "s3"),
		"--access", s.Key, "--secret", s.Secret, "--port", address, "posix", folder)
	var out Output
	cmd.Stdout, cmd.Stderr = &out, &out
	Launch(t, cmd, make(chan struct{}))
	Eventually(t, "S3 answers", func() bool {
		response, err := http.Get(s.URL)
		return err == nil && response.Body.Close() == nil
	})
	return s
}
