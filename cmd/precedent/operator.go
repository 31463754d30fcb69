package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/precedent-dev/precedent"
)

// The operator is who runs the program. Only the operator names programs,
// files and times; what a repository may say is its policy.

// Defaults of the settings.
const (
	defaultFailOn    = precedent.High
	defaultTimeout   = 10 * time.Minute // a review's share of the CI time, as reviewers of pull requests have it
	defaultThreshold = 75
	defaultMaxInline = 20
	noEngine         = "none"
)

// maxConfig is the largest configuration file, in bytes.
const maxConfig = 64 << 10

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

// The settings. Who needs them: engine, model, the three bounds of what a
// review may take, fail_on and timeout the review; memory_db and repo every
// command with a memory; threshold and max_inline the review, after the
// repository's policy had its say.
var (
	engineKnob    = knob{"engine", "engine", "PRECEDENT_ENGINE", true, checkEngine}
	modelKnob     = knob{"model", "model", "PRECEDENT_MODEL", true, nil}
	maxCostKnob   = knob{"max_cost", "max-cost", "", true, checkDollars}
	maxTokensKnob = knob{"max_tokens", "max-tokens", "", true, checkPositive}
	dayCostKnob   = knob{"max_cost_per_day", "", "", true, checkDollars}
	memoryKnob    = knob{"memory_db", "memory-db", "PRECEDENT_MEMORY_DB", true, nil}
	repoKnob      = knob{"repo", "repo", "", false, checkRepo}
	thresholdKnob = knob{"threshold", "threshold", "REVIEW_CONFIDENCE_THRESHOLD", false, checkPercent}
	inlineKnob    = knob{"max_inline", "max-inline", "", false, checkPositive}
	failOnKnob    = knob{"fail_on", "fail-on", "", true, checkSeverity}
	timeoutKnob   = knob{"timeout", "timeout", "", true, checkDuration}

	knobs = []knob{engineKnob, modelKnob, maxCostKnob, maxTokensKnob, dayCostKnob, memoryKnob, repoKnob, thresholdKnob, inlineKnob, failOnKnob, timeoutKnob}
)

// operator is the operator's word on every setting, unset ones left out.
type operator struct {
	path     string // of the configuration file; empty if there is no place for one
	found    bool   // whether the file exists
	settings map[string]setting
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
	o.found = file != nil
	for _, k := range knobs {
		s, ok := file[k.key]
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

// readConfig reads the operator's file; none gives nil. Any key or form that
// is not known is an error with its line and column: a setting that is ignored
// in silence is worse than none.
func readConfig(path string) (map[string]setting, error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, hinted(fmt.Errorf("read configuration: %w", err), "make the file readable, or remove it")
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxConfig+1))
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	if len(data) > maxConfig {
		return nil, fmt.Errorf("read configuration: %s is larger than %d KiB", path, maxConfig>>10)
	}
	return parseConfig(path, data)
}

func parseConfig(path string, data []byte) (map[string]setting, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return nil, hinted(fmt.Errorf("%s: %w", path, err), "the file is YAML, one “key: value” a line")
	}
	found := map[string]setting{}
	if len(doc.Content) == 0 {
		return found, nil
	}
	top := doc.Content[0]
	at := func(n *yaml.Node) string { return fmt.Sprintf("%s:%d:%d", path, n.Line, n.Column) }
	if top.Kind != yaml.MappingNode {
		return nil, hinted(fmt.Errorf("%s: want “key: value” lines", at(top)), "known keys: %s", strings.Join(fileKeys(), ", "))
	}
	for i := 0; i+1 < len(top.Content); i += 2 {
		key, val := top.Content[i], top.Content[i+1]
		switch {
		case !slices.Contains(fileKeys(), key.Value):
			return nil, hinted(fmt.Errorf("%s: unknown key %q", at(key), key.Value), "known keys: %s", strings.Join(fileKeys(), ", "))
		case val.Kind != yaml.ScalarNode || val.Tag == "!!null":
			return nil, hinted(fmt.Errorf("%s: %s wants a single value", at(val), key.Value), "write %s: VALUE", key.Value)
		}
		if _, twice := found[key.Value]; twice {
			return nil, hinted(fmt.Errorf("%s: %s is set twice", at(key), key.Value), "keep one of them")
		}
		found[key.Value] = setting{key.Value, val.Value, fmt.Sprintf("file %s:%d", path, key.Line)}
	}
	return found, nil
}

// fileKeys lists the keys of the operator's file.
func fileKeys() []string {
	var keys []string
	for _, k := range knobs {
		if k.file {
			keys = append(keys, k.key)
		}
	}
	return keys
}

func checkEngine(s string) error {
	path, ok := strings.CutPrefix(s, "command:")
	if s == noEngine || s == claudeEngine || keyOf[s] != "" || ok && strings.TrimSpace(path) != "" {
		return nil
	}
	return fmt.Errorf("no engine %q: want %s, %s, %s, command:PATH or %s", s, anthropicEngine, openAIEngine, claudeEngine, noEngine)
}

func checkRepo(s string) error {
	_, err := precedent.ParseRepo(s)
	return err
}

func checkPercent(s string) error {
	if n, err := strconv.Atoi(s); err != nil || n < 0 || n > 100 {
		return fmt.Errorf("%q is no percentage from 0 to 100", s)
	}
	return nil
}

func checkPositive(s string) error {
	if n, err := strconv.Atoi(s); err != nil || n < 1 {
		return fmt.Errorf("%q is no number from 1", s)
	}
	return nil
}

func checkSeverity(s string) error {
	if !slices.Contains(precedent.Severities, precedent.Severity(s)) {
		return fmt.Errorf("no severity %q: want critical, high, medium, low or nit", s)
	}
	return nil
}

func checkDuration(s string) error {
	if d, err := time.ParseDuration(s); err != nil || d <= 0 {
		return fmt.Errorf("%q is no duration such as 90s or 10m", s)
	}
	return nil
}
