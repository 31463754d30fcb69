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

// fix reads what a fix round may change.
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
		default:
			d.fail(key, "unknown key "+quote(key.Value), nearest(key.Value, []string{"enabled", "lock_files", "max_files", "max_lines", "ungated"}))
		}
	}
}
