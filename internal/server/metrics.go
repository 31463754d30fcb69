package server

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/queue"
)

// metrics are what /metrics shows. No label has a value that a repository can choose.
type metrics struct {
	registry *prometheus.Registry

	reviews  *prometheus.CounterVec   // verdict
	review   prometheus.Histogram     // seconds
	finders  *prometheus.HistogramVec // finder
	tokens   *prometheus.CounterVec   // kind
	cost     prometheus.Counter
	gates    *prometheus.CounterVec // status
	webhooks *prometheus.CounterVec // result
	polls    *prometheus.CounterVec // result
	jobs     *prometheus.CounterVec // kind, result
}

// finderNames are the values of the label finder; analyzers, linters and others are "other".
var finderNames = []string{"architecture", "bugs", "guidelines", "performance", "security", "style", "tests", "types"}

// states of the gauge of jobs.
var queueStates = []string{"ready", "waiting", "running", "dead"}

func newMetrics(version string, quota func() forge.Quota, stats func(context.Context) (queue.Stats, error)) *metrics {
	seconds := []float64{0.1, 0.5, 1, 5, 10, 30, 60, 120, 300, 600, 1800}
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "precedent_" + name, Help: help}, labels)
	}
	m := &metrics{
		registry: prometheus.NewRegistry(),
		reviews:  counter("reviews_total", "Reviews by verdict.", "verdict"),
		review:   prometheus.NewHistogram(prometheus.HistogramOpts{Name: "precedent_review_seconds", Help: "How long reviews took.", Buckets: seconds}),
		finders:  prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "precedent_finder_seconds", Help: "How long finders took.", Buckets: seconds}, []string{"finder"}),
		tokens:   counter("tokens_total", "Tokens by kind: input (all of it), cached, cache-write, output.", "kind"),
		cost:     prometheus.NewCounter(prometheus.CounterOpts{Name: "precedent_cost_dollars_total", Help: "Cost of engines in US dollars."}),
		gates:    counter("gates_total", "Gates by status.", "status"),
		webhooks: counter("webhooks_total", "Requests of webhooks by result.", "result"),
		polls:    counter("polls_total", "Polls of repositories by result.", "result"),
		jobs:     counter("jobs_total", "Executions of jobs by kind and result.", "kind", "result"),
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{Name: "precedent_build_info", Help: "The version of this program.", ConstLabels: prometheus.Labels{"version": version}})
	build.Set(1)
	m.registry.MustRegister(
		m.reviews, m.review, m.finders, m.tokens, m.cost, m.gates, m.webhooks, m.polls, m.jobs, build,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		gaugeFunc("precedent_forge_quota_limit", "Requests that the forge allows in a period; 0 if it does not say.", func() float64 { return float64(quota().Limit) }),
		gaugeFunc("precedent_forge_quota_left", "Requests that are left of it.", func() float64 { return float64(quota().Left) }),
		queueCollector{stats},
	)
	return m
}

func gaugeFunc(name, help string, value func() float64) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value)
}

// Handler shows the metrics.
func (m *metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4, Timeout: 10 * time.Second})
}

// Review counts a review.
func (m *metrics) Review(r *precedent.Review) {
	m.reviews.WithLabelValues(verdictLabel(r.Verdict)).Inc()
	m.review.Observe(float64(r.TookMS) / 1000)
	for _, f := range r.Finders {
		name := f.Name
		if !slices.Contains(finderNames, name) {
			name = "other"
		}
		m.finders.WithLabelValues(name).Observe(float64(f.TookMS) / 1000)
	}
	for kind, n := range map[string]int{"input": r.Usage.InputTokens, "cached": r.Usage.CachedTokens, "cache-write": r.Usage.CacheWriteTokens, "output": r.Usage.OutputTokens} {
		m.tokens.WithLabelValues(kind).Add(float64(max(n, 0)))
	}
	m.cost.Add(max(r.CostUSD, 0))
	if r.Gate != nil {
		m.gates.WithLabelValues(gateLabel(r.Gate.Status)).Inc()
	}
}

func verdictLabel(v precedent.Verdict) string {
	if slices.Contains([]precedent.Verdict{precedent.Clean, precedent.Findings, precedent.Partial, precedent.Failed, precedent.Skipped}, v) {
		return string(v)
	}
	return "other"
}

// gateLabel is the status of a gate without the words after it.
func gateLabel(status string) string {
	status, _, _ = strings.Cut(status, ":")
	if slices.Contains([]string{"passed", "failed", "flaky", "timeout", "resource", "skipped"}, status) {
		return status
	}
	return "other"
}

// queueCollector counts jobs when somebody asks.
type queueCollector struct {
	stats func(context.Context) (queue.Stats, error)
}

var (
	jobsGauge   = prometheus.NewDesc("precedent_queue_jobs", "Jobs by kind and state.", []string{"kind", "state"}, nil)
	oldestGauge = prometheus.NewDesc("precedent_queue_oldest_seconds", "How long the job of a kind that waits longest has waited.", []string{"kind"}, nil)
	deadGauge   = prometheus.NewDesc("precedent_dead_letters", "Jobs that failed for good.", nil, nil)
)

// statsTime bounds a look at the queue.
const statsTime = 5 * time.Second

func (c queueCollector) Describe(to chan<- *prometheus.Desc) {
	to <- jobsGauge
	to <- oldestGauge
	to <- deadGauge
}

// Collect counts the jobs. If the database fails, it shows none.
func (c queueCollector) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), statsTime)
	defer cancel()
	s, err := c.stats(ctx)
	if err != nil {
		return
	}
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	for _, kind := range queue.Kinds {
		k := s.Kinds[kind]
		for i, n := range []int{k.Ready, k.Waiting, k.Running, k.Dead} {
			gauge(jobsGauge, float64(n), string(kind), queueStates[i])
		}
		gauge(oldestGauge, k.Oldest.Seconds(), string(kind))
	}
	gauge(deadGauge, float64(s.Dead))
}
