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

// Options returns the options with which kong reads the settings. They allow the value of each variable to
// come from a file that the variable GATHERKIT_…_FILE names.
func Options() []kong.Option {
	return []kong.Option{kong.Resolvers(kong.ResolverFunc(fromFile))}
}

// fromFile returns the value of a flag from the file that its variable names, or nil. Kong calls it for each flag
// that is not on the command line.
func fromFile(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	if len(flag.Envs) == 0 {
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

var (
	// summary is what kong writes around a flag at the start of an error: the name of the command, and a
	// colon.
	summary = regexp.MustCompile(`^(?:[a-z][a-z -]*: )?(--[a-z-]+):? (must |is )`)
	// envar is what kong adds if a value comes from a variable. It contains the value.
	envar = regexp.MustCompile(`(?s) \(from envar [A-Z_]+=".*"\)$`)
	// fileError matches an error of fromFile, which names its variable, with what kong writes before it.
	fileError = regexp.MustCompile(`^--[a-z-]+: (.*GATHERKIT_[A-Z_]+_FILE)`)
	// flagName matches a flag in a sentence.
	flagName = regexp.MustCompile(`(^|[ (])--([a-z]+(?:-[a-z]+)*)`)
)

// Explain returns the text of an error of the program that got args. Errors are written with the names
// of flags; where an environment variable or its file has set the value, Explain names that instead.
func Explain(model *kong.Application, args []string, err error) string {
	text := summary.ReplaceAllString(envar.ReplaceAllString(err.Error(), ""), "$1 $2")
	text = fileError.ReplaceAllString(text, "$1")
	text = strings.Replace(text, `,"" but got`, " but got", 1) // nobody writes the empty value of an optional flag
	sources := map[string]string{}
	_ = kong.Visit(model, func(node kong.Visitable, next kong.Next) error { // this visitor never fails
		if flag, ok := node.(*kong.Flag); ok && len(flag.Envs) > 0 && !given(flag, args) {
			sources[flag.Name] = variableOf(flag)
		}
		return next(nil)
	})
	return flagName.ReplaceAllStringFunc(text, func(found string) string {
		before, name, _ := strings.Cut(found, "--")
		if source := sources[name]; source != "" {
			return before + source
		}
		return found
	})
}

// given reports whether the flag is on the command line.
func given(flag *kong.Flag, args []string) bool {
	name := "--" + flag.Name
	return slices.ContainsFunc(args, func(arg string) bool { return arg == name || strings.HasPrefix(arg, name+"=") })
}

// variableOf returns the variable that sets a flag which is not on the command line, or "".
func variableOf(flag *kong.Flag) string {
	variable := flag.Envs[0]
	if os.Getenv(variable+"_FILE") != "" {
		return variable + "_FILE"
	}
	if _, set := os.LookupEnv(variable); set {
		return variable
	}
	return ""
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
				names = append(names, name, name+"_FILE")
			}
		}
		return next(nil)
	})
	return names
}
