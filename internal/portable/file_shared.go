package portable

import (
	"context"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/guide"
	"github.com/precedent-dev/precedent/internal/memory"
)

// Share returns the content of the repository's memory file: the dismissals that hold and the
// active learnings of the memory, together with those of the present file, except what was
// taken back or forgotten since. Left counts rows that the file cannot have.
func Share(ctx context.Context, m *memory.Memory, present guide.SharedMemory) (file []byte, left int, err error) {
	shared, err := m.Shared(ctx)
	if err != nil {
		return nil, 0, err
	}
	now := m.Now()
	check := reader{now}
	rows, left := check.fromStore(shared)
	old := Rows{}
	for _, j := range present.Dismissals {
		j.ExpiresAt = now.Add(longLived) // it holds as long as it is in the file
		if r, err := check.rejection(newRejection(j)); err == nil {
			old[r.key] = r
		}
	}
	var all guide.SharedMemory
	merged := Merge(rows, old).current(now)
	for _, r := range merged.sorted(rejectionKind) {
		if j, ok := r.value.(rejection); ok {
			all.Dismissals = append(all.Dismissals, j.stored())
		}
	}
	for _, r := range merged.sorted(learningKind) {
		l, ok := r.value.(precedent.Learning)
		if ok && l.State == precedent.LearningActive && l.Scope == precedent.RepositoryScope && l.PullRequest == 0 && (l.ExpiresAt.IsZero() || now.Before(l.ExpiresAt)) {
			all.Learnings = append(all.Learnings, l)
		}
	}
	for _, l := range present.Learnings {
		if _, known := merged[key{learningKind, l.ID}]; !known {
			all.Learnings = append(all.Learnings, l)
		}
	}
	file, refused, err := guide.WriteMemory(all)
	return file, left + refused, err
}

// CleanFile makes what a memory file says safe to store and to show. Rows that do not meet the
// limits of a line are left out.
func CleanFile(m *memory.Memory, file guide.SharedMemory) guide.SharedMemory {
	check := reader{m.Now()}
	clean := guide.SharedMemory{Learnings: file.Learnings}
	for _, j := range file.Dismissals {
		j.ExpiresAt = m.Now().Add(longLived)
		r, err := check.rejection(newRejection(j))
		if v, ok := r.value.(rejection); err == nil && ok {
			kept := v.stored()
			kept.ID, kept.Finding = j.Fingerprint, precedent.FindingID(m.Repo, j.Fingerprint)
			clean.Dismissals = append(clean.Dismissals, kept)
		}
	}
	return clean
}
