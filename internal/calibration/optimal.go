package calibration

// Optimal is what ComputeOptimalThreshold found.
type Optimal struct {
	Threshold int `json:"threshold"` // percent
	Labels    int `json:"labels"`    // at least as confident as Threshold
	Accepted  int `json:"accepted"`  // of them
}

// ComputeOptimalThreshold returns the lowest threshold from Lowest to Highest above
// which the share Target of the labels was accepted, and Highest if none is. Without
// labels it is Start. Labels below the thresholds of the past are missing, so it is too
// low when few findings were posted near it.
func ComputeOptimalThreshold(labels []Label) Optimal {
	if len(labels) == 0 {
		return Optimal{Threshold: Start}
	}
	var o Optimal
	for t := Lowest; t <= Highest; t++ {
		o = Optimal{Threshold: t}
		for _, l := range labels {
			if l.Confidence < t {
				continue
			}
			o.Labels++
			if l.Accepted {
				o.Accepted++
			}
		}
		if o.Labels > 0 && float64(o.Accepted) >= Target*float64(o.Labels) {
			break
		}
	}
	return o
}
