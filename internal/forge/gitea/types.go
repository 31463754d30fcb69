package gitea

import "time"

// The parts of Gitea's objects that we read. Fields that null may stand for keep their zero.

type user struct {
	ID    int64
	Login string
}

type repository struct {
	ID            int64
	Name          string
	FullName      string `json:"full_name"`
	Owner         *user
	Private       bool
	Archived      bool
	DefaultBranch string `json:"default_branch"`
	Permissions   *struct{ Push bool }
}

// branchInfo is the base or the head of a pull request. The label is the branch's name even if the branch was
// deleted.
type branchInfo struct {
	Label, Ref, SHA string
	Repo            *repository
}

type pullRequest struct {
	Number             int
	Title, Body, State string
	Draft, Merged      bool
	IsLocked           bool `json:"is_locked"`
	User               *user
	Base, Head         *branchInfo
	Labels             []*label
	RequestedReviewers []*user   `json:"requested_reviewers"`
	UpdatedAt          time.Time `json:"updated_at"`
	MergedAt           time.Time `json:"merged_at"`
	MergeBase          string    `json:"merge_base"`
	// PullRequest is set if it is an entry of a list of issues, unless that is an issue.
	PullRequest *struct {
		Merged, Draft bool
		MergedAt      time.Time `json:"merged_at"`
	} `json:"pull_request"`
}

type label struct {
	ID   int64
	Name string
}

// The states of a review that matter here.
const (
	statePending        = "PENDING"
	stateComment        = "COMMENT"
	stateRequestChanges = "REQUEST_CHANGES"
	stateRequestReview  = "REQUEST_REVIEW"
)

type review struct {
	ID          int64
	User        *user
	State, Body string
	CommitID    string `json:"commit_id"`
	// Stale says that the diff has changed since the review.
	Stale, Dismissed bool
	Comments         int       `json:"comments_count"` // on lines
	SubmittedAt      time.Time `json:"submitted_at"`
	HTMLURL          string    `json:"html_url"`
}

// blocks reports whether a review requests changes, and nobody has dismissed it.
func (r *review) blocks() bool { return r.State == stateRequestChanges && !r.Dismissed }

// comment is a comment on a pull request or an issue, or on lines.
type comment struct {
	ID        int64
	User      *user
	Body      string
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	HTMLURL   string    `json:"html_url"`
	PullURL   string    `json:"pull_request_url"`
	IssueURL  string    `json:"issue_url"`

	Review   int64 `json:"pull_request_review_id"`
	Resolver *user
	Path     string
	CommitID string `json:"commit_id"`
	DiffHunk string `json:"diff_hunk"`
	NewLine  uint64 `json:"position"`
	OldLine  uint64 `json:"original_position"`
}

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
