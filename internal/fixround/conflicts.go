package fixround

import (
	"context"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent/internal/git"
	"github.com/precedent-dev/precedent/internal/text"
)

// Conflicts returns the files of a merge whose conflicts an engine may resolve. The error is a *RefusalError
// if there are others: files that one side deleted or that are not text, and those that no engine may change.
func Conflicts(m git.Merge, l Limits) ([]string, error) {
	var no refusal
	var paths []string
	for at := 0; at < len(m.Conflicts); {
		end := at
		for end < len(m.Conflicts) && m.Conflicts[end].Path == m.Conflicts[at].Path {
			end++
		}
		stages := m.Conflicts[at:end]
		p := stages[0].Path
		at = end
		paths = append(paths, p)
		switch why := forbidden(p, l); {
		case why != "":
			no.add("%s: %s", shown(p), why)
		case !bothHave(stages):
			no.add("%s: both sides did not keep it as a file of one kind", shown(p))
		}
	}
	if len(paths) > l.Files {
		no.add("%d files have conflicts; at most %d may", len(paths), l.Files)
	}
	return paths, no.err()
}

// bothHave tells whether all versions of a file are regular ones of the same mode, of which both sides
// have one.
func bothHave(stages []git.Stage) bool {
	sides := 0
	for _, s := range stages {
		if s.Mode != stages[0].Mode || s.Mode != git.ModeOf(true) && s.Mode != git.ModeOf(false) {
			return false
		}
		if s.Stage > 1 {
			sides++
		}
	}
	return sides == 2
}

// Resolved returns the tree of the copy, which is that of a merge of theirs into ours, with the
// conflicts resolved in exactly these files. An error is a *RefusalError if a conflict is left, or if
// anything else was changed.
func (c *Copy) Resolved(ctx context.Context, paths []string, ours, theirs string, l Limits) (tree string, err error) {
	edits, err := c.edits(ctx, l)
	if err != nil {
		return "", err
	}
	var no refusal
	added := 0
	blobs := c.repo.Blobs(ctx)
	for _, e := range edits {
		if e.Delete || !slices.Contains(paths, e.Path) {
			no.add("%s has no conflict, or was deleted", shown(e.Path))
			continue
		}
		before, err := blobs.ReadID(c.had[e.Path].ID, maxCopied)
		if err != nil {
			return "", err
		}
		n, why := unresolved(string(before), string(e.Content), ours, theirs)
		if why != "" {
			no.add("%s: %s", shown(e.Path), why)
		}
		added += n
	}
	if added > l.Lines {
		no.add("the resolution has %d lines that no side has; at most %d may be added", added, l.Lines)
	}
	for _, p := range paths {
		if !slices.ContainsFunc(edits, func(e git.Edit) bool { return e.Path == p }) {
			no.add("%s: its conflict is not resolved", shown(p))
		}
	}
	if err := no.err(); err != nil {
		return "", err
	}
	return c.repo.EditTree(ctx, c.tree, edits)
}

// region is one conflict of a file.
type region struct {
	before string         // the lines above it that are in no conflict
	sides  map[string]int // how often each line is in the text of its sides, without its end
}

// separator is the line between the sides of a conflict, which also underlines headings.
const separator = "======="

// regions divides a file with conflicts, whose marks have the ids of the commits as labels. rest
// are the lines after the last one. ok is false if the marks do not match.
func regions(file, ours, theirs string) (all []region, rest string, ok bool) {
	var outside strings.Builder
	inside := false
	var sides map[string]int
	for line := range strings.Lines(file) {
		switch bare := strings.TrimRight(line, "\r\n"); {
		case !inside && bare == "<<<<<<< "+ours:
			inside, sides = true, map[string]int{}
		case inside && bare == ">>>>>>> "+theirs:
			if sides[separator] == 0 {
				return nil, "", false
			}
			sides[separator]--
			all = append(all, region{outside.String(), sides})
			outside.Reset()
			inside = false
		case inside:
			sides[bare]++
		default:
			outside.WriteString(line)
		}
	}
	return all, outside.String(), !inside && len(all) > 0
}

// unresolved returns why a file with conflicts was not resolved; empty if it was: the lines outside of
// the conflicts are as they were, and no mark is left. A line that only looks like a mark may stay if
// a side had it. added counts the lines of the resolution that no side had.
func unresolved(before, after, ours, theirs string) (added int, why string) {
	all, rest, ok := regions(before, ours, theirs)
	if !ok {
		return 0, "its conflict has no marks"
	}
	const outside = "lines outside of the conflict were changed"
	left, ok := strings.CutPrefix(after, all[0].before)
	if !ok || !strings.HasSuffix(left, rest) {
		return 0, outside
	}
	left = strings.TrimSuffix(left, rest)
	for i, r := range all {
		resolution := left
		if i+1 < len(all) {
			next := all[i+1].before
			at := strings.Index("\n"+left, "\n"+next)
			if at < 0 {
				return 0, outside
			}
			resolution, left = left[:at], left[at+len(next):]
		}
		if resolution != "" && !strings.HasSuffix(resolution, "\n") && (i+1 < len(all) || rest != "") {
			return 0, outside
		}
		for line := range strings.Lines(resolution) {
			bare := strings.TrimRight(line, "\r\n")
			if r.sides[bare]--; r.sides[bare] >= 0 {
				continue
			}
			if isMark(bare) {
				return 0, "a mark of a conflict is left: " + shown(text.Cut(bare, 40))
			}
			added++
		}
	}
	return added, ""
}

// isMark tells whether a line looks like one of the marks that programs put around conflicts.
func isMark(line string) bool {
	return slices.ContainsFunc([]string{"<<<<<<<", "|||||||", separator, ">>>>>>>"}, func(mark string) bool {
		return line == mark || mark != separator && strings.HasPrefix(line, mark+" ")
	})
}
