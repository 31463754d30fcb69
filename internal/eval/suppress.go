package eval

import (
	"slices"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/memory"
)

// Suppress measures how well dismissals hide what they cover, and nothing else.
type Suppress struct {
	Form       string `json:"form"`
	Cases      int    `json:"cases"`
	Dismissals int    `json:"rejections"`
	Findings   int    `json:"findings"` // made after the dismissals
	Covered    int    `json:"covered"`  // labelled so
	Pooled     int    `json:"pooled"`   // findings that drawn dismissals are applied to
	Changes    int    `json:"changes"`
	Resamples  int    `json:"resamples"`
	Seed       uint64 `json:"seed"`
	Draws      int    `json:"draws"`
	// Text uses no judge. Ideal uses a perfect judge, so its recall is the upper limit for any judge.
	Text    Suppression  `json:"text"`
	Ideal   Suppression  `json:"ideal_judge"`
	Judge   *Suppression `json:"judge"`   // nil without a judge
	Judging *Judging     `json:"judging"` // nil likewise
	// Learned has, for each dismissal, the exception that a person could have asked for
	// in the conversation, for all files, and no judge.
	Learned    Suppression     `json:"learned"`
	Asked      []AskedMemory   `json:"asked"` // before a judge answers
	Thresholds []SuppressionAt `json:"thresholds"`
}

// Suppression is the effect of dismissals.
type Suppression struct {
	Right  int   `json:"hidden_covered"`
	Wrong  int   `json:"hidden_others"`
	Recall Ratio `json:"recall"`            // of the covered findings
	False  Ratio `json:"false_suppression"` // share of the others that is hidden
	// How findings are hidden: dismissed themselves, dropped by a pattern (Audited of
	// these are shown collapsed), or lowered below the threshold.
	Dismissed int `json:"dismissed"`
	Patterns  int `json:"patterns"`
	Audited   int `json:"audited"`
	Lowered   int `json:"lowered"`
	Noted     int `json:"noted"` // annotated, and still shown
	// Replayed counts how often a finding was tried again with high severity and in a
	// protected category, and Serious how often a pattern hid it then.
	Replayed int `json:"replayed_serious"`
	Serious  int `json:"hidden_serious"`
	// Drawn is what drawn dismissals hide; nil for the perfect judge, which hides nothing.
	Drawn []DrawnMemory `json:"drawn"`
}

// DrawnMemory is what a number of dismissals, drawn from those that cover nothing, hides.
type DrawnMemory struct {
	Memories int   `json:"memories"`
	Findings int   `json:"findings"` // in each draw
	Hidden   int   `json:"hidden"`   // in all draws
	False    Ratio `json:"false_suppression"`
}

// SuppressionAt is what would be hidden if only the similarity of title and claim decided.
type SuppressionAt struct {
	From   float64       `json:"from"`
	Recall Ratio         `json:"recall"`
	False  Ratio         `json:"false_suppression"`
	Drawn  []DrawnMemory `json:"drawn"`
}

// memorySizes are the numbers of drawn dismissals.
var memorySizes = []int{1, 10, 50}

// ScoreSuppress scores what memory hides, by text alone and with a judge's answers if
// there are any. Dismissals are drawn draws times for each pool.
func ScoreSuppress(m Memories, judging *Judging, draws int, seed uint64) Suppress {
	r := Suppress{Form: m.Form, Cases: len(m.cases), Resamples: Resamples, Seed: seed, Draws: draws, Judging: judging}
	changes := map[string]bool{}
	for _, c := range m.cases {
		changes[c.change] = true
		r.Dismissals += len(c.dismissals)
		r.Findings += len(c.findings)
		for _, covered := range c.covered {
			if covered {
				r.Covered++
			}
		}
	}
	for _, p := range m.pools {
		changes[p.change] = true
		r.Pooled += len(p.findings)
	}
	r.Changes = len(changes)
	r.Text = m.suppression(memory.Suppress, always(nil), seed)
	r.Text.Drawn = m.drawn(memory.Suppress, nil, draws, seed)
	r.Learned = m.suppression(heed, always(nil), seed)
	r.Learned.Drawn = m.drawn(heed, nil, draws, seed)
	r.Ideal = m.suppression(memory.Suppress, ideal, seed)
	if judging != nil {
		h := m.suppression(memory.Suppress, always(judging.covers), seed)
		h.Drawn = m.drawn(memory.Suppress, judging.covers, draws, seed)
		r.Judge = &h
	}
	r.Asked = m.asked(draws, seed)
	r.Thresholds = m.bySimilarity(draws, seed)
	return r
}

func always(judge memory.Judge) func(map[string]bool) memory.Judge {
	return func(map[string]bool) memory.Judge { return judge }
}

// ideal returns a judge that answers with the labels, by finding id.
func ideal(covered map[string]bool) memory.Judge {
	return func(questions []memory.Question) map[int]bool {
		said := map[int]bool{}
		for i, q := range questions {
			said[i] = covered[q.Finding.ID]
		}
		return said
	}
}

// suppress applies what people said to findings, as memory.Suppress does.
type suppress func(findings []precedent.Finding, said []precedent.Dismissal, now time.Time, threshold int, judge memory.Judge) []precedent.Finding

// heed suppresses with a learning in place of each dismissal.
func heed(findings []precedent.Finding, said []precedent.Dismissal, now time.Time, threshold int, judge memory.Judge) []precedent.Finding {
	out := slices.Clone(findings)
	for i := range out {
		out[i].Trail = slices.Clip(out[i].Trail)
	}
	var learnings []memory.Recalled
	for _, j := range said {
		learnings = append(learnings, memory.Recalled{Learning: precedent.Learning{
			ID: j.ID, Kind: precedent.LearnException, State: precedent.LearningActive, Directive: "Do not report again: " + j.Claim, Rationale: j.Reason, Glob: "**",
			About: &precedent.LearningAbout{Fingerprint: j.Fingerprint, Place: j.Place, Claim: j.Claim, Path: j.Path, Symbol: j.Symbol, Category: j.Category, Severity: j.Severity},
		}})
	}
	d := memory.NewDismissals(nil, now)
	d.Heed(learnings)
	d.Drop(out, judge)
	d.Lower(out, threshold)
	return out
}

// suppression runs the cases through the review stage that applies dismissals, with
// the judge for the labels of each case.
func (m *Memories) suppression(apply suppress, judges func(covered map[string]bool) memory.Judge, seed uint64) Suppression {
	var h Suppression
	var all grouped[tally]
	for i := range m.cases {
		c := &m.cases[i]
		judge := judges(c.labels())
		out := apply(c.findings, c.dismissals, c.now, c.threshold, judge)
		for k := range out {
			hidden := h.count(&c.findings[k], &out[k], c.threshold)
			t := label(c.covered[k], hidden)
			h.Right += t.found
			h.Wrong += t.hits
			all.of(c.change).add(t)
		}
		h.trySerious(apply, c, judge)
	}
	h.False, h.Recall, _ = intervals(all.list, seed) // shares of findings not covered, and covered
	return h
}

// drawn runs the pools through that stage.
func (m *Memories) drawn(apply suppress, judge memory.Judge, draws int, seed uint64) []DrawnMemory {
	return m.draw(draws, seed, func(p *pool, dismissals []precedent.Dismissal) (hidden int) {
		out := apply(p.findings, dismissals, p.now, p.threshold, judge)
		for k := range out {
			if hides(&p.findings[k], &out[k], p.threshold) {
				hidden++
			}
		}
		return hidden
	})
}

// labels returns which findings are covered, by id.
func (c *remembered) labels() map[string]bool {
	covered := map[string]bool{}
	for k := range c.findings {
		covered[c.findings[k].ID] = c.covered[k]
	}
	return covered
}

// hides reports whether a finding that was shown is now hidden.
func hides(before, after *precedent.Finding, threshold int) bool {
	return !after.Live() || before.Confidence >= threshold && after.Confidence < threshold
}

// count counts the effect on a finding.
func (h *Suppression) count(before, after *precedent.Finding, threshold int) (hidden bool) {
	hidden = hides(before, after, threshold)
	switch {
	case after.Dropped == precedent.Dismissed:
		h.Dismissed++
	case !after.Live():
		h.Patterns++
		if after.Placement == precedent.Collapsed {
			h.Audited++
		}
	case hidden:
		h.Lowered++
	case len(after.Trail) > len(before.Trail):
		h.Noted++
	}
	return hidden
}

// trySerious replays findings in forms that memory must not hide.
func (h *Suppression) trySerious(apply suppress, c *remembered, judge memory.Judge) {
	for _, raise := range []func(*precedent.Finding){
		func(f *precedent.Finding) { f.Severity = precedent.High },
		func(f *precedent.Finding) { f.Category = precedent.DataLoss },
	} {
		raised := slices.Clone(c.findings)
		for i := range raised {
			raise(&raised[i])
		}
		for i, f := range apply(raised, c.dismissals, c.now, c.threshold, judge) {
			h.Replayed++
			if f.Dropped != precedent.Dismissed && hides(&raised[i], &f, c.threshold) {
				h.Serious++
			}
		}
	}
}

// label counts a finding by its label and whether it is hidden: candidates are those
// that are not covered, gold those that are.
func label(covered, hidden bool) tally {
	n := 0
	if hidden {
		n = 1
	}
	if covered {
		return tally{gold: 1, found: n}
	}
	return tally{candidates: 1, hits: n}
}
