package lint

import (
	"context"

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

// conflictsIn returns the first added marker of each conflict. Somebody who resolves one can forget a marker, so one is
// enough, except in texts, which quote mails.
func conflictsIn(f *diff.File) (all []diff.Line) {
	open := false
	for l := range f.AddedLines() {
		if !marker().MatchString(l.Text) {
			continue
		}
		isFirst := l.Text[0] == '<'
		if isFirst || !open && !mayQuote().MatchString(f.Path) {
			all = append(all, l)
		}
		open = isFirst
	}
	return all
}

var (
	// marker matches the first and the last line of a conflict as git writes them: with a label. The one between them also
	// underlines titles.
	marker = text.Pattern(`^(?:<{7}|>{7}) +\S`)
	// mayQuote matches the names of files of text, mails and patches.
	mayQuote = text.Pattern(`(^|/)[^/.]*$|\.(txt|eml|mbox|log|patch|diff)$`)
)

// examplePlaces are the names of folders, and parts of the names of files, with
// documents and test data: places where markers may be an example.
var examplePlaces = text.Pattern(`(?i)(^|/)(tests?|__tests__|testdata|fixtures?|golden|snapshots?|__snapshots__|specs?` +
	`|docs?|documentation|examples?)/` +
	`|[._-]test\.[a-z]+$|(^|/)test_[^/]*$|\.(test|spec)\.[a-z]+$|Tests?\.[a-z]+$|\.(md|mdx|markdown|rst|adoc` +
	`|asciidoc|tex|texi|org|pod|[1-8])$`)
