package review

import (
	"cmp"
	"slices"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/prompt"
	"github.com/precedent-dev/precedent/internal/secret"
)

// Limits of what a verifier is shown besides the part of the diff that the finder saw.
const (
	maxNamed    = 12 // files that claims name
	maxNearby   = 40 // hunks of one of them, the nearest to what is named
	maxDecided  = 8  // earlier dismissals
	maxAccepted = 4  // earlier findings that people accepted
)

// verifyPrompt returns the prompt of a task: the hunks that the finders saw, those of the
// other files that the claims name, and what the team decided about similar findings.
func (x *reader) verifyPrompt(t *task) prompt.Prompt {
	shown, named := []piece(nil), t.named()
	if t.shard == noShard {
		named = append([]precedent.Span{t.findings[0].Span}, named...)
	} else {
		pieces := x.plan.shards[t.shard].pieces
		for _, one := range pieces {
			if one.file.Path == t.path {
				shown = append(shown, one)
			}
		}
		if len(shown) == 0 { // the same edit is shown in another file
			shown = slices.Clone(pieces)
		}
	}
	shown = x.withNamed(shown, named)
	if len(shown) == 0 && len(x.plan.shards) > 0 { // a deleted file: the rest of the change, and the trees if it can
		shown = x.plan.shards[0].pieces
	}
	var claims []precedent.Finding
	for _, f := range t.findings {
		claims = append(claims, *f)
	}
	return x.sheet.Verify(x.brief.render(shown), claims, x.decided(t))
}

// withNamed adds the hunks of the files that are named, as many as fit into a request, the nearest to the named
// lines first.
func (x *reader) withNamed(shown []piece, named []precedent.Span) []piece {
	room := x.plan.most
	has := map[diff.HunkRef]bool{}
	for _, one := range shown {
		head, body := measure(x.in.Change, one)
		room -= head + body
		for _, r := range one.refs {
			has[r] = true
		}
	}
	for _, at := range named {
		i := slices.IndexFunc(x.in.Change.Files, func(f diff.File) bool { return f.Path == at.Path || f.OldPath == at.Path })
		if i < 0 || x.in.Change.Files[i].Skip != "" || x.plan.ignored[i] {
			continue
		}
		file := &x.in.Change.Files[i]
		var near []piece
		for _, h := range nearest(file, at.Start)[:min(len(file.Hunks), maxNearby)] {
			ref := diff.HunkRef{File: i, Hunk: h}
			one := piece{file, *redactedHunk(file.Path, &file.Hunks[h]), []diff.HunkRef{ref}}
			head, body := measure(x.in.Change, one)
			if has[ref] || head+body > room {
				continue
			}
			room -= head + body
			has[ref] = true
			near = append(near, one)
		}
		slices.SortFunc(near, func(a, b piece) int { return cmp.Compare(a.refs[0].Hunk, b.refs[0].Hunk) })
		shown = append(shown, near...)
	}
	return shown
}

// named returns the places outside the task's own file that its claims name, one for each
// file.
func (t *task) named() []precedent.Span {
	var places []precedent.Span
	for _, f := range t.findings {
		for _, e := range append([]precedent.Evidence{f.Breaks}, f.Evidence...) {
			known := func(s precedent.Span) bool { return s.Path == e.Path }
			if e.Path != "" && e.Path != t.path && len(places) < maxNamed && !slices.ContainsFunc(places, known) {
				places = append(places, precedent.Span{Path: e.Path, Start: e.Line})
			}
		}
	}
	return places
}

// nearest returns the indexes of a file's hunks, the nearest to a line first.
func nearest(f *diff.File, line int) []int {
	order := make([]int, len(f.Hunks))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(distance(f.Hunks[a].NewStart, line), distance(f.Hunks[b].NewStart, line))
	})
	return order
}

// decided returns what the team said about findings like those of a task, without
// secrets.
func (x *reader) decided(t *task) []prompt.Decided {
	var list []prompt.Decided
	for _, j := range x.past.About(t.findings, maxDecided) {
		where := j.Path
		if j.Symbol != "" {
			where += " in " + j.Symbol
		}
		list = append(list, prompt.Decided{
			What: "dismissed", Where: where, Claim: secret.RedactText(j.Claim),
			Reason: secret.RedactText(j.Reason),
		})
	}
	n := 0
	for _, f := range x.in.Recall.Accepted {
		if n < maxAccepted && slices.ContainsFunc(t.findings, func(g *precedent.Finding) bool { return g.Path == f.Path }) {
			list = append(list, prompt.Decided{What: "accepted", Where: f.Path, Claim: secret.RedactText(f.Title)})
			n++
		}
	}
	return list
}
