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
	a, b := 1+accepted, 1+rejected
	return Acceptance{
		Accepted: accepted, Rejected: rejected,
		Low: quantile(a, b, 0.05), High: quantile(a, b, 0.95), Likely: 1 - regularizedBeta(activeRate, a, b),
	}
}

// quantile returns the x at which regularizedBeta is q.
func quantile(a, b int, q float64) float64 {
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
// variable of Beta(a, b) is at most x. For whole numbers that is the probability of at least a
// successes in a+b-1 trials (DLMF 8.17.5, https://dlmf.nist.gov/8.17.i).
func regularizedBeta(x float64, a, b int) float64 {
	k, n := float64(a), float64(a+b-1)
	if k <= n*x {
		return 1 - regularizedBeta(1-x, b, a) // so that the terms fall, and the first cannot underflow before the others
	}
	lgn, _ := math.Lgamma(n + 1)
	lgk, _ := math.Lgamma(k + 1)
	lgr, _ := math.Lgamma(n - k + 1)
	sum, term := 0.0, math.Exp(lgn-lgk-lgr+k*math.Log(x)+(n-k)*math.Log1p(-x))
	for ; term > sum*1e-17; k++ {
		sum += term
		term *= (n - k) / (k + 1) * x / (1 - x)
	}
	return sum
}
