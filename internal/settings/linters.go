package settings

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/precedent-dev/precedent/internal/lint"
)

// lintersKey is the key of the linters that the operator wants to run. It has
// no flag, because it is a list that may hold commands.
const lintersKey = "linters"

var linterKeys = []string{"name", "command", "files", "format", "errorformat", "configs", "exits", "mounts"}

// lintersHint is the hint for an invalid linter.
const lintersHint = "write linters: [ruff, shellcheck], or your own as {name: NAME, command: [PROGRAM, " +
	"\"{files}\"], files: [\"*.x\"], format: sarif}, " +
	"or with errorformat: [\"%f:%l:%c: %m\"] instead of the format"

// linters reads the list of linters into the file.
func (p parsing) linters(n *yaml.Node, file *configFile) error {
	if n.Kind != yaml.SequenceNode {
		return hinted(fmt.Errorf("%s: %s wants a list", p.at(n), lintersKey), "%s", lintersHint)
	}
	file.linters = []lint.Linter{}
	for _, row := range n.Content {
		l, err := p.linter(row)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(file.linters, func(known lint.Linter) bool { return known.Name == l.Name }) {
			return hinted(fmt.Errorf("%s: the linter %s is listed twice", p.at(row), l.Name), "keep one of them")
		}
		file.linters = append(file.linters, l)
		file.linterLines = append(file.linterLines, Line{
			lintersKey + "." + l.Name, strings.Join(l.Command, " "), p.source(row),
		})
	}
	return nil
}

// linter reads one: the name of a known one, or a mapping, which changes the
// known one of its name or makes one of its own.
func (p parsing) linter(n *yaml.Node) (lint.Linter, error) {
	wrong := func(n *yaml.Node, why string) error {
		return hinted(fmt.Errorf("%s: %s in %s", p.at(n), why, lintersKey), "%s", lintersHint)
	}
	if n.Kind == yaml.ScalarNode {
		l, ok := lint.Preset(n.Value)
		if !ok {
			return l, hinted(fmt.Errorf("%s: unknown linter %q", p.at(n), n.Value), "known linters: %s; %s",
				strings.Join(lint.PresetNames(), ", "), lintersHint)
		}
		return l, nil
	}
	if n.Kind != yaml.MappingNode {
		return lint.Linter{}, wrong(n, "a linter is a name or a mapping")
	}
	var l lint.Linter
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == "name" {
			l, _ = lint.Preset(n.Content[i+1].Value)
			l.Name = n.Content[i+1].Value
		}
	}
	if strings.TrimSpace(l.Name) == "" || strings.ContainsAny(l.Name, "/ \t\n") {
		return l, wrong(n, "a linter needs a name without spaces and slashes")
	}
	err := p.eachKey(n, " in the linter "+l.Name, linterKeys, func(key, val *yaml.Node) error {
		if why := linterField(&l, key.Value, val); why != "" {
			return wrong(val, fmt.Sprintf("%s of %s: %s", key.Value, l.Name, why))
		}
		return nil
	})
	if err != nil {
		return l, err
	}
	if err := l.Check(); err != nil {
		return l, wrong(n, fmt.Sprintf("the linter %s: %v", l.Name, err))
	}
	return l, nil
}

// linterField sets one field and returns what is wrong with it, "" for nothing.
func linterField(l *lint.Linter, key string, val *yaml.Node) string {
	texts := map[string]*[]string{
		"files": &l.Files, "configs": &l.Configs, "mounts": &l.Mounts, "command": &l.Command,
		"errorformat": &l.Patterns,
	}
	switch to := texts[key]; {
	case key == "name":
	case key == "format" && val.Value != "sarif":
		return "want sarif, or errorformat instead"
	case key == "format":
		l.Sarif, l.Patterns = true, nil
	case key == "exits":
		if val.Decode(&l.Exits) != nil {
			return "want a list of numbers"
		}
	case to != nil:
		*to = nil
		if val.Kind != yaml.SequenceNode || val.Decode(to) != nil || len(*to) == 0 {
			return "want a list of texts"
		}
		if key == "errorformat" {
			l.Sarif = false
		}
	}
	relative := func(path string) bool { return !filepath.IsAbs(path) || filepath.Clean(path) != path }
	switch {
	case key == "mounts" && slices.ContainsFunc(l.Mounts, relative):
		return "want absolute paths"
	case key == "command" && strings.Contains(l.Command[0], "/") && !filepath.IsAbs(l.Command[0]):
		return "want a name on the PATH, or an absolute path"
	}
	return ""
}
