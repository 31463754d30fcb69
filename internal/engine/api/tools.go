package api

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/guide"
	"github.com/precedent-dev/precedent/internal/llm"
	"github.com/precedent-dev/precedent/internal/secret"
	"github.com/precedent-dev/precedent/internal/text"
)

// The limits of reading the repository. A truncated result says so in its last line.
const (
	maxFileBytes = 512 << 10
	maxReadLines = 2_000
	maxMatches   = 200
	maxListed    = 1_000
	maxPattern   = 1 << 10 // bytes of a regular expression
	maxSearched  = 64 << 20
	maxLineShown = 500 // bytes of a line that a search shows
)

// Files is the repository as the tools read it: paths outside of its trees are refused, and no program is run with what a
// model wrote.
type Files engine.Files

// object returns the schema of an object.
func object(required, properties string) json.RawMessage {
	return json.RawMessage(`{"type":"object","properties":{` + properties + `},"required":[` + required +
		`],"additionalProperties":false}`)
}

// tools returns the tools of a model, which only read.
func (f Files) tools() []llm.Tool {
	if f.List == nil {
		return nil
	}
	const at = `,"at":{"type":"string","enum":["head","base"],"description":"head: with the change, the default; base: before it"}`
	return []llm.Tool{
		{
			Name: "list_files",
			Description: "Lists the files of the repository that match a glob: *.go in any folder, src/** all below src. At " +
				"most 1,000 paths.",
			Schema: object(`"glob"`, `"glob":{"type":"string","description":"for example src/**/*.go"}`+at),
			Run:    run(f.list),
		},
		{
			Name:        "read_file",
			Description: "Reads lines of a file, with line numbers. At most 2,000 lines a call.",
			Schema: object(`"path"`,
				`"path":{"type":"string"},"start":{"type":"integer","description":"first line, from 1"},"end":{"type":"integer","description":"last line"}`+at),
			Run: run(f.read),
		},
		{
			Name: "search",
			Description: "Finds lines that match a regular expression (RE2) in the files, as path:line: text. At most 200 " +
				"matches.",
			Schema: object(`"pattern"`,
				`"pattern":{"type":"string"},"glob":{"type":"string","description":"only in paths that match; default all"}`+at),
			Run: run(f.search),
		},
		{
			Name:        "file_history",
			Description: "Lists the last commits that changed a file: date, author and subject.",
			Schema:      object(`"path"`, `"path":{"type":"string"}`),
			Run:         run(f.history),
		},
	}
}

// arguments are the arguments of all tools.
type arguments struct {
	Glob    string `json:"glob"`
	Path    string `json:"path"`
	Pattern string `json:"pattern"`
	At      string `json:"at"`
	Start   int    `json:"start"`
	End     int    `json:"end"`
}

// side returns the tree that is meant.
func (a arguments) side() (precedent.Side, error) {
	switch a.At {
	case "", "head":
		return precedent.Right, nil
	case "base":
		return precedent.Left, nil
	}
	return "", errors.New("at is either head or base")
}

func run(f func(context.Context, arguments) (string, error)) func(context.Context, json.RawMessage) (string, error) {
	return func(ctx context.Context, raw json.RawMessage) (string, error) {
		var a arguments
		if err := json.Unmarshal(raw, &a); err != nil {
			return "", errors.New("the arguments are not of this tool's form")
		}
		return f(ctx, a)
	}
}

func (f Files) list(ctx context.Context, a arguments) (string, error) {
	all, _, err := f.paths(ctx, a)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	n := 0
	for _, p := range all {
		if n++; n > maxListed {
			b.WriteString("… more than 1,000 files match; use a narrower glob\n")
			break
		}
		b.WriteString(text.VisibleLine(p) + "\n")
	}
	if n == 0 {
		return "no file matches", nil
	}
	return b.String(), nil
}

// paths returns the files of the tree that is meant that match the glob, and which tree that is.
func (f Files) paths(ctx context.Context, a arguments) ([]string, precedent.Side, error) {
	at, err := a.side()
	if err == nil {
		err = guide.CheckGlob(a.Glob)
	}
	if err != nil {
		return nil, at, err
	}
	all, err := f.List(ctx, at)
	if err != nil {
		return nil, at, errors.New("the files cannot be listed")
	}
	return slices.DeleteFunc(slices.Clone(all), func(p string) bool { return !guide.Match(a.Glob, p) }), at, nil
}

func (f Files) read(ctx context.Context, a arguments) (string, error) {
	at, err := a.side()
	if err != nil {
		return "", err
	}
	lines, _, err := f.lines(ctx, at, a.Path)
	if err != nil {
		return "", err
	}
	lines = shown(a.Path, lines)
	start := max(a.Start, 1)
	end := a.End
	if end <= 0 || end > len(lines) {
		end = len(lines)
	}
	if start > len(lines) {
		return "", fmt.Errorf("the file has %d lines", len(lines))
	}
	var b strings.Builder
	for i := start; i <= end; i++ {
		if i-start == maxReadLines {
			fmt.Fprintf(&b, "… 2,000 lines are the limit of a call; the file has %d\n", len(lines))
			break
		}
		fmt.Fprintf(&b, "%6d\t%s\n", i, text.VisibleLine(lines[i-1]))
	}
	return b.String(), nil
}

// lines returns the lines of a file of text, and how many bytes of any file were read.
func (f Files) lines(ctx context.Context, at precedent.Side, name string) ([]string, int, error) {
	if err := inTree(name); err != nil {
		return nil, 0, err
	}
	content, err := f.Read(ctx, at, path.Clean(name), maxFileBytes)
	if err != nil {
		return nil, 0, fmt.Errorf("%s is not there or cannot be read", text.VisibleLine(name))
	}
	if slices.Contains(content, 0) {
		return nil, len(content), fmt.Errorf("%s is not text", text.VisibleLine(name))
	}
	return strings.Split(strings.TrimSuffix(string(content), "\n"), "\n"), len(content), nil
}

// shown returns the lines with secrets redacted, in the change and in any file that the model reads.
func shown(name string, lines []string) []string {
	return strings.Split(string(secret.RedactFile(path.Clean(name), []byte(strings.Join(lines, "\n")))), "\n")
}

// inTree refuses names that could refer to anything but a file of the tree. It is a
// second defence: git reads blobs only from the pinned commit.
func inTree(name string) error {
	clean := path.Clean(name)
	if name == "" || path.IsAbs(name) || clean == ".." || strings.HasPrefix(clean, "../") ||
		strings.ContainsAny(name, "\x00\n") {
		return errors.New("the path must be one of the repository's, relative to its top")
	}
	return nil
}

func (f Files) search(ctx context.Context, a arguments) (string, error) {
	if len(a.Pattern) > maxPattern {
		return "", errors.New("the pattern is longer than 1 KiB")
	}
	re, err := regexp.Compile(a.Pattern)
	if err != nil {
		return "", fmt.Errorf("the pattern is not RE2: %w", err)
	}
	a.Glob = cmp.Or(a.Glob, "**")
	all, at, err := f.paths(ctx, a)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	matches, searched := 0, 0
	for _, p := range all {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		if searched > maxSearched {
			b.WriteString("… 64 MiB were searched; use a narrower glob for the rest\n")
			break
		}
		lines, size, _ := f.lines(ctx, at, p) // none of what is binary, or gone
		searched += size
		var clean []string // made when a line matches
		for i, line := range lines {
			if !re.MatchString(line) {
				continue
			}
			if clean == nil {
				clean = shown(p, lines)
			}
			if line = clean[i]; !re.MatchString(line) {
				continue // only the secret matched, which must not show
			}
			if matches++; matches > maxMatches {
				b.WriteString("… more than 200 lines match; use a narrower pattern or glob\n")
				return b.String(), nil
			}
			fmt.Fprintf(&b, "%s:%d: %s\n", text.VisibleLine(p), i+1, text.VisibleLine(text.Head(line, maxLineShown)))
		}
	}
	if matches == 0 {
		return "no line matches\n" + b.String(), nil
	}
	return b.String(), nil
}

func (f Files) history(ctx context.Context, a arguments) (string, error) {
	if err := inTree(a.Path); err != nil {
		return "", err
	}
	if f.History == nil {
		return "", errors.New("the history is not available")
	}
	log, err := f.History(ctx, path.Clean(a.Path))
	if err != nil {
		return "", errors.New("the history cannot be read")
	}
	if strings.TrimSpace(log) == "" {
		return "no commit touched this file", nil
	}
	return text.Visible(secret.RedactText(log)), nil
}
