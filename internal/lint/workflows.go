package lint

import (
	"cmp"
	"context"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/text"
)

// injectionSure is the confidence of a script with untrusted text in it, in percent.
const injectionSure = 90

// workflows reports scripts of GitHub Actions, and of Gitea's and Forgejo's, with expressions whose value is untrusted text.
// The runner replaces an expression before the shell reads the script, so the text can be a command.
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
		hunks := in.headHunks(f)
		values := variables(hunks)
		for _, h := range hunks {
			var script scripts
			for _, l := range h.Lines {
				if l.Op == diff.Delete {
					continue
				}
				code := variable().ReplaceAllStringFunc(script.read(l.Text), func(used string) string {
					return cmp.Or(values[variable().FindStringSubmatch(used)[1]], used)
				})
				written := untrustedText().FindStringSubmatch(code)
				if l.Op != diff.Add || written == nil {
					continue
				}
				name := written[1] + written[2]
				found := newFinding(f, precedent.Right, l)
				found.Category, found.Severity, found.Rule = precedent.Security, precedent.Medium, "script-injection"
				if fromAnybody().MatchString(name) {
					found.Severity = precedent.High
				}
				found.Confidence, found.Title = injectionSure, title("Untrusted text becomes part of a script: "+name)
				found.Body = "The runner replaces the expression with its value before the script runs. People without write permission " +
					"can choose that value, and a quote and a semicolon in it are enough to run commands with the token and the secrets " +
					"of this job.\n\nSet an environment variable of the step to the expression, and use that variable in the script, in " +
					"double quotes."
				c.add(found)
			}
		}
	}
	return c.result(ctx, nil)
}

// variables returns the variables that a workflow sets, by their names: the values, empty if there are several.
func variables(hunks []diff.Hunk) map[string]string {
	values := map[string]string{}
	for _, h := range hunks {
		var s scripts
		for _, l := range h.Lines {
			if l.Op == diff.Delete {
				continue
			}
			m := anyKey().FindStringSubmatch(l.Text)
			if s.read(l.Text); m == nil || s.block > 0 || len(s.keys) < 2 || s.keys[len(s.keys)-2].name != "env" {
				continue
			}
			if value, known := values[m[2]]; known && value != m[3] {
				m[3] = ""
			}
			values[m[2]] = m[3]
		}
	}
	return values
}

// variable matches an expression whose value is that of a variable, or can be.
var variable = text.Pattern(`\$\{\{\s*env\.(\w+)\s*(?:\|\|[^{}]*)?\}\}`)

var workflowFile = text.Pattern(`(^|/)(\.(github|gitea|forgejo)/(workflows|actions)/.+|action)\.ya?ml$`)

// untrustedText matches an expression whose value is untrusted text, or has it as a part. What other functions return,
// such as contains, is of another kind. Gitea and Forgejo have the contexts of GitHub by their names, too. fromAnybody
// matches the contexts of events whose jobs have the repository's token and secrets. The token of a pull request from a
// fork can usually only read.
var (
	untrustedText = text.Pattern(`\$\{\{\s*(?:[\w.'"-]+\s*\|\|\s*|(?i:toJSON|format)\((?:'[^']*'|[\w.\s,-])*?)*(` + ofForge + `\.(?:head_ref|event\.(?:` +
		`(?:issue|pull_request|discussion)(?:\.|\[')(?:title|body)(?:'\])?|pull_request\.head\.(?:ref|label|repo\.default_branch)` +
		`|(?:comment|review|review_comment)\.body|(?:head_commit|commits\.\*|commits\[\d+\])\.(?:message|author\.(?:email|name))` +
		`|workflow_run\.(?:head_branch|head_commit\.(?:message|author\.(?:email|name))|display_title)` +
		`|pages(?:\.\*|\[\d+\])\.page_name)))(?:,[^()}]*)?[\s)]*(?:\|\|\s*[\w.'"-]+\s*)*\}\}` +
		`|\$\{\{\s*(?i:toJSON)\(\s*(` + ofForge +
		`(?:\.event(?:\.(?:issue|pull_request|discussion|comment|review|review_comment|head_commit|commits|workflow_run|pages))?)?)\s*\)\s*\}\}`)
	fromAnybody = text.Pattern(`event\.(?:issue|discussion|comment|workflow_run)\b`)
)

const ofForge = `(?:github|gitea|forge(?:jo)?)`

// anyKey matches a key of YAML, also in quotes: what is before it, its name, and its value.
var anyKey = text.Pattern(`^(\s*(?:-\s+)?)["']?([\w-]+)["']?:(?:\s+(.*))?$`)

// scripts tells which lines of YAML are in scripts, as far as those before them show it.
type scripts struct {
	block int   // the least column of a script's lines; 0 for none
	keys  []key // around the next line, the outermost first
}

type key struct {
	column int
	name   string
}

// read returns what the next line has of a script: the value of run, and of an input of that kind, which is below with.
func (s *scripts) read(line string) string {
	indent := len(line) - len(strings.TrimLeft(line, " "))
	if strings.TrimSpace(line) == "" {
		return ""
	}
	if s.block > 0 && indent >= s.block {
		return line
	}
	s.block = 0
	m := anyKey().FindStringSubmatch(line)
	if m == nil {
		return ""
	}
	at, name, value := len(m[1]), m[2], m[3]
	for len(s.keys) > 0 && s.keys[len(s.keys)-1].column >= at {
		s.keys = s.keys[:len(s.keys)-1]
	}
	around := "with" // if no line shows it: the file cannot be read
	if len(s.keys) > 0 {
		around = s.keys[len(s.keys)-1].name
	}
	s.keys = append(s.keys, key{at, name})
	switch isInput := name == "script" || name == "inlineScript"; {
	case name != "run" && (!isInput || around != "with"):
	case strings.HasPrefix(value, "|"), strings.HasPrefix(value, ">"):
		s.block = at + 1
	case strings.HasPrefix(value, `"`), strings.HasPrefix(value, "'"):
		return value
	default:
		value, _, _ = strings.Cut(value, " #")
		return value
	}
	return ""
}
