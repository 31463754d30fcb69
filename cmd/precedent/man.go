package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/precedent-dev/precedent/internal/report"
	"github.com/precedent-dev/precedent/internal/settings"
)

func newMan(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "Write the manual pages of all commands",
		Long: `Man writes a manual page for each command into the folder, which is made if
need be. Their date is SOURCE_DATE_EPOCH, else that of the commit that this
program was built from, so that the same build writes the same bytes.`,
		Example: `  precedent man ~/.local/share/man/man1 && man precedent
  precedent man man && man -l man/precedent-review.1`,
		Hidden: true,
		Args:   exactly(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			date, err := a.buildDate()
			if err != nil {
				return err
			}
			pages := manPages(cmd.Root(), date)
			if err := os.MkdirAll(args[0], 0o755); err != nil { //nolint:gosec // manual pages are for everybody
				return fmt.Errorf("write manual: %w", err)
			}
			for name, text := range pages {
				if err := os.WriteFile(filepath.Join(args[0], name), text, 0o644); err != nil { //nolint:gosec // as above
					return fmt.Errorf("write manual: %w", err)
				}
			}
			p := a.page()
			p.Para("wrote ", p.Inkf(report.Plain, "%d pages to %s", len(pages), args[0]))
			return p.Err()
		},
	}
}

// buildDate is the day that the manual bears; empty if nothing tells.
func (a *app) buildDate() (string, error) {
	if epoch := a.env["SOURCE_DATE_EPOCH"]; epoch != "" { // https://reproducible-builds.org/specs/source-date-epoch
		n, err := strconv.ParseInt(epoch, 10, 64)
		if err != nil {
			return "", errors.New("SOURCE_DATE_EPOCH is no number of seconds")
		}
		return time.Unix(n, 0).UTC().Format(time.DateOnly), nil
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "", nil
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.time" && len(s.Value) >= len(time.DateOnly) {
			return s.Value[:len(time.DateOnly)], nil
		}
	}
	return "", nil
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

// each gathers what a Visit method gives.
func each[T any](visit func(func(T))) []T {
	var all []T
	visit(func(t T) { all = append(all, t) })
	return all
}

// manPages makes a page for each command, by the name of its file.
func manPages(root *cobra.Command, date string) map[string][]byte {
	pages := map[string][]byte{}
	for _, cmd := range commandsBelow(root) {
		pages[manName(cmd)+".1"] = manPage(cmd, date)
	}
	return pages
}

func manName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// manPage is the page of one command, in the macros of man(7).
func manPage(cmd *cobra.Command, date string) []byte {
	var b bytes.Buffer
	name := manName(cmd)
	fmt.Fprintf(&b, ".TH %s 1 \"%s\" \"Precedent\" \"Precedent\"\n", roffWord(strings.ToUpper(name)), date)
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(name), roff(cmd.Short))
	b.WriteString(".SH SYNOPSIS\n")
	fmt.Fprintf(&b, ".B %s\n", roff(cmd.UseLine()))
	b.WriteString(".SH DESCRIPTION\n")
	long := cmd.Long
	if long == "" {
		long = cmd.Short + "."
	}
	for i, para := range strings.Split(long, "\n\n") {
		if i > 0 {
			b.WriteString(".PP\n")
		}
		b.WriteString(roff(para) + "\n")
	}
	flags := each(cmd.NonInheritedFlags().VisitAll)
	flags = append(flags, each(cmd.InheritedFlags().VisitAll)...)
	if len(flags) > 0 {
		b.WriteString(".SH OPTIONS\n")
	}
	for _, f := range flags {
		if f.Hidden {
			continue
		}
		kind, usage := flagUsage(f.Usage, f.Value.Type())
		short := ""
		if f.Shorthand != "" {
			short = "-" + f.Shorthand + ", "
		}
		fmt.Fprintf(&b, ".TP\n\\fB%s\\fR", roff(short+"--"+f.Name))
		if kind != "" {
			fmt.Fprintf(&b, " \\fI%s\\fR", roff(kind))
		}
		fmt.Fprintf(&b, "\n%s\n", roff(usage))
	}
	if cmd.Example != "" {
		fmt.Fprintf(&b, ".SH EXAMPLES\n.nf\n%s\n.fi\n", roff(strings.TrimRight(cmd.Example, "\n")))
	}
	manRelated(&b, cmd)
	return b.Bytes()
}

// manRelated ends a page with the settings of the program and with the pages
// beside it.
func manRelated(b *bytes.Buffer, cmd *cobra.Command) {
	if !cmd.HasParent() {
		b.WriteString(".SH ENVIRONMENT\n")
		for _, d := range settings.All {
			if d.Env != "" {
				fmt.Fprintf(b, ".TP\n.B %s\n%s\n", roff(d.Env), roff("sets "+d.Key+": "+plainUsage(d)))
			}
		}
		b.WriteString(".SH FILES\n.TP\n.B $XDG_CONFIG_HOME/precedent/config.yaml\nwhat the operator sets; ~/.config/precedent/config.yaml without XDG_CONFIG_HOME\n" +
			".TP\n.B .precedent.yaml\nthe policy of a repository\n.TP\n.B .precedent/memory.db\nwhat is remembered of it\n")
	}
	var beside []string
	if cmd.HasParent() {
		beside = append(beside, manName(cmd.Parent()))
	}
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			beside = append(beside, manName(c))
		}
	}
	if len(beside) == 0 {
		return
	}
	b.WriteString(".SH SEE ALSO\n")
	for i, name := range beside {
		comma := ","
		if i == len(beside)-1 {
			comma = ""
		}
		fmt.Fprintf(b, ".BR %s (1)%s\n", roff(name), comma)
	}
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

// plainUsage is what a setting does, without the marks of its flag.
func plainUsage(d settings.Def) string {
	_, text := flagUsage(d.Usage, "")
	return text
}

// roff makes text mean itself: no backslash escapes, no line is a macro, and a
// minus can be copied from the page as a minus.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(s)
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}

// roffWord is one argument of a macro.
func roffWord(s string) string { return `"` + strings.ReplaceAll(roff(s), `"`, `\(dq`) + `"` }
