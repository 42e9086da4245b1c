package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// askedForHelp returns the arguments that print the help if args name no command or only a group of
// commands, or begin with the word help. Otherwise, it returns args.
func askedForHelp(model *kong.Application, args []string) []string {
	const flag = "--help"
	if len(args) > 0 && args[0] == "help" {
		return append(slices.Clone(args[1:]), flag)
	}
	node := model.Node
	for _, arg := range args {
		at := slices.IndexFunc(node.Children, func(child *kong.Node) bool { return child.Name == arg })
		if at < 0 {
			return args
		}
		node = node.Children[at]
	}
	if len(node.Children) == 0 {
		return args
	}
	return append(slices.Clone(args), flag)
}

// unknownFlag matches kong's error about a flag that is not similar to one of the command's.
var unknownFlag = regexp.MustCompile(`^unknown flag --([a-z-]+)$`)

// explainUsage adds the commands to an error about a flag that other commands have.
func explainUsage(model *kong.Application, err error) error {
	match := unknownFlag.FindStringSubmatch(err.Error())
	if match == nil {
		return err
	}
	var commands []string
	for _, leaf := range model.Leaves(true) {
		if slices.ContainsFunc(leaf.Flags, func(f *kong.Flag) bool { return f.Name == match[1] }) {
			commands = append(commands, leaf.Path())
		}
	}
	if len(commands) == 0 {
		return err
	}
	return fmt.Errorf("%w; it is a flag of %s", err, strings.Join(commands, ", "))
}
