package forgetest

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/needs"
)

// mostTries bounds the attempts of one request.
const mostTries = 8

// failure is what a server answers to one request, and what the forge makes of it.
type failure struct {
	name   string
	faults []Fault
	want   forge.ErrorKind // empty for success
	waits  time.Duration   // if they are known; less than 0 for none
}

func failures() []failure {
	return []failure{
		{"5xx, then not", []Fault{{Status: 502, Times: 3}}, "", 0},
		{"5xx without end", []Fault{{Status: 503, Times: 50}}, forge.KindServer, 0},
		{"5xx that says when", []Fault{{Status: 503, Header: map[string]string{"Retry-After": "17"}}}, "", 17 * time.Second},
		{"5xx that says much later", []Fault{{Status: 503, Header: map[string]string{"Retry-After": "3600"}, Times: 50}}, forge.KindServer, -1},
		{"cut body", []Fault{{Cut: 40, Times: 2}}, "", 0},
		{"cut body without end", []Fault{{Cut: 40, Times: 50}}, forge.KindNetwork, 0},
		{"broken connection", []Fault{{Drop: true, Times: 2}}, "", 0},
		{"broken connection without end", []Fault{{Drop: true, Times: 50}}, forge.KindNetwork, 0},
		{"no JSON", []Fault{{Status: 200, Body: "<html>sign on</html>"}}, forge.KindAnswer, 0},
		{"other JSON", []Fault{{Status: 200, Body: `{"number":"one"}`}}, forge.KindAnswer, 0},
		{"JSON of nothing", []Fault{{Status: 200, Body: `{}`}}, forge.KindAnswer, 0},
		{"null", []Fault{{Status: 200, Body: `null`}}, forge.KindAnswer, 0},
		{"empty", []Fault{{Status: 200}}, forge.KindAnswer, 0},
		{"wrong token", []Fault{{Status: 401, Body: `{"message":"Bad credentials"}`}}, forge.KindAuth, 0},
		{
			"not allowed",
			[]Fault{{Status: 403, Body: `{"message":"Resource not accessible by integration"}`}},
			forge.KindAuth,
			0,
		},
		{"gone", []Fault{{Status: 410}}, forge.KindNotFound, 0},
		{
			"asked to wait by 429",
			[]Fault{{Status: 429, Header: map[string]string{"Retry-After": "42"}, Times: 2}},
			"",
			84 * time.Second,
		},
		{"asked to wait by 403", []Fault{{Status: 403, Header: map[string]string{"Retry-After": "7"}}}, "", 7 * time.Second},
		{
			"asked to wait for long",
			[]Fault{{Status: 429, Header: map[string]string{"Retry-After": "3601"}, Times: 50}},
			forge.KindRate, -1,
		},
		{
			"asked to wait again and again",
			[]Fault{{Status: 429, Header: map[string]string{"Retry-After": "1"}, Times: 50}},
			forge.KindRate, 0,
		},
		{
			"redirect elsewhere",
			[]Fault{{Status: 302, Header: map[string]string{"Location": "http://127.0.0.1:1/x"}}},
			forge.KindRefused, 0,
		},
		{
			"redirect beside the API",
			[]Fault{{Status: 302, Header: map[string]string{"Location": "/login"}}},
			forge.KindRefused, 0,
		},
	}
}

// faults tests failures of the server.
func faults(t *testing.T, build Build) {
	t.Helper()
	for _, test := range failures() {
		t.Run(test.name, func(t *testing.T) {
			s := NewStage(t)
			s.World.Add(Shop())
			f := build(t, s)
			s.Script.Plan(test.faults...)
			got, err := f.PullRequest(t.Context(), repo(f), 1)
			requests := s.Script.Requests()
			if forge.KindOf(err) != test.want {
				t.Fatalf("%v, want kind %q", err, test.want)
			}
			if err == nil && !cmp.Equal(s.withHost(f, Shop().Pulls[1].PullRequest), got, addresses...) {
				t.Errorf("got %+v", got)
			}
			if len(requests) > mostTries {
				t.Errorf("%d requests", len(requests))
			}
			if err == nil && s.Script.Left() > 0 {
				t.Errorf("%d planned faults did not happen", s.Script.Left())
			}
			var waited time.Duration
			for _, w := range s.Clock.Waits() {
				waited += w
			}
			if test.waits != 0 && waited != max(test.waits, 0) {
				t.Errorf("waited %s, want %s", waited, test.waits)
			}
			checkErrorText(t, err)
		})
	}
	runAll(t, build, []onShop{{"rate", sharesRateLimit}, {"cancelled", cancelled}, {"lag", lagging}})
}

// checkErrorText checks that an error names the operation, is on one line, and contains no credential.
func checkErrorText(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		return
	}
	if m := err.Error(); !strings.Contains(m, "acme/shop#1") || strings.ContainsAny(m, "\n\r") ||
		strings.Contains(m, Secret) {
		t.Errorf("the error is %q", m)
	}
}

// sharesRateLimit: a wait that the server demands applies to other requests, too.
func sharesRateLimit(t *testing.T, s *Stage, f forge.Forge) {
	s.Script.Plan(Fault{Status: 429, Header: map[string]string{"Retry-After": "900"}})
	start := s.Clock.Now()
	_, err := f.PullRequest(t.Context(), repo(f), 1)
	until := retry(err)
	if forge.KindOf(err) != forge.KindRate || !until.Equal(start.Add(900*time.Second)) {
		t.Errorf("%v, to be asked again at %s", err, until)
	}
	s.Clock.Pass(899 * time.Second)
	if _, err := f.Comments(t.Context(), repo(f), 1); err != nil {
		t.Error(err)
	}
	if w := s.Clock.Waits(); !cmp.Equal(w, []time.Duration{time.Second}) {
		t.Errorf("waited %v, want the last second", w)
	}
}

func retry(err error) time.Time {
	if e, ok := err.(*forge.Error); ok { //nolint:errorlint // errors of a forge are of this type, unwrapped
		return e.Retry
	}
	return time.Time{}
}

// cancelled: canceling a wait returns at once.
func cancelled(t *testing.T, s *Stage, f forge.Forge) {
	never := make(chan struct{})
	defer close(never)
	s.Script.Plan(Fault{Hold: never})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err := f.PullRequest(ctx, repo(f), 1)
	if forge.KindOf(err) != forge.KindNetwork || ctx.Err() == nil || len(s.Clock.Waits()) != 0 {
		t.Errorf("%v after the waits %v", err, s.Clock.Waits())
	}
}

// lagging: a list without the newest entry is accepted, and not used instead of a newer one.
func lagging(t *testing.T, s *Stage, f forge.Forge) {
	s.Script.Plan(Fault{Lag: 1, Times: 3})
	early, err := f.Comments(t.Context(), repo(f), 1)
	needs.NoError(t, err)
	late, err := f.Comments(t.Context(), repo(f), 1)
	needs.NoError(t, err)
	p := Shop().Pulls[1]
	want := s.told(p, p.Comments)
	if len(early) >= len(want) {
		t.Errorf("%d comments of %d at first", len(early), len(want))
	}
	if d := cmp.Diff(want, late, addresses...); d != "" {
		t.Errorf("later (-want +got):\n%s", d)
	}
}
