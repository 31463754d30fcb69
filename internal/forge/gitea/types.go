package gitea

import "github.com/precedent-dev/precedent/internal/forge/wire"

// The states of a review that matter here.
const (
	statePending        = "PENDING"
	stateComment        = "COMMENT"
	stateRequestChanges = wire.BlocksOnGitea
	stateRequestReview  = "REQUEST_REVIEW"
)

// newComment is a comment on a line to post: one of the lines is 0.
type newComment struct {
	Path    string `json:"path"`
	Body    string `json:"body"`
	OldLine int    `json:"old_position"`
	NewLine int    `json:"new_position"`
}

// newReview is a review to post.
type newReview struct {
	Event    string       `json:"event"`
	Body     string       `json:"body"`
	CommitID string       `json:"commit_id"`
	Comments []newComment `json:"comments"`
}
