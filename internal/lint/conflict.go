package lint

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
)

// conflicts reports committed merge conflicts: one finding for each conflict, on its
// first added marker.
func conflicts(ctx context.Context, in *Input) Result {
	c := &collect{name: "conflict-markers"}
	for i := range in.Change.Files {
		f := &in.Change.Files[i]
		if ctx.Err() != nil {
			return c.result(ctx, nil)
		}
		var lines []diff.Line
		for h := range f.Hunks {
			lines = append(lines, f.Hunks[h].Lines...)
		}
		found := conflictsIn(lines)
		shown := len(found) > 0 && showsConflicts(f.Path, lines)
		for _, b := range found {
			c.add(conflictAt(f, b, shown))
		}
	}
	return c.result(ctx, nil)
}

// conflict is the markers of one conflict, in order. A conflict may have others in it.
type conflict []diff.Line

// conflictsIn groups the markers in the new side of a file's hunks into conflicts with
// at least one added marker. Seven equals signs also underline titles, and seven bars
// can be a table, so these are markers only between an opening and a closing one.
func conflictsIn(lines []diff.Line) []conflict {
	var all []conflict
	var open conflict
	depth := 0 // of conflicts that were opened and not closed
	end := func() {
		if depth > 0 { // one of them was never closed, so they may not be nested
			for _, part := range splitConflict(open) {
				all = appendConflict(all, part)
			}
		} else {
			all = appendConflict(all, open)
		}
		open, depth = nil, 0
	}
	for i, l := range lines {
		if l.Op == diff.Delete {
			continue
		}
		switch marker(l.Text) {
		case '<':
			open = append(open, l)
			depth++
		case '|', '=':
			if depth > 0 {
				open = append(open, l)
			}
		case '>':
			if depth == 0 && inQuotedMail(lines, i) {
				continue
			}
			open = append(open, l)
			if depth--; depth <= 0 {
				end()
			}
		}
	}
	end()
	return all
}

// splitConflict splits markers before each opening one.
func splitConflict(open conflict) []conflict {
	var parts []conflict
	for _, l := range open {
		if l.Text[0] == '<' || len(parts) == 0 {
			parts = append(parts, nil)
		}
		last := len(parts) - 1
		parts[last] = append(parts[last], l)
	}
	return parts
}

// appendConflict appends a conflict if the change adds one of its markers.
func appendConflict(all []conflict, b conflict) []conflict {
	if slices.ContainsFunc(b, func(l diff.Line) bool { return l.Op == diff.Add }) {
		all = append(all, b)
	}
	return all
}

// marker returns the character of a conflict marker as git writes it: seven of one
// kind, then nothing, or a space and a label. It returns 0 for any other line.
func marker(s string) byte {
	const size = 7
	if len(s) < size || !strings.Contains("<|=>", s[:1]) || strings.Count(s[:size], s[:1]) != size {
		return 0
	}
	switch rest := strings.TrimRight(s[size:], " \t\r"); {
	case rest == "":
		return s[0]
	case s[0] == '=' || s[size] != ' ':
		return 0
	case s[0] == '|' && strings.Contains(rest, "|"): // a table
		return 0
	}
	return s[0]
}

// inQuotedMail reports whether a line is next to mail quoted with angle brackets.
func inQuotedMail(lines []diff.Line, i int) bool {
	return i > 0 && strings.HasPrefix(lines[i-1].Text, ">") || i+1 < len(lines) && strings.HasPrefix(lines[i+1].Text, ">")
}

// examplePlaces are the names of folders, and parts of the names of files, with
// documents and test data: places where markers may be an example.
var examplePlaces = lazily(`(?i)(^|/)(tests?|__tests__|testdata|fixtures?|golden|snapshots?|__snapshots__|specs?` +
	`|docs?|documentation|examples?)/` +
	`|[._-]test\.[a-z]+$|(^|/)test_[^/]*$|\.(test|spec)\.[a-z]+$|Tests?\.[a-z]+$|\.(md|mdx|markdown|rst|adoc` +
	`|asciidoc|txt|tex|texi|html?|org|pod|[1-8])$`)

// aboutConflicts are words of a text or the name of a file about merge conflicts.
var aboutConflicts = lazily(`(?i)(merge|merging|rebase|git|unresolved|resolve|resolving)[ _-]?conflict` +
	`|conflict(ed|ing)?[ _-]?(marker|hunk|region|resol|merg|style|file)|diff3|three[ _-]way|merge[ _-]?(marker` +
	`|driver|tool)`)

// conflictNames are words in the path of a test of a merge tool.
var conflictNames = lazily(`(?i)conflict|merge|rebase|diff3`)

// showsConflicts reports whether the markers in a file are probably examples: it is a
// document or test data, and its path or another line of the change in it speaks of
// merge conflicts.
func showsConflicts(path string, lines []diff.Line) bool {
	if !examplePlaces().MatchString(path) {
		return false
	}
	return conflictNames().MatchString(path) || slices.ContainsFunc(lines, func(l diff.Line) bool {
		return l.Op != diff.Delete && marker(l.Text) == 0 && aboutConflicts().MatchString(l.Text)
	})
}

// Confidence of a conflict, in percent. In 2,400 ranges of the histories of timescaledb,
// keepassxc, click and spring-ai, all five findings were conflicts that people had
// committed. An example is shown only to those who ask for everything.
const (
	conflictSure    = 95
	conflictExample = 30
)

func conflictAt(f *diff.File, b conflict, example bool) precedent.Finding {
	first := b[slices.IndexFunc(b, func(l diff.Line) bool { return l.Op == diff.Add })]
	out := newFinding(f, precedent.Right, first)
	out.Category, out.Severity, out.Rule, out.Confidence = precedent.Bugs, precedent.High, "conflict-marker", conflictSure
	out.Title = "Unresolved merge conflict marker committed"
	where := "This line is a conflict marker that git writes"
	if last := b[len(b)-1]; last.New > b[0].New {
		where = fmt.Sprintf("Lines %d to %d are an unresolved conflict that git wrote", b[0].New, last.New)
	}
	out.Body = where + " when a merge, rebase or cherry-pick could not be completed. Code with conflict markers " +
		"does not compile, configuration with them does not parse, and a document shows both versions of the text.\n\n" +
		"Choose one side or combine both, then delete the <<<<<<<, =======, and >>>>>>> lines."
	if example {
		out.Severity, out.Confidence = precedent.Low, conflictExample
		out.Body += "\n\nThe file is a document or a test that speaks of merge conflicts, " +
			"so the markers are probably an example."
	}
	return out
}
