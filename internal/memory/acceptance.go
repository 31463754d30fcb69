package memory

import "math"

// Acceptance is what is known about the share of findings that people accept, after some
// answers: the posterior Beta(1+accepted, 1+rejected) of a uniform prior.
type Acceptance struct {
	Accepted int `json:"accepted"`
	Rejected int `json:"rejected"`
	// Low and High are the ends of the central 90 % interval, and Likely is the probability that
	// the share is at least ActiveRate. All are 0 to 1.
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
	Likely float64 `json:"likely"`
}

// AcceptanceOf returns the acceptance after so many answers.
func AcceptanceOf(accepted, rejected int) Acceptance {
	a, b := 1+float64(accepted), 1+float64(rejected)
	return Acceptance{
		Accepted: accepted, Rejected: rejected,
		Low: quantile(a, b, 0.05), High: quantile(a, b, 0.95), Likely: 1 - regularizedBeta(activeRate, a, b),
	}
}

// quantile returns the x at which regularizedBeta is q.
func quantile(a, b, q float64) float64 {
	const steps = 60 // halves the interval down to the precision of a float64
	low, high := 0.0, 1.0
	for range steps {
		if mid := (low + high) / 2; regularizedBeta(mid, a, b) < q {
			low = mid
		} else {
			high = mid
		}
	}
	return (low + high) / 2
}

// regularizedBeta is the regularized incomplete beta function I_x(a, b), the probability that a
// variable of Beta(a, b) is at most x. It evaluates the continued fraction of DLMF 8.17.22 by
// Lentz's method (https://dlmf.nist.gov/8.17.v).
func regularizedBeta(x, a, b float64) float64 {
	switch {
	case x <= 0:
		return 0
	case x >= 1:
		return 1
	case x > (a+1)/(a+b+2): // where the fraction converges slowly
		return 1 - regularizedBeta(1-x, b, a)
	}
	const tiny, most, precise = 1e-300, 10_000, 1e-15
	nonzero := func(v float64) float64 {
		if math.Abs(v) < tiny {
			return tiny
		}
		return v
	}
	c, d := 1.0, 1/nonzero(1-(a+b)*x/(a+1))
	sum := d
	for m := 1.0; m <= most; m++ {
		even := m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m))
		odd := -(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1))
		before := sum
		for _, term := range []float64{even, odd} {
			d = 1 / nonzero(1+term*d)
			c = nonzero(1 + term/c)
			sum *= c * d
		}
		if math.Abs(sum-before) <= precise*math.Abs(sum) {
			break
		}
	}
	lga, _ := math.Lgamma(a)
	lgb, _ := math.Lgamma(b)
	lgab, _ := math.Lgamma(a + b)
	return sum * math.Exp(a*math.Log(x)+b*math.Log1p(-x)+lgab-lga-lgb) / a
}
