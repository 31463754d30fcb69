package review

import (
	"fmt"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
)

// isRepository reports whether what is left out of a snapshot is another repository inside the work tree, which git names
// with a slash. Like a submodule it does not belong to the change.
func isRepository(s precedent.SkippedFile) bool { return strings.HasSuffix(s.Path, "/") }

// coverage returns what of the change was read. A hunk counts as read if every
// specialist got valid answers to all requests that show it; without specialists,
// unless each analyzer that had to read its file failed. A hunk that an earlier review
// read is not read again. Files that are skipped only for what they say of themselves
// count as truncated, and come first.
func coverage(in *Input, p *plan, reports []Report) precedent.Coverage {
	c := precedent.Coverage{Files: len(in.Change.Files) + len(in.Skipped)}
	for _, s := range in.Skipped {
		if isRepository(s) {
			c.Skipped = append(c.Skipped, s)
			continue
		}
		c.NotChecked = append(c.NotChecked, precedent.NotChecked{Kind: precedent.FileKind, Path: s.Path, Reason: s.Reason})
	}
	for _, rep := range reports {
		c.NotChecked = append(c.NotChecked, rep.NotChecked...)
	}
	var excused []precedent.TruncatedHunk
	for i := range in.Change.Files {
		f := &in.Change.Files[i]
		c.Hunks += len(f.Hunks)
		switch {
		case f.Excused:
			excused = append(excused, precedent.TruncatedHunk{Path: f.Path, Reason: f.Skip + ", which only the file itself says"})
			continue
		case f.TooLarge:
			c.Truncated = append(c.Truncated, precedent.TruncatedHunk{Path: f.Path, Reason: f.Skip})
			continue
		case f.Skip != "":
			c.Skipped = append(c.Skipped, precedent.SkippedFile{Path: f.Path, Reason: f.Skip})
			c.Truncated = append(c.Truncated, unscanned(f)...)
			continue
		case p.ignored[i]:
			c.Skipped = append(c.Skipped, precedent.SkippedFile{Path: f.Path, Reason: "ignored by the repository's policy"})
			continue
		}
		for h := range f.Hunks {
			ref, why := diff.HunkRef{File: i, Hunk: h}, f.Hunks[h].Cut
			if why == "" && in.secrets != nil && in.secrets().Unscanned(&f.Hunks[h]) {
				why = "so much text that looks like credentials that not all was searched, and what was not is withheld"
			}
			if why == "" && !p.before[ref] {
				why = p.unread(f, ref, reports)
			}
			switch {
			case why == "" && p.before[ref]:
				c.HunksBefore++
			case why == "":
				c.HunksRead++
			default:
				c.Truncated = append(c.Truncated, precedent.TruncatedHunk{Path: f.Path, Hunk: h + 1, Reason: why})
			}
		}
	}
	c.Truncated = append(excused, c.Truncated...)
	return c
}

// unscanned returns the hunks of a skipped file that have text beyond a limit: nothing looked
// for credentials there.
func unscanned(f *diff.File) []precedent.TruncatedHunk {
	var cut []precedent.TruncatedHunk
	for h := range f.Hunks {
		if why := f.Hunks[h].Cut; why != "" {
			cut = append(cut, precedent.TruncatedHunk{Path: f.Path, Hunk: h + 1, Reason: why + ", not searched for credentials"})
		}
	}
	return cut
}

// unread returns why a hunk was not read, or "" if it was.
func (p *plan) unread(file *diff.File, ref diff.HunkRef, reports []Report) string {
	if !asked(reports) {
		return unreadByAnalyzers(file.Path, reports)
	}
	if p.long[ref] {
		return lineTooLong
	}
	carriers := p.carriers[ref]
	for _, rep := range reports {
		switch {
		case len(rep.Answered) == 0:
		case len(carriers) == 0:
			return fmt.Sprintf("beyond the limit of %d tokens for a review", reviewTokens)
		default:
			for _, s := range carriers {
				if !rep.Answered[s] {
					return fmt.Sprintf("%s did not answer: %s", rep.Run.Name, rep.Run.Status)
				}
			}
		}
	}
	return ""
}

// unreadByAnalyzers returns why no analyzer read a file: the first that failed on it;
// "" if none failed, or another one read it.
func unreadByAnalyzers(path string, reports []Report) string {
	why := ""
	for i := range reports {
		rep := &reports[i]
		if rep.hasRead(path) {
			return ""
		}
		if why == "" && rep.failedOn(path) {
			why = fmt.Sprintf("%s ended with %s", rep.Run.Name, rep.Run.Status)
		}
	}
	return why
}
