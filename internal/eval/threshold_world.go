package eval

import (
	"math"
	"math/rand/v2"

	"github.com/precedent-dev/precedent/internal/calibration"
)

// The size of the simulation, as in the research that the targets are from.
const (
	simulatedRepos    = 200
	simulatedFindings = 400 // of each repository
	perReview         = 4   // findings that are posted together: their labels come after
	severeShare       = 0.15
)

// A family is how the acceptance of findings depends on their confidence.
type family string

const (
	smooth   family = "smooth"   // one curve of the form that the tuner knows
	uneven   family = "uneven"   // steps, or two kinds of findings of which one is mostly declined
	drifting family = "drifting" // a smooth curve that moves in the middle, to either side
)

var families = []family{smooth, uneven, drifting}

// simulated is one finding of a simulated repository.
type simulated struct {
	confidence int
	severe     bool
	chance     float64 // that the team accepts it
	accepted   bool
}

// simulatedRepo is a repository whose team has fixed habits, or changes them once.
type simulatedRepo struct {
	name     string
	family   family
	findings []simulated
	drift    int // the first finding after the change of habits; 0 if there is none
}

// simulateRepo draws a repository.
func simulateRepo(name string, f family, rng *rand.Rand) simulatedRepo {
	r := simulatedRepo{name: name, family: f, findings: make([]simulated, simulatedFindings)}
	curve, shift := acceptance(f, rng), 0.0
	for i := range r.findings {
		if f == drifting && i == simulatedFindings/2 {
			r.drift = i
			if shift = 8 + 12*rng.Float64(); rng.Float64() < 0.5 {
				shift = -shift
			}
		}
		s := &r.findings[i]
		s.confidence = int(math.Round(min(max(74+15*rng.NormFloat64(), 30), 99)))
		s.severe = rng.Float64() < severeShare
		s.chance = curve(float64(s.confidence) - shift)
		if s.severe { // three times the odds
			s.chance = 3 * s.chance / (1 + 2*s.chance)
		}
		s.accepted = rng.Float64() < s.chance
	}
	return r
}

// acceptance draws how likely a team accepts findings by confidence.
func acceptance(f family, rng *rand.Rand) func(float64) float64 {
	curve := func() func(float64) float64 {
		m, s, u := 64+14*rng.NormFloat64(), 3+12*rng.Float64(), 0.84+0.16*rng.Float64()
		return func(c float64) float64 { return u / (1 + math.Exp((m-c)/s)) }
	}
	if f != uneven {
		return curve()
	}
	if rng.Float64() < 0.5 {
		low, high := 0.1+0.5*rng.Float64(), 0.85+0.14*rng.Float64()
		middle := low + (high-low)*rng.Float64()
		first := 50 + 25*rng.Float64()
		second := first + 20*rng.Float64()
		return func(c float64) float64 {
			switch {
			case c < first:
				return low
			case c < second:
				return middle
			}
			return high
		}
	}
	// A declined kind gets rarer as the confidence rises.
	good, bad, at := 0.9+0.09*rng.Float64(), 0.1+0.3*rng.Float64(), 55+25*rng.Float64()
	return func(c float64) float64 {
		share := 1 / (1 + math.Exp((c-at)/6))
		return bad*share + good*(1-share)
	}
}

// posts tells whether a finding that is shown with a confidence is posted. As in a review, a
// tuned threshold does not hide severe findings of the usual confidence.
func (s *simulated) posts(confidence int, t calibration.Learned) bool {
	if s.severe && confidence >= min(t.Threshold, calibration.Start) {
		return true
	}
	return confidence >= t.Threshold
}

// oracle returns the lowest threshold that posts with the target precision among the
// findings, and whether there is one that posts at least one in twenty.
func oracle(findings []simulated) (int, bool) {
	if len(findings) == 0 {
		return 0, false
	}
	for t := calibration.Lowest; t <= calibration.Highest; t += 5 {
		n, sum := 0, 0.0
		for i := range findings {
			if findings[i].posts(findings[i].confidence, calibration.Learned{Threshold: t}) {
				n++
				sum += findings[i].chance
			}
		}
		if 20*n >= len(findings) && sum >= calibration.Target*float64(n) {
			return t, true
		}
	}
	return 0, false
}
