package guide

import (
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/text"
)

// Limits of a gate.
const (
	maxGateCommands = 8
	maxGateLine     = 500 // characters
	minGateTime     = time.Second
	maxGateTime     = time.Hour
)

var gateName = text.Pattern(`^[A-Za-z0-9][A-Za-z0-9 ._:-]{0,39}$`)

// gate reads what a policy says about the gate.
func (d *decoder) gate(n *yaml.Node, g *precedent.Gate) {
	known := []precedent.GateDependencies{
		precedent.DependenciesBase, precedent.DependenciesHead,
		precedent.DependenciesOff,
	}
	d.read(n, fields{
		"enabled":      d.onOff(&g.Off, true),
		"commands":     func(v *yaml.Node) { g.Commands = d.gateCommands(v) },
		"dependencies": choice(d, &g.Dependencies, known, "a choice of dependencies"),
		"timeout":      func(v *yaml.Node) { g.Timeout = d.duration(v, minGateTime, maxGateTime) },
		"flaky": func(v *yaml.Node) {
			s, _ := d.oneOf(v, []string{"allow", "fail"}, "what to do with flaky commands")
			g.FailFlaky = s == "fail"
		},
	})
}

func (d *decoder) gateCommands(n *yaml.Node) []precedent.GateCommand {
	var all []precedent.GateCommand
	seen := map[string]bool{}
	for i, row := range d.list(n) {
		if i == maxGateCommands {
			d.fail(row, "a gate has at most "+strconv.Itoa(maxGateCommands)+" commands", "join some with &&")
			break
		}
		var c precedent.GateCommand
		d.row(row, fields{
			"name": func(v *yaml.Node) {
				c.Name, _ = d.matching(v, gateName, "the name of a command", "write a short name such as test")
			},
			"run": func(v *yaml.Node) { c.Run = d.gateLine(v) },
		})
		if seen[c.Name] && c.Name != "" {
			d.fail(row, "the name "+quote(c.Name)+" is given more than once", "")
		}
		seen[c.Name] = true
		all = append(all, c)
	}
	return all
}

func (d *decoder) gateLine(n *yaml.Node) string {
	s := d.prose(n, "a command", maxGateLine, "move it to a script")
	if strings.Contains(s, "\n") {
		d.fail(n, "a command is one line", "join several with &&, or move them to a script")
	}
	return s
}

// duration reads a duration between two bounds; 0 if it is none.
func (d *decoder) duration(n *yaml.Node, least, most time.Duration) time.Duration {
	s, ok := d.scalar(n, "a duration such as 5m")
	if !ok {
		return 0
	}
	t, err := time.ParseDuration(s)
	if err != nil || t < least || t > most {
		short := func(t time.Duration) string { return strings.NewReplacer("m0s", "m", "h0m", "h").Replace(t.String()) }
		d.fail(n, quote(s)+" is not a duration from "+short(least)+" to "+short(most), "write a duration such as 90s or 5m")
		return 0
	}
	return t
}
