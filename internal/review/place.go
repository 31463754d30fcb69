package review

import (
	"slices"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
)

// The score of a place. The quote decides; the distance from the line number
// that came with it only chooses between equals, because models copy better
// than they count: by number alone 56 % of remarks land right, by quote 95 %.
const (
	lineWeight      = 0.72
	neighbourWeight = 0.28
	distanceWeight  = 0.0015
	maxDistance     = 60 // lines; what is further away is no worse
	acceptScore     = 0.60
	quoteLines      = 3 // lines of a quote that are looked at
)

// maxAlike bounds the lines that one quote is compared with in full. A change
// can hold any number of lines that look alike at a glance; of those further
// away only the ones that are nearly equal count.
const (
	maxAlike    = 300
	nearlyEqual = 0.95
)

// inexactDelta is what a quote costs that is not verbatim, in percent points.
const inexactDelta = -5

// Placer finds the lines of a change that remarks are about. It is not safe
// for concurrent use.
type Placer struct {
	change *diff.Change
	sides  map[sideKey]*sideLines
	// everywhere lists all commentable lines by their text without white space.
	// It is made when a quote is first missed in the file that was named.
	everywhere map[string][]spot
}

type sideKey struct {
	path string
	side precedent.Side
}

// spot is a line of the change and how well a quote fits it.
type spot struct {
	on    *sideLines
	index int
	score float64 // fit of the whole quote less the distance
}

// NewPlacer returns a Placer for the change.
func NewPlacer(c *diff.Change) *Placer {
	return &Placer{change: c, sides: map[sideKey]*sideLines{}}
}

// Place moves a finding to the line that its quote is on and tells whether
// there is one. The numbers that the finding came with are a hint and are
// cleared when no line bears them out. A finding with an empty quote is about
// its file as a whole.
func (p *Placer) Place(f *precedent.Finding) bool {
	said := f.Span
	f.Start, f.End = 0, 0
	if f.Side != precedent.Left {
		f.Side = precedent.Right
	}
	file := p.file(f.Path)
	if file != nil {
		f.Path = file.Path
	}
	quote := quoteTexts(f.Quote)
	if len(quote) == 0 {
		return file != nil
	}
	var s spot
	if file != nil {
		here, there := p.lines(file, f.Side), p.lines(file, otherSide(f.Side))
		if s = here.best(quote, said.Start); s.on == nil {
			s = here.only(quote)
		}
		if s.on == nil {
			s = there.best(quote, said.Start)
		}
	}
	if s.on == nil {
		s = p.unique(quote, file)
	}
	if s.on == nil {
		return false
	}
	s.settle(f, said, quote)
	return true
}

// file finds the changed file that a path means. Models repeat the prefixes of
// diff headers and use the old names of renamed files.
func (p *Placer) file(path string) *diff.File {
	if f := p.change.File(path); f != nil {
		return f
	}
	for _, prefix := range []string{"a/", "b/", "./", "/"} {
		if rest, ok := strings.CutPrefix(path, prefix); ok {
			if f := p.change.File(rest); f != nil {
				return f
			}
		}
	}
	for i := range p.change.Files {
		if p.change.Files[i].OldPath == path {
			return &p.change.Files[i]
		}
	}
	return nil
}

func (p *Placer) lines(f *diff.File, side precedent.Side) *sideLines {
	key := sideKey{f.Path, side}
	s := p.sides[key]
	if s == nil {
		s = newSideLines(f, side)
		p.sides[key] = s
	}
	return s
}

// quoteTexts splits a quote into the lines that are compared. Blank ones say
// nothing, on either side.
func quoteTexts(quote string) []lineText {
	var texts []lineText
	for l := range strings.Lines(quote) {
		if t := newLineText(l); !t.blank() {
			texts = append(texts, t)
		}
		if len(texts) == quoteLines {
			break
		}
	}
	return texts
}

// best returns the line that a quote fits best, the nearest to a line number
// among equals; its on is nil if none fits well enough. Number 0 means that no
// line was named.
func (s *sideLines) best(quote []lineText, number int) spot {
	best := spot{score: acceptScore}
	most := perfect(quote)
	around := most - lineWeight // the most that the neighbours can add
	after, _ := slices.BinarySearchFunc(s.glances, number, func(g glance, n int) int { return g.number - n })
	before, alike := after-1, 0
	// From the number outwards, until the distance alone outweighs a perfect fit.
	for before >= 0 || after < len(s.glances) {
		i := after
		if after == len(s.glances) || before >= 0 && number-s.glances[before].number <= s.glances[after].number-number {
			i = before
			before--
		} else {
			after++
		}
		g := &s.glances[i]
		away := penalty(g.number, number)
		if best.on != nil && most-away <= best.score {
			break
		}
		need := (best.score + away - around) / lineWeight
		if alike >= maxAlike {
			need = max(need, nearlyEqual)
		}
		if !g.may(&quote[0].sketch, need) {
			continue
		}
		alike++
		score := s.fit(i, quote) - away
		if score > best.score || best.on == nil && score == best.score {
			best = spot{on: s, index: i, score: score}
		}
	}
	return best
}

// only returns the line that a quote fits if no other line does; its on is nil
// otherwise. Such a quote needs no number, and so a wrong one does not count
// against it.
func (s *sideLines) only(quote []lineText) spot {
	var found spot
	alike := 0
	need := (acceptScore + lineWeight - perfect(quote)) / lineWeight
	for i := range s.glances {
		if !s.glances[i].may(&quote[0].sketch, need) {
			continue
		}
		if alike++; alike > maxAlike {
			return spot{}
		}
		if s.fit(i, quote) < acceptScore {
			continue
		}
		if found.on != nil {
			return spot{}
		}
		found = spot{on: s, index: i}
	}
	return found
}

// fit says how well a quote fits the lines from an index on, 0 to 1.
func (s *sideLines) fit(i int, quote []lineText) float64 {
	return lineWeight*s.lines[i].score(&quote[0]) + neighbourWeight*s.neighbours(i, quote)
}

// perfect is the score of a verbatim quote at the line that was named. A quote
// of one line has no neighbours to speak for it.
func perfect(quote []lineText) float64 {
	if len(quote) > 1 {
		return lineWeight + neighbourWeight
	}
	return lineWeight
}

// penalty is what the distance of a line from the one that was named costs;
// nothing when none was named.
func penalty(line, named int) float64 {
	if named <= 0 {
		return 0
	}
	return distanceWeight * float64(min(distance(line, named), maxDistance))
}

// neighbours says how well the lines behind a line fit the rest of a quote, 0
// to 1; 0 for a quote of one line.
func (s *sideLines) neighbours(i int, quote []lineText) float64 {
	if len(quote) < 2 {
		return 0
	}
	sum := 0.0
	for q := range quote[1:] {
		if i = s.lines[i].next; i < 0 {
			break
		}
		sum += s.lines[i].score(&quote[1+q])
	}
	return sum / float64(len(quote)-1)
}

// unique returns the one line outside of a file that a quote stands on, white
// space aside; its on is nil if there is none or more than one. Quotes that
// are too short to mean one line are not looked for.
func (p *Placer) unique(quote []lineText, not *diff.File) spot {
	if len(quote[0].squeezed) < substringMin {
		return spot{}
	}
	if p.everywhere == nil {
		p.everywhere = p.allSpots()
	}
	var found spot
	for _, s := range p.everywhere[quote[0].squeezed] {
		if s.on.file == not || len(quote) > 1 && s.on.neighbours(s.index, quote) < squeezedScore {
			continue
		}
		if found.on != nil {
			return spot{}
		}
		found = s
	}
	return found
}

// allSpots lists every line of the change once: the new files' lines, and the
// deleted ones.
func (p *Placer) allSpots() map[string][]spot {
	all := map[string][]spot{}
	for i := range p.change.Files {
		f := &p.change.Files[i]
		for _, side := range []precedent.Side{precedent.Right, precedent.Left} {
			s := p.lines(f, side)
			for j := range s.lines {
				if l := &s.lines[j]; !l.blank() && (side == precedent.Right || l.deleted) {
					all[l.squeezed] = append(all[l.squeezed], spot{on: s, index: j})
				}
			}
		}
	}
	return all
}

// settle writes the spot into the finding. The range keeps the length that it
// came with, inside its hunk. A quote that is not verbatim is replaced by what
// the file says.
func (s spot) settle(f *precedent.Finding, said precedent.Span, quote []lineText) {
	l := &s.on.lines[s.index]
	f.Path, f.Side, f.Start = s.on.file.Path, s.on.side, l.number
	f.End = s.on.end(s.index, said.End-said.Start)
	d := precedent.Decision{Step: "place", Says: "the quote stands at " + f.Span.String()}
	switch {
	case f.Path != said.Path:
		d.Says += ", and not in " + said.Path
	case f.Side != said.Side && said.Side != "":
		d.Says += ", on the other side of the diff"
	case said.Start != f.Start:
		d.Says += ", not at the line that was named"
	}
	if l.squeezed != quote[0].squeezed {
		d.Delta = inexactDelta
		d.Says += "; it is not verbatim"
		f.Quote = s.on.text(s.index, len(quote))
	}
	f.Trail = append(f.Trail, d)
}

// end is the number of the last line of a range that begins at an index and is
// so many lines longer than one, inside the hunk.
func (s *sideLines) end(i, longer int) int {
	l := &s.lines[i]
	end := l.number
	for _, next := range s.lines[i+1:] {
		if next.hunk != l.hunk || next.number-l.number > longer {
			break
		}
		end = next.number
	}
	return end
}

// text returns up to n lines from an index on that are not blank.
func (s *sideLines) text(i, n int) string {
	var lines []string
	for ; i >= 0 && len(lines) < n; i = s.lines[i].next {
		lines = append(lines, s.lines[i].plain)
	}
	return strings.Join(lines, "\n")
}

func otherSide(s precedent.Side) precedent.Side {
	if s == precedent.Left {
		return precedent.Right
	}
	return precedent.Left
}

// place finds the line of every finding and keeps of its evidence what holds.
// A finding without a line that bears it out is dropped.
func place(fs []precedent.Finding, p *Placer, src *sources) {
	for i := range fs {
		f := &fs[i]
		said := f.Span
		switch {
		case f.Analyzer && p.confirms(f):
			f.Note("place", "stands at %s", f.Span)
		case p.Place(f):
		case f.Analyzer && src.holds(said, f.Quote):
			f.Span = said
			f.Note("place", "stands at %s, outside of the diff", said)
		case p.file(f.Path) == nil:
			f.Drop("place", precedent.NoEvidence, "", "the change has no file %s, and the quote is in no other", f.Path)
		default:
			f.Drop("place", precedent.NoEvidence, "", "the quote is nowhere in the change")
		}
		if f.Analyzer {
			continue
		}
		strike(f, p, src)
		if f.Start == 0 && len(f.Evidence) == 0 {
			f.Drop("place", precedent.NoEvidence, "", "about %s as a whole, without evidence that holds", f.Path)
		}
	}
}

// confirms tells whether a finding's quote, which may be a blank line, is what
// the diff has at its very place. Then there is nothing to look for. The range
// is cut to its hunk.
func (p *Placer) confirms(f *precedent.Finding) bool {
	file := p.change.File(f.Path)
	if file == nil || f.Start == 0 {
		return false
	}
	s := p.lines(file, f.Side)
	i, ok := slices.BinarySearchFunc(s.glances, f.Start, func(g glance, n int) int { return g.number - n })
	quote, _, _ := strings.Cut(f.Quote, "\n")
	if !ok || newLineText(quote).plain != s.lines[i].plain {
		return false
	}
	f.End = s.end(i, f.End-f.Start)
	return true
}

// strike removes the evidence of a finding that the files of the head do not
// bear out, and corrects the line numbers of the rest.
func strike(f *precedent.Finding, p *Placer, src *sources) {
	var holds []precedent.Evidence
	for _, e := range f.Evidence {
		if file := p.file(e.Path); file != nil {
			e.Path = file.Path
		}
		if line, ok := src.file(precedent.Right, e.Path).quoted(e.Quote, e.Line); ok {
			e.Line = line
			holds = append(holds, e)
		}
	}
	if n := len(f.Evidence) - len(holds); n > 0 {
		f.Note("place", "struck %d of %d pieces of evidence, which are not in the files that they name", n, len(f.Evidence))
	}
	f.Evidence = holds
}
