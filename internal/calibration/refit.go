package calibration

import "math"

// Refit is how a repository's labels change confidences: the logarithm of the odds
// becomes Intercept + Slope·logit(c). The zero Refit changes nothing.
type Refit struct {
	Intercept, Slope float64
	Labels           int // that it was fitted to; 0 for none
}

// Deviations of the prior: the intercept is N(0, 0.5²) and the slope N(1, 0.3²).
const (
	interceptSpread = 0.5
	slopeSpread     = 0.3
)

// refitForgetting is what a label is worth after each further one.
const refitForgetting = 0.98

// NewRefit returns the most likely refit of labels, oldest first, with their confidence
// before any refit (J. Platt, Probabilistic outputs for support vector machines, 1999,
// with the prior above). With fewer than LeastLabels it is the zero Refit.
func NewRefit(labels []Label) Refit {
	if len(labels) < LeastLabels {
		return Refit{}
	}
	const precisionA, precisionB = 1 / (interceptSpread * interceptSpread), 1 / (slopeSpread * slopeSpread)
	a, b := 0.0, 1.0
	for range 30 { // Newton's method on a convex problem: a few steps suffice
		ga, gb := -a*precisionA, -(b-1)*precisionB
		haa, hab, hbb := precisionA, 0.0, precisionB
		weight := 1.0
		for i := len(labels) - 1; i >= 0 && weight > 1e-4; i-- {
			x, y := logit(labels[i].Confidence-labels[i].Refit), 0.0
			if labels[i].Accepted {
				y = 1
			}
			p := 1 / (1 + math.Exp(-a-b*x))
			v := weight * p * (1 - p)
			ga, gb = ga+weight*(y-p), gb+weight*(y-p)*x
			haa, hab, hbb = haa+v, hab+v*x, hbb+v*x*x
			weight *= refitForgetting
		}
		det := haa*hbb - hab*hab
		da, db := (hbb*ga-hab*gb)/det, (haa*gb-hab*ga)/det
		a, b = a+da, b+db
		if math.Abs(da)+math.Abs(db) < 1e-9 {
			break
		}
	}
	return Refit{Intercept: a, Slope: max(b, 0), Labels: len(labels)}
}

// Apply returns the refitted confidence in percent.
func (r Refit) Apply(confidence int) int {
	if r.Labels == 0 {
		return confidence
	}
	return int(math.Round(100 / (1 + math.Exp(-r.Intercept-r.Slope*logit(confidence)))))
}

// logit returns the logarithm of the odds of a chance in percent, which counts as 1 to 99.
func logit(confidence int) float64 {
	p := float64(min(max(confidence, 1), 99)) / 100
	return math.Log(p / (1 - p))
}
