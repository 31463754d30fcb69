package eval

import (
	"context"
	"slices"

	"github.com/precedent-dev/precedent/internal/corpus"
)

// Gate scores what would be cited in one file, from a similarity on.
type Gate struct {
	File string `json:"file"`
	// ChosenOn is the file on which the similarity is the least that meets the targets for
	// precision and spurious citations; "in use" for the value that is used.
	ChosenOn string  `json:"chosen_on"`
	From     float64 `json:"from"`
	// Pairs are the labelled ones whose similarity is at least From. Precision is the share of
	// them that makes the same point.
	Pairs     int   `json:"pairs"`
	Precision Ratio `json:"precision"`
	// Recall is the share of the comments with a precedent, Queries, for which a right one would be cited.
	Queries int   `json:"queries"`
	Recall  Ratio `json:"recall"`
	// Spurious is the share of the comments that are in no labelled pair that makes the same
	// point, Others, with which something would be cited. Some of it may be right.
	Others   int   `json:"others"`
	Spurious Ratio `json:"spurious"`
	// Judged is the recall if a judge is asked about all that are less similar, from the lower
	// threshold on, and is always right. Then nothing wrong is cited. Asked is the share of Others
	// about which it would be asked.
	Judged Ratio `json:"judged_recall"`
	Asked  Ratio `json:"asked"`
}

// The targets for citations.
const (
	precisionTarget = 0.97
	spuriousTarget  = 0.02
)

// mostCited is how many comments a finding cites, and how many a judge is asked about.
const mostCited = 5

// gateFile is what the gate decides about in a file.
type gateFile struct {
	name  string
	pairs []gatePair
	// queries have a precedent, and others have none that is known.
	queries, others []gateQuery
}

type gatePair struct {
	pull   string
	cosine float64
	same   bool
}

// gateQuery is a comment that is searched as if it were a finding.
type gateQuery struct {
	pull string
	// cosines are those of the best hits, and right tells which make the same point.
	cosines []float64
	right   []bool
}

// gates chooses the similarity on each file, and scores all of them.
func gates(ctx context.Context, files []*reviewFile, labels []sameness, seed uint64) ([]Gate, error) {
	var all []*gateFile
	for _, f := range files {
		if len(f.clusters) > 0 {
			g, err := f.gate(ctx, labels)
			if err != nil {
				return nil, err
			}
			all = append(all, g)
		}
	}
	var out []Gate
	for _, g := range all {
		out = append(out, g.score(inUse, corpus.StrongCosine, seed))
	}
	for _, chosen := range all {
		for _, from := range steps {
			if s := chosen.score(chosen.name, from, seed); s.meets() {
				for _, g := range all {
					out = append(out, g.score(chosen.name, from, seed))
				}
				break
			}
		}
	}
	return out, nil
}

func (g *Gate) meets() bool {
	return g.Precision.Value != nil && *g.Precision.Value >= precisionTarget && (g.Spurious.Value == nil || *g.Spurious.Value <= spuriousTarget)
}

// gate searches all usable comments of the file.
func (f *reviewFile) gate(ctx context.Context, labels []sameness) (*gateFile, error) {
	g := &gateFile{name: f.name}
	x := corpus.NewIndex(f.chunks())
	compared := map[string][]sameness{}
	for _, l := range labels {
		compared[l.later] = append(compared[l.later], l)
	}
	for i := range f.all {
		c := &f.all[i]
		pairs := compared[string(c.ID)]
		known := f.precedents(&c.CorpusChunk, true) > 0
		if len(pairs) == 0 && !known && c.Unusable != "" {
			continue
		}
		q := gateQuery{pull: f.pull(&c.CorpusChunk)}
		cosines := map[string]float64{}
		hits, err := f.matches(ctx, x, c, whole)
		if err != nil {
			return nil, err
		}
		for _, h := range hits {
			cosines[string(h.ID)] = h.Cosine
			if h.Cosine >= min(corpus.CandidateCosine, steps[0]) {
				q.cosines, q.right = append(q.cosines, h.Cosine), append(q.right, f.same(&c.CorpusChunk, &h.CorpusChunk))
			}
		}
		for _, l := range pairs {
			if f.usable(l.earlier) {
				g.pairs = append(g.pairs, gatePair{q.pull, cosines[l.earlier], l.same})
			}
		}
		switch {
		case known:
			g.queries = append(g.queries, q)
		case c.Unusable == "" && f.clusters[string(c.ID)] == 0:
			g.others = append(g.others, q)
		}
	}
	return g, nil
}

// usable reports whether a comment of the file can be a precedent.
func (f *reviewFile) usable(id string) bool {
	return slices.ContainsFunc(f.all, func(c reviewed) bool { return string(c.ID) == id && c.Unusable == "" })
}

// score scores the gate with a similarity.
func (g *gateFile) score(chosenOn string, from float64, seed uint64) Gate {
	s := Gate{File: g.name, ChosenOn: chosenOn, From: from, Queries: len(g.queries), Others: len(g.others)}
	var pairs, queries, others grouped[tallies]
	for _, p := range g.pairs {
		if p.cosine >= from {
			s.Pairs++
			n := pairs.of(p.pull)
			n[0]++
			if p.same {
				n[1]++
			}
		}
	}
	for _, q := range g.queries {
		n := queries.of(q.pull)
		n[0]++
		first := true
		asked, judged := 0, false
		for i, c := range q.cosines {
			if c >= from && first {
				first = false
				if q.right[i] {
					n[1]++
				}
			}
			if c >= corpus.CandidateCosine && asked < mostCited {
				asked++
				judged = judged || q.right[i]
			}
		}
		if judged {
			n[2]++
		}
	}
	for _, q := range g.others {
		n := others.of(q.pull)
		n[0]++
		if q.reaches(from) {
			n[1]++
		}
		if q.reaches(corpus.CandidateCosine) {
			n[2]++
		}
	}
	s.Precision = quotients(pairs.list, [][2]int{{1, 0}}, seed)[0]
	r := quotients(queries.list, [][2]int{{1, 0}, {2, 0}}, seed)
	s.Recall, s.Judged = r[0], r[1]
	r = quotients(others.list, [][2]int{{1, 0}, {2, 0}}, seed)
	s.Spurious, s.Asked = r[0], r[1]
	return s
}

func (q *gateQuery) reaches(from float64) bool {
	return slices.ContainsFunc(q.cosines, func(c float64) bool { return c >= from })
}
