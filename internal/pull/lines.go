package pull

import (
	"slices"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
)

// replacedLines are the lines that a push put in the place of flagged ones: the added lines of hunks that
// take a flagged line away. The threads are relocated to the head from which the change starts.
func replacedLines(threads []precedent.Thread, changed *diff.Change) []precedent.Span {
	var spans []precedent.Span
	for _, t := range threads {
		if t.Current.Start == 0 || t.Current.Side != precedent.Right {
			continue
		}
		for i := range changed.Files {
			f := &changed.Files[i]
			if f.OldPath != t.Current.Path {
				continue
			}
			for h := range f.Hunks {
				spans = append(spans, replacementLines(f.Path, &f.Hunks[h], t.Current)...)
			}
		}
	}
	return spans
}

// replacementLines returns the added lines of a hunk if it deletes one of the span's.
func replacementLines(path string, h *diff.Hunk, old precedent.Span) []precedent.Span {
	deletes := slices.ContainsFunc(h.Lines, func(l diff.Line) bool {
		return l.Op == diff.Delete && l.Old >= old.Start && l.Old <= old.End
	})
	if !deletes {
		return nil
	}
	var spans []precedent.Span
	for _, l := range h.Lines {
		if l.Op == diff.Add {
			spans = append(spans, precedent.Span{Path: path, Side: precedent.Right, Start: l.New, End: l.New})
		}
	}
	return spans
}
