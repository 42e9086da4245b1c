package config_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatherkit/internal/config"
)

func TestUnknown(t *testing.T) {
	for _, test := range []struct{ entry, want string }{
		{"GATHERKIT_LISTEN=:80", ""},
		{"GATHERKIT_DATA=x", ""},
		{"GATHERKIT_DATABASE_FILE=/run/secrets/database", ""},
		{"HOME=/root", ""},
		{"gatherkit_listen=:80", ""},
		{"GATHERKIT_LISTN=:80", "GATHERKIT_LISTN is not a setting; did you mean GATHERKIT_LISTEN?"},
		{"GATHERKIT_PUBLICURL=https://h", "GATHERKIT_PUBLICURL is not a setting; did you mean GATHERKIT_PUBLIC_URL?"},
		{"GATHERKIT_DATABASEFILE=x", "GATHERKIT_DATABASEFILE is not a setting; did you mean GATHERKIT_DATABASE_FILE?"},
		{"GATHERKIT_LISTEN_FILE=x", ""},
		{"GATHERKIT_LISTEN_FIEL=x", "GATHERKIT_LISTEN_FIEL is not a setting; did you mean GATHERKIT_LISTEN_FILE?"},
		{"GATHERKIT_COLOUR", "GATHERKIT_COLOUR is not a setting"},
		// What Kubernetes sets for the Services gatherkit and gatherkit-db.
		{"GATHERKIT_SERVICE_HOST=10.0.0.7", ""},
		{"GATHERKIT_SERVICE_PORT=80", ""},
		{"GATHERKIT_SERVICE_PORT_HTTP=80", ""},
		{"GATHERKIT_PORT=tcp://10.0.0.7:80", ""},
		{"GATHERKIT_PORT_80_TCP=tcp://10.0.0.7:80", ""},
		{"GATHERKIT_PORT_80_TCP_PROTO=tcp", ""},
		{"GATHERKIT_PORT_80_TCP_PORT=80", ""},
		{"GATHERKIT_PORT_80_TCP_ADDR=10.0.0.7", ""},
		{"GATHERKIT_DB_SERVICE_HOST=10.0.0.7", ""},
		{"GATHERKIT_DB_SERVICE_PORT=5432", ""},
		{"GATHERKIT_DB_PORT=tcp://10.0.0.7:5432", ""},
		{"GATHERKIT_DB_PORT_5432_TCP_ADDR=10.0.0.7", ""},
		// Values that Kubernetes does not set, so somebody meant them as settings.
		{"GATHERKIT_PORT=8080", "GATHERKIT_PORT is not a setting"},
		{"GATHERKIT_LISTEN_PORT=8080", "GATHERKIT_LISTEN_PORT is not a setting"},
		{"GATHERKIT_PORT_80_HTTP=x", "GATHERKIT_PORT_80_HTTP is not a setting"},
	} {
		_, parser := newParser(t)
		var want []string
		if test.want != "" {
			want = []string{test.want}
		}
		if diff := cmp.Diff(want, config.Unknown(parser.Model, []string{test.entry})); diff != "" {
			t.Errorf("%s: %s", test.entry, diff)
		}
	}
}

// TestUnknownNamesEach checks that known variables, and those of other programs, do not
// keep later unknown ones from being reported.
func TestUnknownNamesEach(t *testing.T) {
	_, parser := newParser(t)
	got := config.Unknown(parser.Model, []string{
		"HOME=/root", "GATHERKIT_COLOUR=red", "GATHERKIT_LISTEN=:80", "GATHERKIT_SERVICE_PORT=80", "GATHERKIT_LISTN=:80",
	})
	want := []string{"GATHERKIT_COLOUR is not a setting", "GATHERKIT_LISTN is not a setting; did you mean GATHERKIT_LISTEN?"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
