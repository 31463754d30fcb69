package calibration

import "math"

// Point is a predicted chance and what was observed, both 0 to 1: 0 or 1 of a finding, or
// the true chance in a simulation.
type Point struct{ Predicted, Observed float64 }

// Points returns the points of labels: their confidence as posted, and whether it was accepted.
func Points(labels []Label) []Point {
	points := make([]Point, len(labels))
	for i, l := range labels {
		points[i].Predicted = float64(l.Confidence) / 100
		if l.Accepted {
			points[i].Observed = 1
		}
	}
	return points
}

// bins is the number of bins of a reliability diagram, each 10 percent wide.
const bins = 10

// Bin holds the points whose prediction is from From to below To; those of 1 are in the
// last one.
type Bin struct {
	From      float64 `json:"from"`
	To        float64 `json:"to"`
	Points    int     `json:"points"`
	Predicted float64 `json:"predicted"` // mean; 0 without points
	Observed  float64 `json:"observed"`  // mean; 0 without points
}

// Reliability says how well predicted chances agree with what was observed.
type Reliability struct {
	Points int   `json:"points"`
	Bins   []Bin `json:"bins"`
	// ECE is the expected calibration error: the mean distance between prediction and
	// observation of the bins, weighted by their points.
	ECE float64 `json:"ece"`
	// Brier is the mean squared error of the predictions (G. Brier, 1950). Skill is by which
	// share it is less than that of predicting the mean for all; 0 if all are the same.
	Brier float64 `json:"brier"`
	Skill float64 `json:"brier_skill"`
}

// NewReliability computes the reliability of points; all zero without any.
func NewReliability(points []Point) Reliability {
	r := Reliability{Points: len(points), Bins: make([]Bin, bins)}
	for i := range r.Bins {
		r.Bins[i].From, r.Bins[i].To = float64(i)/bins, float64(i+1)/bins
	}
	if len(points) == 0 {
		return r
	}
	n, mean := float64(len(points)), 0.0
	for _, p := range points {
		b := &r.Bins[min(max(int(p.Predicted*bins), 0), bins-1)]
		b.Points++
		b.Predicted += p.Predicted
		b.Observed += p.Observed
		mean += p.Observed / n
		r.Brier += ((p.Predicted-p.Observed)*(p.Predicted-p.Observed) + p.Observed*(1-p.Observed)) / n
	}
	for i := range r.Bins {
		if b := &r.Bins[i]; b.Points > 0 {
			r.ECE += math.Abs(b.Predicted-b.Observed) / n
			b.Predicted /= float64(b.Points)
			b.Observed /= float64(b.Points)
		}
	}
	if mean > 0 && mean < 1 {
		r.Skill = 1 - r.Brier/(mean*(1-mean))
	}
	return r
}
