package main

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/precedent-dev/precedent/internal/golden"
)

// TestReferenceOfCommands: docs/commands.md says what the commands say.
func TestReferenceOfCommands(t *testing.T) {
	root := (&app{}).root()
	var b bytes.Buffer
	b.WriteString("# Commands\n\n<!-- Made from the commands in cmd/precedent by \"go test ./cmd/precedent -run TestReference -update\"; edit those. -->\n\n" +
		"Every command has `--help`, which prints the same text, and `--quiet`, which turns off progress and notices on standard error.\n" +
		"Findings go to standard output, everything else to standard error.\n\n" +
		"| exit status | meaning |\n|---|---|\n| 0 | success; for a review: no findings at or above `--fail-on` |\n| 1 | findings at or above `--fail-on` |\n" +
		"| 2 | usage or configuration error |\n| 3 | incomplete review: not everything was read |\n| 130 | interrupted |\n\n")
	all := commandsBelow(root)
	for _, cmd := range all {
		if cmd.HasParent() && cmd.Runnable() {
			fmt.Fprintf(&b, "- [`%s`](#%s): %s\n", cmd.CommandPath(), strings.ReplaceAll(cmd.CommandPath(), " ", "-"), cmd.Short)
		}
	}
	for _, cmd := range all {
		if cmd.HasParent() {
			describe(&b, cmd)
		}
	}
	golden.Compare(t, "../../docs/commands.md", b.String())
}

// describe writes the section of one command.
func describe(b *bytes.Buffer, cmd *cobra.Command) {
	fmt.Fprintf(b, "\n## %s\n\n", cmd.CommandPath())
	long := cmd.Long
	if long == "" {
		long = cmd.Short + "."
	}
	fmt.Fprintf(b, "%s\n\n```\n%s\n```\n", strings.NewReplacer("<", `\<`, "*", `\*`).Replace(long), cmd.UseLine())
	rows := 0
	cmd.NonInheritedFlags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		if rows++; rows == 1 {
			b.WriteString("\n| flag | |\n|---|---|\n")
		}
		value, usage := flagUsage(f.Usage, f.Value.Type())
		if value != "" {
			value = " " + value
		}
		fmt.Fprintf(b, "| `--%s%s` | %s |\n", f.Name, value, strings.ReplaceAll(usage, "|", `\|`))
	})
	if cmd.Example != "" {
		b.WriteString("\nFor example:\n\n```sh\n")
		for line := range strings.Lines(cmd.Example) {
			b.WriteString(strings.TrimPrefix(line, "  "))
		}
		b.WriteString("\n```\n")
	}
}

// statement is what ends one command in a line of a shell.
var statement = regexp.MustCompile(`&&|\|\|?|;|<\(|\$\(|\)|[<>]`)

// word is one word of a shell: plain, or in quotes.
var word = regexp.MustCompile(`"[^"]*"|'[^']*'|[^\s"']+`)

// TestReferenceExamples: the arguments of every example are taken by the
// command that they are for, and every command has one.
func TestReferenceExamples(t *testing.T) {
	for _, cmd := range commandsBelow((&app{}).root()) {
		if cmd.Short == "" {
			t.Errorf("%s does not say what it does", cmd.CommandPath())
		}
		own := 0
		for _, words := range commandsIn(cmd.Example) {
			meant, err := taken(words)
			if err != nil {
				t.Errorf("%s: example %q: %v", cmd.CommandPath(), words, err)
			}
			if strings.HasPrefix(meant+" ", cmd.CommandPath()+" ") {
				own++
			}
		}
		if own == 0 {
			t.Errorf("%s has no example of itself", cmd.CommandPath())
		}
	}
}

// commandsIn are the words of the commands of this program in the lines of a shell.
func commandsIn(text string) (all [][]string) {
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, " #")
		for _, part := range statement.Split(line, -1) {
			words := word.FindAllString(part, -1)
			for i := range words {
				words[i] = strings.Trim(words[i], `"'`)
			}
			if len(words) > 1 && words[0] == "precedent" {
				all = append(all, words[1:])
			}
		}
	}
	return all
}

// taken says which command takes the words, and what is wrong with them.
func taken(words []string) (string, error) {
	cmd, rest, err := (&app{}).root().Find(words)
	if err != nil {
		return "", err
	}
	if err := cmd.ParseFlags(rest); err != nil {
		return cmd.CommandPath(), err
	}
	return cmd.CommandPath(), cmd.ValidateArgs(cmd.Flags().Args())
}

// commandsBelow lists a command and all below it that people are shown, in
// the order of the help.
func commandsBelow(cmd *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{cmd}
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			all = append(all, commandsBelow(c)...)
		}
	}
	return all
}

// flagUsage is the name of a flag's value, if it takes one, and what it does:
// the name is the type, or the word that the usage has in back quotes.
func flagUsage(usage, kind string) (value, text string) {
	if kind == "bool" {
		kind = ""
	}
	before, rest, ok := strings.Cut(usage, "`")
	if quoted, after, closed := strings.Cut(rest, "`"); ok && closed {
		return quoted, before + quoted + after
	}
	return kind, usage
}
