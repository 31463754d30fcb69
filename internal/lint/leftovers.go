package lint

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/secret"
	"github.com/precedent-dev/precedent/internal/text"
)

// leftovers reports what somebody forgot to remove before the commit: stray files, focused tests, and breakpoints.
func leftovers(ctx context.Context, in *Input) Result {
	c := &collect{name: "leftovers"}
	strays := make([][]*diff.File, len(strayKinds))
	for i := range in.Change.Files {
		f := &in.Change.Files[i]
		if ctx.Err() != nil {
			return c.result(ctx, nil)
		}
		if kind := strayKind(in, f); kind >= 0 {
			strays[kind] = append(strays[kind], f)
			continue
		}
		if f.Skip != "" && !f.TooLarge {
			continue
		}
		code := sync.OnceValue(func() []string {
			data, err := in.Read(f.Path)
			if err != nil {
				return nil
			}
			return text.BareLines(f.Path, strings.Split(handler().ReplaceAllString(string(data), "$1={$2}"), "\n"))
		})
		for _, kind := range leftLines {
			if !kind.files().MatchString(f.Path) || !kind.places(f.Path) {
				continue
			}
			for l := range f.AddedLines() {
				if len(l.Text) > maxLeftLine || !kind.line().MatchString(l.Text) ||
					l.New <= len(code()) && !kind.line().MatchString(code()[l.New-1]) || // in a comment or a string
					kind.unless != nil && kind.isMeant(l, code()) {
					continue
				}
				found := newFinding(f, precedent.Right, l)
				found.Category, found.Severity, found.Rule = kind.category, precedent.Medium, kind.rule
				found.Confidence, found.Title, found.Body = leftoverSure, kind.title, kind.body
				c.add(found)
			}
		}
	}
	for kind, files := range strays {
		if len(files) > 0 {
			c.add(strayFinding(strayKinds[kind].what, files))
		}
	}
	return c.result(ctx, nil)
}

// handler matches an attribute of Vue whose text is code.
var handler = text.Pattern(`(\s(?:@|v-on:)[\w.:-]+)="([^"\n]*)"`)

// leftoverSure is the confidence of a leftover, in percent.
const leftoverSure = 90

// maxLeftLine is the length of a line, in bytes, that a person writes. In longer ones, programs are data.
const maxLeftLine = 300

// leftLine is a kind of line that is not meant to be committed.
type leftLine struct {
	rule, title, body string
	category          precedent.Category
	places            func(path string) bool
	files, line       func() *regexp.Regexp
	unless            func() *regexp.Regexp // what shows that a breakpoint is meant; nil for nothing
}

// isMeant reports whether a breakpoint is meant to stay, as in a helper of assertions: by the rest of its line, by the line
// that begins the block around it, or by the nearest line for a preprocessor. Where the code cannot be read, it counts as
// meant.
func (k leftLine) isMeant(line diff.Line, code []string) bool {
	at := k.line().FindStringIndex(line.Text)
	if line.New > len(code) || k.unless().MatchString(line.Text[:at[0]]+line.Text[at[1]:]) {
		return true
	}
	for _, l := range slices.Backward(code[:line.New-1]) {
		if s := strings.TrimSpace(l); s != "" && s != "{" && (s[0] == '#' || indentOf(l) < indentOf(line.Text)) {
			return k.unless().MatchString(l)
		}
	}
	return false
}

func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

const (
	focusedTitle = "Focused test or group: the other tests do not run"
	focusedBody  = "The runner runs only what is focused. The other tests of this file, or of all files, are skipped, and the run " +
		"still passes.\n\nRemove the focus before the change is merged."
	breakpointTitle = "A breakpoint or debug output is committed"
	breakpointBody  = "The line stops the program in a debugger or prints a value for debugging. Some of these functions also end the " +
		"program.\n\nRemove the line before the change is merged."
)

var leftLines = []leftLine{
	focused(`\.[cm]?[jt]sx?$`, `^\s*(?:it|describe|test|context|suite|specify)(?:\.\w+)*\.only(?:\.each)?\s*[(`+"`"+`]`+
		`|^\s*f(?:it|describe|context)\s*\(\s*['"`+"`"+`]`),
	focused(`_spec\.rb$`, `^\s*(?:fit|fdescribe|fcontext|fspecify)\s+['"]`+
		`|^\s*(?:it|describe|context|specify)\b.*,\s*(?:focus:\s*true|:focus)\b`),
	focused(`_test\.go$`, `(?:^|\s)F(?:It|Describe|Context|Entry|When|DescribeTable|Specify)\(\s*["`+"`"+`]`),
	focused(`\.swift$`, `^\s*f(?:it|describe|context)\("`),
	focused(`_test\.dart$`, `^\s*solo_(?:test|group)\(|\bsolo:\s*true\b`),
	focused(`\.php$`, `^\s*(?:\}\))?->only\(\);`),
	breakpoint(`\.([cm]?[jt]sx?|vue|svelte)$`, `^\s*debugger\s*;?\s*$`),
	breakpoint(`\.(rb|rake|erb|ru)$`, `^\s*(?:<%=?\s*)?(?:require ['"][\w/-]*['"];\s*)?(?:binding\.(?:pry|irb|break)|byebug|debugger)(?:\s*%>)?\s*$`),
	breakpoint(`\.py$`, `^\s*(?:import i?pdb;\s*)?(?:(?:i?pdb|pudb)\.set_trace|breakpoint)\(\)\s*$`),
	conditional(`\.([cm]?[jt]sx?|vue|svelte)$`, `(?:[{;)]|\belse)\s*debugger\s*[;}]`, aidWords),
	conditional(`\.(rb|rake|ru)$`, `^\s*(?:binding\.(?:pry|irb|break)|byebug|debugger)\s+(?:if|unless)\b`, aidWords+`|consol|interact|\b(?:pry|irb)\b`),
	conditional(`\.(cs|dart|php)$`, `^\s*(?:(?:System\.Diagnostics\.)?Debugger\.(?:Launch|Break)|(?:developer\.)?debugger|xdebug_break)\(\);\s*$`, ifWords),
	breakpoint(`\.php$`, `^\s*eval\(\\?Psy\\sh\(\)\);|^\s*(?:dd|dump|var_dump)\(.*\);\s*$|^\s*(?:var_dump|print_r)\(.*\);\s*(?:die|exit)\b[^;]*;\s*$`),
	breakpoint(`\.(twig|blade\.php)$`, `\{\{-?\s*dump\(|\{%-?\s*dump\b|^\s*@(?:dd|dump)\(`),
	breakpoint(`\.exs?$`, `^\s*(?:require IEx;?\s*)?IEx\.pry(?:\(\))?\s*$|\|>\s*dbg\(\)\s*$`),
	breakpoint(`\.rs$`, `(?:^|[\s(\[{=&|,!])(?:std::)?dbg!\(`),
	conditional(`\.(c|cc|cpp|cxx|m|mm)$`, `^\s*(?:__debugbreak|(?:::)?DebugBreak|__builtin_debugtrap)\(\);\s*$`,
		ifWords+`|fatal|crash|abort|error|fail|panic|trap|\bdefault\b|#\s*define`),
	breakpoint(`\.go$`, `^\s*runtime\.Breakpoint\(\)\s*$`),
	{
		"breakpoint", breakpointTitle, breakpointBody, precedent.Tests, secret.IsTest, text.Pattern(`\.[cm]?[jt]sx?$`),
		text.Pattern(`^\s*(?:await\s+page|cy)\.pause\(\);?\s*$`), nil,
	},
	breakpoint(`\.p[lm]$`, `^\s*\$DB::single\s*=\s*1;`),
}

func focused(files, line string) leftLine {
	return leftLine{"focused-test", focusedTitle, focusedBody, precedent.Tests, secret.IsTest, text.Pattern(files), text.Pattern(line), nil}
}

func breakpoint(files, line string) leftLine {
	return leftLine{"breakpoint", breakpointTitle, breakpointBody, precedent.Bugs, inProduct, text.Pattern(files), text.Pattern(line), nil}
}

// aidWords are words of code that helps with debugging, and ifWords these and conditions.
const (
	aidWords = `(?i)debug|assert|attach|break|pause|\bdev`
	ifWords  = aidWords + `|#?\b(?:if|else|case|when|while)\b`
)

// conditional is a breakpoint that some programs have on purpose.
func conditional(files, line, unless string) leftLine {
	kind := breakpoint(files, line)
	kind.unless = text.Pattern(unless)
	return kind
}

// inProduct reports whether a file is neither of tests, which print on purpose, nor an example.
func inProduct(path string) bool { return !secret.IsTest(path) && !examplePlaces().MatchString(path) }

// strayKinds are the files that tools leave behind. Files that people also commit on purpose, such as logs and editors'
// settings, are in none.
var strayKinds = []struct {
	what string
	path func() *regexp.Regexp
}{
	{"a backup or a swap file of an editor", text.Pattern(`(^|/)(\.[^/]+\.sw[nop]|[^/]*[^/~.]~|#[^/]+#|\.#[^/]+)$`)},
	{"a leftover of a merge or a patch", text.Pattern(`\.(orig|rej)$`)},
	{besideOriginal, text.Pattern(`[^/](\.bak| copy( \d+)?| - Copy( \(\d+\))?)(\.\w+)?$`)},
	{"a metadata file of the operating system", text.Pattern(`(^|/)(\.DS_Store|Thumbs\.db|ehthumbs\.db)$`)},
	{"a cache or state of a tool on one machine", text.Pattern(`(^|/)(__pycache__/[^/]+|[^/]+\.py[co]|\.ipynb_checkpoints/.+` +
		`|\.svn/.+|CVS/(Entries|Root)|\.idea/workspace\.xml|nohup\.out|(npm-debug|yarn-error|lerna-debug|debug)\.log|hs_err_pid\d+\.log)$`)},
}

// besideOriginal is a kind whose first group is what the name has more than that of the original.
const besideOriginal = "a copy beside its original"

// strayKind returns the index of the kind of an added file, -1 if it is none. In tests and in copies of other projects,
// such files are kept on purpose, and what is named like a copy is one only beside its original.
func strayKind(in *Input, f *diff.File) int {
	if f.Status != diff.Added || !inProduct(f.Path) || strings.HasPrefix(f.Skip, "vendored") {
		return -1
	}
	for i, kind := range strayKinds {
		at := kind.path().FindStringSubmatchIndex(f.Path)
		if at == nil {
			continue
		}
		if kind.what == besideOriginal {
			if _, err := in.Read(f.Path[:at[2]] + f.Path[at[3]:]); err != nil {
				return -1
			}
		}
		return i
	}
	return -1
}

// strayFinding reports the stray files of one kind at the first of them.
func strayFinding(what string, files []*diff.File) precedent.Finding {
	found := newFileFinding(files[0])
	found.Category, found.Severity, found.Rule = precedent.Style, precedent.Low, "stray-file"
	found.Confidence, found.Title = leftoverSure, title("The change adds "+what)
	found.Body = "Such files are usually committed by mistake. They are of no use to others, and may contain local paths, unfinished " +
		"text or deleted code.\n\nRemove it with `git rm --cached`, and add a pattern for it to .gitignore."
	if len(files) > 1 {
		var names []string
		for _, f := range files {
			names = append(names, "`"+strings.ReplaceAll(text.VisibleLine(f.Path), "`", "'")+"`")
		}
		found.Body += fmt.Sprintf("\n\n%d files of this kind are added: %s.", len(files), listed(names))
	}
	return found
}
