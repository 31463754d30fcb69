package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/report"
)

// addFormat adds the flag --format, with completion of the formats.
func addFormat(cmd *cobra.Command, name *string) {
	cmd.Flags().StringVar(name, "format", *name, "print as `FORMAT`: "+report.FormatNames())
	// It fails only for a flag that does not exist or is registered already.
	_ = cmd.RegisterFlagCompletionFunc("format", func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		var names []cobra.Completion
		for _, f := range report.Formats {
			names = append(names, cobra.CompletionWithDesc(f.Name, f.For))
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	})
}

// chooseFormat checks the value of --format, and treats --json as --format json.
func (a *app) chooseFormat(cmd *cobra.Command, name *string) error {
	if a.json {
		if cmd.Flags().Changed("format") && *name != "json" {
			return misuse(cmd, fmt.Errorf("--json and --format %s cannot be used together", *name))
		}
		*name = "json"
	}
	if _, ok := report.FormatNamed(*name); !ok {
		return misuse(cmd, fmt.Errorf("--format %s: want %s", *name, report.FormatNames()))
	}
	return nil
}

// print writes a review to standard output in the format. On a terminal it uses
// the terminal's width and colours.
func (a *app) print(format string, r *precedent.Review, s report.Style) error {
	f, _ := report.FormatNamed(format) // chooseFormat checked the name
	s.Width, s.Color = a.outputStyle()
	s.Version, s.NoHint = thisBuild().Version, s.NoHint || a.quiet
	if err := f.Write(a.out, r, s); err != nil {
		return fmt.Errorf("print review: %w", err)
	}
	return nil
}
