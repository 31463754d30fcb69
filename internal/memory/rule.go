package memory

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/guide"
	"github.com/precedent-dev/precedent/internal/text"
)

// ruleSeverity is the worst severity that the dismissal of a rule hides.
const ruleSeverity = precedent.Medium

// DismissRule rejects all findings of an analyzer's rule in a person's name, within d.Glob:
// "G104", "gosec/G104" or "gosec:G104". High and critical findings and those of protected
// categories stay shown. If no stored finding has the rule, the error wraps ErrUnknownRule; if
// it is dismissed already for these files, ErrDismissed.
func (m *Memory) DismissRule(ctx context.Context, rule string, d Dismissal) (precedent.Rejection, error) {
	if err := d.check(); err != nil {
		return precedent.Rejection{}, err
	}
	rows, err := m.rows(ctx)
	if err != nil {
		return precedent.Rejection{}, err
	}
	known, err := rows.FinderRules(ctx)
	if err != nil {
		return precedent.Rejection{}, err
	}
	at := slices.IndexFunc(known, func(f precedent.Finding) bool { return slices.Contains(ruleNames(&f), plainRule(rule)) })
	if at < 0 {
		return precedent.Rejection{}, unknownRule(rule, known)
	}
	name := plainRule(rule)
	sum := sha256.Sum256([]byte("precedent.rule/1\x00" + name + "\x00" + d.Glob))
	fingerprint := hex.EncodeToString(sum[:16])
	return m.store(ctx, rows, precedent.Rejection{
		Finding: precedent.FindingID(m.Repo, fingerprint), Fingerprint: fingerprint,
		Rule: name, Claim: "all findings of the rule " + name, Severity: ruleSeverity,
	}, d)
}

// maxNamedRules limits the rules that an error names.
const maxNamedRules = 12

func unknownRule(rule string, known []precedent.Finding) error {
	e := &Error{Err: ErrUnknownRule, Msg: fmt.Sprintf("no stored finding has the rule %q", text.Cut(rule, maxWho)), Hint: "run a review first: rules are known from their findings"}
	var names []string
	for _, f := range known[:min(len(known), maxNamedRules)] {
		names = append(names, f.Rule)
	}
	slices.Sort(names)
	if len(names) > 0 {
		e.Hint = "stored findings have the rules " + strings.Join(slices.Compact(names), ", ")
	}
	if len(known) > maxNamedRules {
		e.Hint += " and more"
	}
	return e
}

// UndismissRule deletes the rejections of a rule for exactly this glob, or for all files and
// every glob if it is empty, and returns them.
func (m *Memory) UndismissRule(ctx context.Context, rule, glob string) ([]precedent.Rejection, error) {
	rows, err := m.rows(ctx)
	if err != nil {
		return nil, err
	}
	all, err := rows.Rejections(ctx, m.Now(), maxRejections)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(j precedent.Rejection) bool {
		return j.Rule == "" || j.Rule != plainRule(rule) || glob != "" && j.Glob != cleanGlob(glob)
	})
	if len(all) == 0 {
		return nil, &Error{Err: ErrUnknownRule, Msg: fmt.Sprintf("the rule %q is not dismissed there", text.Cut(rule, maxWho)), Hint: "precedent dismiss --list lists what is dismissed"}
	}
	for _, j := range all {
		if _, err := rows.Unreject(ctx, j.ID); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// plainRule is the form in which names of rules are compared: a colon separates as a slash.
func plainRule(name string) string { return strings.ReplaceAll(strings.TrimSpace(name), ":", "/") }

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

// inFiles reports whether a path fits the glob of a rejection; every path fits an empty one.
func inFiles(glob, path string) bool {
	return glob == "" || guide.Match(glob, path) || !strings.ContainsAny(glob, "*?[{") && guide.AtOrBelow(glob, path)
}
