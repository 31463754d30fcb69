package match

import (
	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/text"
)

// maxSiblings bounds the findings that are compared across files.
const maxSiblings = 200

// Set holds the findings of one review and how they compare with each other.
type Set struct {
	all   []*precedent.Finding
	texts map[*precedent.Finding]text.Vector // made on first use
	// same holds the pairs that are surely the same, alike those and the pairs that likely are. sure and open
	// are the edges of the pairs that are surely the same, and of those that a judge decides.
	same, alike map[pair]bool
	sure, open  []edge
}

// Doubt is two remarks that may be the same.
type Doubt struct {
	A, B       *precedent.Finding
	Similarity float64
	// Judged reports whether a judge found them distinct.
	Judged bool
}

// Group is remarks that are the same.
type Group struct {
	First *precedent.Finding // represents the others
	// Same are the others, and Likely those that no judge compared: similar words about
	// the same lines, which are not counted as agreement.
	Same, Likely []*precedent.Finding
}

// NewSet compares findings, which must be sorted by path, side and first line.
func NewSet(fs []*precedent.Finding) *Set {
	s := &Set{all: fs, texts: map[*precedent.Finding]text.Vector{}, same: map[pair]bool{}, alike: map[pair]bool{}}
	for i, a := range s.all {
		for j := i + 1; j < len(s.all) && near(a, s.all[j]); j++ {
			b, similarity := s.all[j], 1.0 // if place and category decide
			like := inOrder(a, b, func() float64 { similarity = s.similarity(a, b); return similarity })
			s.add(pair{i, j}, like, similarity)
		}
	}
	s.identical()
	return s
}

func (s *Set) add(p pair, like Likeness, similarity float64) {
	switch {
	case like == SurelySame:
		s.same[p] = true
		s.sure = append(s.sure, edge{p, similarity})
	case like.Open():
		s.open = append(s.open, edge{p, similarity})
	}
	if like == SurelySame || like == LikelySame {
		s.alike[p] = true
	}
}

func (s *Set) similarity(a, b *precedent.Finding) float64 {
	return text.Cosine(s.text(a), s.text(b))
}

func (s *Set) text(f *precedent.Finding) text.Vector {
	v, ok := s.texts[f]
	if !ok {
		v = words(f)
		s.texts[f] = v
	}
	return v
}

// identical compares findings with the same fingerprint on different sides of the
// diff as if they were on one.
func (s *Set) identical() {
	known := map[string][]int{}
	for j, b := range s.all {
		for _, i := range known[b.Fingerprint] {
			if a := s.all[i]; b.Fingerprint != "" && a.Side != b.Side {
				there := *a
				there.Span = b.Span
				similarity := s.similarity(a, b)
				s.add(pair{i, j}, inOrder(&there, b, func() float64 { return similarity }), similarity)
			}
		}
		known[b.Fingerprint] = append(known[b.Fingerprint], j)
	}
}

// Siblings returns the pairs of similar live findings in different files. It compares
// the first 200 findings that are not from analyzers.
func (s *Set) Siblings() []Doubt {
	var live []*precedent.Finding
	for _, f := range s.all {
		if f.Live() && !f.Analyzer && len(live) < maxSiblings {
			live = append(live, f)
		}
	}
	var found []Doubt
	for n, a := range live {
		for _, b := range live[n+1:] {
			if a.Path == b.Path {
				continue
			}
			if similarity := s.similarity(a, b); similarity >= Sibling {
				found = append(found, Doubt{A: a, B: b, Similarity: similarity})
			}
		}
	}
	return found
}
