package guide

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/precedent-dev/precedent"
)

func TestPolicyGate(t *testing.T) {
	accepts(t, "gate", `{commands: [{name: test, run: "go test ./..."}, {name: lint, run: make lint && make vet}], `+
		"dependencies: head, timeout: 90s, flaky: fail}", precedent.Policy{Gate: precedent.Gate{
		Commands: []precedent.GateCommand{
			{Name: "test", Run: "go test ./..."},
			{Name: "lint", Run: "make lint && make vet"},
		},
		Dependencies: precedent.DependenciesHead, Timeout: 90 * time.Second, FailFlaky: true,
	}})
	accepts(t, "gate", "{enabled: false, flaky: allow}", precedent.Policy{Gate: precedent.Gate{Off: true}})
}

func TestPolicyGateRefused(t *testing.T) {
	many := strings.Repeat("{name: a, run: b}, ", maxGateCommands)
	for _, test := range []struct{ src, want string }{
		{"{commands: [{name: test}]}", "a row needs name and run"},
		{"{commands: [{name: test, run: [go, test]}]}", "want a command"},
		{"{commands: [{name: 'a\\b', run: go test}]}", "is not the name of a command"},
		{"{commands: [{name: \"a\", run: \"x\\ny\"}]}", "one line"},
		{"{commands: [{name: a, run: @x}]}", ""},
		{"{commands: [{name: a, run: \"x\u202ey\"}]}", "hidden character"},
		{"{commands: [{name: a, run: " + strings.Repeat("x", maxGateLine+1) + "}]}", "longer than"},
		{"{commands: [{name: a, run: b}, {name: a, run: c}]}", "more than once"},
		{"{commands: [" + many + "{name: z, run: b}]}", "at most 8"},
		{"{dependencies: all}", "is not a choice of dependencies"},
		{"{timeout: 5}", "want a duration"},
		{"{timeout: 2h}", "from 1s to 1h"},
		{"{flaky: maybe}", "what to do with flaky"},
	} {
		got, errs := ParsePolicy([]byte("gate: "+test.src+"\n"), PolicyFile, nil)
		found := false
		for _, err := range errs {
			found = found || strings.Contains(err.Error(), test.want)
		}
		if !found || !cmp.Equal(withoutBroken(got), precedent.Policy{}) {
			t.Errorf("%.80s: %+v, %v", test.src, got, errs)
		}
	}
}
