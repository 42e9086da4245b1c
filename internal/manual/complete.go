package manual

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
)

// Script returns the script with which a shell completes the commands of the program. operations are the names of the
// operations that gatherkit api calls. The script contains all words, so completing starts no program.
func Script(shell string, model *kong.Application, operations []string) (string, error) {
	s := script{name: model.Name, commands: commands(model), operations: operations}
	switch shell {
	case "bash":
		s.bash()
	case "zsh":
		s.zsh()
	case "fish":
		s.fish()
	default:
		return "", fmt.Errorf("there is no completion for %s; the shells are bash, zsh and fish", shell)
	}
	return s.String(), nil
}

// script is a script that is being written.
type script struct {
	strings.Builder
	name       string
	commands   []command
	operations []string
}

// printf writes lines. NAME stands for the name of the program.
func (s *script) printf(format string, args ...any) {
	_, _ = fmt.Fprintf(s, strings.ReplaceAll(format, "NAME", s.name), args...)
}

// quote quotes a text for a shell. In fish, a backslash in quotes can escape, too.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

func quoteFish(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(text) + "'"
}

// paths returns the quoted paths of all commands but the program itself: what follows a command and names one, too.
func (s *script) paths() (all []string) {
	for _, c := range s.commands[1:] {
		all = append(all, quote(c.path))
	}
	return all
}

// valued returns the quoted flags that take a value, each after the path of its command.
func (s *script) valued() (all []string) {
	for _, c := range s.commands {
		for _, flag := range c.flags {
			if takesValue(flag) {
				all = append(all, quote(c.path+" --"+flag.Name))
			}
		}
	}
	return all
}

// eachFlag calls write with what is known about the values of flags, and with their path as in valued.
func (s *script) eachFlag(write func(at string, v values)) {
	for _, c := range s.commands {
		for _, flag := range c.flags {
			if v := valuesOf(flag.Value, s.operations); v.known() {
				write(c.path+" --"+flag.Name, v)
			}
		}
	}
}

// eachArgument calls write with what is known about arguments, and with the path of the command and the number of
// arguments before.
func (s *script) eachArgument(write func(at string, v values)) {
	for _, c := range s.commands {
		for i, v := range c.arguments(s.operations) {
			if v.known() {
				write(fmt.Sprintf("%s %d", c.path, i), v)
			}
		}
	}
}

// walk writes the cases that bash and zsh have in common: what a word means, after the command at.
func (s *script) walk() {
	const next = " | \\\n            "
	s.printf(`        case "$at $word" in
        %s)
            at="$at $word" place=0
            ;;
        '%s %s') ;;
        %s)
            flag=$word
            ;;
        "$at -"*) ;;
        *)
            place=$((place + 1))
            ;;
        esac
`, strings.Join(s.paths(), next), s.name, helpCommand, strings.Join(s.valued(), next))
}

func (s *script) bash() {
	s.printf(`# Completes the commands of NAME in bash. Made by NAME completion bash.

_NAME() {
    local IFS=$'\n' at=NAME flag='' words='' folder='' skip='' i word place=0
    local current=${COMP_WORDS[COMP_CWORD]} prefix=''
    COMPREPLY=()
    # Which command, how many of its arguments, and perhaps a flag that waits for its value are before the word?
    for ((i = 1; i < COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if [[ $word =~ ^[=:@]+$ ]]; then
            # bash divides words here. What follows belongs to the word before.
            [[ $flag ]] || skip=1
            continue
        elif [[ $flag || $skip ]]; then
            flag='' skip=''
            continue
        fi
`)
	s.walk()
	s.printf(`    done
    if [[ $current =~ ^[=:@]+$ ]]; then
        current=''
        [[ $flag ]] || skip=1
    elif [[ $current == --*=* ]]; then
        flag=${current%%%%=*} prefix=${current%%%%=*}=
        current=${current#*=}
    fi
    [[ $skip ]] && return
    if [[ $flag ]]; then
        case "$at $flag" in
`)
	s.eachFlag(func(at string, v values) { s.bashValues("        ", at, v) })
	s.printf(`        esac
    else
        case "$at $place" in
`)
	s.eachArgument(func(at string, v values) { s.bashValues("        ", at, v) })
	s.printf(`        esac
        if [[ $current == -* || -z $words$folder ]]; then
            folder=''
            case $at in
`)
	for _, c := range s.commands {
		s.bashValues("            ", c.path, values{choices: c.options()})
	}
	s.printf(`            esac
        fi
    fi
    if [[ $folder ]]; then
        compopt -o filenames 2>/dev/null
        COMPREPLY=($(compgen -d -- "$current"))
    else
        COMPREPLY=($(compgen -W "${words// /$IFS}" -- "$current"))
    fi
    COMPREPLY=("${COMPREPLY[@]/#/$prefix}")
}

complete -F _NAME NAME
`)
}

func (s *script) bashValues(indent, at string, v values) {
	if v.folder {
		s.printf("%s%s) folder=1 ;;\n", indent, quote(at))
		return
	}
	texts := make([]string, len(v.choices))
	for i, c := range v.choices {
		texts[i] = c.text
	}
	s.printf("%s%s) words=%s ;;\n", indent, quote(at), quote(strings.Join(texts, " ")))
}

func (s *script) zsh() {
	s.printf(`#compdef NAME
# Completes the commands of NAME in zsh. Made by NAME completion zsh.

_NAME() {
    local at=NAME flag='' i word place=0
    local -a found
    # Which command, how many of its arguments, and perhaps a flag that waits for its value are before the word?
    for ((i = 2; i < CURRENT; i++)); do
        word=${words[i]}
        if [[ -n $flag ]]; then
            flag=''
            continue
        fi
`)
	s.walk()
	s.printf(`    done
    if [[ -z $flag && $PREFIX == --*=* ]]; then
        flag=${PREFIX%%%%=*}
        compset -P '*='
    fi
    if [[ -n $flag ]]; then
        case "$at $flag" in
`)
	s.eachFlag(s.zshValues)
	s.printf(`        esac
        _describe value found
        return
    fi
    if [[ $PREFIX != -* ]]; then
        case "$at $place" in
`)
	s.eachArgument(s.zshValues)
	s.printf(`        esac
    fi
    if ((${#found} == 0)); then
        case $at in
`)
	for _, c := range s.commands {
		s.zshValues(c.path, values{choices: c.options()})
	}
	s.printf(`        esac
    fi
    _describe NAME found
}

# zsh runs a file of its own folders as the function, and others when they are sourced.
if [[ ${funcstack[1]} == _NAME ]]; then
    _NAME "$@"
else
    compdef _NAME NAME
fi
`)
}

func (s *script) zshValues(at string, v values) {
	if v.folder {
		s.printf("        %s)\n            _files -/\n            return\n            ;;\n", quote(at))
		return
	}
	s.printf("        %s)\n            found=(\n", quote(at))
	for _, c := range v.choices {
		text := strings.ReplaceAll(c.text, ":", `\:`)
		if c.about != "" {
			text += ":" + c.about
		}
		s.printf("                %s\n", quote(text))
	}
	s.printf("            )\n            ;;\n")
}

func (s *script) fish() {
	s.printf(`# Completes the commands of NAME in fish. Made by NAME completion fish.

# Says whether the word is at this command, and at this of its arguments if it ends with a number.
function __NAME_at
    set -l at NAME
    set -l flag ''
    set -l place 0
    for word in (commandline -opc)[2..]
        if test -n "$flag"
            set flag ''
            continue
        end
        switch "$at $word"
            case %s
                set at "$at $word"
                set place 0
            case '%s %s'
            case %s
                set flag $word
            case "$at -*"
            case '*'
                set place (math $place + 1)
        end
    end
    test "$argv" = "$at $place" -o "$argv" = "$at any"
end

complete -c NAME -f
`, strings.Join(s.paths(), " "), s.name, helpCommand, strings.Join(s.valued(), " "))
	s.eachArgument(func(at string, v values) {
		s.fishValues(s.fishAt(at), v)
	})
	for _, c := range s.commands {
		for _, flag := range c.flags {
			line := s.fishAt(c.path+" any") + " -l " + flag.Name
			if flag.Short != 0 {
				line += " -s " + string(flag.Short)
			}
			line += " -d " + quoteFish(firstSentence(flag.Help))
			switch v := valuesOf(flag.Value, s.operations); {
			case !takesValue(flag):
				s.printf("complete -c NAME %s\n", line)
			case v.known():
				s.fishValues("-x "+line, v)
			default:
				s.printf("complete -c NAME -x %s\n", line)
			}
		}
	}
}

// fishAt returns the condition that the word is at an argument of a command, or at any.
func (s *script) fishAt(at string) string { return "-n " + quoteFish("__"+s.name+"_at "+at) }

// fishValues writes a line for choices that need no description, or a line for each that has one.
func (s *script) fishValues(line string, v values) {
	if v.folder {
		s.printf("complete -c NAME %s -a '(__fish_complete_directories)'\n", line)
		return
	}
	var plain []string
	for _, c := range v.choices {
		if c.about == "" {
			plain = append(plain, c.text)
			continue
		}
		s.printf("complete -c NAME %s -a %s -d %s\n", line, c.text, quoteFish(c.about))
	}
	if len(plain) > 0 {
		s.printf("complete -c NAME %s -a %s\n", line, quoteFish(strings.Join(plain, " ")))
	}
}
