package gate

import (
	"context"

	"github.com/precedent-dev/precedent/internal/sandbox"
)

// dependencies are those of one package manager.
type dependencies struct {
	manager string // such as go
	done    string // what was done, for people
	missing string // why some are missing; empty if none is
	env     []string
	mounts  []sandbox.Mount
}

// fetch prepares the dependencies of the tree.
func (s *session) fetch(_ context.Context) {}

func (s *session) describeDependencies() string { return "" }

// incomplete says which dependencies of the tree are missing; empty if none is.
func (s *session) incomplete() string { return "" }
