package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/guide"
	"github.com/precedent-dev/precedent/internal/report"
	"github.com/precedent-dev/precedent/internal/review"
	"github.com/precedent-dev/precedent/internal/run"
	"github.com/precedent-dev/precedent/internal/settings"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// configuration is the effective configuration.
type configuration struct {
	File     string          `json:"file"` // the operator's; empty if neither HOME nor XDG_CONFIG_HOME is set
	Found    bool            `json:"found"`
	Settings []settings.Line `json:"settings"`
	Errors   []string        `json:"errors"` // of the policy
}

func newConfig(a *app) *cobra.Command {
	var asJSON bool
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
		Args: exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, errs, err := a.configuration(cmd.Context(), settingFlags(cmd))
			if err != nil {
				return err
			}
			if err := a.show(asJSON, c, func(p *report.Page) { printConfiguration(p, c) }); err != nil {
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
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
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
		value := s.Value
		if value == "" {
			value = "-"
		}
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
	c := configuration{File: op.File, Found: op.Found, Settings: op.List(), Errors: []string{}}
	var policy run.Policy
	if repo, openErr := a.openRepo(ctx); openErr == nil {
		defer repo.Close()
		if policy, err = run.CurrentPolicy(ctx, repo, op.TrustedBranch.Value); err != nil {
			return configuration{}, nil, err
		}
		if ids, idErr := workspace.Identities(ctx, repo, workspace.Location{
			Repo:  op.Repo.Value,
			Forge: op.Forge.Value,
		}); idErr == nil {
			if op.Repo.Value.IsZero() {
				c.set("repo", ids[0].String(), identitySource(ids[0]))
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
	if op.Threshold.Value == nil {
		c.setNumber("threshold", policy.Threshold, review.DefaultThreshold, policy.Source)
	}
	if op.MaxInline.Value == 0 {
		c.setNumber("max_inline", positive(policy.MaxInline), review.DefaultMaxInline, policy.Source)
	}
	c.Settings = append(c.Settings, policySettings(policy)...)
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

// setNumber sets a number from the policy, or the default.
func (c *configuration) setNumber(key string, policy *int, fallback int, source string) {
	if policy != nil {
		c.set(key, strconv.Itoa(*policy), "policy "+source)
		return
	}
	c.set(key, strconv.Itoa(fallback), "default")
}

func identitySource(id precedent.Repo) string {
	if id.IsLocal() {
		return "first commit"
	}
	return "the remote"
}

func positive(n int) *int {
	if n <= 0 {
		return nil
	}
	return &n
}

// policySettings returns the settings that only the policy has.
func policySettings(p run.Policy) []settings.Line {
	var focus, finders, floors []string
	for _, c := range p.Focus {
		focus = append(focus, string(c))
	}
	for name, on := range p.Finders {
		finders = append(finders, fmt.Sprintf("%s: %t", name, on))
	}
	slices.Sort(finders)
	for _, f := range p.Floors {
		floors = append(floors, fmt.Sprintf("%s: %s", f.Paths, f.Severity))
	}
	var instructions []string
	for _, i := range p.Instructions {
		instructions = append(instructions, i.Paths+": "+i.Text)
	}
	from := func(key, value string) settings.Line {
		if value == "" {
			return settings.Line{Key: key, Source: "default"}
		}
		return settings.Line{Key: key, Value: value, Source: "policy " + p.Source}
	}
	return []settings.Line{
		from("focus_areas", strings.Join(focus, ", ")),
		from("ignore", strings.Join(p.Ignore, ", ")),
		from("finders", strings.Join(finders, ", ")),
		from("instructions", strings.Join(instructions, "; ")),
		from("severity_floors", strings.Join(floors, ", ")),
		from("maintainers", strings.Join(p.Maintainers, ", ")),
		from("minor", string(p.Minor)),
		from("include_positive_feedback", unless(!p.NoPraise, "", "false")),
		from("request_changes", unless(!p.RequestChanges, "", "true")),
		from("pass_without_model", unless(!p.PassWithoutModel, "", "true")),
		from("precedents", string(p.Precedents)),
		from("learnings", learningsPolicy(p.Learnings)),
		from("fix", fixPolicy(p.Fix)),
		from("gate", gatePolicy(p.Gate)),
		from("language", p.Language),
	}
}

// learningsPolicy is what the policy says of learnings; empty for nothing.
func learningsPolicy(p precedent.LearningPolicy) string {
	var parts []string
	if p.Off {
		parts = append(parts, "enabled: false")
	}
	if p.Global {
		parts = append(parts, "scope: global")
	}
	if p.MaxAgeDays > 0 {
		parts = append(parts, fmt.Sprintf("max_age_days: %d", p.MaxAgeDays))
	}
	if p.Capture != "" {
		parts = append(parts, "capture: "+string(p.Capture))
	}
	return strings.Join(parts, ", ")
}

// fixPolicy is what the policy says of fix rounds; empty for nothing.
func fixPolicy(f precedent.FixPolicy) string {
	var parts []string
	for _, on := range []struct {
		set  bool
		said string
	}{
		{f.Off, "enabled: false"},
		{f.LockFiles, "lock_files: true"},
		{f.Ungated, "ungated: true"},
		{f.MaxFiles > 0, fmt.Sprintf("max_files: %d", f.MaxFiles)},
		{f.MaxLines > 0, fmt.Sprintf("max_lines: %d", f.MaxLines)},
		{f.MaxCycles > 0, fmt.Sprintf("max_cycles: %d", f.MaxCycles)},
		{f.CITimeout > 0, "ci_timeout: " + f.CITimeout.String()},
	} {
		if on.set {
			parts = append(parts, on.said)
		}
	}
	return strings.Join(parts, ", ")
}

// gatePolicy is what the policy says of the gate; empty for nothing.
func gatePolicy(g precedent.Gate) string {
	var parts []string
	if g.Off {
		parts = append(parts, "enabled: false")
	}
	for _, c := range g.Commands {
		parts = append(parts, c.Name+": "+c.Run)
	}
	if g.Dependencies != "" {
		parts = append(parts, "dependencies: "+string(g.Dependencies))
	}
	if g.Timeout > 0 {
		parts = append(parts, "timeout: "+g.Timeout.String())
	}
	if g.FailFlaky {
		parts = append(parts, "flaky: fail")
	}
	return strings.Join(parts, "; ")
}

// unless returns then in the usual case, and otherwise in the other.
func unless(usual bool, then, otherwise string) string {
	if usual {
		return then
	}
	return otherwise
}
