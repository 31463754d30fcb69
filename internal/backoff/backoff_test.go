package backoff

import (
	"math"
	"net/http"
	"testing"
	"time"
)

func TestBound(t *testing.T) {
	p := Policy{First: 2 * time.Second, Max: 60 * time.Second}
	for failures, want := range map[int]time.Duration{
		1: 2 * time.Second, 2: 4 * time.Second, 5: 32 * time.Second, 6: time.Minute, math.MaxInt: time.Minute,
	} {
		if got := p.Bound(failures); got != want {
			t.Errorf("%d failures: %s", failures, got)
		}
	}
}

func TestAfter(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for v, want := range map[string]time.Duration{
		"": -1, "soon": -1, "-1": -1, "NaN": -1, "0": 0, "17": 17 * time.Second, "0.5": time.Second / 2,
		"1e300": 1e9 * time.Second, "Inf": 1e9 * time.Second,
		"Fri, 02 Jan 2026 03:05:05 GMT": time.Minute, "Fri, 02 Jan 2026 03:00:00 GMT": 0,
	} {
		got, asks := After(http.Header{"Retry-After": {v}}, now)
		if asks != (want >= 0) || asks && got != want {
			t.Errorf("%q: %s, %t", v, got, asks)
		}
	}
}
