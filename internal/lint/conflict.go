package lint

import (
	"context"
	"fmt"
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
		for h := range f.Hunks {
			if ctx.Err() != nil {
				return c.result(ctx, nil)
			}
			for _, b := range conflictsIn(f.Hunks[h].Lines) {
				c.add(conflictAt(f, b))
			}
		}
	}
	return c.result(ctx, nil)
}

// conflict is the markers of one conflict, in order.
type conflict []diff.Line

// conflictsIn groups the markers in the new side of a hunk into conflicts with at
// least one added marker. Seven equals signs also underline titles, and seven bars
// can be a table, so these are markers only between an opening and a closing one.
func conflictsIn(lines []diff.Line) []conflict {
	var all []conflict
	var open conflict
	end := func() {
		for len(open) > 1 && (open[0].Text[0] == '=' || open[0].Text[0] == '|') {
			open = open[1:]
		}
		for _, l := range open {
			if l.Op == diff.Add {
				all = append(all, open)
				break
			}
		}
		open = nil
	}
	for i, l := range lines {
		if l.Op == diff.Delete {
			continue
		}
		switch marker(l.Text) {
		case '<':
			end()
			open = conflict{l}
		case '|', '=':
			if len(open) > 0 {
				open = append(open, l)
			}
		case '>':
			if len(open) == 0 && inQuotedMail(lines, i) {
				continue
			}
			open = append(open, l)
			end()
		}
	}
	end()
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

func conflictAt(f *diff.File, b conflict) precedent.Finding {
	first := b[0]
	for _, l := range b {
		if l.Op == diff.Add {
			first = l
			break
		}
	}
	out := newFinding(f, precedent.Right, first)
	out.Category, out.Severity, out.Rule = precedent.Bugs, precedent.High, "conflict-marker"
	out.Title = "Unresolved merge conflict marker committed"
	where := "This line is a conflict marker that git writes"
	if last := b[len(b)-1]; last.New > b[0].New {
		where = fmt.Sprintf("Lines %d to %d are an unresolved conflict that git wrote", b[0].New, last.New)
	}
	out.Body = where + " when a merge, rebase or cherry-pick could not be completed. Code with conflict markers does not compile, " +
		"configuration with them does not parse, and a document shows both versions of the text.\n\n" +
		"Choose one side or combine both, then delete the <<<<<<<, =======, and >>>>>>> lines."
	return out
}
