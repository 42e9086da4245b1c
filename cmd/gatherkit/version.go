package main

import (
	"encoding/json"
	"runtime"
	"runtime/debug"

	"gatherkit/internal/store"
)

// version is the version of a release, set by the linker.
var version = "development"

type versionCommand struct {
	JSON bool `name:"json" help:"Print the version, the commit, the version of Go, the platform and the schema of the database as JSON."`
}

// Run prints the version.
func (c versionCommand) Run(p *program) error {
	if !c.JSON {
		p.printf("%s\n", versionLine())
		return nil
	}
	text, err := json.Marshal(struct {
		Version  string `json:"version"`
		Commit   string `json:"commit"` // "" if it is not known
		Go       string `json:"go"`
		Platform string `json:"platform"`
		Schema   int    `json:"schema"`
	}{version, commit(), runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH, store.Schema()})
	if err != nil {
		return err
	}
	return p.printJSON(text, "  ")
}

func versionLine() string { return "gatherkit " + programVersion() }

// programVersion returns the version of a release. For a development build, it adds the
// commit if that is known.
func programVersion() string {
	if at := commit(); version == "development" && at != "" {
		return version + " " + at
	}
	return version
}

// commit returns the commit from which the program was built, or "" if it is not known.
func commit() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, setting := range info.Settings {
			if setting.Key == "vcs.revision" {
				return setting.Value
			}
		}
	}
	return ""
}
