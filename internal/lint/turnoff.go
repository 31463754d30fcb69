package lint

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
)

// turnOff is a comment in the code that turns rules off.
type turnOff struct {
	line     int // of the comment
	from, to int // the lines that it counts for
	text     string
	// names are rules or linters. With none, it counts for all linters of tools.
	names []string
	tools []string
	added bool // by the change
}

// source is what a comment can name of a finding.
type source struct {
	tool  string   // the linter or the analyzer
	names []string // also of its rule
}

// counts reports whether the comment is meant for a finding. A linter that the
// operator describes must be named: only its author knows which comments it obeys.
func (c *turnOff) counts(s source, line int) bool {
	if line < c.from || line > c.to {
		return false
	}
	if len(c.names) == 0 {
		return slices.Contains(c.tools, s.tool)
	}
	known := slices.Contains(c.tools, s.tool)
	return slices.ContainsFunc(c.names, func(name string) bool {
		if strings.EqualFold(name, "all") {
			return known
		}
		return slices.ContainsFunc(s.names, func(of string) bool { return isNamed(name, of, known) })
	})
}

// isNamed reports whether a name in a comment means a rule or a linter: the name
// itself, a pattern such as SA*, the last part as in PMD.Rule, or the beginning of a
// rule with a number, as in E5 for E501.
func isNamed(name, of string, known bool) bool {
	if of == "" {
		return false
	}
	name, of = strings.ToLower(name), strings.ToLower(of)
	if name == of || strings.HasSuffix(name, "."+of) || strings.HasSuffix(name, ":"+of) {
		return true
	}
	if strings.Contains(name, "*") {
		ok, err := path.Match(name, of)
		return ok && err == nil
	}
	rest, ok := strings.CutPrefix(of, name)
	return ok && known && name != "" && strings.Trim(rest, "0123456789") == "" && strings.Trim(name, "0123456789") != name
}

// turnOffs finds the comments that turn rules off in the files of a tree. It reads each
// file once.
type turnOffs struct {
	dir   string
	files map[string][]turnOff
}

// maxTurnOffs is the number of comments of one file that count.
const maxTurnOffs = 2000

// of returns why a finding about a line of a file is turned off, "" if it is not.
func (t *turnOffs) of(f *diff.File, s source, line int) string {
	all, ok := t.files[f.Path]
	if !ok {
		if t.files == nil {
			t.files = map[string][]turnOff{}
		}
		all = turnOffsIn(f.Path, readInTree(t.dir, f.Path))
		markAdded(all, f)
		t.files[f.Path] = all
	}
	for i := range all {
		if c := &all[i]; c.counts(s, line) {
			why := fmt.Sprintf("the comment %q on line %d turns it off", c.text, c.line)
			if c.added {
				why += ", and the change adds this comment"
			}
			return why
		}
	}
	return ""
}

// markAdded marks the comments on lines that the change adds.
func markAdded(all []turnOff, f *diff.File) {
	if len(all) == 0 {
		return
	}
	added := map[int]bool{}
	for l := range f.AddedLines() {
		added[l.New] = true
	}
	for i := range all {
		all[i].added = added[all[i].line]
	}
}

// dropTurnedOff drops a finding if there is a reason. The finding stays in the result.
func dropTurnedOff(f *precedent.Finding, why string) {
	if why != "" {
		f.Drop("find", precedent.TurnedOff, "", "%s", why)
	}
}

// turnOffsIn returns the comments of a file.
func turnOffsIn(name string, data []byte) []turnOff {
	var all []turnOff
	if strings.HasSuffix(name, ".go") {
		all = goTurnOffs(data)
	}
	forms := formsFor(name)
	if len(forms) > 0 && slices.ContainsFunc(forms, func(f turnOffForm) bool { return bytes.Contains(data, []byte(f.has)) }) {
		all = append(all, formTurnOffs(forms, strings.Split(string(data), "\n"))...)
	}
	return all[:min(len(all), maxTurnOffs)]
}

// formTurnOffs finds the comments of all forms in the lines of a file. It goes from the
// end to the start, because a comment counts up to the one that ends it.
func formTurnOffs(forms []turnOffForm, lines []string) []turnOff {
	var all []turnOff
	ends := make([]int, len(forms))
	for j := range ends {
		ends[j] = len(lines)
	}
	for i, line := range slices.Backward(lines) {
		for j := range forms {
			f := &forms[j]
			if f.until != "" && strings.Contains(line, f.until) {
				ends[j] = i + 1
			}
			if len(all) == maxTurnOffs || !strings.Contains(line, f.has) {
				continue
			}
			m := f.form().FindStringSubmatchIndex(line)
			if m == nil {
				continue
			}
			c := turnOff{line: i + 1, text: oneLine(line[m[0]:m[1]], maxTurnOffText), tools: f.tools}
			if len(m) >= 4 && m[2] >= 0 {
				c.names = splitNames(line[m[2]:m[3]])
			}
			if f.named && len(c.names) == 0 {
				continue
			}
			c.from, c.to = f.scope(where{lines: lines, i: i, end: ends[j], alone: isCommentStart(line[:m[0]])})
			all = append(all, c)
		}
	}
	slices.Reverse(all)
	return all
}

// maxTurnOffText is how much of a comment a reason quotes, in characters.
const maxTurnOffText = 80

// splitNames splits a list of rules at commas and spaces. What follows " -- " is an
// explanation.
func splitNames(s string) []string {
	s, _, _ = strings.Cut(s, "--")
	var names []string
	for name := range strings.FieldsFuncSeq(s, func(r rune) bool { return strings.ContainsRune(", \t\"'{}()", r) }) {
		names = append(names, strings.TrimPrefix(name, "rule:"))
	}
	return names
}

// isCommentStart reports whether a line has nothing but the start of a comment before
// the directive.
func isCommentStart(before string) bool {
	return strings.Trim(before, " \t/*#<!-;") == ""
}
