package main

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/guide"
	"github.com/precedent-dev/precedent/internal/lint"
	"github.com/precedent-dev/precedent/internal/report"
	"github.com/precedent-dev/precedent/internal/review"
	"github.com/precedent-dev/precedent/internal/run"
	"github.com/precedent-dev/precedent/internal/secret"
	"github.com/precedent-dev/precedent/internal/settings"
	"github.com/precedent-dev/precedent/internal/workspace"
)

type configuration struct {
	File     string          `json:"file"` // the operator's; empty if neither HOME nor XDG_CONFIG_HOME is set
	Found    bool            `json:"found"`
	Settings []settings.Line `json:"settings"`
	Errors   []string        `json:"errors"` // of the policy
}

func newConfig(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Print the effective configuration, and where each value comes from",
		Long: `Config prints every setting as a review would use it now, and where it comes from.
Flags take precedence over the environment, and the environment over the
configuration file, $XDG_CONFIG_HOME/precedent/config.yaml or
~/.config/precedent/config.yaml. The file can set

` + keyLines(settings.FileKeys()) + `

The settings of the repository are in its policy, ` + guide.PolicyFile + `, which
precedent init writes.

Exit status 2 if the policy has errors.`,
		Example: `  precedent config
  precedent config --threshold 50 --json`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, errs, err := a.configuration(cmd.Context(), settingFlags(cmd))
			if err != nil {
				return err
			}
			if err := a.show(c, func(p *report.Page) { printConfiguration(p, c) }); err != nil {
				return err
			}
			for _, err := range errs {
				a.printError(err)
			}
			if len(errs) > 0 {
				return exitStatus(precedent.ExitUsage)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&a.json, "json", false, "print as JSON")
	addAllSettings(cmd)
	return cmd
}

// keyLines joins keys with commas, five per line.
func keyLines(keys []string) string {
	var lines []string
	for row := range slices.Chunk(keys, 5) {
		lines = append(lines, strings.Join(row, ", "))
	}
	return strings.Join(lines, ",\n")
}

func printConfiguration(p *report.Page, c configuration) {
	var rows [][]string
	for _, s := range c.Settings {
		value := cmp.Or(s.Value, "-")
		rows = append(rows, []string{
			p.Ink(report.Bold, s.Key),
			p.Ink(report.Plain, value) + "  " + p.Ink(report.Faint, "("+shortSource(s.Source, c.File)+")"),
		})
	}
	p.Table(rows)
	p.Line()
	switch {
	case c.File == "":
		p.Para("", p.Ink(report.Faint, "No configuration file is used, because neither HOME nor XDG_CONFIG_HOME is set."))
	case !c.Found:
		p.Para("", p.Ink(report.Faint, "The configuration file, "+c.File+", does not exist."))
	default:
		p.Para("", p.Ink(report.Faint, "The configuration file is "+c.File+"."))
	}
}

// shortSource shortens the path of the configuration file, which is printed in full
// below.
func shortSource(source, file string) string {
	if file == "" {
		return source
	}
	return strings.Replace(source, file, filepath.Base(file), 1)
}

// configuration collects every setting. Outside a repository it leaves out those
// that depend on one.
func (a *app) configuration(ctx context.Context, flags map[string]string) (configuration, []error, error) {
	op, err := a.settings(flags)
	if err != nil {
		return configuration{}, nil, err
	}
	c := configuration{File: op.File, Found: op.Found, Settings: op.List()}
	var policy run.Policy
	if repo, openErr := a.openRepo(ctx); openErr == nil {
		defer repo.Close()
		if policy, err = run.CurrentPolicy(ctx, repo, op.TrustedBranch.Value); err != nil {
			return configuration{}, nil, err
		}
		at := workspace.Location{Repo: op.Repo.Value, Forge: op.Forge.Value}
		if ids, idErr := workspace.Identities(ctx, repo, at); idErr == nil {
			if op.Repo.Value.IsZero() {
				source := "the remote"
				if ids[0].IsLocal() {
					source = "first commit"
				}
				c.set("repo", ids[0].String(), source)
			}
			file, _, err := a.workflow().MemoryFile(ctx, op.MemoryDB, repo, ids[0])
			if err != nil {
				return configuration{}, nil, err
			}
			c.set("memory_db", file.Value, file.Source.String())
		}
	} else {
		const none = "not in a repository"
		if op.Repo.Value.IsZero() {
			c.set("repo", "", none)
		}
		if op.MemoryDB.Value == "" {
			c.set("memory_db", "", none)
		}
	}
	sections := guide.Sections(policy.Policy, policy.Data, review.Names())
	section := func(key, fallback string) (value, source string) {
		if value, set := sections[key]; set {
			return value, "policy " + policy.Source
		}
		return fallback, "default"
	}
	for _, key := range guide.Keys() {
		switch key {
		case "threshold":
			if op.Threshold.Value == nil {
				value, source := section(key, strconv.Itoa(review.DefaultThreshold))
				c.set(key, value, source)
			}
		case "max_inline_comments":
			if op.MaxInline.Value == 0 {
				value, source := section(key, strconv.Itoa(review.DefaultMaxInline))
				c.set("max_inline", value, source)
			}
		default:
			operators := func(s settings.Line) bool { return s.Key == key }
			value, source := section(key, "")
			if value != "" || !slices.ContainsFunc(c.Settings, operators) {
				c.Settings = append(c.Settings, settings.Line{Key: key, Value: value, Source: source})
			}
		}
	}
	for i := range c.Settings {
		c.Settings[i].Value = secret.RedactText(c.Settings[i].Value)
	}
	_, unknown := lint.Choose(op.Linters, policy.Linters)
	for _, f := range unknown {
		policy.Errors = append(policy.Errors, errors.New(f.Error))
	}
	for _, err := range policy.Errors {
		c.Errors = append(c.Errors, err.Error())
	}
	return c, policy.Errors, nil
}

// set replaces a setting by the effective value in this repository.
func (c *configuration) set(key, value, source string) {
	for i := range c.Settings {
		if c.Settings[i].Key == key {
			c.Settings[i] = settings.Line{Key: key, Value: value, Source: source}
		}
	}
}
