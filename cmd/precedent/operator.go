package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/lint"
	"github.com/precedent-dev/precedent/internal/llm"
)

// The operator is who runs the program. Only the operator names programs,
// files and times; what a repository may say is its policy.

// Defaults of the settings.
const (
	defaultFailOn    = precedent.High
	defaultTimeout   = 10 * time.Minute // a review's share of the CI time, as reviewers of pull requests have it
	defaultThreshold = 75
	defaultMaxInline = 20

	defaultConcurrency = 4 // enough to fill a slow network, and below every provider's limits

	noEngine = "none"
)

// setting is one value and who set it.
type setting struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Source string `json:"source"`
}

// knob says where a setting may come from: flag, then environment, then file.
// An empty name means that it cannot come from there.
type knob struct {
	key, flag, env string
	file           bool
	check          func(string) error // of a value that is set
}

// The settings. Who needs them: engine, model, context and concurrency, which
// small local models need set, the bounds of what a review may take, fail_on and
// timeout the review; memory_db and repo every command with a memory; forge those
// that read pull requests; threshold and max_inline the review, after the repository's policy
// had its say.
var (
	engineKnob    = knob{"engine", "engine", "PRECEDENT_ENGINE", true, checkEngine}
	modelKnob     = knob{"model", "model", "PRECEDENT_MODEL", true, nil}
	contextKnob   = knob{"context", "context", "PRECEDENT_CONTEXT", true, checkContext}
	maxCostKnob   = knob{"max_cost", "max-cost", "", true, checkDollars}
	maxTokensKnob = knob{"max_tokens", "max-tokens", "", true, checkPositive}
	dayCostKnob   = knob{"max_cost_per_day", "", "", true, checkDollars}
	memoryKnob    = knob{"memory_db", "memory-db", "PRECEDENT_MEMORY_DB", true, nil}
	repoKnob      = knob{"repo", "repo", "", false, checkRepo}
	forgeKnob     = knob{"forge", "forge", "PRECEDENT_FORGE", true, checkForge}
	pullCostKnob  = knob{"max_cost_per_pull_request", "", "", true, checkDollars}
	thresholdKnob = knob{"threshold", "threshold", "REVIEW_CONFIDENCE_THRESHOLD", false, checkPercent}
	inlineKnob    = knob{"max_inline", "max-inline", "", false, checkPositive}
	failOnKnob    = knob{"fail_on", "fail-on", "", true, checkSeverity}
	timeoutKnob   = knob{"timeout", "timeout", "", true, checkDuration}

	concurrencyKnob = knob{"concurrency", "concurrency", "PRECEDENT_CONCURRENCY", true, checkConcurrency}

	knobs = []knob{
		engineKnob, modelKnob, contextKnob, concurrencyKnob, maxCostKnob, maxTokensKnob, dayCostKnob, pullCostKnob, memoryKnob, repoKnob, forgeKnob,
		thresholdKnob, inlineKnob, failOnKnob, timeoutKnob,
	}

	// reviewKnobs are those of a review of a local change, which asks no forge.
	reviewKnobs = slices.DeleteFunc(slices.Clone(knobs), func(k knob) bool { return k.key == forgeKnob.key })
)

// operator is the operator's word on every setting, unset ones left out.
type operator struct {
	path     string // of the configuration file; empty if there is no place for one
	found    bool   // whether the file exists
	settings map[string]setting
	prices   llm.Prices // of models, over those that providers list; nil if the file names none
	priced   []setting  // the same, as the configuration lists them
	linters  []lint.Linter
	linted   []setting // the same, as the configuration lists them
}

// get returns the setting, or the default with its source.
func (o operator) get(k knob, fallback, source string) setting {
	if s, ok := o.settings[k.key]; ok {
		return s
	}
	return setting{k.key, fallback, source}
}

// operator gathers the settings: flags over environment over file.
func (a *app) operator(flags map[string]string) (operator, error) {
	o := operator{path: a.configPath(), settings: map[string]setting{}}
	file, err := readConfig(o.path)
	if err != nil {
		return o, err
	}
	if o.found = file != nil; !o.found {
		file = &operatorFile{}
	}
	o.prices, o.priced = file.prices, file.priced
	o.linters, o.linted = file.linters, file.linted
	for _, k := range knobs {
		s, ok := file.settings[k.key]
		if v := a.env[k.env]; k.env != "" && v != "" {
			s, ok = setting{k.key, v, "environment " + k.env}, true
		}
		if v, set := flags[k.flag]; set && k.flag != "" {
			s, ok = setting{k.key, v, "flag --" + k.flag}, true
		}
		if !ok {
			continue
		}
		if k.check != nil {
			if err := k.check(s.Value); err != nil {
				return o, hinted(fmt.Errorf("%s (%s): %w", k.key, s.Source, err), "precedent config lists every setting and where it comes from")
			}
		}
		o.settings[k.key] = s
	}
	return o, nil
}

// configPath is $XDG_CONFIG_HOME/precedent/config.yaml, or the same below
// ~/.config; empty if neither folder is known.
func (a *app) configPath() string { return a.xdg("XDG_CONFIG_HOME", ".config", "config.yaml") }

// xdg is a path in one of the folders of the XDG specification, which says
// that relative ones are to be ignored.
func (a *app) xdg(variable, below, name string) string {
	dir := a.env[variable]
	if !filepath.IsAbs(dir) {
		home := a.env["HOME"]
		if !filepath.IsAbs(home) {
			return ""
		}
		dir = filepath.Join(home, below)
	}
	return filepath.Join(dir, "precedent", name)
}
