package lint

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent/internal/sarif"
)

// sarifRun is a run of a linter that saw the tree at dir.
type sarifRun struct {
	*sarif.Run

	dir   string
	rules map[string]*sarif.Rule
}

// readSarif reads SARIF 2.1.0 of a linter that saw the tree at dir. Results
// that name no file of the tree, that the linter says are suppressed or no
// fault, and those beyond the bounds are left out.
func readSarif(dir string, output []byte) ([]remark, error) {
	start := bytes.IndexByte(output, '{') // some linters say something first
	if start < 0 {
		return nil, errors.New("read output: no SARIF")
	}
	var log sarif.Log
	if err := json.NewDecoder(bytes.NewReader(output[start:])).Decode(&log); err != nil {
		return nil, fmt.Errorf("read SARIF: %w", err)
	}
	if log.Version != sarif.Version {
		return nil, fmt.Errorf("read SARIF: version %q, want %s", oneLine(log.Version, 20), sarif.Version)
	}
	var all []remark
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
			if r, ok := run.remark(&run.Results[j]); ok {
				all = append(all, r)
			}
		}
		if len(run.Results) == sarif.MaxMany {
			return all, errMany
		}
	}
	return all, nil
}

// remark translates one result.
func (run sarifRun) remark(res *sarif.Result) (remark, bool) {
	for _, s := range res.Suppressions {
		if s.Status == "" || s.Status == "accepted" {
			return remark{}, false
		}
	}
	if res.Kind != "" && res.Kind != "fail" || res.Level == "none" || len(res.Locations) == 0 {
		return remark{}, false
	}
	rule := run.ruleOf(res)
	where := res.Locations[0].Physical
	r := remark{
		path: run.path(where.Artifact), rule: oneLine(rule.ID, maxRule),
		message: oneLine(messageOf(res.Message, rule), maxMessage), help: oneLine(rule.Short.Text, maxMessage), link: webLink(rule.HelpURI),
		security: slices.Contains(rule.Properties.Tags, "security"),
	}
	if at := where.Region; at.StartLine > 0 && at.StartLine <= maxLine && at.EndLine <= maxLine {
		r.line, r.end = at.StartLine, max(at.StartLine, at.EndLine)
	}
	lev := res.Level
	if lev == "" {
		lev = rule.Configuration.Level
	}
	switch lev {
	case "error":
		r.level = failure
	case "note":
		r.level = note
	default:
		r.level = warning
	}
	r.fix = run.fixOf(r.path, res)
	if r.message == "" {
		r.message = r.help
	}
	return r, r.path != "" && r.message != ""
}

// ruleOf finds the rule of a result; one that the tool does not describe has
// nothing but its id.
func (run sarifRun) ruleOf(res *sarif.Result) *sarif.Rule {
	id := res.RuleID
	if id == "" {
		id = res.Rule.ID
	}
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

// messageOf is the message as it reads, with the rule's words where it only names them.
func messageOf(m sarif.Message, rule *sarif.Rule) string {
	s := m.Text
	if s == "" && m.ID != "" {
		s = rule.Messages[m.ID].Text
	}
	for i, arg := range m.Arguments {
		s = strings.ReplaceAll(s, fmt.Sprintf("{%d}", i), arg)
		if s = s[:min(len(s), 8*maxMessage)]; len(s) == 8*maxMessage {
			break // arguments that are made of placeholders
		}
	}
	return s
}

// path is the file of the tree that an artifact is, "" for none.
func (run sarifRun) path(a sarif.Artifact) string {
	if i := a.Index; a.URI == "" && i != nil && *i >= 0 && *i < len(run.Artifacts) {
		a = run.Artifacts[*i].Location
	}
	uri, base := a.URI, a.URIBaseID
	const deep = 4 // bases that are relative to bases
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
	if err != nil || u.Scheme != "" && u.Scheme != "file" || u.Host != "" && u.Host != "localhost" || u.Opaque != "" || u.RawQuery != "" || u.Fragment != "" {
		return ""
	}
	return within(run.dir, u.Path)
}

// fixOf is a fix that replaces a part of one line, if the first one is that
// exact. Others would have to be tried out.
func (run sarifRun) fixOf(path string, res *sarif.Result) *fix {
	if len(res.Fixes) == 0 || len(res.Fixes[0].Changes) != 1 {
		return nil
	}
	change := res.Fixes[0].Changes[0]
	if len(change.Replacements) != 1 || run.path(change.Artifact) != path {
		return nil
	}
	at, by := change.Replacements[0].Deleted, change.Replacements[0].Inserted.Text
	if at.StartLine < 1 || at.EndLine > at.StartLine || at.StartColumn < 1 || at.EndColumn < at.StartColumn || len(by) > maxMessage {
		return nil
	}
	return &fix{line: at.StartLine, from: at.StartColumn, to: at.EndColumn, text: by, utf16: run.ColumnKind != "unicodeCodePoints"}
}
