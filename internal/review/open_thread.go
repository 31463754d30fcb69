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
	"github.com/precedent-dev/precedent/internal/secret"
)

// openThread is a thread of the pull request at the head that is reviewed.
type openThread struct {
	precedent.Thread
	// remark is its finding, with secrets redacted, at its current place. It has no
	// line if its lines were deleted, or if it never had one.
	remark         precedent.Finding
	deletedComment bool // the flagged lines were deleted
	deleted        bool // their file was deleted
	changed        bool // the lines were changed or deleted
	lost           bool // the lines could not be located
}

// final reports whether people ended the thread: what they resolved, dismissed or deleted
// is not raised again. A closed conversation alone does not end it, because the author
// of the pull request can close it.
func (t *openThread) final() bool { return t.State.Final() || t.Deleted }

// provenChange reports whether the lines changed enough for the finding to be fixed.
func (t *openThread) provenChange() bool {
	return t.changed && (t.deleted || t.CodeChanged || t.Severity != "" && !isSevere(t.Severity))
}

// open reports whether the conversation is still open.
func (t *openThread) open() bool { return !t.final() && t.State != precedent.ThreadAddressed }

// waits reports whether a person waits for a reply.
func (t *openThread) waits() bool { return t.State == precedent.ThreadPending }

// answered reports whether the last message is ours, or nobody wrote any. A dismissal by
// somebody who may not dismiss is read at each push, and answered once.
func (t *openThread) answered() bool {
	return len(t.Messages) == 0 || t.Messages[len(t.Messages)-1].Own
}

// openThreads locates the threads at the head. Its order does not depend on theirs.
func (in *Input) openThreads(src *sources) []*openThread {
	analyzers := map[string]bool{}
	for _, a := range lint.All() {
		analyzers[a.Name] = true
	}
	var all []*openThread
	for _, t := range in.Threads {
		c := &openThread{Thread: t, remark: precedent.Finding{
			ID: t.Finding, Fingerprint: t.Fingerprint, Place: t.Place, Finder: t.Finder, Analyzer: analyzers[t.Finder],
			Category: t.Category, Severity: t.Severity, Title: secret.RedactText(t.Title), Body: secret.RedactText(t.Body),
			Quote: redactedQuote(t.Path, t.Quote),
		}}
		c.locate(in, src)
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b *openThread) int {
		return cmp.Or(cmp.Compare(a.remark.Path, b.remark.Path), cmp.Compare(a.remark.Start, b.remark.Start),
			cmp.Compare(a.ID, b.ID), cmp.Compare(a.Comment, b.Comment), cmp.Compare(a.Fingerprint, b.Fingerprint))
	})
	return all
}

// locate finds the thread's lines at the head. A thread in the summary can be found
// only by its quote.
func (t *openThread) locate(in *Input, src *sources) {
	at := &t.remark.Span
	*at = precedent.Span{Path: in.headName(cmp.Or(t.Current.Path, t.Path)), Side: cmp.Or(t.Side, precedent.Right)}
	changed := in.Change.File(at.Path)
	_, err := in.Read(precedent.Right, at.Path)
	t.deleted = at.Side == precedent.Right && (errors.Is(err, fs.ErrNotExist) || changed != nil &&
		changed.Status == diff.Deleted)
	line, _, _ := strings.Cut(t.Quote, "\n")
	switch {
	case t.deleted:
		t.deletedComment = true
	case t.Current.Start > 0:
		*at, t.changed = t.Current, t.Changed
		at.Side = cmp.Or(at.Side, precedent.Right)
	case t.Start > 0 && t.Commit == in.Head && in.Head != "":
		*at = t.Span
		at.Side = cmp.Or(at.Side, precedent.Right)
	case strings.TrimSpace(line) == "" && t.Start == 0:
		t.changed = in.Since != nil && in.Since.Changed != nil && in.Since.Changed.File(at.Path) != nil
	case err != nil:
		t.lost = true
	case t.Start > 0: // the commit is gone, as what was not committed always is
		file := src.file(at.Side, at.Path)
		if n := file.placed(&t.Thread); n > 0 { // of several equal lines
			at.Start, at.End = n, n+max(0, t.End-t.Start)
			break
		}
		t.deletedComment, t.CodeChanged = true, file.lacksCode(at.Path, line)
	case strings.Contains(line, "[REDACTED"): // nothing to look for
		t.lost = true
	default:
		n, ok := src.file(at.Side, at.Path).quoted(line, 0)
		t.deletedComment = !ok
		at.Start, at.End = n, n
	}
	t.changed = t.changed || t.deletedComment
}

// headName returns the name that a file has at the head.
func (in *Input) headName(path string) string {
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
