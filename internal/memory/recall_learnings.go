package memory

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/store"
	"github.com/precedent-dev/precedent/internal/text"
)

// Limits of what relevance is computed from, in bytes: of a change, and the least of a file.
const (
	maxRelevant  = 64 << 10
	leastOfAFile = 256
)

// youngFor is how long a learning has a part in the reserved share of the prompt.
const youngFor = 14 * 24 * time.Hour

// Recalled is a learning that applies to a change.
type Recalled struct {
	precedent.Learning
	// Reserved tells that it is new, or that no review was given it yet: then others do not
	// crowd it out of the prompt.
	Reserved bool
}

// LearningQuery says which learnings a review wants.
type LearningQuery struct {
	Change *diff.Change
	Policy precedent.LearningPolicy
	// PullRequest is the one that is reviewed; 0 for none.
	PullRequest int
	// Private tells that the repository is known not to be public.
	Private bool
	// File are those of the file in the repository, at the trusted base; Own those that the user of the computer
	// taught for other repositories, too.
	File, Own []precedent.Learning
}

// RecallLearnings returns the active learnings that apply to a file of the change, the most
// relevant first: those of the repository, those of the file, the user's own and, if the policy
// says so, those that other repositories of the owner share. It is empty if the operator or the policy
// turned learnings off. Those that Propose would refuse here for what they could hide are left
// out, and refused says which ones and why.
func (m *Memory) RecallLearnings(ctx context.Context, q LearningQuery) (found []Recalled, refused []string, err error) {
	if m.LearningsOff {
		m.log().InfoContext(ctx, "learnings are turned off: none is used")
		return nil, nil, nil
	}
	if q.Policy.Off {
		return nil, nil, nil
	}
	all := slices.Concat(q.File, q.Own)
	tried := len(all) // the others were when they were proposed
	stored, err := m.Rows.Learnings(ctx, precedent.LearningActive)
	all = append(all, stored...)
	if err == nil && q.Policy.Global {
		stored, err = m.Rows.OwnerLearnings(ctx, m.Repo, q.Private)
		all = append(all, stored...)
	}
	now := m.Now()
	try := m.newTrial(ctx)
	seen := map[string]bool{}
	for i, l := range all {
		l = store.CleanLearning(l)
		if seen[l.ID] || expired(&l, now) || !q.wants(&l, now) {
			continue
		}
		seen[l.ID] = true
		if i < tried && l.Kind.Quieter() {
			hidden, failed := try(l)
			if failed != nil && err == nil {
				err = failed
			}
			if len(hidden) > 0 {
				refused = append(refused, fmt.Sprintf("%s: “%s” is not used: %s", cmp.Or(l.From.URL, "learning "+l.ID),
					wordsInLine(l.Directive), couldHide(hidden)))
			}
			if failed != nil || len(hidden) > 0 {
				continue
			}
		}
		young := l.From.By != precedent.FromFile && (l.Loaded == 0 || now.Sub(l.CreatedAt) < youngFor)
		found = append(found, Recalled{Learning: l, Reserved: young})
	}
	sortByRelevance(found, q.Change)
	return found, refused, err
}

// CountLearnings counts the learnings that a saved review gave its finders, and those that it
// used.
func (m *Memory) CountLearnings(ctx context.Context, r *precedent.Review) error {
	var used []string
	for _, l := range r.Memory.LearningsUsed {
		used = append(used, l.ID)
	}
	return m.Rows.CountLearnings(ctx, r.Memory.Learnings.IDs, used, r.At)
}

// wants reports whether a learning is for a file of the change, and not too old.
func (q *LearningQuery) wants(l *precedent.Learning, now time.Time) bool {
	switch {
	case l.PullRequest != 0 && l.PullRequest != q.PullRequest,
		q.Policy.MaxAgeDays > 0 && !l.UpdatedAt.IsZero() && now.Sub(l.UpdatedAt) > time.Duration(q.Policy.MaxAgeDays)*24*time.Hour,
		UnfitLearning(*l) != "":
		return false
	}
	return l.Glob == "" || slices.ContainsFunc(q.Change.Files, func(f diff.File) bool {
		return inFiles(l.Glob, f.Path) || f.OldPath != "" && inFiles(l.Glob, f.OldPath)
	})
}

// sortByRelevance sorts learnings: those learned in a file of the change first, then those
// whose words are most like its paths and added lines, then those for some files.
func sortByRelevance(all []Recalled, change *diff.Change) {
	if len(all) < 2 {
		return // the words of a long change need not be counted
	}
	about := map[string]bool{}
	for i := range change.Files {
		about[change.Files[i].Path] = true
	}
	words := text.NewVector(wordsOf(change))
	relevance := map[string]float64{}
	for i := range all {
		l := &all[i]
		relevance[l.ID] = text.Cosine(text.NewVector(l.Directive), words)
		if l.About != nil && about[l.About.Path] {
			relevance[l.ID]++
		}
	}
	slices.SortStableFunc(all, func(a, b Recalled) int {
		return cmp.Or(cmp.Compare(relevance[b.ID], relevance[a.ID]), cmp.Compare(min(len(b.Glob), 1), min(len(a.Glob), 1)),
			b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
}

// wordsOf returns the paths and the added lines of a change, each file with a fair part.
func wordsOf(change *diff.Change) string {
	var b strings.Builder
	share := max(maxRelevant/max(len(change.Files), 1), leastOfAFile)
	for i := range change.Files {
		f := &change.Files[i]
		end := b.Len() + share
		b.WriteString(f.Path + "\n")
		for h := range f.Hunks {
			for _, line := range f.Hunks[h].Lines {
				if line.Op == diff.Add && b.Len() < end {
					b.WriteString(text.Head(line.Text, leastOfAFile) + "\n")
				}
			}
		}
		if b.Len() >= maxRelevant {
			break
		}
	}
	return b.String()
}
