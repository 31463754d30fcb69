package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/report"
)

// addFormat adds the flag that names a format of reports; a shell is offered
// their names.
func addFormat(cmd *cobra.Command, name *string) {
	cmd.Flags().StringVar(name, "format", *name, "print as `FORMAT`: "+report.FormatNames())
	// Fails for a flag that does not exist, or the second time: neither can be.
	_ = cmd.RegisterFlagCompletionFunc("format", func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		var names []cobra.Completion
		for _, f := range report.Formats {
			names = append(names, completion(f.Name, f.For))
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	})
}

// chooseFormat checks the name that the flag --format gave, and lets --json
// stand for one.
func chooseFormat(cmd *cobra.Command, name *string, asJSON bool) error {
	if asJSON {
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

// print writes a review to standard output in the format. Width and colours are
// those of the terminal, if it is one.
func (a *app) print(format string, r *precedent.Review, s report.Style) error {
	f, ok := report.FormatNamed(format)
	if !ok {
		return fmt.Errorf("print review: unknown format %s", format)
	}
	s.Width, s.Color = a.outputStyle()
	s.Version = thisBuild().Version
	if err := f.Write(a.out, r, s); err != nil {
		return fmt.Errorf("print review: %w", err)
	}
	return nil
}
