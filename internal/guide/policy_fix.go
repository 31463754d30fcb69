package guide

import (
	"gopkg.in/yaml.v3"

	"github.com/precedent-dev/precedent"
)

// The most that a fix may change, and the default: a policy can only lower it.
const (
	MaxFixFiles = 20
	MaxFixLines = 500
)

// readFix reads what a fix round may change.
func readFix(d *decoder, n *yaml.Node, p *precedent.Policy) {
	for key, value := range d.mapping(n) {
		switch key.Value {
		case "enabled":
			if on, ok := d.boolean(value); ok {
				p.Fix.Off = !on
			}
		case "lock_files":
			p.Fix.LockFiles, _ = d.boolean(value)
		case "ungated":
			p.Fix.Ungated, _ = d.boolean(value)
		case "max_files":
			p.Fix.MaxFiles, _ = d.number(value, 1, MaxFixFiles)
		case "max_lines":
			p.Fix.MaxLines, _ = d.number(value, 1, MaxFixLines)
		default:
			d.fail(key, "unknown key "+quote(key.Value), nearest(key.Value, []string{"enabled", "lock_files", "max_files", "max_lines", "ungated"}))
		}
	}
}
