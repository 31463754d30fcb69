package lint

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent/internal/sarif"
)

// sarifRun is one run of a linter that saw the tree at dir.
type sarifRun struct {
	*sarif.Run

	dir   string
	rules map[string]*sarif.Rule
}

// readSarif parses SARIF 2.1.0 from a linter that saw the tree at dir. It leaves out
// results without a file in the tree, those that are no failures or may not be findings, and those beyond
// the limits.
func readSarif(dir string, output []byte, mayFind func(*remark) bool) ([]remark, error) {
	start := bytes.IndexByte(output, '{') // some linters print other text first
	if start < 0 {
		return nil, errors.New("read output: it is not SARIF")
	}
	var log sarif.Log
	if err := json.NewDecoder(bytes.NewReader(output[start:])).Decode(&log); err != nil {
		return nil, fmt.Errorf("read SARIF: %w", err)
	}
	if log.Version != sarif.Version {
		return nil, fmt.Errorf("read SARIF: version %q, want %s", oneLine(log.Version, 20), sarif.Version)
	}
	var all []remark
	seen := ruleCounts{}
	for i := range log.Runs {
		run := sarifRun{&log.Runs[i], dir, map[string]*sarif.Rule{}}
		for _, tool := range append([]sarif.Driver{run.Tool.Driver}, run.Tool.Extensions...) {
			for j := range tool.Rules {
				run.rules[tool.Rules[j].ID] = &tool.Rules[j]
			}
		}
		for j := range run.Results {
			if len(all) == maxRemarks {
				return all, errMany
			}
			if r, ok := run.remark(&run.Results[j]); ok && mayFind(&r) && seen.add(&r) {
				all = append(all, r)
			}
		}
		if len(run.Results) == sarif.MaxMany {
			return all, errMany
		}
	}
	if len(log.Runs) > sarif.MaxFew {
		return all, errRuns
	}
	return all, nil
}

// remark converts one result.
func (run sarifRun) remark(res *sarif.Result) (remark, bool) {
	if res.Kind != "" && res.Kind != "fail" || res.Level == "none" || len(res.Locations) == 0 {
		return remark{}, false
	}
	rule := run.ruleOf(res)
	where := res.Locations[0].Physical
	r := remark{
		path: run.path(where.Artifact), rule: oneLine(rule.ID, maxRule),
		message: oneLine(messageOf(res.Message, rule), maxMessage), help: oneLine(rule.Short.Text, maxMessage),
		link:     webLink(rule.HelpURI),
		security: slices.Contains(rule.Properties.Tags, "security"),
	}
	if at := where.Region; at.StartLine > 0 && at.StartLine <= maxLine && at.EndLine <= maxLine {
		r.line, r.end = at.StartLine, max(at.StartLine, at.EndLine)
	}
	switch cmp.Or(res.Level, rule.Configuration.Level) {
	case "error":
		r.level = failure
	case "note":
		r.level = note
	default:
		r.level = warning
	}
	r.fix = run.fixOf(r.path, res)
	for _, s := range res.Suppressions {
		if s.Status == "" || s.Status == "accepted" {
			r.turnedOff = strings.TrimSuffix("the linter marks it as suppressed: "+oneLine(s.Justification, maxMessage), ": ")
		}
	}
	r.message = cmp.Or(r.message, r.help)
	return r, r.path != "" && r.message != ""
}

// ruleOf returns the rule of a result. If the tool does not describe the rule, only
// its id is set.
func (run sarifRun) ruleOf(res *sarif.Result) *sarif.Rule {
	id := cmp.Or(res.RuleID, res.Rule.ID)
	if r := run.rules[id]; r != nil {
		return r
	}
	list := run.Tool.Driver.Rules
	if i := res.RuleIndex; id == "" && i != nil && *i >= 0 && *i < len(list) {
		return &list[*i]
	}
	if up := strings.LastIndexByte(id, '/'); up > 0 && run.rules[id[:up]] != nil { // a sub-rule
		found := *run.rules[id[:up]]
		found.ID = id
		return &found
	}
	return &sarif.Rule{ID: id}
}

// messageOf returns the text of a message, looked up in the rule if the message only
// has an id.
func messageOf(m sarif.Message, rule *sarif.Rule) string {
	s := m.Text
	if s == "" && m.ID != "" {
		s = rule.Messages[m.ID].Text
	}
	for i, arg := range m.Arguments {
		s = strings.ReplaceAll(s, fmt.Sprintf("{%d}", i), arg)
		if s = s[:min(len(s), 8*maxMessage)]; len(s) == 8*maxMessage {
			break // arguments that are placeholders themselves
		}
	}
	return s
}

// path returns the file in the tree for an artifact, "" if there is none.
func (run sarifRun) path(a sarif.Artifact) string {
	if i := a.Index; a.URI == "" && i != nil && *i >= 0 && *i < len(run.Artifacts) {
		a = run.Artifacts[*i].Location
	}
	uri, base := a.URI, a.URIBaseID
	const deep = 4 // nesting of base URIs
	for range deep {
		if base == "" {
			break
		}
		b := run.OriginalURIBaseIDs[base]
		if b.URI != "" && !strings.HasSuffix(b.URI, "/") {
			return ""
		}
		uri, base = b.URI+uri, b.URIBaseID
	}
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "" && u.Scheme != "file" || u.Host != "" && u.Host != "localhost" || u.Opaque != "" ||
		u.RawQuery != "" || u.Fragment != "" {
		return ""
	}
	return pathInTree(run.dir, u.Path)
}

// fixOf returns the first fix of a result if it replaces a part of one line. Other
// fixes cannot be applied without trying them.
func (run sarifRun) fixOf(path string, res *sarif.Result) *fix {
	if len(res.Fixes) == 0 || len(res.Fixes[0].Changes) != 1 {
		return nil
	}
	change := res.Fixes[0].Changes[0]
	if len(change.Replacements) != 1 || run.path(change.Artifact) != path {
		return nil
	}
	at, by := change.Replacements[0].Deleted, change.Replacements[0].Inserted.Text
	if at.StartLine < 1 || at.EndLine > at.StartLine || at.StartColumn < 1 || at.EndColumn < at.StartColumn ||
		len(by) > maxMessage {
		return nil
	}
	return &fix{
		line: at.StartLine, from: at.StartColumn, to: at.EndColumn, text: by,
		utf16: run.ColumnKind != "unicodeCodePoints",
	}
}
