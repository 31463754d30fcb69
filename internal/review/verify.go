package review

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/prompt"
	"github.com/precedent-dev/precedent/internal/text"
)

const (
	// claimsPerTask bounds the claims in one request, so that each gets attention.
	claimsPerTask = 8
	// sureFrom is the confidence in percent below which a verifier's verdict counts
	// as uncertain; the prompt says so, too.
	sureFrom = 50
	// maxReason bounds the stored reason of a verifier, in characters.
	maxReason = 600
	// outsideDelta is what a finding without a verdict loses for a claim that no reader
	// could check, in percent points.
	outsideDelta = -15
	// unpromising begins the note on a finding that no verifier had to read.
	unpromising = "not verified: even if confirmed, it would stay below the threshold of"
)

// verify asks a verifier to refute each finding of a model that may be shown. A
// finding that was not checked is marked so, and never counts as confirmed.
func (x *reader) verify(ctx context.Context) {
	fs := x.r.Findings
	tasks := x.tasks(fs)
	var prompts []prompt.Prompt
	for _, t := range tasks {
		prompts = append(prompts, x.verifyPrompt(&t))
	}
	unchecked, cause := 0, error(nil)
	for i, r := range x.ask(ctx, "verify", engine.Verifier, prompts) {
		verdicts, err := readVerdicts(r)
		if err != nil {
			cause = cmp.Or(cause, err)
		}
		for _, f := range tasks[i].findings {
			if v, ok := verdicts[f.ID]; ok {
				proof := v.applyTo(f, x.placer, x.src, x.secrets)
				if f.Dropped == precedent.Refuted {
					x.takeAway(f, proof.Quote)
				}
				continue
			}
			unchecked++
			f.Note("verify", "not verified: the verifier gave no answer")
			cause = cmp.Or(cause, errors.New("the verifier's answer does not cover all findings"))
		}
	}
	if unchecked > 0 {
		x.fail("verify", countWas(unchecked, "finding")+" kept without being verified", cause)
	}
	for i := range fs {
		demoteOutsideClaim(&fs[i])
	}
}

// task is what one verifier checks: claims about one file, with the part of the diff
// that their finders saw.
type task struct {
	path     string
	shard    int
	findings []*precedent.Finding
}

// noShard is the shard of a task about a file that finders did not read in this review.
const noShard = -1

// tasks groups the findings to verify, in the order of their lines.
func (x *reader) tasks(fs []precedent.Finding) []task {
	var tasks []task
	var order []*precedent.Finding
	for i := range fs {
		f := &fs[i]
		if f.Kept { // an earlier review decided whether it is verified
			continue
		}
		f.Verifier = precedent.Unchecked
		switch {
		case !f.Live():
		case f.Analyzer:
			f.Note("verify", "not verified: it is from an analyzer")
		case !x.in.canBeShown(f):
			f.Note("verify", unpromising+" %d", x.in.thresholdFor(f))
		default:
			order = append(order, f)
		}
	}
	slices.SortStableFunc(order, byContent)
	for _, f := range order {
		shard, ok := x.plan.shardOf(x.in.Change, f)
		if !ok {
			if shard = noShard; len(x.plan.shards) == 0 && x.in.Change.File(f.Path) == nil {
				f.Note("verify", "not verified: no request shows its file")
				continue
			}
		}
		last := len(tasks) - 1
		if last < 0 || tasks[last].path != f.Path || tasks[last].shard != shard ||
			len(tasks[last].findings) == claimsPerTask {
			tasks = append(tasks, task{path: f.Path, shard: shard})
			last++
		}
		tasks[last].findings = append(tasks[last].findings, f)
	}
	return tasks
}

// shardOf returns the shard that shows a finding's line; for a finding about a whole file, and for one in an edit that is
// shown in another file, the first that stands for it.
func (p *plan) shardOf(c *diff.Change, f *precedent.Finding) (shard int, ok bool) {
	for s := range p.shards {
		for i := range p.shards[s].pieces {
			if one := &p.shards[s].pieces[i]; one.file.Path == f.Path && one.hunk.Holds(f.Side, f.Start) {
				return s, true
			}
		}
	}
	for i := range c.Files {
		file := &c.Files[i]
		if file.Path != f.Path {
			continue
		}
		at := file.HunkAt(f.Side, f.Start)
		for h := range file.Hunks {
			if shards := p.carriers[diff.HunkRef{File: i, Hunk: h}]; len(shards) > 0 && (h == at || at < 0) {
				return shards[0], true
			}
		}
	}
	return 0, false
}

// outsideClaim matches claims about versions, vulnerabilities and other software,
// which models make from memory.
var outsideClaim = text.Pattern(`(?i)\bCVE-\d{4}-\d+|\bGHSA-\w+|\b(since|as of|until|before|after|in) (version ` +
	`|release )?v?\d+\.\d+|` +
	`\b(yanked|unmaintained|end[- ]of[- ]life|known vulnerabilit(y|ies)|(latest|newer|outdated) (version|release))\b`)

// demoteOutsideClaim lowers the confidence of a finding that makes a claim which no
// reader could check, unless the verifier confirmed it. An uncertain finding was
// lowered already.
func demoteOutsideClaim(f *precedent.Finding) {
	if !f.Live() || f.Analyzer || f.Kept || f.Verifier == precedent.Confirmed || f.Verifier == precedent.Uncertain {
		return
	}
	if said := outsideClaim().FindString(f.Title + "\n" + f.Body); said != "" {
		f.Decide(precedent.Decision{
			Step: "verify", Text: fmt.Sprintf("makes a claim that no tool confirmed: %q", text.Collapse(said)),
			Delta: outsideDelta,
		})
	}
}

// countWas returns a count with its noun and verb: "2 findings were".
func countWas(n int, noun string) string {
	if n == 1 {
		return "1 " + noun + " was"
	}
	return fmt.Sprintf("%d %ss were", n, noun)
}
