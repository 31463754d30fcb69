package eval

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/precedent-dev/precedent/internal/calibration"
)

// ChosenSeed is one of the seeds, 1 to 3, with which the constants of internal/calibration
// were chosen. HeldOutSeed is none of them.
const (
	ChosenSeed  = 1
	HeldOutSeed = 11
)

// Thresholds compares rules for the threshold on simulated repositories.
type Thresholds struct {
	Run    ThresholdRun `json:"run"`
	Chosen ThresholdRun `json:"chosen_with"` // the seed with which constants were chosen
	// Ships tells whether the tuner beats the simple rule on the repositories of the run:
	// higher precision and fewer repositories below the bound, with intervals apart.
	Ships bool `json:"ships"`
}

// ThresholdRun is a comparison on the repositories of one seed.
type ThresholdRun struct {
	Seed     uint64            `json:"seed"`
	Repos    int               `json:"repositories"`
	Findings int               `json:"findings_each"`
	Feasible int               `json:"feasible"` // repositories in which a threshold reaches the target
	Rules    []ThresholdResult `json:"rules"`
}

// ThresholdResult is what one rule achieves. The ratios have intervals over repositories.
type ThresholdResult struct {
	Rule string `json:"rule"`
	// Early and Precision are the share of posted findings that is accepted, before and from
	// the 60th label on, of all repositories.
	Early     Ratio `json:"precision_to_60"`
	Precision Ratio `json:"precision_from_60"`
	// Families is Precision by how teams accept findings.
	Families map[string]Ratio `json:"precision_by_family"`
	// Yield is the share of the accepted findings that the lowest good threshold would post,
	// where there is one.
	Yield Ratio `json:"share_of_oracle"`
	// Below is the share of feasible repositories whose precision from the 60th label on is below .88.
	Below Ratio `json:"feasible_below_88"`
	// Recovered is the share of the repositories made bad by a change of habits whose threshold
	// is good again within 25 labels; Changed is their number.
	Recovered Ratio `json:"recovered_in_25"`
	Changed   int   `json:"changed"`
	// ECE is of the posted findings after 100 labels, the mean of repositories. Skill is the
	// Brier skill of all findings then, posted or not, and MostSkill that of the true chances.
	ECE       Ratio `json:"ece"`
	Skill     Ratio `json:"brier_skill"`
	MostSkill Ratio `json:"most_brier_skill"`
}

// The bounds of the measures.
const (
	fromLabel      = 60
	badPrecision   = 0.88
	recoverySpan   = 25
	calibratedFrom = 100
	leastPoints    = 50 // findings after calibratedFrom labels
)

// rule returns what applies to the next review, given the labels so far.
type rule struct {
	name string
	next func(labels []calibration.Label) calibration.Learned
}

var thresholdRules = []rule{
	{"fixed 75", func([]calibration.Label) calibration.Learned { return fixedAt(calibration.Start) }},
	{"simple rule", func(labels []calibration.Label) calibration.Learned {
		return fixedAt(calibration.ComputeOptimalThreshold(labels).Threshold)
	}},
	{"tuner", calibration.Learn},
}

func fixedAt(threshold int) calibration.Learned {
	return calibration.Learned{Threshold: threshold}
}

// MeasureThresholds runs the rules on the repositories of the seed, and of ChosenSeed.
func MeasureThresholds(seed uint64) *Thresholds {
	r := &Thresholds{Run: runThresholds(seed, simulatedRepos), Chosen: runThresholds(ChosenSeed, simulatedRepos)}
	simple, tuned := &r.Run.Rules[1], &r.Run.Rules[len(thresholdRules)-1]
	r.Ships = above(tuned.Precision, simple.Precision) && above(simple.Below, tuned.Below)
	return r
}

// above tells whether the interval of a is above that of b.
func above(a, b Ratio) bool { return a.Low != nil && b.High != nil && *a.Low > *b.High }

func runThresholds(seed uint64, n int) ThresholdRun {
	run := ThresholdRun{Seed: seed, Repos: n, Findings: simulatedFindings}
	rng := rand.New(rand.NewPCG(seed, 7)) // draws must be repeatable, and guard nothing
	repos := make([]simulatedRepo, n)
	for i := range repos {
		repos[i] = simulateRepo(fmt.Sprint("repository ", i), families[i%len(families)], rng)
		if _, ok := oracle(repos[i].findings); ok {
			run.Feasible++
		}
	}
	run.Rules = make([]ThresholdResult, len(thresholdRules))
	var wg sync.WaitGroup
	for i, rule := range thresholdRules {
		wg.Go(func() { run.Rules[i] = follow(repos, rule, seed) })
	}
	wg.Wait()
	return run
}

// follow has the rule decide for every review of the repositories.
func follow(repos []simulatedRepo, rule rule, seed uint64) ThresholdResult {
	var all sums
	for i := range repos {
		w := watcher{r: &repos[i], recovered: -1}
		w.follow(rule)
		w.addTo(&all)
	}
	result := ThresholdResult{
		Rule: rule.name, Families: map[string]Ratio{}, Changed: len(all.recovered),
		Early: all.early.ratio(seed), Precision: all.precision.ratio(seed), Yield: all.yield.ratio(seed),
		Below: all.below.ratio(seed), Recovered: all.recovered.ratio(seed), ECE: all.ece.ratio(seed),
		Skill: all.skill.ratio(seed), MostSkill: all.most.ratio(seed),
	}
	for i, f := range families {
		var own parts
		for k := i; k < len(all.precision); k += len(families) {
			own = append(own, all.precision[k])
		}
		result.Families[string(f)] = own.ratio(seed)
	}
	return result
}

// part is what a repository contributes to a ratio.
type part struct{ of, in float64 }

type parts []part

// ratio returns the sum of one over that of the other.
func (ps parts) ratio(seed uint64) Ratio {
	return bootstrap(len(ps), seed, func(drawn func(int) int) []float64 {
		var sum part
		for i := range ps {
			sum.add(ps[drawn(i)])
		}
		return []float64{sum.of / sum.in}
	})[0]
}

// sums are the contributions of all repositories. early, precision and yield have one of
// each, the others only of those that they are about.
type sums struct{ early, precision, yield, below, recovered, ece, skill, most parts }

// watcher follows one repository.
type watcher struct {
	r      *simulatedRepo
	labels []calibration.Label
	best   []int // the oracle's threshold by finding; 0 if there is none

	early, precision, feasible, yield part
	posted, all, ideal                []calibration.Point // after calibratedFrom labels
	changedAt                         int                 // labels at the change of habits
	spoilt                            bool                // the change made the threshold bad
	recovered                         int                 // labels until it was good again; -1 for never
}

func (w *watcher) follow(rule rule) {
	w.best = w.r.oracles()
	for i := 0; i < len(w.r.findings); i += perReview {
		now := rule.next(w.labels)
		w.watchDrift(i, now)
		known := len(w.labels)
		for k := i; k < i+perReview; k++ {
			w.decide(k, known, now)
		}
	}
}

// decide posts a finding or not, and keeps its label.
func (w *watcher) decide(k, known int, now calibration.Learned) {
	f := w.r.findings[k]
	shown := now.Curve.Apply(f.confidence)
	posted := f.posts(shown, now)
	point := calibration.Point{Predicted: float64(shown) / 100, Observed: f.chance}
	if known >= calibratedFrom {
		w.all = append(w.all, point)
		w.ideal = append(w.ideal, calibration.Point{Predicted: f.chance, Observed: f.chance})
	}
	if w.best[k] > 0 {
		if f.posts(f.confidence, fixedAt(w.best[k])) {
			w.yield.in += f.chance
		}
		if posted {
			w.yield.of += f.chance
		}
	}
	if !posted {
		return
	}
	w.labels = append(w.labels, calibration.Label{Confidence: shown, Refit: shown - f.confidence, Accepted: f.accepted})
	one := part{in: 1}
	if f.accepted {
		one.of = 1
	}
	if known < fromLabel {
		w.early.add(one)
		return
	}
	w.precision.add(one)
	if w.best[k] > 0 {
		w.feasible.add(part{f.chance, 1})
	}
	if known >= calibratedFrom {
		w.posted = append(w.posted, point)
	}
}

func (p *part) add(o part) {
	p.of += o.of
	p.in += o.in
}

// watchDrift follows how long the threshold is bad after a change of habits, if a good one is possible.
func (w *watcher) watchDrift(i int, now calibration.Learned) {
	if w.r.drift == 0 || i < w.r.drift || w.best[i] == 0 {
		return
	}
	var p part
	for k := w.r.drift; k < len(w.r.findings); k++ {
		if f := &w.r.findings[k]; f.posts(now.Curve.Apply(f.confidence), now) {
			p.add(part{f.chance, 1})
		}
	}
	good := p.of >= badPrecision*p.in
	if i == w.r.drift {
		w.changedAt, w.spoilt = len(w.labels), !good
	}
	if good && w.recovered < 0 {
		w.recovered = len(w.labels) - w.changedAt
	}
}

func (w *watcher) addTo(s *sums) {
	s.early, s.precision, s.yield = append(s.early, w.early), append(s.precision, w.precision), append(s.yield, w.yield)
	if w.feasible.in > 0 {
		s.below = append(s.below, counted(w.feasible.of < badPrecision*w.feasible.in))
	}
	if w.spoilt {
		s.recovered = append(s.recovered, counted(w.recovered >= 0 && w.recovered <= recoverySpan))
	}
	if len(w.posted) >= leastPoints {
		s.ece = append(s.ece, part{calibration.NewReliability(w.posted).ECE, 1})
		s.skill = append(s.skill, part{calibration.NewReliability(w.all).Skill, 1})
		s.most = append(s.most, part{calibration.NewReliability(w.ideal).Skill, 1})
	}
}

// counted counts one repository of which something is true or not.
func counted(is bool) part {
	if is {
		return part{1, 1}
	}
	return part{0, 1}
}

// oracles returns, by finding, the lowest threshold that reaches the target among the
// findings of the same habits, and 0 if none does.
func (r *simulatedRepo) oracles() []int {
	best := make([]int, 0, len(r.findings))
	for _, phase := range [][]simulated{r.findings[:r.drift], r.findings[r.drift:]} {
		t, _ := oracle(phase)
		best = append(best, slices.Repeat([]int{t}, len(phase))...)
	}
	return best
}
