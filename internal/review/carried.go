package review

import (
	"cmp"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/lint"
)

// carried is a thread of the pull request at the head that is reviewed.
type carried struct {
	precedent.Thread
	// remark is what it says, free of secrets, with the place where it is now. It
	// has no line if its lines are gone, or if it never stood on any.
	remark  precedent.Finding
	gone    bool // the lines that it is about are not there any more
	deleted bool // nor is their file
	changed bool // the lines are not what they were, or gone
	lost    bool // nobody could look where they are
}

// settled tells whether people have ended the conversation. What they closed,
// declined or deleted is not said again. Whose closing ends one about a protected
// category, the state says.
func (t *carried) settled() bool {
	return t.State.Settled() || t.Gone || t.Closed && t.State != precedent.ThreadAddressed && !t.Category.Protected()
}

// open tells whether the conversation goes on.
func (t *carried) open() bool { return !t.settled() && t.State != precedent.ThreadAddressed }

// waits tells whether a person wrote and nobody has answered.
func (t *carried) waits() bool { return t.State == precedent.ThreadPending }

// answered tells whether we had the last word in it. A "no" of somebody who cannot
// end the conversation is heard at each push, and acknowledged once.
func (t *carried) answered() bool {
	return len(t.Messages) > 0 && t.Messages[len(t.Messages)-1].Own
}

// carry brings the threads to the head, in an order that does not depend on theirs.
func (in *Input) carry(src *sources) []*carried {
	analyzers := map[string]bool{}
	for _, a := range lint.All() {
		analyzers[a.Name] = true
	}
	var all []*carried
	for _, t := range in.Threads {
		c := &carried{Thread: t, remark: precedent.Finding{
			ID: t.Finding, Fingerprint: t.Fingerprint, Place: t.Place, Finder: t.Finder, Analyzer: analyzers[t.Finder],
			Category: t.Category, Severity: t.Severity, Title: redacted(t.Title), Body: redacted(t.Body), Quote: redacted(t.Quote),
		}}
		c.locate(in, src)
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b *carried) int {
		return cmp.Or(cmp.Compare(a.remark.Path, b.remark.Path), cmp.Compare(a.remark.Start, b.remark.Start),
			cmp.Compare(a.ID, b.ID), cmp.Compare(a.Comment, b.Comment), cmp.Compare(a.Fingerprint, b.Fingerprint))
	})
	return all
}

// locate finds out where the thread's lines are. One that stands in the summary
// has its quote alone to be found by.
func (t *carried) locate(in *Input, src *sources) {
	at := &t.remark.Span
	*at = precedent.Span{Path: in.now(cmp.Or(t.Now.Path, t.Path)), Side: cmp.Or(t.Side, precedent.Right)}
	file := in.Change.File(at.Path)
	_, err := in.Read(precedent.Right, at.Path)
	t.deleted = at.Side == precedent.Right && (errors.Is(err, fs.ErrNotExist) || file != nil && file.Status == diff.Deleted)
	line, _, _ := strings.Cut(t.Quote, "\n")
	switch {
	case t.deleted:
		t.gone = true
	case t.Now.Start > 0:
		*at, t.changed = t.Now, t.Changed
		at.Side = cmp.Or(at.Side, precedent.Right)
	case t.Start > 0 && t.Commit == in.Head && in.Head != "":
		*at = t.Span
		at.Side = cmp.Or(at.Side, precedent.Right)
	case strings.TrimSpace(line) == "" && t.Start == 0:
		t.changed = in.Since != nil && in.Since.Changed != nil && in.Since.Changed.File(at.Path) != nil
	case err != nil:
		t.lost = true
	case t.Start > 0:
		t.gone = true
	case strings.Contains(line, "[REDACTED"): // nothing to look for
		t.lost = true
	default:
		n, ok := src.file(at.Side, at.Path).quoted(line, 0)
		t.gone = !ok
		at.Start, at.End = n, n
	}
	t.changed = t.changed || t.gone
}

// now is the name that a file has at the head.
func (in *Input) now(path string) string {
	changes := []*diff.Change{in.Change}
	if in.Since != nil && in.Since.Changed != nil {
		changes = append(changes, in.Since.Changed)
	}
	for _, c := range changes {
		if c.File(path) != nil {
			return path
		}
	}
	for _, c := range changes {
		for i := range c.Files {
			if f := &c.Files[i]; f.Status == diff.Renamed && f.OldPath == path {
				return f.Path
			}
		}
	}
	return path
}
