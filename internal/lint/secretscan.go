package lint

import (
	"errors"

	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/secret"
)

// Secrets are the credentials in the lines of a change: what to report, and what must not
// leave the process. A review needs both and scans once.
type Secrets struct {
	hunks map[*diff.Hunk]scannedHunk
}

type scannedHunk struct {
	found   []secret.Match // in the lines of the new side
	err     error          // why not all of both sides was searched
	leaving []secret.Match
}

// ScanSecrets scans the new and the old side of each hunk. A side without lines of its own
// is not scanned. What costs too much to scan is missing.
func ScanSecrets(c *diff.Change) *Secrets {
	s := &Secrets{hunks: map[*diff.Hunk]scannedHunk{}}
	var scanner secret.Scanner
	for i := range c.Files {
		f := &c.Files[i]
		for h := range f.Hunks {
			var scanned scannedHunk
			if lines, changed := sideLines(&f.Hunks[h], diff.Add); changed {
				scanned.found, scanned.leaving, scanned.err = scanner.Both(f.Path, texts(lines))
			}
			if lines, changed := sideLines(&f.Hunks[h], diff.Delete); changed {
				old, err := scanner.Outgoing(f.Path, texts(lines))
				scanned.leaving, scanned.err = append(scanned.leaving, old...), errors.Join(scanned.err, err)
			}
			s.hunks[&f.Hunks[h]] = scanned
		}
	}
	return s
}

// Unscanned reports whether not all of a hunk of the change was searched, because that cost too much.
func (s *Secrets) Unscanned(h *diff.Hunk) bool { return s.hunks[h].err != nil }

// Leaving returns what must not leave the process of a hunk of the change.
func (s *Secrets) Leaving(h *diff.Hunk) []secret.Match { return s.hunks[h].leaving }

// sideLines returns the lines of one side of a hunk, with the context, and whether any is
// added or deleted.
func sideLines(h *diff.Hunk, op diff.Op) (lines []diff.Line, changed bool) {
	for _, l := range h.Lines {
		if l.Op == op || l.Op == diff.Context {
			lines = append(lines, l)
			changed = changed || l.Op == op
		}
	}
	return lines, changed
}

func texts(lines []diff.Line) []string {
	out := make([]string, len(lines))
	for i := range lines {
		out[i] = lines[i].Text
	}
	return out
}
