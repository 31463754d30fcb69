package guide

import (
	"strings"
	"testing"
	"time"

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
	refuses(t, "gate", "{commands: [{name: test}]}", "{commands: [{name: test, run: [go, test]}]}",
		"{commands: [{name: 'a\\b', run: go test}]}", "{commands: [{name: \"a\", run: \"x\\ny\"}]}", "{commands: [{name: a, run: @x}]}",
		"{commands: [{name: a, run: \"x\u202ey\"}]}", "{commands: [{name: a, run: "+strings.Repeat("x", maxGateLine+1)+"}]}",
		"{commands: [{name: a, run: b}, {name: a, run: c}]}", "{commands: ["+many+"{name: z, run: b}]}", "{dependencies: all}",
		"{timeout: 5}", "{timeout: 2h}", "{flaky: maybe}")
}
