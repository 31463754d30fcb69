package guide

import (
	"time"

	"gopkg.in/yaml.v3"

	"github.com/precedent-dev/precedent"
)

// The most that a fix may change, and the default: a policy can only lower it.
const (
	MaxFixFiles = 20
	MaxFixLines = 500
)

// Bounds of the cycle of reviews and fixes that a policy may set.
const (
	mostCycles   = 20
	minCITimeout = time.Minute
	maxCITimeout = 6 * time.Hour
)

// fix reads what a fix round may change, and how long its cycle goes on.
func (d *decoder) fix(n *yaml.Node, f *precedent.FixPolicy) {
	for key, value := range d.mapping(n) {
		switch key.Value {
		case "enabled":
			if on, ok := d.boolean(value); ok {
				f.Off = !on
			}
		case "lock_files":
			f.LockFiles, _ = d.boolean(value)
		case "ungated":
			f.Ungated, _ = d.boolean(value)
		case "max_files":
			f.MaxFiles, _ = d.number(value, 1, MaxFixFiles)
		case "max_lines":
			f.MaxLines, _ = d.number(value, 1, MaxFixLines)
		case "max_cycles":
			f.MaxCycles, _ = d.number(value, 1, mostCycles)
		case "ci_timeout":
			f.CITimeout = d.duration(value, minCITimeout, maxCITimeout)
		default:
			d.fail(key, "unknown key "+quote(key.Value), nearest(key.Value, []string{"ci_timeout", "enabled", "lock_files", "max_cycles", "max_files", "max_lines", "ungated"}))
		}
	}
}
