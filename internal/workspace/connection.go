package workspace

import (
	"context"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/comment"
	"github.com/precedent-dev/precedent/internal/forge"
)

// Connection is the forge that pull requests are on, and how git reaches it.
type Connection struct {
	forge.Forge
	// Token returns the token with which git fetches a repository; empty for none. It
	// is sent only to the forge's own host.
	Token func(ctx context.Context, r precedent.Repo) (string, error)
	// TokenName says where the token is, for hints.
	TokenName string
	Folder    string // where git fetches from, in place of the forge's address; empty for that
	// Known reports whether requests are authenticated.
	Known bool
	// Instant tells that the forge lists a comment at once.
	Instant bool
	// Secrets must never be shown in a comment.
	Secrets []string
	// Key signs our comments; the zero Key does not.
	Key comment.Key
}

// Explain attaches to an error of the forge a hint that names where the token is.
// Other errors are returned as they are.
func (c Connection) Explain(err error) error { return ForgeError(err, c.TokenName) }
