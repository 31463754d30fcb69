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
			var in scripts
			for _, l := range newSide(&f.Hunks[h]) {
				code := in.read(l.Text)
				if l.Op != diff.Add || code == "" {
					continue
				}
				written := strangersText().FindStringSubmatch(code)
				if written == nil {
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

var workflowFile = text.Pattern(`(^|/)(\.(github|gitea|forgejo)/(workflows|actions)/.+|action)\.ya?ml$`)

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

// scriptKey matches the key of a script, with what is before it, its name, and its value. A script of an action is an
// input, below with.
var scriptKey = text.Pattern(`^(\s*(?:-\s+)?)(run|script|inlineScript|with):(?:\s+(.*))?$`)

// scripts tells which lines of YAML are in scripts, as far as those before them show it. The columns are 0 for none.
type scripts struct{ block, with int }

// read returns what the next line has of a script.
func (s *scripts) read(line string) string {
	indent := len(line) - len(strings.TrimLeft(line, " "))
	if strings.TrimSpace(line) == "" {
		return ""
	}
	if s.block > 0 && indent >= s.block {
		return line
	}
	s.block = 0
	if indent < s.with {
		s.with = 0
	}
	m := scriptKey().FindStringSubmatch(line)
	if m == nil {
		return ""
	}
	inside := len(m[1]) + 1 // the least column of what the key has on other lines
	switch value := m[3]; {
	case m[2] == "with":
		s.with = inside
	case m[2] != "run" && s.with == 0:
	case strings.HasPrefix(value, "|"), strings.HasPrefix(value, ">"):
		s.block = inside
	case strings.HasPrefix(value, `"`), strings.HasPrefix(value, "'"):
		return value
	default:
		value, _, _ = strings.Cut(value, " #")
		return value
	}
	return ""
}
