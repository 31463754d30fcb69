package main

import (
	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
)

// lineURL makes the addresses of lines on the forge as people look at them: of the
// reviewed head, and of its base for lines that the change took away. There is
// none where the forge has no pages, and where nobody knows what the file was
// called before.
func (p *publication) lineURL(r *precedent.Review, change *diff.Change) func(precedent.Span) string {
	return func(s precedent.Span) string {
		commit, path := r.Head, s.Path
		if s.Side == precedent.Left {
			if change == nil || change.File(s.Path) == nil {
				return ""
			}
			commit, path = r.Base, change.File(s.Path).OldPath
		}
		return p.station.LineURL(p.desk.named, commit, precedent.Span{Path: path, Side: s.Side, Start: s.Start, End: s.End})
	}
}
