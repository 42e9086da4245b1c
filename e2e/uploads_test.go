package e2e_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gatherkit/e2e/program"
	"gatherkit/internal/store/storetest"
)

// TestUploadsToFolder sends files to the service, which stores them in its data folder.
func TestUploadsToFolder(t *testing.T) {
	t.Parallel()
	tryUploads(t, program.Start(t))
}

// TestUploadsWithoutPlace tests the answers of a service that has no storage for files.
func TestUploadsWithoutPlace(t *testing.T) {
	t.Parallel()
	p := program.Start(t, "--database", storetest.Postgres(t))
	_, key := uploading(t, p)
	a := announce(t, p, key, "a.txt", "text/plain", 1)
	if a.Error.Code != "widget.uploads_not_allowed" || !strings.Contains(a.Error.Message, "--uploads") {
		t.Errorf("%+v", a)
	}
	if config := download(t, p.URL+"/widget/config/"+key+".json"); !strings.Contains(string(config.body), `"allow_file_uploads":false`) {
		t.Errorf("%s", config.body)
	}
}

// TestUploadsToS3 sends files directly to an S3 server, from which the service reads them.
func TestUploadsToS3(t *testing.T) {
	t.Parallel()
	s3 := program.StartS3(t)
	settings := []string{"AWS_ACCESS_KEY_ID=" + s3.Key, "AWS_SECRET_ACCESS_KEY=" + s3.Secret, "AWS_EC2_METADATA_DISABLED=true"}
	p := program.StartOn(t, program.FreeAddress(t), settings, "--uploads", s3.Bucket)
	key := tryUploads(t, p)
	target, id := announced(t, announce(t, p, key, "a.txt", "text/plain", 5))
	if status, text := put(t, http.DefaultClient, target, []byte("words and more"), nil); status != http.StatusForbidden {
		t.Errorf("a file %s that is longer than announced: %d %s", id, status, text)
	}
	if left, err := filepath.Glob(filepath.Join(s3.Folder, "incoming", "*")); len(left) > 0 || err != nil {
		t.Errorf("incoming files are left in the bucket: %v %v", left, err)
	}
}

// uploading sets up an app that accepts files.
func uploading(t *testing.T, p *program.Process) (token, key string) {
	t.Helper()
	token, key = setUp(t, p)
	apps := call(t, http.DefaultClient, p.URL+"/api/apps-list", "", "Authorization", "Bearer "+token)
	var listed struct {
		Apps []struct{ ID string }
	}
	if err := json.Unmarshal(apps.Result, &listed); err != nil {
		t.Fatal(err)
	}
	body := `{"id":"` + listed.Apps[0].ID + `","settings":{"widget":{"allow_file_uploads":true}}}`
	a := call(t, http.DefaultClient, p.URL+"/api/apps-update-settings", body, "Authorization", "Bearer "+token)
	if !a.OK {
		t.Fatalf("%+v", a)
	}
	return token, key
}

func announce(t *testing.T, p *program.Process, key, name, contentType string, size int) answer {
	t.Helper()
	body := fmt.Sprintf(`{"filename":%q,"content_type":%q,"size":%d}`, name, contentType, size)
	return call(t, http.DefaultClient, p.URL+"/api/widget-create-upload", body, "X-API-Key", key)
}

// downloaded is the answer to a GET.
type downloaded struct {
	status int
	header http.Header
	body   []byte
}

func download(t *testing.T, url string) downloaded {
	t.Helper()
	return downloadBy(t, http.DefaultClient, url)
}

func downloadBy(t *testing.T, client *http.Client, url string) downloaded {
	t.Helper()
	response, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // the body is read below
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return downloaded{response.StatusCode, response.Header, body}
}

// tryUploads sends a picture, and then an HTML page with the name of a picture.
func tryUploads(t *testing.T, p *program.Process) (key string) {
	t.Helper()
	token, key := uploading(t, p)
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 40, 30))); err != nil {
		t.Fatal(err)
	}
	submit := func(id string) answer {
		body := `{"title":"T","description":"","attachments":["` + id + `"]}`
		return call(t, http.DefaultClient, p.URL+"/api/widget-submit-request", body, "X-API-Key", key)
	}
	id := sendFile(t, p, key, "picture.png", picture.Bytes())
	if a := submit(id); !a.OK {
		t.Fatalf("%+v", a)
	}
	attached := onlyAttachment(t, p, token)
	file := download(t, p.URL+attached.URL)
	if file.status != http.StatusOK || !bytes.Equal(file.body, picture.Bytes()) || attached.Size != picture.Len() ||
		file.header.Get("Content-Disposition") != `attachment; filename=picture.png` || file.header.Get("Content-Type") != "image/png" {
		t.Errorf("%d %v, %d bytes", file.status, file.header, len(file.body))
	}
	page := sendFile(t, p, key, "page.png", []byte("<html><script>alert(1)</script></html>"))
	if a := submit(page); a.Error.Code != "widget.invalid_attachments" {
		t.Errorf("%+v", a)
	}
	return key
}

type attachment struct {
	URL  string
	Size int
}

// onlyAttachment returns the only attachment of the only request.
func onlyAttachment(t *testing.T, p *program.Process, token string) attachment {
	t.Helper()
	listed := call(t, http.DefaultClient, p.URL+"/api/requests-list", "", "Authorization", "Bearer "+token)
	var page struct {
		Requests []struct{ Attachments []attachment }
	}
	if err := json.Unmarshal(listed.Result, &page); err != nil || len(page.Requests) != 1 || len(page.Requests[0].Attachments) != 1 {
		t.Fatalf("%v %s", err, listed.Result)
	}
	return page.Requests[0].Attachments[0]
}

// sendFile announces a file as a picture, sends it and returns its id. The service refuses other
// files at once, but S3 accepts any content.
func sendFile(t *testing.T, p *program.Process, key, name string, content []byte) string {
	t.Helper()
	target, id := announced(t, announce(t, p, key, name, "image/png", len(content)))
	if strings.HasPrefix(target, "/") {
		target = p.URL + target
	}
	status, text := put(t, http.DefaultClient, target, content, map[string]string{"Content-Type": "image/png"})
	if status != http.StatusOK && !strings.Contains(text, "uploads.invalid_file") {
		t.Errorf("%d %s", status, text)
	}
	return id
}

// sendText announces a plain text, sends it and returns its id.
func sendText(t *testing.T, p *program.Process, key, name, text string) string {
	t.Helper()
	target, id := announced(t, announce(t, p, key, name, "text/plain", len(text)))
	headers := map[string]string{"Content-Type": "text/plain"}
	if status, answer := put(t, http.DefaultClient, p.URL+target, []byte(text), headers); status != http.StatusOK {
		t.Fatalf("%d %s", status, answer)
	}
	return id
}

// acceptFiles lets an app accept files.
func acceptFiles(t *testing.T, c program.Client, session, appID string) {
	t.Helper()
	c.Want(t, "ok", "apps-update-settings", session, program.Params{
		"id": appID, "settings": program.Params{"widget": program.Params{"allow_file_uploads": true}},
	})
}

// announced returns the URL to which an announced file must be sent, and its id.
func announced(t *testing.T, a answer) (url, id string) {
	t.Helper()
	var result struct {
		Upload struct {
			ID, URL, Method string
			Headers         map[string]string
		}
	}
	if err := json.Unmarshal(a.Result, &result); err != nil || result.Upload.Method != http.MethodPut || len(result.Upload.Headers) != 1 {
		t.Fatalf("%v %+v", err, a)
	}
	return result.Upload.URL, result.Upload.ID
}

// put sends a file's content.
func put(t *testing.T, client *http.Client, url string, content []byte, headers map[string]string) (status int, text string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, url, bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	response, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // the body is read below
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Error(err)
	}
	return response.StatusCode, string(body)
}

// TestMissingFile: a file whose content is not there, as after a restore without the files, and a
// folder that cannot be used are in the log and in the metrics.
func TestMissingFile(t *testing.T) {
	t.Parallel()
	data, metrics := t.TempDir(), program.FreeAddress(t)
	p := program.Start(t, "--data="+data, "--metrics-listen="+metrics)
	token, key := uploading(t, p)
	id := sendFile(t, p, key, "a.txt", []byte("words"))
	body := `{"title":"T","description":"","attachments":["` + id + `"]}`
	if a := call(t, http.DefaultClient, p.URL+"/api/widget-submit-request", body, "X-API-Key", key); !a.OK {
		t.Fatalf("%+v", a)
	}
	link := p.URL + onlyAttachment(t, p, token).URL
	if err := os.Remove(filepath.Join(data, "uploads", "files", id)); err != nil {
		t.Fatal(err)
	}
	if got := download(t, link); got.status != http.StatusNotFound {
		t.Errorf("%d %s", got.status, got.body)
	}
	program.Eventually(t, "the log names the missing file", func() bool {
		return strings.Contains(p.Stderr.String(), `"msg":"the content of an attached file is missing","file":"`+id+`"`)
	})
	incoming := filepath.Join(data, "uploads", "incoming")
	if err := errors.Join(os.RemoveAll(incoming), os.WriteFile(incoming, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	target, _ := announced(t, announce(t, p, key, "b.txt", "text/plain", 5))
	if status, text := put(t, http.DefaultClient, p.URL+target, []byte("words"), nil); status < http.StatusInternalServerError {
		t.Errorf("%d %s", status, text)
	}
	_, text := get(t, "http://"+metrics+"/metrics")
	for _, want := range []string{
		"gatherkit_missing_files_total 1",
		`gatherkit_file_errors_total{operation="receive"} 1`,
		`gatherkit_file_errors_total{operation="open"} 0`,
	} {
		if !strings.Contains(text, "\n"+want+"\n") {
			t.Errorf("the metrics have no %s:\n%s", want, own(text))
		}
	}
}

// TestIncompleteFiles: the service removes what it wrote when it was interrupted the day before.
func TestIncompleteFiles(t *testing.T) {
	uploads := filepath.Join(t.TempDir(), "uploads")
	old, fresh := filepath.Join(uploads, "incoming", "a.1.tmp"), filepath.Join(uploads, "files", "a.1.tmp")
	for file, age := range map[string]time.Duration{old: 25 * time.Hour, fresh: time.Hour} {
		err := errors.Join(
			os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, nil, 0o600),
			os.Chtimes(file, time.Time{}, time.Now().Add(-age)),
		)
		if err != nil {
			t.Fatal(err)
		}
	}
	program.Start(t, "--uploads="+uploads)
	program.Eventually(t, "the old file is removed", func() bool {
		_, err := os.Stat(old)
		return errors.Is(err, os.ErrNotExist)
	})
	if _, err := os.Stat(fresh); err != nil {
		t.Error(err)
	}
}
