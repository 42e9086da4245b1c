package blob

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gatherkit/internal/feedback"
	"gatherkit/internal/store/storetest"
)

// TestAddresses tests to which addresses clients send files, and which URLs of buckets are refused.
func TestAddresses(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "a secret")
	for _, test := range []struct{ place, region, want string }{
		{"s3://name?region=eu-central-1", "", "https://name.s3.eu-central-1.amazonaws.com eu-central-1"},
		{"s3://name/?region=us-east-1", "eu-north-1", "https://name.s3.us-east-1.amazonaws.com us-east-1"},
		{"s3://name?region=cn-north-1", "", "https://name.s3.cn-north-1.amazonaws.com.cn cn-north-1"},
		{"s3://name", "eu-north-1", "https://name.s3.eu-north-1.amazonaws.com eu-north-1"},
		{"s3://name?region=eu-west-1&use_path_style=true", "", "https://s3.eu-west-1.amazonaws.com/name eu-west-1"},
		{"s3://na.me?region=eu-west-1", "", "https://s3.eu-west-1.amazonaws.com/na.me eu-west-1"},
		{"s3://name?endpoint=https://minio.example.com", "", "https://name.minio.example.com us-east-1"},
		{"s3://na.me?endpoint=http://minio.example.com", "", "http://na.me.minio.example.com us-east-1"},
		{"s3://name?endpoint=https://minio.example.com:9000/&use_path_style=true", "", "https://minio.example.com:9000/name us-east-1"},
		{"s3://name?endpoint=https://minio.example.com&region=x&use_path_style=false", "", "https://name.minio.example.com x"},
		{"s3://name?endpoint=http://127.0.0.1:9000", "", "http://127.0.0.1:9000/name us-east-1"},

		{"s3://name", "", "the URL has no region"},
		{"s3://name?prefix=files&region=eu-west-1", "", `unknown parameter "prefix"`},
		{"s3://name?region=eu-west-1&profile=x", "", `unknown parameter "profile"`},
		{"s3://name?region=%zz", "", "invalid URL escape"},
		{"s3://name/folder?region=eu-west-1", "", "must not have a path"},
		{"s3://n?region=eu-west-1", "", "Bucket name"},
		{"s3://name?endpoint=minio.example.com", "", "endpoint must be a URL"},
		{"s3://name?endpoint=https://minio.example.com/s3", "", "endpoint must be a URL"},
		{"s3://name?region=eu-west-1&use_path_style=yes", "", "use_path_style must be true or false"},
	} {
		t.Setenv("AWS_REGION", "")
		t.Setenv("AWS_DEFAULT_REGION", test.region)
		got := target(t, test.place)
		if strings.HasPrefix(got, "refused: ") && strings.Contains(got, test.want) {
			continue
		}
		if got != test.want {
			t.Errorf("%s: %s, want %s", test.place, got, test.want)
		}
	}
}

// target returns the URL of a bucket and the region for which the store signs calls, or the error of
// Open.
func target(t *testing.T, place string) string {
	t.Helper()
	s, err := Open(place)
	if err != nil {
		if !strings.HasSuffix(err.Error(), "; check --uploads") {
			t.Errorf("%s: %v", place, err)
		}
		return "refused: " + err.Error()
	}
	text, err := s.Target(t.Context(), newID(1), 5, 15*time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	query := u.Query()
	if query.Get("X-Amz-Expires") != "900" || query.Get("X-Amz-SignedHeaders") != "content-length;host" {
		t.Errorf("%s: %s", place, text)
	}
	before, ok := strings.CutSuffix(u.Path, "/incoming/"+newID(1).String())
	if !ok {
		t.Errorf("%s: %s", place, text)
	}
	return u.Scheme + "://" + u.Host + before + " " + strings.Split(query.Get("X-Amz-Credential"), "/")[2]
}

// TestUnknownAuthority: the error says what an operator can do.
func TestUnknownAuthority(t *testing.T) {
	server := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	t.Setenv("AWS_ACCESS_KEY_ID", "key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	s := opened(t, "s3://bucket?endpoint="+url.QueryEscape(server.URL))
	_, reading := s.Open(t.Context(), newID(1))
	writing := s.Receive(t.Context(), newID(1), strings.NewReader("text"), 4)
	for _, err := range []error{reading, writing, s.Remove(t.Context(), newID(1))} {
		if err == nil || !strings.Contains(err.Error(), "add it as docs/operating.md says under Certificates: ") {
			t.Errorf("%v", err)
		}
	}
}

// TestTarget: the URL takes only a file of the announced size, and only with PUT.
func TestTarget(t *testing.T) {
	s3 := startS3(t)
	s := opened(t, s3.Bucket)
	to, err := s.Target(t.Context(), newID(1), 5, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	send := func(method, text string) int {
		r, err := http.NewRequestWithContext(t.Context(), method, to, strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "text/plain")
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := response.Body.Close(); err != nil {
			t.Fatal(err)
		}
		return response.StatusCode
	}
	for method, texts := range map[string][]string{http.MethodPut: {"", "word", "words and more"}, http.MethodGet: {""}} {
		for _, text := range texts {
			if status := send(method, text); status != http.StatusForbidden {
				t.Errorf("%s %q: %d", method, text, status)
			}
		}
	}
	if left := filesIn(t, s3.Folder); len(left) > 0 {
		t.Errorf("stored: %v", left)
	}
	if status := send(http.MethodPut, "words"); status != http.StatusOK {
		t.Errorf("the announced file: %d", status)
	}
	file, err := s.Accept(t.Context(), feedback.Attachment{ID: newID(1), Size: 5})
	if file.Size != 5 || err != nil || content(t, s, newID(1)) != "words" {
		t.Errorf("%+v %v", file, err)
	}
	folder := opened(t, t.TempDir())
	if to, err := folder.Target(t.Context(), newID(1), 5, time.Minute); to != "" || err != nil {
		t.Errorf("%q %v", to, err)
	}
	if folder.DirectUploads() || !s.DirectUploads() {
		t.Error("clients send files directly to the other store")
	}
}

// TestMemoryOfBucket: files are not in memory while they are sent to S3 and received from it. Of a
// file whose size is not known, one part is.
func TestMemoryOfBucket(t *testing.T) {
	s3 := startS3(t)
	s := opened(t, s3.Bucket)
	if err := s.Try(t.Context()); err != nil { // it allocates what further calls use again
		t.Fatal(err)
	}
	file := bytes.Repeat([]byte("words "), feedback.MaxUpload/6)
	const little = 4 << 20
	for size, most := range map[int64]uint64{int64(len(file)): little, -1: partSize + little} {
		used := storetest.Allocated(func() {
			if err := s.Receive(t.Context(), newID(1), struct{ io.Reader }{bytes.NewReader(file)}, size); err != nil {
				t.Fatal(err)
			}
		})
		stored, err := os.ReadFile(filepath.Join(s3.Folder, "incoming", newID(1).String()))
		if err != nil || !bytes.Equal(stored, file) || used > most {
			t.Errorf("size %d: %d bytes in memory, at most %d; stored %d; %v", size, used, most, len(stored), err)
		}
	}
	if _, err := s.Accept(t.Context(), feedback.Attachment{ID: newID(1), Size: int64(len(file))}); err != nil {
		t.Fatal(err)
	}
	if used := storetest.Allocated(func() {
		r, err := s.Open(t.Context(), newID(1))
		if err != nil {
			t.Fatal(err)
		}
		if n, err := io.Copy(io.Discard, r); n != int64(len(file)) || err != nil || r.Close() != nil {
			t.Error(n, err)
		}
	}); used > little {
		t.Errorf("%d bytes in memory to read a file", used)
	}
}

// TestFailingServer: a call is tried again, but not for long.
func TestFailingServer(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "a secret")
	var puts atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut {
			puts.Add(1)
		}
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	t.Cleanup(server.Close)
	if err := opened(t, "s3://files?endpoint="+server.URL).Try(t.Context()); err == nil || puts.Load() != tries {
		t.Errorf("tried %d times, %v", puts.Load(), err)
	}
}

// TestServerWithoutBucket: calls say what the server answers, and end when it does not answer.
func TestServerWithoutBucket(t *testing.T) {
	s3 := startS3(t)
	elsewhere := opened(t, strings.Replace(s3.Bucket, "files", "elsewhere", 1))
	if err := elsewhere.Try(t.Context()); err == nil || !strings.Contains(err.Error(), "bucket") {
		t.Errorf("no bucket: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := opened(t, s3.Bucket).Try(ctx); err == nil || !strings.Contains(err.Error(), "context canceled") {
		t.Errorf("the call has ended: %v", err)
	}
	if left := filesIn(t, s3.Folder); len(left) > 0 {
		t.Errorf("stored: %v", left)
	}
}
