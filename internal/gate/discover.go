package gate

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/markdown"
	"github.com/precedent-dev/precedent/internal/text"
)

// Documents are the files of the base that may name commands, the most authoritative
// first.
var Documents = []string{"AGENTS.md", "CLAUDE.md", "README.md"}

// Limits of what is read and run.
const (
	maxDocument = 256 << 10 // bytes
	maxCommands = 8
	maxLine     = 300 // bytes
)

// Document is a file of the base commit that may name commands.
type Document struct {
	Path string
	Text string
}

// ReadDocuments reads the documents of the base commit. Those that cannot be read, or that
// are not text, count as absent.
func ReadDocuments(read func(path string) ([]byte, error)) []Document {
	var docs []Document
	for _, name := range Documents {
		data, err := read(name)
		if err != nil || !utf8.Valid(data) {
			continue
		}
		docs = append(docs, Document{name, wholeLines(string(data), maxDocument)})
	}
	return docs
}

// fromPolicy is the source of a policy's commands.
const fromPolicy = "policy"

// Discover returns the commands of a gate: those of the policy, else those of the first
// document that has any. In a document, a command is a line of a code block below one of
// the headings Build, Test, Quick Reference, Development and Getting Started that builds,
// tests or checks the code without changing the machine; see docs/gate.md.
func Discover(policy precedent.Gate, docs []Document) []Command {
	if policy.Off {
		return nil
	}
	var all []Command
	for _, c := range policy.Commands {
		all = append(all, Command{Name: c.Name, Line: c.Run, Source: fromPolicy})
	}
	for _, d := range docs {
		if len(all) > 0 {
			return all
		}
		all = commandsOf(d)
	}
	return all
}

var (
	// heading matches the words of a heading below which commands count.
	heading = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\b(build|builds|building|test|tests|testing|quick reference|development|developing|developer|getting started|commands|checks|contributing)\b`)
	})
	// elsewhere matches headings about other things.
	elsewhere = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\b(docker|deploy\w*|release|releasing|publish\w*|benchmarks?|profiling|fuzz\w*|e2e|end.to.end|integration|windows|macos|android|ios|examples?|usage|prerequisites)\b`)
	})
	shells = []string{"", "sh", "bash", "shell", "zsh", "console", "shell-session", "shellsession", "sh-session", "terminal", "text", "txt", "plaintext", "commandline", "cmdline"}
)

// commandsOf finds the commands of a document.
func commandsOf(d Document) []Command {
	var all []Command
	seen := map[string]bool{}
	manager, last := "", ""
	var configured []string
	for _, block := range markdown.CodeBlocks(d.Text) {
		under, ok := headingOf(block.Headings)
		if !ok || !slices.Contains(shells, strings.ToLower(block.Language)) {
			continue
		}
		if under != last {
			configured, last = nil, under
		}
		var lines []string
		lines, configured = blockCommands(block.Text, configured)
		for _, line := range lines {
			if m := scriptManager(line); m != "" && manager != "" && m != manager {
				continue // the document shows the same for another package manager
			} else if m != "" {
				manager = m
			}
			if seen[variant(line)] {
				continue // it is there, with other options
			}
			seen[variant(line)] = true
			if len(all) == maxCommands {
				return all
			}
			all = append(all, Command{Name: text.Cut(line, 60), Line: line, Source: d.Path + ": " + under})
		}
	}
	return all
}

// headingOf returns the innermost heading that is about building or testing, if no heading
// within it is about something else.
func headingOf(headings []string) (string, bool) {
	for i, h := range slices.Backward(headings) {
		plain := plainHeading(h)
		if elsewhere().MatchString(plain) && i > 0 {
			return "", false
		}
		if heading().MatchString(plain) {
			return plain, true
		}
	}
	return "", false
}

// plainHeading is a heading without marks and pictures.
func plainHeading(s string) string {
	s = strings.Map(func(r rune) rune {
		if strings.ContainsRune("*_`#", r) || r > 0x2000 {
			return -1
		}
		return r
	}, text.VisibleLine(s))
	return text.Cut(text.Collapse(s), 60)
}

// scriptManager is the package manager that runs a script of package.json.
func scriptManager(line string) string {
	first, _, _ := strings.Cut(line, " ")
	if slices.Contains([]string{"npm", "yarn", "pnpm", "bun"}, first) {
		return first
	}
	return ""
}
