package memory

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/guide"
	"github.com/precedent-dev/precedent/internal/prompt"
	"github.com/precedent-dev/precedent/internal/text"
)

// ruleSeverity is the worst severity that the dismissal of a rule hides.
const ruleSeverity = precedent.Medium

// What a dismissal of many findings names, before the name of a finder or of a category.
const (
	OfFinder   = "finder/"
	OfCategory = "category/"
)

// DismissRule rejects all findings of an analyzer's rule in a person's name, within d.Glob:
// "G104", "gosec/G104" or "gosec:G104"; those of a finder: OfFinder + "tests"; or those of a
// category: OfCategory + "style". High and critical findings and those of protected
// categories stay shown. If no stored finding has the rule, or there is no such finder or
// category, the error wraps ErrUnknownRule; if it is dismissed already for these files, ErrDismissed.
func (m *Memory) DismissRule(ctx context.Context, rule string, d Dismissal) (precedent.Dismissal, error) {
	if err := d.check(); err != nil {
		return precedent.Dismissal{}, err
	}
	var prompted []string // their rules are those of the guide, which cannot be dismissed
	for _, f := range prompt.Finders() {
		prompted = append(prompted, f.Name)
	}
	known, err := m.Rows.FinderRules(ctx, prompted)
	if err != nil {
		return precedent.Dismissal{}, err
	}
	name := plainRule(rule)
	for _, finder := range prompted { // before its first finding, too
		known = append(known, precedent.Finding{Finder: finder})
	}
	if err := checkRule(name, known); err != nil {
		return precedent.Dismissal{}, err
	}
	sum := sha256.Sum256([]byte("precedent.rule/1\x00" + name + "\x00" + d.Glob))
	fingerprint := hex.EncodeToString(sum[:16])
	return m.store(ctx, precedent.Dismissal{
		Finding: precedent.FindingID(m.Repo, fingerprint), Fingerprint: fingerprint,
		Rule: name, Claim: "all findings of " + described(name), Severity: ruleSeverity,
	}, d)
}

// described names a rule, a finder or a category in a sentence.
func described(rule string) string {
	if finder, ok := strings.CutPrefix(rule, OfFinder); ok {
		return "the finder " + finder
	}
	if category, ok := strings.CutPrefix(rule, OfCategory); ok {
		return "the category " + category
	}
	return "the rule " + rule
}

const maxNamedRules = 12

// checkRule refuses a rule, finder or category that no finding can have; known are those of stored findings.
func checkRule(name string, known []precedent.Finding) error {
	e := &Error{Err: ErrUnknownRule}
	var names []string
	if category, ok := strings.CutPrefix(name, OfCategory); ok {
		if precedent.Category(category).Protected() {
			e.Msg, e.Hint = "findings of the category "+category+" always stay shown", "dismiss the finding itself, by its ID"
			return e
		}
		if slices.Contains(precedent.Categories, precedent.Category(category)) {
			return nil
		}
		e.Msg = fmt.Sprintf("there is no category %q", text.Cut(category, maxWho))
		for _, c := range precedent.Categories {
			names = append(names, string(c))
		}
		e.Hint = "categories are " + strings.Join(names, ", ")
		return e
	}
	finder, ofFinder := strings.CutPrefix(name, OfFinder)
	what := "rule"
	if ofFinder {
		what = "finder"
	}
	for _, f := range known {
		if ofFinder && f.Finder == finder || !ofFinder && slices.Contains(ruleNames(&f), name) {
			return nil
		}
		if ofFinder {
			names = append(names, f.Finder)
		} else if f.Rule != "" {
			names = append(names, f.Rule)
		}
	}
	e.Msg = fmt.Sprintf("no stored finding has the %s %q", what, text.Cut(cmp.Or(finder, name), maxWho))
	e.Hint = "run a review first: " + what + "s are known from their findings"
	slices.Sort(names)
	if names = slices.Compact(names); len(names) > 0 {
		e.Hint = "known " + what + "s: " + strings.Join(names[:min(len(names), maxNamedRules)], ", ")
	}
	if len(names) > maxNamedRules {
		e.Hint += " and more"
	}
	return e
}

// UndismissRule deletes the dismissals of a rule for exactly this glob, or for all files and
// every glob if it is empty, and returns them.
func (m *Memory) UndismissRule(ctx context.Context, rule, glob string) ([]precedent.Dismissal, error) {
	all, err := m.Rows.Dismissals(ctx, m.Now(), maxDismissals)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(j precedent.Dismissal) bool {
		return j.Rule == "" || j.Rule != plainRule(rule) || glob != "" && j.Glob != cleanGlob(glob)
	})
	if len(all) == 0 {
		return nil, &Error{
			Err: ErrUnknownRule, Msg: described(text.Cut(plainRule(rule), maxWho)) + " is not dismissed there",
			Hint: "precedent dismiss --list lists what is dismissed",
		}
	}
	for _, j := range all {
		if _, err := m.Rows.Unreject(ctx, j.ID); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// plainRule is the form in which names of rules are compared: a colon separates as a slash.
func plainRule(name string) string { return strings.ReplaceAll(strings.TrimSpace(name), ":", "/") }

// names are all by which a person can dismiss findings like this one.
func names(f *precedent.Finding) []string {
	all := []string{OfFinder + f.Finder, OfCategory + string(f.Category)}
	if f.Analyzer {
		all = append(all, ruleNames(f)...)
	}
	return all
}

// ruleNames are the names by which a person may mean the rule of a finding: the finder and the
// rule, and what is left without the parts before a slash.
func ruleNames(f *precedent.Finding) []string {
	if f.Rule == "" {
		return nil
	}
	name := plainRule(f.Finder) + "/" + plainRule(f.Rule)
	names := []string{name}
	for i := range name {
		if name[i] == '/' && i+1 < len(name) {
			names = append(names, name[i+1:])
		}
	}
	return names
}

// cleanGlob removes what does not matter in a glob.
func cleanGlob(glob string) string { return strings.TrimPrefix(strings.TrimSpace(glob), "./") }

// inFiles reports whether a path fits the glob of a dismissal, or is that very path; every path fits an empty one.
func inFiles(glob, path string) bool {
	return glob == "" || glob == path || guide.Match(glob, path)
}
