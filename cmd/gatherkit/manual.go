package main

import (
	"io"

	"gatherkit/docs"
	"gatherkit/internal/manual"
)

type completionCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"Shell: ${enum}."`
}

// Run prints the script.
func (c *completionCommand) Run(p *program) error {
	script, err := manual.Script(c.Shell, p.model, docs.Operations())
	if err != nil {
		return err
	}
	_, err = io.WriteString(p.stdout, script)
	return err
}

type manCommand struct{}

// Run prints the manual page.
func (c *manCommand) Run(p *program) error {
	_, err := io.WriteString(p.stdout, manual.Page(p.model, manual.About{
		Version: versionLine(),
		Files: [][2]string{
			{"./data/gatherkit.db", "The SQLite database. --data names another folder."},
			{"./data/uploads/", "Attached files. --uploads names another place."},
			{"~/.config/gatherkit/login.json", "The address and the token of gatherkit login. XDG_CONFIG_HOME names another folder than ~/.config."},
		},
		SeeAlso: "A running service shows the reference of its API at /docs. In the source tree, see docs/operating.md for operators " +
			"and docs/agents.md for scripts and agents.",
	}))
	return err
}
