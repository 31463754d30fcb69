// Package prompt builds what a model is asked. Its texts are embedded files:
// system.md, prefix.md and suffix.md say how a review is done, finders/ has the
// role of each finder, platforms/ what to look for in each kind of file, schema/
// the form of each answer.
//
// A prompt is laid out for caches. System is the same for every review; Prefix
// is, byte for byte, the same for every finder that reads one part of a change,
// and holds everything that is large; Suffix is what differs, the finder's role
// last. No time, id of a run or counter is in any of them, so that equal inputs
// give equal prompts.
//
// Text from outside stands between marks that carry a number which occurs
// nowhere in it, so that no text can end its own block. Hidden characters are
// removed from prose, and shown in code.
package prompt

import (
	"embed"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"text/template"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/text"
)

//go:embed system.md prefix.md suffix.md finders/*.md platforms/*.md schema/*.json
var files embed.FS

// Bounds of the parts of a prompt, in bytes. The diff has the most room by far,
// and is bounded by whoever cuts a change into parts.
const (
	maxGuide        = 24 << 10
	maxInstructions = 16 << 10
	maxMemory       = 8 << 10
	maxFileList     = 16 << 10
	maxIntent       = 8 << 10
)

// Input is what a finder is told about one part of a change. All text in it
// has its secrets redacted already.
type Input struct {
	Docs         []precedent.GuideDoc    // at the base commit
	Rules        []precedent.Rule        // of those files
	Instructions []precedent.Instruction // the policy's, for paths of this change
	Memory       string                  // what earlier reviews found
	Files        []*diff.File            // all of the change, the riskiest first
	Shard        precedent.Untrusted     // the part of the diff to read, as Diff renders it
	Part, Parts  int                     // which part it is, from 1, of how many
	Intent       precedent.Untrusted     // title and description, or messages of the commits
	Language     string                  // IETF tag; empty for English
	Finder       Spec
}

// Prompt is what is sent. Prefix and Suffix follow each other in one message;
// a cache can keep everything before Suffix.
type Prompt struct {
	System, Prefix, Suffix string
	// Rules are those rules of the guide that the prompt holds.
	Rules []precedent.Rule
}

// System is the part of every prompt that says how to review and to answer.
func System() string { return load("system.md") }

// Schema is the JSON Schema of the answers to tasks of the role "finder"; nil
// for a role that is not known.
func Schema(role string) json.RawMessage {
	b, err := files.ReadFile("schema/" + role + ".json")
	if err != nil {
		return nil
	}
	return b
}

// Build makes the prompt of one finder for one part of a change.
func Build(in Input) Prompt {
	g := chooseGuide(in.Docs, in.Rules, in.Files)
	p := prefix{
		Platforms: platformGuides(in.Files),
		Guide:     g.texts, Rules: g.rules, Omitted: g.omitted,
		Instructions: limit(directions(in.Instructions), maxInstructions),
		Memory:       limit(strings.TrimSpace(text.Clean(in.Memory)), maxMemory),
		Files:        fileList(in.Files),
		Shard:        strings.Trim(text.Visible(string(in.Shard)), "\n"),
		Part:         part(in.Part, in.Parts),
	}
	p.Nonce = nonce(p.contents())
	s := suffix{Title: in.Finder.Title, Role: in.Finder.role(), Language: tag(in.Language)}
	if !in.Finder.Blind {
		s.Intent = strike(limit(strings.TrimSpace(text.Clean(string(in.Intent))), maxIntent), p.Nonce)
	}
	return Prompt{System: System(), Prefix: execute("prefix.md", p.Nonce, p), Suffix: execute("suffix.md", p.Nonce, s), Rules: g.shown}
}

// prefix fills in prefix.md.
type prefix struct {
	Nonce                       string
	Platforms                   []string
	Guide, Rules                []string
	Omitted                     string
	Instructions, Memory, Files string
	Shard, Part                 string
}

// contents is all text of others in the prefix.
func (p *prefix) contents() []string {
	return append(append([]string{p.Instructions, p.Memory, p.Files, p.Shard}, p.Guide...), p.Rules...)
}

// suffix fills in suffix.md.
type suffix struct{ Intent, Title, Role, Language string }

// templates are parsed once, on first use.
var templates = sync.OnceValue(func() *template.Template {
	t := template.New("").Funcs(template.FuncMap{"fence": func(kind, s string) string { return s }})
	return template.Must(t.ParseFS(files, "prefix.md", "suffix.md"))
})

// execute fills in a template, in which fence marks a block.
func execute(name, nonce string, data any) string {
	t := template.Must(templates().Clone())
	t.Funcs(template.FuncMap{"fence": func(kind, s string) string { return fence(nonce, kind, s) }})
	var b strings.Builder
	if err := t.ExecuteTemplate(&b, name, data); err != nil {
		// The templates are part of the program and every test runs them.
		panic(fmt.Sprintf("prompt: %v", err))
	}
	return b.String()
}

func load(name string) string {
	b, err := files.ReadFile(name)
	if err != nil {
		panic(fmt.Sprintf("prompt: %v", err)) // the list of finders and the files disagree
	}
	return string(b)
}

// part says which part of the change the diff is; empty if it is all of it.
func part(n, of int) string {
	if of < 2 {
		return ""
	}
	return fmt.Sprintf("This is part %d of %d of the change. The other parts are read on their own.", n, of)
}

// directions renders the policy's instructions.
func directions(list []precedent.Instruction) string {
	var b strings.Builder
	for _, i := range list {
		fmt.Fprintf(&b, "For %s:\n%s\n\n", text.VisibleLine(i.Paths), strings.TrimSpace(text.Clean(i.Text)))
	}
	return strings.TrimSpace(b.String())
}

// tag is a language tag, or empty if the text is none: what stands outside of
// all blocks must not come from elsewhere.
func tag(s string) string {
	if languageTag.MatchString(s) {
		return s
	}
	return ""
}

var languageTag = regexp.MustCompile(`^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}$`)

// limit keeps so many bytes of a text, up to the end of a line, and says so.
func limit(s string, n int) string {
	const mark = "\n[… the rest is left out]"
	if len(s) <= n {
		return s
	}
	s = s[:n-len(mark)]
	if i := strings.LastIndexByte(s, '\n'); i > n/2 {
		s = s[:i]
	}
	return strings.ToValidUTF8(s, "") + mark
}
