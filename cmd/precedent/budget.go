package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/workflow"
)

// limits are what reviews may take.
func limits(o operator) (l workflow.Limits, err error) {
	if l.ReviewUSD, err = dollars(o.get(maxCostKnob, formatDollars(engine.DefaultReviewUSD), "default")); err != nil {
		return l, err
	}
	if l.DayUSD, err = dollars(o.get(dayCostKnob, formatDollars(engine.DefaultDayUSD), "default")); err != nil {
		return l, err
	}
	if l.PullUSD, err = dollars(o.get(pullCostKnob, formatDollars(engine.DefaultPullUSD), "default")); err != nil {
		return l, err
	}
	l.ReviewTokens, err = strconv.Atoi(o.get(maxTokensKnob, strconv.Itoa(engine.DefaultReviewTokens), "default").Value)
	return l, err
}

func dollars(s setting) (float64, error) {
	f, err := strconv.ParseFloat(strings.TrimPrefix(s.Value, "$"), 64)
	if err != nil {
		return 0, fmt.Errorf("%s (%s): %q is no amount of dollars", s.Key, s.Source, s.Value)
	}
	return f, nil
}

func formatDollars(f float64) string { return strconv.FormatFloat(f, 'f', 2, 64) }

func checkDollars(s string) error {
	if f, err := strconv.ParseFloat(strings.TrimPrefix(s, "$"), 64); err != nil || f <= 0 || f > 1e6 {
		return fmt.Errorf("%q is no amount of dollars above 0", s)
	}
	return nil
}
