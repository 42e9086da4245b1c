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

// Options are what kong needs to read the settings: a secret may also come from the
// file that the variable GATHERKIT_…_FILE names.
func Options() []kong.Option {
	return []kong.Option{kong.Resolvers(kong.ResolverFunc(fromFile))}
}

// fromFile is asked for each flag that is not on the command line.
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
	text, err := os.ReadFile(file) //nolint:gosec // the operator names it
	if err != nil {
		return nil, fmt.Errorf("cannot read the file that %s_FILE names: %w", variable, err)
	}
	value := strings.TrimRight(string(text), "\r\n")
	if value == "" {
		// Without this an empty file would mean SQLite.
		return nil, fmt.Errorf("the file %q that %s_FILE names is empty; write the value into it", file, variable)
	}
	return value, nil
}

// kubernetes matches what Kubernetes sets in every container of a namespace that has
// a Service whose name begins with gatherkit: for the Service gatherkit-db
// GATHERKIT_DB_SERVICE_HOST, GATHERKIT_DB_PORT=tcp://10.0.0.7:5432 and more. The
// value tells GATHERKIT_PORT=8080, which somebody must have meant as a setting.
var kubernetes = regexp.MustCompile(`^GATHERKIT(_[A-Z0-9_]+)?_` +
	`(SERVICE_HOST=|SERVICE_PORT(_[A-Z0-9_]+)?=|PORT=(tcp|udp|sctp)://|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?=)`)

// Unknown returns a sentence for each GATHERKIT_ variable of environ, which is as
// from os.Environ, that no setting of the model reads.
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

// variables returns the variables that the model reads, without the prefix, which
// would make all of them alike.
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
