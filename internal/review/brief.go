package review

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/corpus"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/guide"
	"github.com/precedent-dev/precedent/internal/lint"
	"github.com/precedent-dev/precedent/internal/prompt"
	"github.com/precedent-dev/precedent/internal/secret"
	"github.com/precedent-dev/precedent/internal/text"
)

// brief is what the prompts about a change are made of, with all secrets redacted.
type brief struct {
	change *diff.Change
	input  prompt.Input
	given  precedent.LearningsGiven // what of the learnings the prompts have
}

func newBrief(in *Input) *brief {
	b := &brief{change: in.Change, input: prompt.Input{
		Docs:       slices.Clone(in.Guide.Docs),
		Rules:      slices.Clone(in.Guide.Rules),
		Memory:     in.Recall.Block(),
		Files:      byRisk(in.Change, in.Recall.Files),
		Intent:     precedent.Untrusted(secret.RedactText(string(in.Intent))),
		Discussion: in.Discussion,
		Language:   in.Policy.Language,
		Window:     in.Window,
	}}
	p := &b.input
	p.Learnings, b.given = in.Recall.LearningsBlock(prompt.RoomForLearnings(in.Window))
	for _, n := range in.Precedents.Priming.Norms {
		p.Norms = append(p.Norms, norm(&n))
	}
	for i := range p.Docs {
		p.Docs[i].Text = redactedQuote(p.Docs[i].Path, p.Docs[i].Text)
	}
	for i := range p.Rules {
		p.Rules[i].Text = secret.RedactText(p.Rules[i].Text)
	}
	p.Discussion.Claims = precedent.Untrusted(secret.RedactText(string(p.Discussion.Claims)))
	p.Discussion.Directives = slices.Clone(p.Discussion.Directives)
	for i := range p.Discussion.Directives {
		d := &p.Discussion.Directives[i]
		d.Text = precedent.Untrusted(secret.RedactText(string(d.Text)))
	}
	for _, inst := range in.Policy.Instructions {
		if slices.ContainsFunc(p.Files, func(f *diff.File) bool { return guide.Match(inst.Paths, f.Path) }) {
			inst.Text = secret.RedactText(inst.Text)
			p.Instructions = append(p.Instructions, inst)
		}
	}
	return b
}

// norm returns what a prompt shows of a norm, without secrets: the pull requests of its sources, and
// the file, author and time of the first.
func norm(n *corpus.Norm) prompt.Norm {
	shown := prompt.Norm{Text: precedent.Untrusted(secret.RedactText(string(n.Text)))}
	for i := range n.Sources {
		if s := &n.Sources[i]; !slices.Contains(shown.Pulls, s.Pull) {
			shown.Pulls = append(shown.Pulls, s.Pull)
		}
	}
	first := &n.Sources[0]
	shown.Path, shown.By, shown.At = first.Path, first.Author, first.At
	return shown
}

// overhead returns the size of the longest prompt without the diff, in tokens.
func (b *brief) overhead() int {
	in := b.input
	in.Shards = []precedent.Untrusted{""}
	sheet := prompt.New(in)
	longest := 0
	for _, spec := range prompt.Finders() {
		p := sheet.Finder(spec, 0)
		longest = max(longest,
			prompt.Tokens(p.System+p.Common+p.Prefix+p.Suffix)+prompt.Tokens(string(prompt.Schema("finder"))))
	}
	return longest
}

// sheet makes the prompts for the shards of a plan.
func (b *brief) sheet(p *plan) *prompt.Sheet {
	in := b.input
	for _, s := range p.shards {
		in.Shards = append(in.Shards, b.render(s.pieces))
	}
	return prompt.New(in)
}

// render renders pieces of the change, in which a plan has redacted secrets.
func (b *brief) render(parts []piece) precedent.Untrusted {
	var pieces []prompt.Piece
	for _, part := range parts {
		pieces = append(pieces, prompt.Piece{File: part.file, Hunk: &part.hunk, Also: b.places(part.refs[1:])})
	}
	return precedent.Untrusted(prompt.Diff(pieces))
}

// places lists the places of hunks.
func (b *brief) places(refs []diff.HunkRef) []string {
	var list []string
	for _, r := range refs {
		f := &b.change.Files[r.File]
		list = append(list, fmt.Sprintf("%s:%d", f.Path, f.Hunks[r.Hunk].NewStart))
	}
	return list
}

// redactedQuote returns lines of a file without secrets, also those that only its path
// reveals.
func redactedQuote(path, quote string) string {
	return secret.RedactText(string(secret.RedactFile(path, []byte(quote))))
}

// redactedHunk returns a hunk of a file with the secrets in its lines redacted.
func redactedHunk(path string, h *diff.Hunk) *diff.Hunk {
	lines := make([]string, len(h.Lines))
	for i := range h.Lines {
		lines[i] = h.Lines[i].Text
	}
	raw := strings.Join(lines, "\n")
	shown := string(secret.RedactFile(path, []byte(raw)))
	if shown == raw {
		return h
	}
	c := *h
	c.Lines = slices.Clone(h.Lines)
	for i, l := range strings.Split(shown, "\n") {
		c.Lines[i].Text = l
	}
	return &c
}

// harmless are names of files in which mistakes are the least costly.
var harmless = text.Pattern(`(?i)(^|/)(tests?|testdata|docs?|examples?)/|_test\.|\.(test|spec)\.|\.(md|txt|rst)$`)

// byRisk sorts the changed files, the riskiest first: by the size of their change,
// earlier findings, and their names. Files that are not reviewed come last.
func byRisk(c *diff.Change, history []precedent.Hotspot) []*diff.File {
	found := map[string]int{}
	for _, h := range history {
		found[h.Path] = h.Findings
	}
	risk := map[*diff.File]int{}
	var files []*diff.File
	for i := range c.Files {
		f := &c.Files[i]
		n := 0
		for h := range f.Hunks {
			for l := range f.Hunks[h].Lines {
				if f.Hunks[h].Lines[l].Op != diff.Context {
					n += 2
				}
			}
		}
		n *= 1 + found[f.Path]
		switch {
		case f.Skip != "":
			n = -1
		case harmless().MatchString(f.Path):
			n /= 2
		case lint.IsSensitive(f.Path):
			n *= 2
		}
		risk[f] = n
		files = append(files, f)
	}
	slices.SortStableFunc(files, func(a, b *diff.File) int {
		return cmp.Or(cmp.Compare(risk[b], risk[a]), cmp.Compare(path.Dir(a.Path), path.Dir(b.Path)),
			cmp.Compare(a.Path, b.Path))
	})
	return files
}
