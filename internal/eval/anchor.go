// Package eval measures parts of Precedent on folders of real data, so that anyone
// can verify the numbers in the documentation.
package eval

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/report"
	"github.com/precedent-dev/precedent/internal/review"
)

// AnchorResult counts where remarks about known lines were placed. A remark that is
// one line off counts neither as exact nor as misplaced.
type AnchorResult struct {
	N         int `json:"n"`         // remarks
	Exact     int `json:"exact"`     // on the expected line
	Misplaced int `json:"misplaced"` // more than one line off, or in another file, or on the other side
	Abstained int `json:"abstained"` // not placed
	// Unquotable counts the marks whose lines are not in the diff, so that no remark
	// could quote them. No remark is made about them.
	Unquotable int `json:"unquotable"`
}

// plainError is the maximum error of a line number without noise, in lines.
const plainError = 15

// noisyRounds is how many remarks are made per mark with noise. In a data set of a hundred marks, only five
// quotes are of a neighbouring line: the result of one round would depend on chance.
const noisyRounds = 20

// Anchor measures how well remarks are placed on their lines. Each folder in dir has a change as diff.patch,
// and a meta.json whose "gold" lists the marks that people made: path, side ("left" or "right"), from_line,
// to_line. A remark quotes the first line of a mark and the next one.
//
// Without noise the quote is exact, the line number is off by up to 15 in either direction, uniformly
// distributed, and only the quoted line is exact. With noise the quote and the number have the errors that
// models make (the shares are in misquote.go), and any line of the mark is exact, because a remark about
// several lines is as right on the second as on the first. The seed decides every draw, so equal seeds give
// equal results.
func Anchor(dir string, noisy bool, seed uint64) (AnchorResult, error) {
	trials, unquotable, err := readTrials(dir)
	if err != nil {
		return AnchorResult{}, fault(err, changesHint)
	}
	result := AnchorResult{Unquotable: unquotable}
	rng := rand.New(rand.NewPCG(seed, seed)) // draws must be repeatable, and protect nothing
	if !noisy {
		for _, t := range trials {
			number := t.number() + rng.IntN(2*plainError+1) - plainError
			t.last = t.number()
			result.count(t, number, strings.Join(t.quote(t.at), "\n"))
		}
		return result, nil
	}
	for i, s := range drawSlips(rng, len(trials)*noisyRounds) {
		t := trials[i%len(trials)]
		number, quote := t.misquote(rng, s)
		result.count(t, number, quote)
	}
	return result, nil
}

// count places a remark and counts the outcome.
func (r *AnchorResult) count(t trial, number int, quote string) {
	number = max(number, 1)
	f := precedent.Finding{Span: precedent.Span{Path: t.path, Side: t.side, Start: number, End: number}, Quote: quote}
	r.N++
	switch {
	case !t.placer.Place(&f):
		r.Abstained++
	case f.Path != t.path || f.Side != t.side || t.off(f.Start) > 1:
		r.Misplaced++
	case t.off(f.Start) == 0:
		r.Exact++
	}
}

// trial is one marked line of a change.
type trial struct {
	placer *review.Placer
	path   string
	side   precedent.Side
	lines  []diff.Line // the commentable ones of the path's side
	at     int         // index of the first marked line
	last   int         // number of the last correct line
}

func (t *trial) numberOf(i int) int {
	if t.side == precedent.Left {
		return t.lines[i].Old
	}
	return t.lines[i].New
}

func (t *trial) number() int { return t.numberOf(t.at) }

// off is the distance of a line number from the marked lines.
func (t *trial) off(number int) int {
	return max(t.number()-number, number-t.last, 0)
}

// follows reports whether line i exists and directly follows line i-1.
func (t *trial) follows(i int) bool {
	return i > 0 && i < len(t.lines) && t.numberOf(i) == t.numberOf(i-1)+1
}

// quote returns a line and those after it, up to the first non-blank one, at most three lines in total.
func (t *trial) quote(at int) []string {
	q := []string{t.lines[at].Text}
	for i := at + 1; t.follows(i) && len(q) < 3; i++ {
		q = append(q, t.lines[i].Text)
		if !blank(t.lines[i].Text) {
			break
		}
	}
	return q
}

// mark is one entry of the gold list.
type mark struct {
	Path string `json:"path"`
	Side string `json:"side"`
	From int    `json:"from_line"`
	To   int    `json:"to_line"`
}

// readTrials reads all folders of a data set in the order of their names, and counts
// the marks that cannot be quoted.
func readTrials(dir string) (trials []trial, unquotable int, err error) {
	folders, err := caseFolders(dir)
	if err != nil {
		return nil, 0, err
	}
	for _, folder := range folders {
		var meta struct {
			Gold []mark `json:"gold"`
		}
		if err := readMeta(folder, &meta); err != nil {
			return nil, 0, err
		}
		change, _, err := readPatch(folder)
		if err != nil {
			return nil, 0, err
		}
		placer := review.NewPlacer(change)
		for _, m := range meta.Gold {
			t, ok := newTrial(change, m)
			if !ok {
				unquotable++
				continue
			}
			t.placer = placer
			trials = append(trials, t)
		}
	}
	if len(trials) == 0 {
		return nil, 0, fmt.Errorf("no marked line in %s: want folders with diff.patch and meta.json", dir)
	}
	return trials, unquotable, nil
}

// newTrial finds the first marked line that is in the diff and not blank. It returns false if there is none.
func newTrial(c *diff.Change, m mark) (trial, bool) {
	t := trial{path: m.Path, side: sideOf(m.Side)}
	file := c.File(m.Path)
	if file == nil {
		return t, false
	}
	t.lines = file.Commentable(t.side)
	for i := range t.lines {
		n := t.numberOf(i)
		if n >= m.From && n <= max(m.From, m.To) && !blank(t.lines[i].Text) {
			t.at, t.last = i, max(m.From, m.To)
			return t, true
		}
	}
	return t, false
}

func blank(line string) bool { return strings.TrimSpace(line) == "" }

// Show prints the counts.
func (r *AnchorResult) Show(p *report.Page) error {
	share := func(n int) string {
		return p.Inkf(report.Plain, "%5d  %6.2f %%", n, 100*float64(n)/float64(max(r.N, 1)))
	}
	p.Line("remarks     ", p.Inkf(report.Plain, "%5d", r.N))
	p.Line("exact       ", share(r.Exact))
	p.Line("one off     ", share(r.N-r.Exact-r.Misplaced-r.Abstained))
	p.Line("misplaced   ", share(r.Misplaced))
	p.Line("abstained   ", share(r.Abstained))
	if r.Unquotable > 0 {
		p.Line(p.Inkf(report.Faint, "%d marked lines are not in the diffs and not counted", r.Unquotable))
	}
	return p.Err()
}
