package guide

import (
	"cmp"
	"strconv"

	"gopkg.in/yaml.v3"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/intent"
)

// LearningsFile holds learnings that a team changes by pull request.
const LearningsFile = ".precedent/learnings.yaml"

// ParseLearnings parses a file of learnings, strictly like a policy: a mapping with the list
// learnings. They are active, because the change that added them was reviewed; name is the
// file's name for errors, and with the line their source. Every error is a *PolicyError, and
// leaves out only its row. The texts are not yet free of markup and credentials.
func ParseLearnings(data []byte, name string) ([]precedent.Learning, []error) {
	d := &decoder{file: name}
	root := d.decodeRoot(data)
	if root == nil {
		return nil, d.errs
	}
	var all []precedent.Learning
	d.read(root, fields{"learnings": func(v *yaml.Node) {
		if !d.isLiteral(v) {
			return
		}
		for _, row := range d.list(v) {
			before := len(d.errs)
			if l := d.learning(row); len(d.errs) == before && !d.full {
				all = append(all, l)
			}
		}
	}})
	return all, d.errs
}

// learning reads a row.
func (d *decoder) learning(n *yaml.Node) precedent.Learning {
	url := d.file + "#L" + strconv.Itoa(n.Line)
	l := precedent.Learning{
		State: precedent.LearningActive, Scope: precedent.RepositoryScope, Version: 1,
		From: precedent.LearningSource{By: precedent.FromFile, Who: d.file, MayWrite: true, URL: url},
	}
	d.read(n, fields{
		"kind":      choice(d, &l.Kind, precedent.LearningKinds, "a kind of learning"),
		"directive": func(v *yaml.Node) { l.Directive = d.prose(v, "text", precedent.MaxLearningField, "shorten it") },
		"why":       func(v *yaml.Node) { l.Rationale = d.prose(v, "text", precedent.MaxLearningField, "shorten it") },
		"paths":     func(v *yaml.Node) { l.Glob, _ = d.glob(v) },
		"category":  choice(d, &l.Category, precedent.Categories, "a category"),
	})
	if n.Kind == yaml.MappingNode && l.Directive == "" {
		d.fail(n, "a row needs a directive",
			"for example {directive: do not flag magic numbers, paths: \"testdata/**\"}")
	}
	l.Kind = cmp.Or(l.Kind, intent.Of(l.Directive).Kind)
	if l.Kind.Quieter() && l.Glob != "" && MatchesAll(l.Glob) {
		d.fail(n, "the glob matches every file",
			"name the files; without paths it lowers findings everywhere, but hides none")
	}
	l.ID = precedent.LearningID(d.file, string(l.Kind)+"\x00"+l.Glob+"\x00"+l.Directive)
	return l
}
