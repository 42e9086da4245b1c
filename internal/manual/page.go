package manual

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
)

// About is what the manual page says besides the commands.
type About struct {
	Version string      // of the program, with its name
	Files   [][2]string // paths, and what they contain
	SeeAlso string
}

// Page returns the manual page of the program in roff, for section 1. It has no date, so the same program always
// returns the same page.
func Page(model *kong.Application, about About) string {
	p := page{}
	all := commands(model)
	name := model.Name
	p.line(".TH %s 1 \"\" %s \"User commands\"", strings.ToUpper(name), quoted(about.Version))
	p.line(".nh\n.ad l") // names of flags and variables are not divided
	p.line(".SH NAME")
	p.line(`%s \- %s`, escaped(name), escaped(summary(name, model.Help)))
	p.line(".SH SYNOPSIS")
	p.line(".B %s\n.I command\n[\\fIarguments\\fR] [\\fIflags\\fR]", escaped(name))
	p.line(".SH DESCRIPTION")
	p.line("%s", escaped(model.Help))
	p.line("Without a command, %[1]s prints its help.\n.B %[1]s %[2]s\n.I command\nprints the help of a command.", escaped(name), helpCommand)
	p.line(".SH FLAGS OF ALL COMMANDS")
	for _, flag := range all[0].flags {
		p.flag(flag)
	}
	p.line(".SH COMMANDS")
	for _, c := range all[1:] {
		if len(c.commands) == 0 {
			p.command(model, c)
		}
	}
	p.line(".SH ENVIRONMENT")
	p.line("A flag takes precedence over its variable.")
	p.line("Instead of each variable, one with _FILE at its end can name a file that contains the value.")
	for _, v := range variables(all) {
		p.line(".TP\n.B %s", escaped(v.name))
		p.line("Flag %s of %s.", strings.Join(v.flags, ", "), escaped(strings.Join(v.paths, ", ")))
	}
	p.line(".SH FILES")
	for _, file := range about.Files {
		p.line(".TP\n.I %s\n%s", escaped(file[0]), escaped(file[1]))
	}
	p.line(".SH EXIT STATUS")
	for _, status := range [][2]string{{"0", "success"}, {"1", "the command has failed"}, {"2", "the command line is invalid"}} {
		p.line(".TP\n.B %s\n%s", status[0], status[1])
	}
	p.line(".SH SEE ALSO\n%s", escaped(about.SeeAlso))
	return p.String()
}

// page is a manual page that is being written.
type page struct{ strings.Builder }

func (p *page) line(format string, args ...any) { _, _ = fmt.Fprintf(p, format+"\n", args...) }

// command writes a command with its arguments and flags.
func (p *page) command(model *kong.Application, c command) {
	p.line(".SS %s", quoted(c.node.Path()))
	p.line("%s", escaped(c.node.Help))
	for _, argument := range c.node.Positional {
		name := `\fI` + escaped(argument.Name) + `\fR`
		if argument.IsCumulative() {
			name += " \\&..."
		}
		if !argument.Required {
			name = "[" + name + "]"
		}
		p.line(".TP\n%s", name)
		p.line("%s", escaped(argument.Help))
	}
	for _, flag := range c.flags {
		if common(model, flag) == 0 {
			p.flag(flag)
		}
	}
}

// flag writes a flag with its default and its variable.
func (p *page) flag(flag *kong.Flag) {
	name := `\fB` + escaped("--"+flag.Name) + `\fR`
	if flag.Short != 0 {
		name = `\fB` + escaped("-"+string(flag.Short)) + `\fR, ` + name
	}
	if takesValue(flag) {
		name += `=\fI` + escaped(placeholder(flag)) + `\fR`
	}
	p.line(".TP\n%s\n%s", name, escaped(flag.Help))
	if flag.Required {
		p.line("Required.")
	}
	if flag.HasDefault {
		p.line("Default: %s.", escaped(flag.Default))
	}
	if len(flag.Envs) > 0 {
		p.line("Variable: %s.", escaped(strings.Join(flag.Envs, ", ")))
	}
}

// placeholder returns the name of the value of a flag, such as URL. Where kong shows the default, which has a sentence of
// its own here, it is the last word of the flag.
func placeholder(flag *kong.Flag) string {
	if flag.PlaceHolder != "" {
		return flag.PlaceHolder
	}
	return strings.ToUpper(flag.Name[strings.LastIndex(flag.Name, "-")+1:])
}

// variable is an environment variable, with the flags and commands that it stands for.
type variable struct {
	name         string
	flags, paths []string
}

// variables returns the variables in the order of the flags.
func variables(all []command) (list []*variable) {
	byName := map[string]*variable{}
	for _, c := range all {
		if len(c.commands) > 0 {
			continue
		}
		for _, flag := range c.flags {
			for _, name := range flag.Envs {
				v := byName[name]
				if v == nil {
					v = &variable{name: name, flags: []string{`\fB` + escaped("--"+flag.Name) + `\fR`}}
					byName[name] = v
					list = append(list, v)
				}
				v.paths = append(v.paths, c.node.Path())
			}
		}
	}
	return list
}

// summary returns what a sentence says about the program: without its name and the full stop.
func summary(name, sentence string) string {
	sentence = strings.TrimSuffix(sentence, ".")
	if first, rest, more := strings.Cut(sentence, " "); more && strings.EqualFold(first, name) {
		return rest
	}
	return sentence
}

// quoted returns a text as one argument of a request of roff.
func quoted(text string) string {
	return `"` + escaped(text) + `"`
}

// special are the characters that roff would change or take for something else.
var special = map[rune]string{
	// Addresses and lists of values can be longer than a line. They are divided here.
	'@': `\:@`, '?': `\:?`, ',': `,\:`,
	'\\': `\(rs`, '-': `\-`, '\'': `\(aq`, '`': `\(ga`, '^': `\(ha`, '~': `\(ti`, '"': `\(dq`,
}

// escaped returns a text that roff prints as it is, whatever its characters are.
func escaped(text string) string {
	var b strings.Builder
	for i, r := range text {
		switch escape := special[r]; {
		case escape != "":
			b.WriteString(escape)
		case r == '.' && i == 0: // it would begin a request
			b.WriteString(`\&.`)
		case r == '\n':
			b.WriteByte(' ')
		case r > '~':
			fmt.Fprintf(&b, `\[u%04X]`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
