package review

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/prompt"
	"github.com/precedent-dev/precedent/internal/text"
)

const (
	// claimsPerTask bounds what one verifier checks, so that each claim gets its
	// attention.
	claimsPerTask = 8
	// sureFrom is the confidence in percent below which a verifier's verdict
	// counts as uncertain, as it is told.
	sureFrom = 50
	// maxReason bounds what is kept of a verifier's reason, in characters.
	maxReason = 600
	// bestDelta is the most that the later stages can add to a finding: confirmed,
	// a rule of the guide, an area of focus.
	bestDelta = confirmedDelta + guideDelta + focusDelta
)

// verify has a verifier try to refute each finding of a model that may come to
// be shown. What nobody checked says so: it is never taken for confirmed.
func (x *reader) verify(ctx context.Context, fs []precedent.Finding, p *Placer, src *sources) {
	tasks := x.tasks(fs)
	var prompts []prompt.Prompt
	for _, t := range tasks {
		prompts = append(prompts, t.prompt(x.wave))
	}
	unchecked, trouble := 0, ""
	for i, r := range x.ask(ctx, "verify", engine.Verifier, prompts) {
		verdicts, err := readVerdicts(r)
		if err != nil {
			trouble = cmp.Or(trouble, err.Error())
		}
		for _, f := range tasks[i].findings {
			if v, ok := verdicts[f.ID]; ok {
				v.settle(f, p, src)
				continue
			}
			unchecked++
			f.Note("verify", "not verified: the verifier gave no answer")
			trouble = cmp.Or(trouble, "the verifier's answer leaves findings out")
		}
	}
	if unchecked > 0 {
		x.fail("verify", "%s kept without being verified: %s", were(unchecked, "finding"), trouble)
	}
	for i := range fs {
		doubtOutside(&fs[i])
	}
}

// task is what one verifier checks: claims about one file, with the part of the
// diff that their finders saw of it.
type task struct {
	path     string
	shard    int
	findings []*precedent.Finding
}

// tasks groups the findings that are to be verified, in the order of their places.
func (x *reader) tasks(fs []precedent.Finding) []task {
	var tasks []task
	var order []*precedent.Finding
	for i := range fs {
		f := &fs[i]
		f.Verifier = precedent.Unchecked
		switch {
		case !f.Live():
		case f.Analyzer:
			f.Note("verify", "not verified: an analyzer computed it")
		case f.Confidence+trailDelta(f)+bestDelta < *x.in.Threshold:
			f.Note("verify", "not verified: even confirmed it would stay below the threshold of %d", *x.in.Threshold)
		default:
			order = append(order, f)
		}
	}
	slices.SortStableFunc(order, byContent)
	for _, f := range order {
		shard, ok := x.plan.shardOf(x.in.Change, f)
		if !ok {
			f.Note("verify", "not verified: no request shows its file")
			continue
		}
		last := len(tasks) - 1
		if last < 0 || tasks[last].path != f.Path || tasks[last].shard != shard || len(tasks[last].findings) == claimsPerTask {
			tasks = append(tasks, task{path: f.Path, shard: shard})
			last++
		}
		tasks[last].findings = append(tasks[last].findings, f)
	}
	return tasks
}

// shardOf is the shard that shows a finding's line; for one about a whole file,
// the first one of the file.
func (p *plan) shardOf(c *diff.Change, f *precedent.Finding) (shard int, ok bool) {
	for i := range c.Files {
		file := &c.Files[i]
		if file.Path != f.Path {
			continue
		}
		at := file.HunkAt(f.Side, f.Start)
		for h := range file.Hunks {
			if shards := p.carriers[diff.HunkRef{File: i, Hunk: h}]; len(shards) > 0 && (h == at || at < 0) {
				return p.within(shards, file, f), true
			}
		}
	}
	return 0, false
}

// within picks, of the shards that show parts of one hunk, the one with the
// finding's line.
func (p *plan) within(shards []int, file *diff.File, f *precedent.Finding) int {
	for _, s := range shards {
		for i := range p.shards[s].pieces {
			if one := &p.shards[s].pieces[i]; one.file == file && one.hunk.Holds(f.Side, f.Start) {
				return s
			}
		}
	}
	return shards[0]
}

func (t *task) prompt(w *wave) prompt.Prompt {
	var pieces []piece
	for _, one := range w.plan.shards[t.shard].pieces {
		if one.file.Path == t.path {
			pieces = append(pieces, one)
		}
	}
	if len(pieces) == 0 { // the same edit is shown in another file
		pieces = w.plan.shards[t.shard].pieces
	}
	var claims []precedent.Finding
	for _, f := range t.findings {
		claims = append(claims, *f)
	}
	return w.sheet.Verify(w.brief.render(pieces), claims)
}

// ruling is what a verifier says of one finding.
type ruling struct {
	Finding    string               `json:"finding"`
	Verdict    precedent.Check      `json:"verdict"`
	Confidence *int                 `json:"confidence"`
	Reason     string               `json:"reason"`
	Evidence   []precedent.Evidence `json:"evidence"`
}

// readVerdicts returns the rulings by the ids of findings. Of two about one
// finding the first counts.
func readVerdicts(r reply) (map[string]ruling, error) {
	if !r.ok() {
		status, why := r.trouble()
		return nil, fmt.Errorf("%s: %s", status, why)
	}
	var answer struct {
		Verdicts []ruling `json:"verdicts"`
	}
	if err := json.Unmarshal(r.answer.JSON, &answer); err != nil {
		return nil, fmt.Errorf("read verdicts: %w", err)
	}
	byID := map[string]ruling{}
	for _, v := range answer.Verdicts {
		id := strings.TrimSpace(v.Finding)
		if _, twice := byID[id]; !twice {
			byID[id] = v
		}
	}
	return byID, nil
}

// settle writes the ruling into the finding. A verdict stands on lines that are
// in the files: one whose quotes all are not is worth no more than doubt, and
// what may cost data or security is refuted by lines alone. Mere words against it
// do not even lower it, or a change that talks its verifier round would hide it.
func (v ruling) settle(f *precedent.Finding, p *Placer, src *sources) {
	offered := v.Evidence[:min(len(v.Evidence), maxEvidence)]
	holds := standing(offered, p, src)
	if f.Category.Protected() {
		holds = slices.DeleteFunc(holds, func(e precedent.Evidence) bool { return onlyComment(e.Quote) })
	}
	reason := text.Cut(oneLine(v.Reason), maxReason)
	if len(holds) > 0 {
		reason += fmt.Sprintf(" (%s:%d)", holds[0].Path, holds[0].Line)
	}
	f.Verifier = v.Verdict
	words := v.Verdict == precedent.Denied && len(holds) == 0 && f.Category.Protected()
	switch {
	case v.Confidence != nil && *v.Confidence < sureFrom && v.Verdict != precedent.Uncertain:
		f.Verifier = precedent.Uncertain
		reason = fmt.Sprintf("%s, but only %d %% sure: %s", v.Verdict, *v.Confidence, reason)
	case len(offered) > 0 && len(holds) == 0 && v.Verdict != precedent.Uncertain:
		f.Verifier = precedent.Uncertain
		reason = fmt.Sprintf("%s by lines that are not in the files, or say it in words alone: %s", v.Verdict, reason)
	case v.Verdict == precedent.Confirmed && len(holds) == 0 && outside.MatchString(f.Title+"\n"+f.Body):
		f.Verifier = precedent.Uncertain
		reason = "confirmed, but by no line, and it speaks of other software: " + reason
	case words:
		f.Verifier = precedent.Uncertain
		reason = "refuted without a line that shows it: " + reason
	}
	if f.Verifier == precedent.Denied {
		f.Drop("verify", precedent.Refuted, "", "refuted: %s", reason)
		return
	}
	d := precedent.Decision{Step: "verify", Says: string(f.Verifier) + ": " + reason, Delta: checkDelta[f.Verifier]}
	if words {
		d.Delta = 0
	}
	f.Trail = append(f.Trail, d)
}

// comment recognises a line that is one, in the languages that people use: what
// a change says of itself proves nothing.
var comment = regexp.MustCompile(`^\s*(//|#|--|/?\*|<!--|;|%|"""|\x27\x27\x27|rem\b|REM\b)`)

// onlyComment tells whether all lines of a quote are comments.
func onlyComment(quote string) bool {
	for l := range strings.Lines(quote) {
		if strings.TrimSpace(l) != "" && !comment.MatchString(l) {
			return false
		}
	}
	return true
}

// What a verifier's answer is worth, in percent points.
const (
	confirmedDelta = 10
	uncertainDelta = -15
)

var checkDelta = map[precedent.Check]int{precedent.Confirmed: confirmedDelta, precedent.Uncertain: uncertainDelta}

// outside recognises statements about versions, vulnerabilities and other
// software, which models make from memory.
var outside = regexp.MustCompile(`(?i)\bCVE-\d{4}-\d+|\bGHSA-\w+|\b(since|as of|until|before|after|in) (version |release )?v?\d+\.\d+|` +
	`\b(yanked|unmaintained|end[- ]of[- ]life|known vulnerabilit(y|ies)|(latest|newer|outdated) (version|release))\b`)

// doubtOutside demotes a finding that stands on what no reader could look up,
// unless the verifier confirmed it. An uncertain one is demoted already.
func doubtOutside(f *precedent.Finding) {
	if !f.Live() || f.Analyzer || f.Verifier == precedent.Confirmed || f.Verifier == precedent.Uncertain {
		return
	}
	if said := outside.FindString(f.Title + "\n" + f.Body); said != "" {
		f.Trail = append(f.Trail, precedent.Decision{
			Step: "verify", Says: fmt.Sprintf("speaks of what no tool confirmed: %q", text.Collapse(said)), Delta: uncertainDelta,
		})
	}
}

// were is a number of things, as the subject of a sentence in the past.
func were(n int, noun string) string {
	if n == 1 {
		return "1 " + noun + " was"
	}
	return fmt.Sprintf("%d %ss were", n, noun)
}

// trailDelta sums what the stages so far found for and against a finding.
func trailDelta(f *precedent.Finding) int {
	sum := 0
	for _, d := range f.Trail {
		sum += d.Delta
	}
	return sum
}
