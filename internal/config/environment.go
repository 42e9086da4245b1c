package config

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"gatherkit/internal/feedback"
)

const prefix = "GATHERKIT_"

// Options returns the options with which kong reads the settings. They allow a secret to
// come from a file that the variable GATHERKIT_…_FILE names.
func Options() []kong.Option {
	return []kong.Option{kong.Resolvers(kong.ResolverFunc(fromFile))}
}

// fromFile returns the value of a secret from its file, or nil. Kong calls it for each flag
// that is not on the command line.
func fromFile(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	if !flag.Tag.Has("secret") {
		return nil, nil
	}
	variable := flag.Envs[0]
	file := os.Getenv(variable + "_FILE")
	switch {
	case file == "":
		return nil, nil
	case os.Getenv(variable) != "":
		return nil, fmt.Errorf("set either %[1]s or %[1]s_FILE, not both", variable)
	}
	text, err := os.ReadFile(file) //nolint:gosec // the operator chooses the file
	if err != nil {
		return nil, fmt.Errorf("cannot read the file in %s_FILE: %w", variable, err)
	}
	value := strings.TrimRight(string(text), "\r\n")
	if value == "" {
		// Without this error, an empty file would select SQLite.
		return nil, fmt.Errorf("the file %q in %s_FILE is empty; write the value to it", file, variable)
	}
	return value, nil
}

// kubernetes matches variables that Kubernetes sets in every container of a namespace for
// each Service whose name begins with gatherkit: for the Service gatherkit-db, they are
// GATHERKIT_DB_SERVICE_HOST, GATHERKIT_DB_PORT=tcp://10.0.0.7:5432 and more. It also matches
// the value, because GATHERKIT_PORT=8080 was probably meant as a setting.
var kubernetes = regexp.MustCompile(`^GATHERKIT(_[A-Z0-9_]+)?_` +
	`(SERVICE_HOST=|SERVICE_PORT(_[A-Z0-9_]+)?=|PORT=(tcp|udp|sctp)://|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?=)`)

// Unknown returns a warning for each GATHERKIT_ variable in environ that is not a setting
// of the model. The format of environ is that of os.Environ.
func Unknown(model *kong.Application, environ []string) []string {
	known := variables(model)
	var warnings []string
	for _, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		own, ok := strings.CutPrefix(name, prefix)
		if !ok || slices.Contains(known, own) || kubernetes.MatchString(entry) {
			continue
		}
		warning := name + " is not a setting"
		if near := feedback.Nearest(own, known); near != "" {
			warning += "; did you mean " + prefix + near + "?"
		}
		warnings = append(warnings, warning)
	}
	return warnings
}

// variables returns the names of the variables that the model reads. They have no prefix,
// because with it all names would be similar to each other.
func variables(model *kong.Application) []string {
	var names []string
	_ = kong.Visit(model, func(node kong.Visitable, next kong.Next) error { // this visitor never fails
		if flag, ok := node.(*kong.Flag); ok {
			for _, name := range flag.Envs {
				name = strings.TrimPrefix(name, prefix)
				names = append(names, name)
				if flag.Tag.Has("secret") {
					names = append(names, name+"_FILE")
				}
			}
		}
		return next(nil)
	})
	return names
}
