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

// spot is a line of the change and how well a quote fits it.
type spot struct {
	on    *sideLines
	index int
	score float64 // fit of the whole quote less the distance
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

// bestMatch returns the line that a quote fits best, the nearest to a line number
// among equals; its on is nil if none fits well enough. Number 0 means that no
// line was named.
func (s *sideLines) bestMatch(quote []lineText, number int) spot {
	best := spot{score: acceptScore}
	most := perfectScore(quote)
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
		if !g.mayScore(&quote[0].sketch, need) {
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

// onlyMatch returns the line that a quote fits if no other line does; its on is nil
// otherwise. Such a quote needs no number, and so a wrong one does not count
// against it.
func (s *sideLines) onlyMatch(quote []lineText) spot {
	var found spot
	alike := 0
	need := (acceptScore + lineWeight - perfectScore(quote)) / lineWeight
	for i := range s.glances {
		if !s.glances[i].mayScore(&quote[0].sketch, need) {
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

// perfectScore is the score of a verbatim quote at the line that was named. A quote
// of one line has no neighbours to speak for it.
func perfectScore(quote []lineText) float64 {
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
