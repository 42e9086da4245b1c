// Package manual describes the commands of the program for other programs: completion scripts for shells, and a
// manual page. It knows them from kong's model, so what it writes follows the declarations of the commands.
package manual

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// Kinds of values in the tag "complete", besides the values of an enum.
const (
	Folder    = "folder"    // a folder on this machine
	Operation = "operation" // an operation of the API
)

// helpCommand is the word that prints the help of the command after it. It is not in kong's model.
const helpCommand = "help"

// command is a command or a group of commands.
type command struct {
	path     string // with the name of the program, such as "gatherkit user add"
	node     *kong.Node
	flags    []*kong.Flag
	commands []*kong.Node // of a group
}

// commands returns the program itself and all of its commands. A group is followed by its commands.
func commands(model *kong.Application) (all []command) {
	var add func(node *kong.Node)
	add = func(node *kong.Node) {
		c := command{path: node.FullPath(), node: node, flags: slices.Concat(node.AllFlags(true)...)}
		for _, child := range node.Children {
			if !child.Hidden {
				c.commands = append(c.commands, child)
			}
		}
		// Those of the command come before those of all commands.
		slices.SortStableFunc(c.flags, func(a, b *kong.Flag) int { return common(model, a) - common(model, b) })
		all = append(all, c)
		for _, child := range c.commands {
			add(child)
		}
	}
	add(model.Node)
	return all
}

// common returns 1 for a flag that all commands have, such as --help, and 0 for others.
func common(model *kong.Application, flag *kong.Flag) int {
	if slices.Contains(model.Flags, flag) {
		return 1
	}
	return 0
}

// choice is what may be completed, with a description that can be empty.
type choice struct{ text, about string }

// values is what may stand for a value: one of the choices, or a folder.
type values struct {
	choices []choice
	folder  bool
}

// valuesOf returns what may stand for the value of a flag or for an argument. It is nothing if that is not known.
func valuesOf(value *kong.Value, operations []string) (v values) {
	if value.Enum != "" {
		for _, one := range value.EnumSlice() {
			v.choices = append(v.choices, choice{text: one})
		}
		return v
	}
	switch kind := value.Tag.Get("complete"); kind {
	case "":
	case Folder:
		v.folder = true
	case Operation:
		for _, one := range operations {
			v.choices = append(v.choices, choice{text: one})
		}
	default:
		panic(fmt.Sprintf("%s: unknown kind of completion %q", value.Name, kind))
	}
	return v
}

// known reports whether there is anything to complete.
func (v values) known() bool { return v.folder || len(v.choices) > 0 }

// arguments returns what may stand for each argument of a command: the name of a command, or a value.
func (c command) arguments(operations []string) (all []values) {
	if len(c.commands) > 0 {
		var v values
		for _, child := range c.commands {
			v.choices = append(v.choices, choice{child.Name, firstSentence(child.Help)})
		}
		if c.node.Type == kong.ApplicationNode {
			v.choices = append(v.choices, choice{helpCommand, "Print the help of a command."})
		}
		return []values{v}
	}
	for _, argument := range c.node.Positional {
		all = append(all, valuesOf(argument, operations))
	}
	return all
}

// options returns the flags of a command with their dashes.
func (c command) options() (all []choice) {
	for _, flag := range c.flags {
		all = append(all, choice{"--" + flag.Name, firstSentence(flag.Help)})
	}
	return all
}

// takesValue reports whether the word after a flag is its value.
func takesValue(flag *kong.Flag) bool { return !flag.IsBool() && !flag.IsCounter() }

// firstSentence returns the beginning of a help text, because a line of a terminal holds no more.
func firstSentence(help string) string {
	if first, _, more := strings.Cut(help, ". "); more {
		return first + "."
	}
	return help
}
