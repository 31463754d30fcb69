package eval

import (
	"slices"

	"github.com/precedent-dev/precedent/internal/match"
)

// Dedup measures how well the merge stage recognizes duplicates.
type Dedup struct {
	Form      string `json:"form"`
	Pairs     int    `json:"pairs"`
	Same      int    `json:"same"` // labelled so
	Apart     int    `json:"apart"`
	Unknown   int    `json:"unknown"`
	Changes   int    `json:"changes"`
	Resamples int    `json:"resamples"`
	Seed      uint64 `json:"seed"`
	// Decisions are made before a judge is asked.
	Decisions []DecisionCount `json:"decisions"`
	// Alone merges what is the same or likely so, as without an engine. Ideal uses a
	// perfect judge, so its recall is the upper limit for any judge.
	Alone      Merging     `json:"alone"`
	Ideal      Merging     `json:"ideal_judge"`
	Judge      *Merging    `json:"judge"`   // nil without a judge
	Judging    *Judging    `json:"judging"` // nil likewise
	AUC        *float64    `json:"auc"`     // of similarity alone; nil without pairs of both kinds
	Thresholds []Threshold `json:"thresholds"`
}

// DecisionCount counts the pairs of a decision.
type DecisionCount struct {
	Decision match.Likeness `json:"decision"`
	Pairs    int            `json:"pairs"`
	Same     int            `json:"same"`     // labelled so
	Distinct int            `json:"distinct"` // labelled so
}

// Merging scores which pairs are merged.
type Merging struct {
	Merged    int   `json:"merged"`
	Right     int   `json:"right"` // of them
	Precision Ratio `json:"precision"`
	Recall    Ratio `json:"recall"`
	F1        Ratio `json:"f1"`
	// Overlapping counts the pairs that are labelled distinct and share a line. Wrong
	// counts those of them that are merged, and False is their share.
	Overlapping int   `json:"overlapping_distinct"`
	Wrong       int   `json:"overlapping_merged"`
	False       Ratio `json:"overlapping_false_merges"`
}

// Threshold scores similarity alone, from one value on.
type Threshold struct {
	From float64 `json:"from"`
	Merging
}

// thresholds are the similarities in the tables: those of internal/match, and others around them.
var thresholds = []float64{0.20, 0.25, 0.30, 0.35, 0.40, 0.45, 0.50, 0.55, 0.60, 0.70, 0.80}

// ScoreDedup scores the merge stage's decisions, using a judge's answers for the pairs
// that it decides if there are any.
func ScoreDedup(pairs Pairs, judging *Judging, seed uint64) Dedup {
	list := pairs.List
	r := Dedup{
		Form: pairs.Form, Pairs: len(list), Unknown: pairs.Unknown, Resamples: Resamples, Seed: seed, Judging: judging,
	}
	for _, l := range match.Likenesses {
		r.Decisions = append(r.Decisions, DecisionCount{Decision: l})
	}
	var similar, different []float64
	decided := make([]match.Likeness, len(list))
	cosines := make([]float64, len(list))
	changes := map[string]bool{}
	for i := range list {
		p := &list[i]
		changes[p.Change] = true
		decided[i], cosines[i] = p.alike(), match.Similarity(&p.A, &p.B)
		d := &r.Decisions[slices.IndexFunc(r.Decisions, func(d DecisionCount) bool { return d.Decision == decided[i] })]
		d.Pairs++
		if p.Apart {
			r.Apart++
		}
		if p.Same {
			r.Same++
			d.Same++
			similar = append(similar, cosines[i])
		} else {
			d.Distinct++
			different = append(different, cosines[i])
		}
	}
	r.Changes = len(changes)
	r.AUC = area(similar, different)
	alone := func(i int) bool { return decided[i] == match.SurelySame || decided[i] == match.LikelySame }
	r.Alone = merging(list, seed, alone)
	r.Ideal = merging(list, seed, func(i int) bool { return decided[i] == match.SurelySame || decided[i].Open() && list[i].Same })
	if judging != nil {
		m := merging(list, seed, func(i int) bool {
			if same, judged := judging.same[i]; judged {
				return same
			}
			return alone(i)
		})
		r.Judge = &m
	}
	for _, from := range thresholds {
		r.Thresholds = append(r.Thresholds, Threshold{from, merging(list, seed, func(i int) bool { return cosines[i] >= from })})
	}
	return r
}

// merging scores one decision function on all pairs.
func merging(list []Pair, seed uint64, merged func(i int) bool) Merging {
	var m Merging
	var tallies, overlaps grouped[tally]
	for i := range list {
		p := &list[i]
		t := tallies.of(p.Change)
		if p.Same {
			t.gold++
		}
		if merged(i) {
			m.Merged++
			t.candidates++
			if p.Same {
				m.Right++
				t.hits++
				t.found++
			}
		}
		if !p.Same && p.overlaps() {
			m.Overlapping++
			o := overlaps.of(p.Change)
			o.candidates++
			if merged(i) {
				m.Wrong++
				o.hits++
			}
		}
	}
	m.Precision, m.Recall, m.F1 = intervals(tallies.list, seed)
	m.False, _, _ = intervals(overlaps.list, seed)
	return m
}

// area is the area under the receiver operating characteristic: the probability that a value of the first
// kind is larger than one of the second, counting equal values as one half.
func area(first, second []float64) *float64 {
	if len(first) == 0 || len(second) == 0 {
		return nil
	}
	slices.Sort(second)
	sum := 0.0
	for _, v := range first {
		below, _ := slices.BinarySearch(second, v)
		upTo, _ := slices.BinarySearchFunc(second, v, func(x, v float64) int {
			if x <= v {
				return -1
			}
			return 1
		})
		sum += float64(below+upTo) / 2
	}
	auc := sum / float64(len(first)*len(second))
	return &auc
}
