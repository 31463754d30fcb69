package lint

import (
	"cmp"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"strings"
	"sync"
	"unicode"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/text"
)

// remark is one result of a linter. The text may come from untrusted code, so the
// parsers limit and clean every field.
type remark struct {
	path      string // in the tree, clean and relative
	line, end int    // from 1; 0 for the whole file
	rule      string // may be empty
	level     level
	message   string
	help      string // explanation of the rule; may be empty
	link      string // https URL of the rule's documentation; may be empty
	security  bool   // the rule is about security
	turnedOff string // why the linter marked it as suppressed; empty if it did not
	fix       *fix
}

// fix replaces a part of one line. Columns start at 1; the end column is exclusive.
type fix struct {
	line, from, to int
	text           string
	utf16          bool // columns count UTF-16 units instead of characters
}

type level int

// The levels of SARIF.
const (
	note level = iota
	warning
	failure
)

func (l level) severity() precedent.Severity {
	return [...]precedent.Severity{precedent.Nit, precedent.Low, precedent.Medium}[l]
}

// Limits on a linter's text, in characters, and on the number of results.
const (
	maxMessage = 1000
	maxRule    = 80
	maxRemarks = 5000
	maxLine    = 10_000_000 // largest line number
)

func control(r rune) bool { return unicode.IsControl(r) || r == unicode.ReplacementChar }

// oneLine cleans and shortens a linter's text to one line without hidden characters.
func oneLine(s string, most int) string {
	s = strings.Map(func(r rune) rune {
		if control(r) {
			return ' '
		}
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, " "))
	return text.Cut(strings.Join(strings.Fields(s), " "), most)
}

// pathInTree returns the path within the tree for a path from a linter that saw the
// tree at dir. It is empty if the path is outside.
func pathInTree(dir, name string) string {
	if name == "" || len(name) > 4096 || strings.ContainsFunc(name, control) || strings.Contains(name, `\`) {
		return ""
	}
	if path.IsAbs(name) {
		rest, ok := strings.CutPrefix(path.Clean(name), strings.TrimSuffix(dir, "/")+"/")
		if dir == "" || !ok {
			return ""
		}
		name = rest
	}
	name = path.Clean(name)
	if name == "." || name == ".." || strings.HasPrefix(name, "../") || path.IsAbs(name) {
		return ""
	}
	return name
}

// ruleForms are the ways in which linters write the rule into a line: SC2086 at the
// end, MD012/name or Style/Name at the start, or a name after two spaces.
var ruleForms = sync.OnceValue(func() []*regexp.Regexp {
	return []*regexp.Regexp{
		regexp.MustCompile(`^(?P<rule>[A-Z]+[0-9]+(?:/[\w-]+)*):?\s+(?P<rest>.+)$`),
		regexp.MustCompile(`^(?P<rule>[A-Z]\w*(?:/\w+)+):\s+(?P<rest>.+)$`),
		regexp.MustCompile(`^(?P<rest>.+?)\s+\[(?P<rule>[\w@./:-]+)\]$`),
		regexp.MustCompile(`^(?P<rest>.+?)\s+\((?P<rule>[\w@./:-]+)\)$`),
		regexp.MustCompile(`^(?P<rest>.+?)\s{2,}(?P<rule>[\w@./-]+)$`),
	}
})

// cutRule splits a linter's line into the rule and the message.
func cutRule(s string) (rule, rest string) {
	s = strings.TrimSpace(s)
	for _, form := range ruleForms() {
		if m := form.FindStringSubmatch(s); m != nil {
			return m[form.SubexpIndex("rule")], m[form.SubexpIndex("rest")]
		}
	}
	return "", s
}

// finding converts a remark to a finding about a line of a file, or about the whole
// file.
func (r *remark) finding(l *Linter, f *diff.File, line diff.Line) precedent.Finding {
	out := newFinding(f, precedent.Right, line)
	if line.New == 0 {
		out.Evidence = nil
	}
	out.Confidence, out.Category, out.Severity = linterSure, cmp.Or(l.Category, precedent.Bugs), r.level.severity()
	if r.security {
		out.Category = precedent.Security
	}
	if out.Category == precedent.Style && r.level == failure {
		out.Severity = precedent.Low // style linters call everything an error
	}
	by := l.Name
	out.Rule = l.Name
	if r.rule != "" {
		out.Rule += "/" + r.rule
		by += ", rule " + r.rule
	}
	out.Title = title(r.message)
	out.Body = sentence(r.message)
	if r.help != "" && r.help != r.message {
		out.Body += " " + sentence(r.help)
	}
	out.Body += fmt.Sprintf("\n\nFound by the linter %s, with the repository's configuration from before the change.", by)
	if r.link != "" {
		out.Body += " See " + r.link
	}
	if r.fix != nil && r.fix.line == line.New {
		if s, ok := r.fix.apply(line.Text); ok {
			out.Suggestion = s
		}
	}
	return out
}

// apply returns the line with the fix applied, if its columns are valid.
func (x *fix) apply(line string) (string, bool) {
	from, ok := x.offset(line, x.from)
	to, ok2 := x.offset(line, x.to)
	if !ok || !ok2 || from > to || strings.ContainsFunc(x.text, func(r rune) bool { return control(r) && r != '\t' }) {
		return "", false
	}
	fixed := line[:from] + x.text + line[to:]
	return fixed, fixed != line && strings.TrimSpace(fixed) != ""
}

// offset converts a column to a byte offset.
func (x *fix) offset(line string, column int) (int, bool) {
	at := 1
	for i, r := range line {
		if at == column {
			return i, true
		}
		if at++; x.utf16 && r > 0xFFFF {
			at++
		}
	}
	return len(line), at == column
}

// webLink returns a link that is safe to show: https, without credentials.
func webLink(s string) string {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || len(s) > 300 ||
		strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("<>()[]`\"", r) }) {
		return ""
	}
	return s
}
