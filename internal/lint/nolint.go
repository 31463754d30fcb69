package lint

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// directives matches the comments that silence linters for Go: golangci-lint's
// //nolint, //nolint:a,b and staticcheck's //lint:ignore a,b reason.
var directives = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`//\s?nolint(?::\s?(?P<linters>[\w\-*]+(?:\s?,\s?[\w\-*]+)*))?(?:\s|$)|//lint:(?P<kind>ignore|file-ignore)\s+(?P<checks>[\w*]+(?:,[\w*]+)*)\s+\S`)
})

// directive is one such comment.
type directive struct {
	file  bool     // it is about the whole file
	names []string // of linters or checks, maybe with wildcards; empty for all
}

// directiveIn returns the directive in a line.
func directiveIn(line string) (d directive, ok bool) {
	if !strings.Contains(line, "nolint") && !strings.Contains(line, "//lint:") {
		return d, false
	}
	m := directives().FindStringSubmatch(line)
	if m == nil {
		return d, false
	}
	part := func(name string) string { return m[directives().SubexpIndex(name)] }
	d.file = part("kind") == "file-ignore"
	for _, name := range strings.Split(part("linters")+part("checks"), ",") {
		if name = strings.TrimSpace(name); name != "" {
			d.names = append(d.names, name)
		}
	}
	return d, true
}

// silences reports whether the directive names a rule or its suite.
func (d *directive) silences(s suite, rule string) bool {
	return len(d.names) == 0 || slices.ContainsFunc(d.names, func(name string) bool {
		matched, err := path.Match(name, rule)
		return err == nil && matched || name == string(s) || name == "all" || name == "vet" && s == vetSuite
	})
}

// silencer knows which diagnostics comments in the code silence. People who use these
// analyzers have put the comments there for them, so a finding would be the second
// answer to a question that is settled.
type silencer struct {
	line  func(name string, n int) (string, bool)
	files map[string][]directive // about whole files, by path
}

func newSilencer(tree string) *silencer {
	return &silencer{line: lineReader(tree), files: map[string][]directive{}}
}

// silent reports whether a comment silences a rule at a line: on the line itself, on
// the line before if it has nothing else, or anywhere for the whole file.
func (s *silencer) silent(name string, n int, of suite, rule string) bool {
	if on, ok := s.line(name, n); ok {
		if d, ok := directiveIn(on); ok && !d.file && d.silences(of, rule) {
			return true
		}
	}
	if before, ok := s.line(name, n-1); ok && strings.HasPrefix(strings.TrimSpace(before), "//") {
		if d, ok := directiveIn(before); ok && !d.file && d.silences(of, rule) {
			return true
		}
	}
	return slices.ContainsFunc(s.wholeFile(name), func(d directive) bool { return d.silences(of, rule) })
}

func (s *silencer) wholeFile(name string) []directive {
	list, ok := s.files[name]
	if !ok {
		for n := 1; ; n++ {
			line, more := s.line(name, n)
			if !more {
				break
			}
			if d, found := directiveIn(line); found && d.file {
				list = append(list, d)
			}
		}
		s.files[name] = list
	}
	return list
}
