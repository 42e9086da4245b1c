package main

import (
	"debug/buildinfo"
	"encoding/json"
	"os"
)

// component is a module in a bill of materials.
type component struct {
	Type    string `json:"type"`
	Name    string `json:"name"`
	Version string `json:"version"`
	PURL    string `json:"purl"` // https://github.com/package-url/purl-spec
}

// bill writes the modules in a binary as CycloneDX 1.6.
func (r release) bill(path, binary string) error {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return err
	}
	bom := map[string]any{
		"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
		"metadata": map[string]any{
			"timestamp": r.time.Format("2006-01-02T15:04:05Z"),
			"component": component{"application", "gatherkit", r.version, "pkg:generic/gatherkit@" + r.version},
		},
	}
	components := []component{{"library", "std", info.GoVersion, "pkg:golang/std@" + info.GoVersion[len("go"):]}}
	for _, module := range info.Deps {
		if module.Replace != nil {
			module = module.Replace
		}
		components = append(components, component{"library", module.Path, module.Version, "pkg:golang/" + module.Path + "@" + module.Version})
	}
	bom["components"] = components
	text, err := json.MarshalIndent(bom, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644) //nolint:gosec // everybody may read it
}
