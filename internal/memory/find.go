package memory

import (
	"context"
	"errors"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/store"
)

// FindLearning returns the learning that ForgetLearning would forget. Its errors are the same.
func (m *Memory) FindLearning(ctx context.Context, which string) (precedent.Learning, error) {
	rows, err := m.rows(ctx)
	if err != nil {
		return precedent.Learning{}, err
	}
	return m.findNamed(ctx, rows, which)
}

// findNamed returns the learning with the id, its beginning, or the words.
func (m *Memory) findNamed(ctx context.Context, rows *store.Repo, which string) (precedent.Learning, error) {
	l, err := m.findLearning(ctx, rows, which)
	if err == nil || !errors.Is(err, ErrUnknownID) && !errors.Is(err, ErrAmbiguous) {
		return l, err
	}
	byWords, other := m.findByWords(ctx, rows, which)
	if other != nil && errors.Is(other, ErrUnknownID) && errors.Is(err, ErrAmbiguous) {
		return l, err
	}
	return byWords, other
}

// Applies reports whether a learning is about a file.
func Applies(l precedent.Learning, path string) bool { return inFiles(l.Glob, path) }
