package lint

import (
	"context"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/text"
)

// conflictSure is the confidence of a conflict, in percent. In 2,400 ranges of the histories
// of timescaledb, keepassxc, click and spring-ai, all five findings were conflicts that
// people had committed.
const conflictSure = 95

// conflicts reports committed merge conflicts: one finding for each conflict, on its first
// added marker. Documents and test data may show conflicts as examples.
func conflicts(ctx context.Context, in *Input) Result {
	c := &collect{name: "conflict-markers"}
	for i := range in.Change.Files {
		f := &in.Change.Files[i]
		if ctx.Err() != nil {
			return c.result(ctx, nil)
		}
		if examplePlaces().MatchString(f.Path) {
			continue
		}
		for _, l := range conflictsIn(f) {
			found := newFinding(f, precedent.Right, l)
			found.Category, found.Severity, found.Rule = precedent.Bugs, precedent.High, "conflict-marker"
			found.Confidence, found.Title = conflictSure, "Unresolved merge conflict marker committed"
			found.Body = "This line is a marker of an unresolved conflict that git writes when a merge, rebase or cherry-pick " +
				"could not be completed. Code with conflict markers does not compile, configuration with them does not parse, " +
				"and a document shows both versions of the text.\n\n" +
				"Choose one side or combine both, then delete the <<<<<<<, =======, and >>>>>>> lines."
			c.add(found)
		}
	}
	return c.result(ctx, nil)
}

// conflictsIn returns the first added marker of each conflict in the new side of a file's
// hunks that has one. Only the three markers in order are a conflict: seven equals signs also
// underline titles.
func conflictsIn(f *diff.File) (all []diff.Line) {
	const order = "<=>"
	next := 0 // index of the marker that the conflict lacks
	var added *diff.Line
	for h := range f.Hunks {
		for i := range f.Hunks[h].Lines {
			l := &f.Hunks[h].Lines[i]
			kind := strings.IndexByte(order, marker(l.Text))
			if l.Op == diff.Delete || kind != 0 && kind != next {
				continue
			}
			if kind == 0 {
				added = nil
			}
			if added == nil && l.Op == diff.Add {
				added = l
			}
			if next = (kind + 1) % len(order); next == 0 && added != nil {
				all = append(all, *added)
			}
		}
	}
	return all
}

// marker returns the character of a conflict marker as git writes it: seven of one
// kind, then nothing, or a space and a label. It returns 0 for any other line.
func marker(s string) byte {
	s = strings.TrimRight(s, " \t\r")
	for _, sign := range []string{"<<<<<<<", "=======", ">>>>>>>"} {
		if s == sign || sign[0] != '=' && strings.HasPrefix(s, sign+" ") {
			return s[0]
		}
	}
	return 0
}

// examplePlaces are the names of folders, and parts of the names of files, with
// documents and test data: places where markers may be an example.
var examplePlaces = text.Pattern(`(?i)(^|/)(tests?|__tests__|testdata|fixtures?|golden|snapshots?|__snapshots__|specs?` +
	`|docs?|documentation|examples?)/` +
	`|[._-]test\.[a-z]+$|(^|/)test_[^/]*$|\.(test|spec)\.[a-z]+$|Tests?\.[a-z]+$|\.(md|mdx|markdown|rst|adoc` +
	`|asciidoc|tex|texi|org|pod|[1-8])$`)
