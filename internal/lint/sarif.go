package lint

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// The parts of SARIF 2.1.0 that are read. Lists are bounded while they are
// read: three bytes of hostile JSON would make a structure of hundreds.
type (
	sarifLog struct {
		Version string        `json:"version"`
		Runs    few[sarifRun] `json:"runs"`
	}
	sarifRun struct {
		Tool struct {
			Driver     sarifTool      `json:"driver"`
			Extensions few[sarifTool] `json:"extensions"`
		} `json:"tool"`
		ColumnKind string                   `json:"columnKind"`
		Bases      map[string]sarifArtifact `json:"originalUriBaseIds"`
		Artifacts  many[struct {
			Location sarifArtifact `json:"location"`
		}] `json:"artifacts"`
		Results many[sarifResult] `json:"results"`
	}
	sarifTool struct {
		Rules many[sarifRule] `json:"rules"`
	}
	sarifRule struct {
		ID            string    `json:"id"`
		Short         sarifText `json:"shortDescription"`
		HelpURI       string    `json:"helpUri"`
		Configuration struct {
			Level string `json:"level"`
		} `json:"defaultConfiguration"`
		Messages   map[string]sarifText `json:"messageStrings"`
		Properties struct {
			Tags few[string] `json:"tags"`
		} `json:"properties"`
	}
	sarifText struct {
		Text      string      `json:"text"`
		ID        string      `json:"id"`
		Arguments few[string] `json:"arguments"`
	}
	sarifArtifact struct {
		URI   string `json:"uri"`
		Base  string `json:"uriBaseId"`
		Index *int   `json:"index"`
	}
	sarifResult struct {
		RuleID string `json:"ruleId"`
		Rule   struct {
			ID string `json:"id"`
		} `json:"rule"`
		RuleIndex    *int      `json:"ruleIndex"`
		Kind         string    `json:"kind"`
		Level        string    `json:"level"`
		Message      sarifText `json:"message"`
		Suppressions few[struct {
			Status string `json:"status"`
		}] `json:"suppressions"`
		Locations few[struct {
			Physical struct {
				Artifact sarifArtifact `json:"artifactLocation"`
				Region   sarifRegion   `json:"region"`
			} `json:"physicalLocation"`
		}] `json:"locations"`
		Fixes few[struct {
			Changes few[struct {
				Artifact     sarifArtifact `json:"artifactLocation"`
				Replacements few[struct {
					Deleted  sarifRegion `json:"deletedRegion"`
					Inserted sarifText   `json:"insertedContent"`
				}] `json:"replacements"`
			}] `json:"artifactChanges"`
		}] `json:"fixes"`
	}
	sarifRegion struct {
		Line      int `json:"startLine"`
		EndLine   int `json:"endLine"`
		Column    int `json:"startColumn"`
		EndColumn int `json:"endColumn"`
	}
)

// few and many are lists of which the rest is not read.
type (
	few[T any]  []T
	many[T any] []T
)

func (l *few[T]) UnmarshalJSON(b []byte) (err error) {
	const most = 16
	*l, err = someOf[T](b, most)
	return err
}

func (l *many[T]) UnmarshalJSON(b []byte) (err error) {
	*l, err = someOf[T](b, maxRemarks)
	return err
}

func someOf[T any](b []byte, most int) (all []T, err error) {
	d := json.NewDecoder(bytes.NewReader(b))
	open, err := d.Token()
	if err != nil || open == nil { // null is an empty list
		return nil, err
	}
	if open != json.Delim('[') {
		return nil, fmt.Errorf("%v instead of a list", open)
	}
	for d.More() && len(all) < most {
		var v T
		if err := d.Decode(&v); err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, nil
}

// readSarif reads SARIF 2.1.0 of a linter that saw the tree at dir. Results
// that name no file of the tree, that the linter says are suppressed or no
// fault, and those beyond the bounds are left out.
func readSarif(dir string, output []byte) ([]remark, error) {
	start := bytes.IndexByte(output, '{') // some linters say something first
	if start < 0 {
		return nil, errors.New("read output: no SARIF")
	}
	var log sarifLog
	if err := json.NewDecoder(bytes.NewReader(output[start:])).Decode(&log); err != nil {
		return nil, fmt.Errorf("read SARIF: %w", err)
	}
	if log.Version != "2.1.0" {
		return nil, fmt.Errorf("read SARIF: version %q, want 2.1.0", said(log.Version, 20))
	}
	var all []remark
	for i := range log.Runs {
		run := &log.Runs[i]
		rules := map[string]*sarifRule{}
		for _, tool := range append([]sarifTool{run.Tool.Driver}, run.Tool.Extensions...) {
			for j := range tool.Rules {
				rules[tool.Rules[j].ID] = &tool.Rules[j]
			}
		}
		for j := range run.Results {
			if len(all) == maxRemarks {
				return all, errMany
			}
			if r, ok := run.remark(dir, rules, &run.Results[j]); ok {
				all = append(all, r)
			}
		}
		if len(run.Results) == maxRemarks {
			return all, errMany
		}
	}
	return all, nil
}

// remark translates one result.
func (run *sarifRun) remark(dir string, rules map[string]*sarifRule, res *sarifResult) (remark, bool) {
	for _, s := range res.Suppressions {
		if s.Status == "" || s.Status == "accepted" {
			return remark{}, false
		}
	}
	if res.Kind != "" && res.Kind != "fail" || res.Level == "none" || len(res.Locations) == 0 {
		return remark{}, false
	}
	rule := run.ruleOf(rules, res)
	where := res.Locations[0].Physical
	r := remark{
		path: run.path(dir, where.Artifact), rule: said(rule.ID, maxRule),
		message: said(res.Message.in(rule), maxMessage), help: said(rule.Short.Text, maxMessage), link: webLink(rule.HelpURI),
		security: slices.Contains(rule.Properties.Tags, "security"),
	}
	if at := where.Region; at.Line > 0 && at.Line <= maxLine && at.EndLine <= maxLine {
		r.line, r.end = at.Line, max(at.Line, at.EndLine)
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
	r.fix = run.fixOf(dir, r.path, res)
	if r.message == "" {
		r.message = r.help
	}
	return r, r.path != "" && r.message != ""
}

// ruleOf finds the rule of a result; one that the tool does not describe has
// nothing but its id.
func (run *sarifRun) ruleOf(rules map[string]*sarifRule, res *sarifResult) *sarifRule {
	id := res.RuleID
	if id == "" {
		id = res.Rule.ID
	}
	if r := rules[id]; r != nil {
		return r
	}
	list := run.Tool.Driver.Rules
	if i := res.RuleIndex; id == "" && i != nil && *i >= 0 && *i < len(list) {
		return &list[*i]
	}
	if up := strings.LastIndexByte(id, '/'); up > 0 && rules[id[:up]] != nil { // a sub-rule
		found := *rules[id[:up]]
		found.ID = id
		return &found
	}
	return &sarifRule{ID: id}
}

// in is the message as it reads, with the rule's words where it only names them.
func (m sarifText) in(rule *sarifRule) string {
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
func (run *sarifRun) path(dir string, a sarifArtifact) string {
	if i := a.Index; a.URI == "" && i != nil && *i >= 0 && *i < len(run.Artifacts) {
		a = run.Artifacts[*i].Location
	}
	uri, base := a.URI, a.Base
	const deep = 4 // bases that are relative to bases
	for range deep {
		if base == "" {
			break
		}
		b := run.Bases[base]
		if b.URI != "" && !strings.HasSuffix(b.URI, "/") {
			return ""
		}
		uri, base = b.URI+uri, b.Base
	}
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "" && u.Scheme != "file" || u.Host != "" && u.Host != "localhost" || u.Opaque != "" || u.RawQuery != "" || u.Fragment != "" {
		return ""
	}
	return within(dir, u.Path)
}

// fixOf is a fix that replaces a part of one line, if the first one is that
// exact. Others would have to be tried out.
func (run *sarifRun) fixOf(dir, path string, res *sarifResult) *fix {
	if len(res.Fixes) == 0 || len(res.Fixes[0].Changes) != 1 {
		return nil
	}
	change := res.Fixes[0].Changes[0]
	if len(change.Replacements) != 1 || run.path(dir, change.Artifact) != path {
		return nil
	}
	at, by := change.Replacements[0].Deleted, change.Replacements[0].Inserted.Text
	if at.Line < 1 || at.EndLine > at.Line || at.Column < 1 || at.EndColumn < at.Column || len(by) > maxMessage {
		return nil
	}
	return &fix{line: at.Line, from: at.Column, to: at.EndColumn, text: by, utf16: run.ColumnKind != "unicodeCodePoints"}
}
