package review

import (
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/text"
)

// The score of a line. The quote decides; the distance from the given line number
// only breaks ties, because models copy better than they count: by number alone 56 %
// of remarks are placed correctly, by quote 95 %.
const (
	lineWeight      = 0.72
	neighbourWeight = 0.28
	distanceWeight  = 0.0002
	maxDistance     = 60 // lines; a greater distance costs no more
	acceptScore     = 0.55
	quoteLines      = 3 // lines of a quote that are compared
)

// spot is a line of the change and how well a quote fits it.
type spot struct {
	on    *sideLines
	index int
	score float64 // fit of the whole quote minus the distance penalty
}

// quoteTexts splits a quote into the lines that are compared. Blank lines are ignored
// on both sides.
func quoteTexts(quote string) []lineText {
	var texts []lineText
	for l := range strings.Lines(quote) {
		if t := newQuoteLine(l); !t.blank() {
			texts = append(texts, t)
		}
		if len(texts) == quoteLines {
			break
		}
	}
	return texts
}

// bestMatch returns the line that a quote fits best, among equals the nearest to the
// given number; its on is nil if none fits well enough. Number 0 means that no line
// was given.
func (s *sideLines) bestMatch(quote []lineText, number int) spot {
	best := spot{score: acceptScore}
	most := perfectScore(quote)
	after, _ := s.find(number)
	before := after - 1
	// From the number outwards, until the distance alone outweighs a perfect fit.
	for before >= 0 || after < len(s.lines) {
		i := after
		if after == len(s.lines) || before >= 0 && number-s.lines[before].number <= s.lines[after].number-number {
			i = before
			before--
		} else {
			after++
		}
		l := &s.lines[i]
		away := penalty(l.number, number)
		if best.on != nil && most-away <= best.score {
			break
		}
		score := s.fit(i, quote) - away
		if score > best.score || best.on == nil && score == best.score {
			best = spot{on: s, index: i, score: score}
		}
	}
	return best
}

// fit returns how well a quote fits the lines from an index on, 0 to 1.
func (s *sideLines) fit(i int, quote []lineText) float64 {
	return lineWeight*s.lines[i].score(&quote[0]) + neighbourWeight*s.neighbours(i, quote)
}

// perfectScore is the score of an exact quote at the given line. A quote of one line has
// no neighbours that add to it.
func perfectScore(quote []lineText) float64 {
	if len(quote) > 1 {
		return lineWeight + neighbourWeight
	}
	return lineWeight
}

// penalty returns the penalty for a line's distance from the given one; 0 if none was
// given.
func penalty(line, named int) float64 {
	if named <= 0 {
		return 0
	}
	return distanceWeight * float64(min(distance(line, named), maxDistance))
}

// neighbours returns how well the lines after a line fit the rest of a quote, 0 to 1;
// 0 for a quote of one line.
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

// belowHeader returns the first line of the nearest hunk whose header has a quote: prompts show there the line that begins
// the function, cut to 80 bytes. Its on is nil if there is none.
func (s *sideLines) belowHeader(quote string, near int) (best spot) {
	for i := range s.lines {
		l := &s.lines[i]
		shown := text.Squeeze(s.file.Hunks[l.hunk].Section)
		if i > 0 && s.lines[i-1].hunk == l.hunk || min(len(quote), len(shown)) < substringMin ||
			!strings.Contains(shown, quote) && !strings.Contains(quote, shown) {
			continue
		}
		if best.on == nil || distance(l.number, near) < distance(s.lines[best.index].number, near) {
			best = spot{on: s, index: i}
		}
	}
	return best
}

// unique returns the only line outside a file that has a quote, ignoring white space;
// its on is nil if there is none or more than one. Quotes that are too short to
// identify a line are not searched for.
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

// allSpots returns every line of the change once: the lines of the new files and the
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

// end returns the number of the last line of a range that starts at an index and is
// longer than one line by the given number, within the hunk.
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

// text returns up to n non-blank lines from an index on.
func (s *sideLines) text(i, n int) string {
	var lines []string
	for ; i >= 0 && len(lines) < n; i = s.lines[i].next {
		lines = append(lines, s.lines[i].plain)
	}
	return strings.Join(lines, "\n")
}
