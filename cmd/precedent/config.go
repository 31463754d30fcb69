package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/git"
	"github.com/precedent-dev/precedent/internal/guide"
	"github.com/precedent-dev/precedent/internal/report"
)

// configuration is the effective configuration.
type configuration struct {
	File     string    `json:"file"` // the operator's; empty if there is no place for one
	Found    bool      `json:"found"`
	Settings []setting `json:"settings"`
	Errors   []string  `json:"errors"` // what is wrong with the policy
}

func newConfig(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Print the effective configuration, and where each value comes from",
		Long: `Config prints every setting as a review would use it now, and who set it. Flags
beat the environment, the environment beats the configuration file. The file is
$XDG_CONFIG_HOME/precedent/config.yaml, or ~/.config/precedent/config.yaml; its
keys are ` + strings.Join(fileKeys(), ", ") + `. What belongs to the repository stands
in its policy, ` + guide.PolicyFile + `, which precedent init writes.

Exit status 2 if the policy has errors.`,
		Example: `  precedent config
  precedent config --threshold 50 --json`,
		Args: exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, errs, err := a.configuration(cmd.Context(), knobFlags(cmd))
			if err != nil {
				return err
			}
			if asJSON {
				err = report.Value(a.out, c)
			} else {
				p := a.page()
				printConfiguration(p, c)
				err = p.Err()
			}
			if err != nil {
				return err
			}
			for _, err := range errs {
				a.complain(err)
			}
			if wrong(errs) {
				return exitStatus(precedent.ExitUsage)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	addKnobs(cmd, knobs...)
	return cmd
}

func printConfiguration(p *report.Page, c configuration) {
	var rows [][]string
	for _, s := range c.Settings {
		value := s.Value
		if value == "" {
			value = "-"
		}
		rows = append(rows, []string{p.Ink(report.Bold, s.Key), p.Ink(report.Plain, value) + "  " + p.Ink(report.Faint, "("+brief(s.Source, c.File)+")")})
	}
	p.Table(rows)
	p.Line()
	switch {
	case c.File == "":
		p.Para("", p.Ink(report.Faint, "There is no place for a configuration file: neither HOME nor XDG_CONFIG_HOME is set."))
	case !c.Found:
		p.Para("", p.Ink(report.Faint, "The configuration file would be "+c.File+"; it does not exist."))
	default:
		p.Para("", p.Ink(report.Faint, "The configuration file is "+c.File+"."))
	}
}

// brief shortens the path of the configuration file, which stands below.
func brief(source, file string) string {
	if file == "" {
		return source
	}
	return strings.Replace(source, file, filepath.Base(file), 1)
}

// configuration gathers every setting. Outside a repository those that need
// one are left out.
func (a *app) configuration(ctx context.Context, flags map[string]string) (configuration, []error, error) {
	op, err := a.operator(flags)
	if err != nil {
		return configuration{}, nil, err
	}
	c := configuration{File: op.path, Found: op.found, Errors: []string{}}
	var policy heldPolicy
	file, id := op.get(memoryKnob, "", "default"), op.get(repoKnob, "", "default")
	if repo, openErr := a.openRepo(ctx); openErr == nil {
		defer repo.Close()
		if policy, err = currentPolicy(ctx, repo); err != nil {
			return configuration{}, nil, err
		}
		if ids, idErr := identities(ctx, repo, id); idErr == nil {
			if id.Value == "" {
				id = setting{repoKnob.key, ids[0].String(), identitySource(ids[0])}
			}
			if file, err = a.memoryFile(op, repo, ids[0]); err != nil {
				return configuration{}, nil, err
			}
		}
	} else {
		id.Source, file.Source = noRepo(id), noRepo(file)
	}
	c.Settings = []setting{
		a.chosenEngine(op), op.get(modelKnob, "", "the engine's default"),
		op.get(contextKnob, "", "default: a large window"),
		op.get(concurrencyKnob, strconv.Itoa(defaultConcurrency), "default"),
		op.get(maxCostKnob, formatDollars(engine.DefaultReviewUSD), "default"),
		op.get(dayCostKnob, formatDollars(engine.DefaultDayUSD), "default"),
		op.get(pullCostKnob, formatDollars(engine.DefaultPullUSD), "default"),
		op.get(maxTokensKnob, strconv.Itoa(engine.DefaultReviewTokens), "default"),
		file, id, a.chosenForge(op),
		overPolicy(op, thresholdKnob, policy.Threshold, defaultThreshold, policy.Source),
		overPolicy(op, inlineKnob, positive(policy.MaxInline), defaultMaxInline, policy.Source),
		op.get(failOnKnob, string(defaultFailOn), "default"),
		op.get(timeoutKnob, defaultTimeout.String(), "default"),
	}
	c.Settings = append(c.Settings, op.priceSettings()...)
	c.Settings = append(c.Settings, op.linterSettings()...)
	c.Settings = append(c.Settings, policySettings(policy)...)
	for _, err := range policy.Errors {
		c.Errors = append(c.Errors, err.Error())
	}
	return c, policy.Errors, nil
}

// currentPolicy is the policy that holds for what is not committed.
func currentPolicy(ctx context.Context, repo *git.Repo) (heldPolicy, error) {
	blobs, err := repo.Blobs(ctx)
	if err != nil {
		return heldPolicy{}, err
	}
	defer blobs.Close()
	rg := git.Range{Kind: git.Worktree}
	head, err := repo.Resolve(ctx, git.Spec{Range: "HEAD"})
	var none *git.Error
	switch {
	case err == nil:
		rg.BaseCommit = head.Head
	case !errors.As(err, &none) || ctx.Err() != nil:
		return heldPolicy{}, err // a repository without a commit has no policy in one
	}
	return readPolicy(ctx, repo, blobs, rg)
}

func identitySource(id precedent.Repo) string {
	if id.IsLocal() {
		return "first commit"
	}
	return "the remote"
}

func noRepo(s setting) string {
	if s.Value != "" {
		return s.Source
	}
	return "no repository here"
}

// overPolicy is a number that the operator can set, else the policy.
func overPolicy(o operator, k knob, policy *int, fallback int, source string) setting {
	if policy != nil {
		return o.get(k, strconv.Itoa(*policy), "policy "+source)
	}
	return o.get(k, strconv.Itoa(fallback), "default")
}

func positive(n int) *int {
	if n <= 0 {
		return nil
	}
	return &n
}

// policySettings are what the policy alone can set.
func policySettings(p heldPolicy) []setting {
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
	from := func(key, value string) setting {
		if value == "" {
			return setting{key, "", "default"}
		}
		return setting{key, value, "policy " + p.Source}
	}
	return []setting{
		from("focus_areas", strings.Join(focus, ", ")),
		from("ignore", strings.Join(p.Ignore, ", ")),
		from("finders", strings.Join(finders, ", ")),
		from("instructions", strings.Join(instructions, "; ")),
		from("severity_floors", strings.Join(floors, ", ")),
		from("include_positive_feedback", unless(!p.NoPraise, "", "false")),
		from("request_changes", unless(!p.RequestChanges, "", "true")),
		from("language", p.Language),
	}
}

// unless is what holds in the usual case, and what in the other.
func unless(usual bool, then, otherwise string) string {
	if usual {
		return then
	}
	return otherwise
}
