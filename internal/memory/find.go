package memory

import (
	"context"
	"errors"

	"github.com/precedent-dev/precedent"
)

// FindLearning returns the learning that ForgetLearnings would forget. Its errors are the same.
func (m *Memory) FindLearning(ctx context.Context, which string) (precedent.Learning, error) {
	rows, err := m.rows(ctx)
	if err != nil {
		return precedent.Learning{}, err
	}
	l, err := m.findLearning(ctx, rows, which)
	if errors.Is(err, ErrUnknownID) {
		l, err = m.findByWords(ctx, rows, which)
	}
	return l, err
}

// Applies tells whether a learning is about a file.
func Applies(l precedent.Learning, path string) bool { return inFiles(l.Glob, path) }
