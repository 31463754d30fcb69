package lint

import (
	"context"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/text"
)

// injectionSure is the confidence of a script that runs text of strangers, in percent.
const injectionSure = 90

// workflows reports scripts of GitHub Actions, and of Gitea's and Forgejo's, that have the text of strangers in them.
// The runner puts it there before the shell reads the script, so it can be a command.
// https://docs.github.com/en/actions/concepts/security/script-injections lists the contexts.
func workflows(ctx context.Context, in *Input) Result {
	c := &collect{name: "workflows"}
	for i := range in.Change.Files {
		f := &in.Change.Files[i]
		if ctx.Err() != nil {
			return c.result(ctx, nil)
		}
		if !workflowFile().MatchString(f.Path) {
			continue
		}
		for h := range f.Hunks {
			lines := newSide(&f.Hunks[h])
			for n, l := range lines {
				written := strangersText().FindStringSubmatch(l.Text)
				if l.Op != diff.Add || written == nil || !inScript(lines[:n+1]) {
					continue
				}
				found := newFinding(f, precedent.Right, l)
				found.Category, found.Severity, found.Rule = precedent.Security, precedent.Medium, "script-injection"
				if fromAnybody().MatchString(written[1]) {
					found.Severity = precedent.High
				}
				found.Confidence, found.Title = injectionSure, title("Text of strangers becomes part of a script: "+written[1])
				found.Body = "The expression is replaced by its value before the script runs, and its value is what somebody wrote " +
					"who need not have any rights here. With quotes and a semicolon in it, it runs commands with the token and the " +
					"secrets of this job.\n\nSet an environment variable of the step to the expression, and use the variable in the " +
					"script, in double quotes."
				c.add(found)
			}
		}
	}
	return c.result(ctx, nil)
}

var workflowFile = text.Pattern(`(^|/)(\.(github|gitea|forgejo)/.+|action)\.ya?ml$`)

// strangersText matches an expression whose value is text that strangers choose; one that compares such a text, or hands
// it to a function, has a value of another kind. fromAnybody matches the contexts of events that run with the rights of
// the repository. What comes with a pull request from a fork usually has a token that can only read.
var (
	strangersText = text.Pattern(`\$\{\{\s*(?:[\w.'"-]+\s*\|\|\s*)*(github\.(?:head_ref|event\.(?:` +
		`(?:issue|pull_request|discussion)\.(?:title|body)|pull_request\.head\.(?:ref|label|repo\.default_branch)` +
		`|(?:comment|review|review_comment)\.body|(?:head_commit|commits\.\*|commits\[\d+\])\.(?:message|author\.(?:email|name))` +
		`|workflow_run\.(?:head_branch|head_commit\.(?:message|author\.(?:email|name))|display_title)` +
		`|pages(?:\.\*|\[\d+\])\.page_name)))\s*(?:\|\|\s*[\w.'"-]+\s*)*\}\}`)
	fromAnybody = text.Pattern(`event\.(?:issue|discussion|comment|workflow_run)\b`)
)

// newSide returns the lines of a hunk that the file has after the change.
func newSide(h *diff.Hunk) (lines []diff.Line) {
	for _, l := range h.Lines {
		if l.Op != diff.Delete {
			lines = append(lines, l)
		}
	}
	return lines
}

// scriptKey matches the key of a script that begins on the same line, in its first group, or on the next one. anyKey
// matches any other key, and items of lists.
var (
	scriptKey = text.Pattern(`^\s*(?:-\s+)?(?:run|script|inlineScript):\s+(?:([^|>\s#])|[|>][-+0-9]*\s*(?:#.*)?$)`)
	anyKey    = text.Pattern(`^\s*(?:-\s+)?[\w-]+:(?:\s|$)|^\s*-\s`)
)

// inScript reports whether the last of some lines is in a script, as far as the lines show it.
func inScript(lines []diff.Line) bool {
	last := len(lines) - 1
	if key := scriptKey().FindStringSubmatch(lines[last].Text); key != nil {
		return key[1] != ""
	}
	indent := indentOf(lines[last].Text)
	for i := last - 1; i >= 0 && indent > 0; i-- {
		s := lines[i].Text
		if strings.TrimSpace(s) == "" || indentOf(s) >= indent {
			continue
		}
		if key := scriptKey().FindStringSubmatch(s); key != nil {
			return key[1] == ""
		}
		if anyKey().MatchString(s) {
			return false
		}
		indent = indentOf(s)
	}
	return false
}

func indentOf(s string) int { return len(s) - len(strings.TrimLeft(s, " ")) }
