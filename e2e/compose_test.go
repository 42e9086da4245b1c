package e2e_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/compose-spec/compose-go/v2/schema"
	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"gatherkit/e2e/program"
)

// composition is what the test reads of a file for Docker Compose.
type composition struct {
	Name     string
	Services map[string]struct {
		Image, User           string
		Command, Entrypoint   any
		Ports, Volumes, Tmpfs []string
		Environment           map[string]string
		Healthcheck           struct{ Test []string }
		StopGracePeriod       string   `json:"stop_grace_period"`
		ReadOnly              bool     `json:"read_only"`
		CapDrop               []string `json:"cap_drop"`
		SecurityOpt           []string `json:"security_opt"`
	}
	Volumes map[string]any
}

// readCompose reads a file, which must be as the schema of Docker Compose says.
func readCompose(text string) (c composition, err error) {
	var all map[string]any
	if err := yaml.UnmarshalStrict([]byte(text), &all); err != nil {
		return c, err
	}
	if err := schema.Validate(all); err != nil {
		return c, err
	}
	err = yaml.Unmarshal([]byte(text), &c)
	return c, err
}

func TestCompose(t *testing.T) {
	text := program.Read(t, "deploy/compose.yaml")
	c, err := readCompose(text)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{
		"services", "image", "ports", "environment", "volumes", "healthcheck", "interval", "start_period", "stop_grace_period", "user",
		"read_only", "tmpfs", "cap_drop", "security_opt", "logging", "driver",
	} {
		if _, err := readCompose(program.Replaced(t, text, key+":", "x"+key+":")); err == nil {
			t.Errorf("nobody would notice x%s", key)
		}
	}
	s := c.Services["gatherkit"]
	type rights struct {
		Image, User                 string
		ReadOnly                    bool
		Temporary, Dropped, Options []string
	}
	if diff := cmp.Diff(
		rights{"gatherkit:1.2.3", "65532:65532", true, []string{"/tmp:mode=1777"}, []string{"ALL"}, []string{"no-new-privileges:true"}},
		rights{s.Image, s.User, s.ReadOnly, s.Tmpfs, s.CapDrop, s.SecurityOpt},
	); diff != "" {
		t.Errorf("- wanted, + in the file:\n%s", diff)
	}
	if grace, err := time.ParseDuration(s.StopGracePeriod); err != nil || grace <= drainTime {
		t.Errorf("Docker kills gatherkit after %v, %v; it may take %v to stop", grace, err, drainTime)
	}
	if diff := cmp.Diff([]string{"127.0.0.1:8080:" + imagePort}, s.Ports); diff != "" {
		t.Errorf("the ports (- wanted, + in the file):\n%s", diff)
	}
	// docs/operating.md names the volume as Docker does.
	name, target, _ := strings.Cut(strings.Join(s.Volumes, " "), ":")
	if _, declared := c.Volumes[name]; !declared || target != imageData || c.Name+"_"+name != "gatherkit_data" {
		t.Errorf("the volumes are %q of %v", s.Volumes, c.Volumes)
	}
	if s.Command != nil || s.Entrypoint != nil {
		t.Errorf("the file changes the command of the image to %v %v", s.Entrypoint, s.Command)
	}

	volume := owned(t, imageUser, 0o700) // Docker gives a new volume the owner of the folder in the image
	b := box{variables: s.Environment, folders: map[string]string{imageData: volume, "/tmp": owned(t, 0, 0o777)}}
	p := b.use(t)
	if _, err := os.Stat(filepath.Join(volume, "gatherkit.db")); err != nil {
		t.Errorf("the database is not in the volume: %v", err)
	}
	healthy := func() error {
		test := s.Healthcheck.Test
		if len(test) < 3 || test[0] != "CMD" || test[1] != imageProgram {
			t.Fatalf("the health check is %q", test)
		}
		// The default of --url has the port of the image.
		b.variables["GATHERKIT_URL"] = p.URL
		return b.command(t, imagePort, test[2:]...).Run()
	}
	if err := healthy(); err != nil {
		t.Errorf("the health check of a running service: %v", err)
	}
	p.Stop(t)
	if healthy() == nil {
		t.Error("a stopped service is healthy")
	}
	if help := program.Succeed(t, "healthcheck", "--help"); !strings.Contains(help, "http://127.0.0.1:"+imagePort) {
		t.Errorf("the health check asks elsewhere than at port %s:\n%s", imagePort, help)
	}
}
