package blob

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gatherkit/e2e/program"
)

// setRole sets the environment of this process, which has only the given variables of AWS tools.
func setRole(t *testing.T, variables map[string]string) {
	t.Helper()
	t.Setenv("HOME", t.TempDir())
	for _, entry := range os.Environ() {
		if name, _, _ := strings.Cut(entry, "="); strings.HasPrefix(name, "AWS_") {
			t.Setenv(name, "")
		}
	}
	for name, value := range variables {
		t.Setenv(name, value)
	}
}

func written(t *testing.T, text string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestCredentials stores a file with credentials from each place that AWS tools read.
func TestCredentials(t *testing.T) {
	s3 := program.StartS3(t)
	const arn = "arn:aws:iam::1:role/gatherkit"
	roles := startRoles(t, s3, arn)
	profiles := written(t, "[default]\naws_access_key_id = other\naws_secret_access_key = other\n"+
		"[gatherkit]\naws_access_key_id = "+s3.Key+"\naws_secret_access_key = "+s3.Secret+"\n")
	for name, variables := range map[string]map[string]string{
		"variables": {"AWS_ACCESS_KEY_ID": s3.Key, "AWS_SECRET_ACCESS_KEY": s3.Secret, "AWS_SHARED_CREDENTIALS_FILE": written(t, "[default]\n")},
		"profile":   {"AWS_SHARED_CREDENTIALS_FILE": profiles, "AWS_PROFILE": "gatherkit"},
		"web identity": {
			"AWS_WEB_IDENTITY_TOKEN_FILE": written(t, "the token"), "AWS_ROLE_ARN": arn, "AWS_ENDPOINT_URL_STS": roles,
			"AWS_EC2_METADATA_DISABLED": "true",
		},
		"ECS": {"AWS_CONTAINER_CREDENTIALS_FULL_URI": roles + "/ecs", "AWS_CONTAINER_AUTHORIZATION_TOKEN": "the token"},
		"EKS": {
			"AWS_CONTAINER_CREDENTIALS_FULL_URI": roles + "/ecs", "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": written(t, "the token"),
		},
		"EC2":           {"AWS_EC2_METADATA_SERVICE_ENDPOINT": roles},
		"half variable": {"AWS_ACCESS_KEY_ID": s3.Key, "AWS_EC2_METADATA_SERVICE_ENDPOINT": roles},
	} {
		t.Run(name, func(t *testing.T) {
			setRole(t, variables)
			s := opened(t, s3.Bucket)
			if err := s.Try(t.Context()); err != nil {
				t.Error(err)
			}
			if to, err := s.Target(t.Context(), newID(1), 5, time.Minute); !strings.Contains(to, "X-Amz-Credential="+s3.Key+"%2F") || err != nil {
				t.Errorf("%s %v", to, err)
			}
		})
	}
}

// TestNoCredentials: the error says what to do, and why there are none.
func TestNoCredentials(t *testing.T) {
	s3 := program.StartS3(t)
	roles := startRoles(t, s3, "another role")
	for name, test := range map[string]struct {
		variables map[string]string
		reason    string
	}{
		"nothing": {map[string]string{
			"AWS_EC2_METADATA_DISABLED": "true", "AWS_EC2_METADATA_SERVICE_ENDPOINT": roles,
		}, "credentials: no such file"},
		"profile": {map[string]string{
			"AWS_SHARED_CREDENTIALS_FILE": written(t, "[default]\n"), "AWS_PROFILE": "other", "AWS_EC2_METADATA_DISABLED": "true",
		}, `"other"`},
		"web identity": {map[string]string{
			"AWS_WEB_IDENTITY_TOKEN_FILE": written(t, "the token"), "AWS_ROLE_ARN": "arn:aws:iam::1:role/x", "AWS_ENDPOINT_URL_STS": roles,
		}, "Not authorized to assume the role"},
	} {
		t.Run(name, func(t *testing.T) {
			setRole(t, test.variables)
			s := opened(t, s3.Bucket)
			_, err := s.Target(t.Context(), newID(1), 5, time.Minute)
			for _, err := range []error{err, s.Try(t.Context())} {
				if err == nil || !strings.Contains(err.Error(), "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY") ||
					!strings.Contains(err.Error(), test.reason) {
					t.Errorf("%v, want %q", err, test.reason)
				}
			}
		})
	}
}

// TestCredentialsAreRenewed: those of a role are asked for again before they expire, and not for
// every call.
func TestCredentialsAreRenewed(t *testing.T) {
	s3 := program.StartS3(t)
	var asked, life atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		_, _ = fmt.Fprint(w, roleJSON(s3, time.Duration(life.Load())))
	}))
	t.Cleanup(server.Close)
	setRole(t, map[string]string{"AWS_CONTAINER_CREDENTIALS_FULL_URI": server.URL})
	for name, test := range map[string]struct {
		life  time.Duration
		asked int64
	}{"valid": {time.Hour, 1}, "expired": {-time.Hour, 3}} {
		asked.Store(0)
		life.Store(int64(test.life))
		s := opened(t, s3.Bucket)
		for range 3 {
			if _, err := s.Target(t.Context(), newID(1), 5, time.Minute); err != nil {
				t.Fatal(err)
			}
		}
		if n := asked.Load(); n != test.asked {
			t.Errorf("%s: asked %d times, want %d", name, n, test.asked)
		}
	}
}

// startRoles starts what answers for the services of AWS that know the roles of pods, of containers
// and of virtual machines. It gives the credentials of the S3 server.
func startRoles(t *testing.T, s3 program.S3, arn string) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("POST /{$}", func(w http.ResponseWriter, r *http.Request) { // AssumeRoleWithWebIdentity
		if err := r.ParseForm(); err != nil {
			t.Error(err)
		}
		in := r.Form
		if in.Get("Action") != "AssumeRoleWithWebIdentity" || in.Get("WebIdentityToken") != "the token" || in.Get("RoleArn") != arn {
			w.WriteHeader(http.StatusForbidden)
			_, _ = fmt.Fprint(w, `<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Error><Code>AccessDenied</Code>`+
				`<Message>Not authorized to assume the role</Message></Error></ErrorResponse>`)
			return
		}
		_, _ = fmt.Fprintf(w, `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">`+
			`<AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>%s</AccessKeyId><SecretAccessKey>%s</SecretAccessKey>`+
			`<Expiration>%s</Expiration></Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`,
			s3.Key, s3.Secret, time.Now().Add(time.Hour).UTC().Format(time.RFC3339))
	})
	mux.HandleFunc("GET /ecs", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "the token" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		_, _ = fmt.Fprint(w, roleJSON(s3, time.Hour))
	})
	mux.HandleFunc("PUT /latest/api/token", func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, "the token") })
	const path = "GET /latest/meta-data/iam/security-credentials/"
	mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, "gatherkit") })
	mux.HandleFunc(path+"gatherkit", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-aws-ec2-metadata-token") != "the token" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = fmt.Fprint(w, roleJSON(s3, time.Hour))
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

func roleJSON(s3 program.S3, life time.Duration) string {
	return fmt.Sprintf(`{"Code":"Success","AccessKeyId":%q,"SecretAccessKey":%q,"Expiration":%q}`,
		s3.Key, s3.Secret, time.Now().Add(life).UTC().Format(time.RFC3339))
}
