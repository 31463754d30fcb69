package server

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	vm "github.com/VictoriaMetrics/metrics"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/queue"
)

// metrics are what /metrics shows. No label has a value that a repository can choose.
type metrics struct {
	set   *vm.Set
	stats func(context.Context) (queue.Stats, error)
}

// finderNames are the values of the label finder; analyzers, linters and others are "other".
var finderNames = []string{"architecture", "bugs", "guidelines", "performance", "security", "style", "tests", "types"}

// verdicts and gateStatuses are the values of those labels.
var (
	verdicts = []precedent.Verdict{
		precedent.Clean, precedent.Findings, precedent.NoFindings, precedent.Partial, precedent.Failed, precedent.Skipped,
	}
	gateStatuses = []string{"passed", "failed", "flaky", "timeout", "resource", "skipped"}
)

var queueStates = []string{"ready", "waiting", "running", "dead"}

var secondsBuckets = []float64{0.1, 0.5, 1, 5, 10, 30, 60, 120, 300, 600, 1800}

func newMetrics(version string, quota func() forge.Quota, stats func(context.Context) (queue.Stats, error)) *metrics {
	m := &metrics{set: vm.NewSet(), stats: stats}
	m.set.NewFloatCounter("precedent_cost_dollars_total")
	m.histogram("precedent_review_seconds")
	m.set.NewGauge(series("precedent_build_info", "version", version), func() float64 { return 1 })
	m.set.NewGauge("precedent_forge_quota_limit", func() float64 { return float64(quota().Limit) })
	m.set.NewGauge("precedent_forge_quota_left", func() float64 { return float64(quota().Left) })
	m.set.RegisterMetricsWriter(m.writeQueue)
	return m
}

// series is a metric with labels: names and values in turn.
func series(name string, labels ...string) string {
	var pairs []string
	for i := 0; i < len(labels); i += 2 {
		pairs = append(pairs, fmt.Sprintf("%s=%q", labels[i], labels[i+1]))
	}
	if pairs == nil {
		return name
	}
	return name + "{" + strings.Join(pairs, ",") + "}"
}

func (m *metrics) count(name string, n int, labels ...string) {
	m.set.GetOrCreateCounter(series(name, labels...)).Add(max(n, 0))
}

func (m *metrics) histogram(name string, labels ...string) *vm.PrometheusHistogram {
	return m.set.GetOrCreatePrometheusHistogramExt(series(name, labels...), secondsBuckets)
}

// statsTime bounds a look at the queue.
const statsTime = 5 * time.Second

// show answers a request of somebody who may look.
func (m *metrics) show(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	m.set.WritePrometheus(w)
	vm.WriteProcessMetrics(w)
}

func (m *metrics) Job(kind queue.Kind, result string) {
	m.count("precedent_jobs_total", 1, "kind", string(kind), "result", result)
}

func (m *metrics) Poll(result string) { m.count("precedent_polls_total", 1, "result", result) }

func (m *metrics) Webhook(result string) { m.count("precedent_webhooks_total", 1, "result", result) }

func (m *metrics) Review(r *precedent.Review) {
	m.count("precedent_reviews_total", 1, "verdict", oneOf(r.Verdict, verdicts))
	m.histogram("precedent_review_seconds").Update(float64(r.TookMS) / 1000)
	for _, f := range r.Finders {
		m.histogram("precedent_finder_seconds", "finder", oneOf(f.Name, finderNames)).Update(float64(f.TookMS) / 1000)
	}
	m.count("precedent_tokens_total", r.Usage.InputTokens, "kind", "input") // all of it
	m.count("precedent_tokens_total", r.Usage.CachedTokens, "kind", "cached")
	m.count("precedent_tokens_total", r.Usage.CacheWriteTokens, "kind", "cache-write")
	m.count("precedent_tokens_total", r.Usage.OutputTokens, "kind", "output")
	m.set.GetOrCreateFloatCounter("precedent_cost_dollars_total").Add(max(r.CostUSD, 0))
	if r.Gate != nil {
		status, _, _ := strings.Cut(r.Gate.Status, ":") // words follow
		m.count("precedent_gates_total", 1, "status", oneOf(status, gateStatuses))
	}
}

// oneOf returns a value if it is a label, else "other".
func oneOf[T ~string](value T, labels []T) string {
	if slices.Contains(labels, value) {
		return string(value)
	}
	return "other"
}

// writeQueue counts the jobs. If the database fails, it shows none.
func (m *metrics) writeQueue(to io.Writer) {
	ctx, cancel := context.WithTimeout(context.Background(), statsTime)
	defer cancel()
	s, err := m.stats(ctx)
	if err != nil {
		return
	}
	gauge := func(value float64, name string, labels ...string) {
		fmt.Fprintf(to, "%s %g\n", series(name, labels...), value)
	}
	for _, kind := range queue.Kinds {
		k := s.Kinds[kind]
		for i, n := range []int{k.Ready, k.Waiting, k.Running, k.Dead} {
			gauge(float64(n), "precedent_queue_jobs", "kind", string(kind), "state", queueStates[i])
		}
	}
	for _, kind := range queue.Kinds {
		gauge(s.Kinds[kind].Oldest.Seconds(), "precedent_queue_oldest_seconds", "kind", string(kind))
	}
	gauge(float64(s.Dead), "precedent_dead_letters")
}
