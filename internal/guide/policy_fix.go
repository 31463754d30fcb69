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
	d.read(n, fields{
		"enabled":    d.onOff(&f.Off, true),
		"lock_files": d.onOff(&f.LockFiles, false),
		"ungated":    d.onOff(&f.Ungated, false),
		"max_files":  d.whole(&f.MaxFiles, MaxFixFiles),
		"max_lines":  d.whole(&f.MaxLines, MaxFixLines),
		"max_cycles": d.whole(&f.MaxCycles, mostCycles),
		"ci_timeout": func(v *yaml.Node) { f.CITimeout = d.duration(v, minCITimeout, maxCITimeout) },
	})
}
