package memory

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/text"
)

// The room of learnings in a prompt.
const (
	maxLearningRow = 2_000 // characters
	directivePart  = 70    // percent of a row; the rationale has what is left
	reservedPart   = 20    // percent of the block, for learnings that are new
)

// LearningsBlock renders the learnings for a prompt, in at most room bytes: the most relevant
// ones, and in a reserved part those that are new, so that none starves. Each is one line that
// begins with its id. The last line counts what did not fit.
func (r Recall) LearningsBlock(room int) (block string, given precedent.LearningsGiven) {
	lines, all := make([]string, len(r.Learnings)), 0
	for i := range r.Learnings {
		lines[i] = learningLine(&r.Learnings[i].Learning)
		all += len(lines[i])
	}
	rest := omittedLearnings(len(lines))
	if all > room {
		room -= len(rest)
	}
	chosen := make([]bool, len(lines))
	take := func(i, limit int) {
		if n := len(lines[i]); !chosen[i] && given.RenderedBytes+n <= limit {
			chosen[i] = true
			given.Rendered++
			given.RenderedBytes += n
		}
	}
	var reserved []int
	for i := range r.Learnings {
		if r.Learnings[i].Reserved {
			reserved = append(reserved, i)
		}
	}
	slices.SortStableFunc(reserved, func(a, b int) int {
		return cmp.Compare(r.Learnings[a].Loaded,
			r.Learnings[b].Loaded)
	})
	for _, i := range reserved {
		take(i, room*reservedPart/100)
	}
	for i := range lines {
		take(i, room)
	}
	var b strings.Builder
	for i, line := range lines {
		if chosen[i] {
			b.WriteString(line)
			given.IDs = append(given.IDs, r.Learnings[i].ID)
		}
	}
	given.Omitted, given.OmittedBytes = len(lines)-given.Rendered, all-given.RenderedBytes
	if given.Omitted > 0 {
		b.WriteString(omittedLearnings(given.Omitted))
	}
	return b.String(), given
}

// OmittedLearnings returns those that LearningsBlock leaves out, the most relevant first.
func (r Recall) OmittedLearnings(room int) []precedent.Learning {
	_, given := r.LearningsBlock(room)
	var omitted []precedent.Learning
	for i := range r.Learnings {
		if !slices.Contains(given.IDs, r.Learnings[i].ID) {
			omitted = append(omitted, r.Learnings[i].Learning)
		}
	}
	return omitted
}

func omittedLearnings(n int) string {
	return fmt.Sprintf("… and %d more; get_review_learnings has them\n", n)
}

// learningLine renders a learning as one line: "[id] don't flag, in docs/**: directive Why: …".
func learningLine(l *precedent.Learning) string {
	about := strings.ReplaceAll(string(l.Kind), "_", " ")
	if l.Glob != "" {
		about += ", in " + pathInLine(l.Glob)
	}
	if l.Category != "" {
		about += ", " + text.VisibleLine(string(l.Category))
	}
	// What the one does not need, the other may have.
	why, of := []rune(l.Rationale), []rune(l.Directive)
	forWhy := max(maxLearningRow*(100-directivePart)/100, maxLearningRow-len(of))
	forDirective := max(maxLearningRow*directivePart/100, maxLearningRow-len(why))
	line := fmt.Sprintf("[%s] (%s) %s", text.VisibleLine(l.ID), about, text.Cut(l.Directive, forDirective))
	if l.Rationale != "" {
		line += " Why: " + text.Cut(l.Rationale, forWhy)
	}
	return line + "\n"
}
