package llm

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/precedent-dev/precedent"
)

func TestPrices(t *testing.T) {
	prices := ListPrices()
	for model, want := range map[string]float64{ // of a million input tokens; 0 if unknown
		"claude-sonnet-4-6":         3,
		"anthropic/claude-opus-4.6": 5,
		"claude-sonnet-4-20250514":  3,
		"claude-opus-4-5-20251101":  5,
		"claude-opus-4-99":          0, // a version that came later may cost anything
		"gpt-4.1-mini-2025-04-14":   0.4,
		"gpt-5-codex":               1.25,
		"gpt-5.99":                  0,
		"llama3:8b":                 0,
		"":                          0,
	} {
		if p, ok := prices.Find(model); p.Input != want || ok != (want > 0) {
			t.Errorf("Find(%q) = %v, %v; want %v", model, p.Input, ok, want)
		}
	}
	for name, p := range prices {
		if p.Output > maxPrice || p.Input <= 0 || p.Output < p.Input || p.Cached > p.Input ||
			p.CacheWrite < p.Input || p.CacheWrite > 1.25*p.Input+1e-9 {
			t.Errorf("%s: %+v", name, p)
		}
	}
	got := Price{Input: 10, Cached: 1, CacheWrite: 12.5, Output: 50}.Cost(precedent.Usage{
		InputTokens: 1e6, CachedTokens: 5e5, CacheWriteTokens: 1e5, OutputTokens: 1e5,
	})
	if want := 4.0 + 0.5 + 1.25 + 5; math.Abs(got-want) > 1e-9 {
		t.Errorf("cost %v, want %v", got, want)
	}
}

func TestPricesWith(t *testing.T) {
	listed := Prices{
		"claude-opus-4": {Input: 15}, "claude-opus-4-5": {Input: 5}, "gpt-5": {Input: 1}, "gpt-5-mini": {Input: 0.2},
	}
	over := listed.With(Prices{"claude": {Input: 7}, "gpt-5-mini": {Input: 0.5}, "llama": {}})
	for model, want := range map[string]float64{
		"claude-opus-4-5": 7, // whatever was listed for single models
		"gpt-5":           1,
		"gpt-5-mini":      0.5,
		"llama3:8b":       0,
	} {
		if p, ok := over.Find(model); !ok || p.Input != want {
			t.Errorf("%s: %v, %v; want %v", model, p, ok, want)
		}
	}
}

func TestNewPrice(t *testing.T) {
	type parts = map[string]float64
	got, err := NewPrice(parts{"input": 2, "output": 8})
	if d := cmp.Diff(Price{Input: 2, Cached: 2, CacheWrite: 2, Output: 8}, got); d != "" || err != nil {
		t.Error(err, d)
	}
	got, err = NewPrice(parts{"input": 2, "cached": 0, "cache_write": 2.5, "output": 8})
	if d := cmp.Diff(Price{Input: 2, CacheWrite: 2.5, Output: 8}, got); d != "" || err != nil {
		t.Error(err, d)
	}
	for want, given := range map[string]parts{
		"required":          {"input": 2},
		"input: -1":         {"input": -1, "output": 8},
		"output: 10001":     {"input": 1, "output": 10_001},
		"cached: NaN":       {"input": 1, "output": 8, "cached": math.NaN()},
		"cache_write: +Inf": {"input": 1, "output": 8, "cache_write": math.Inf(1)},
	} {
		if _, err := NewPrice(given); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
