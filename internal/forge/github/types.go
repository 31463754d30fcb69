package github

import (
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
)

// The parts of GitHub's objects that we read, of REST and of webhooks. Fields that null may stand for keep
// their zero.

type user struct {
	ID          int64
	Login, Type string
}

// person converts an account. GitHub shows a deleted one as ghost.
func (u *user) person() forge.Person {
	if u == nil {
		return forge.Person{Login: "ghost"}
	}
	return forge.Person{ID: precedent.NumberID(u.ID), Login: u.Login, Bot: u.Type == "Bot"}
}

// sender converts an account of a webhook, which may lack it.
func (u *user) sender() forge.Person {
	if u == nil || u.ID <= 0 || !forge.IsLogin(u.Login) {
		return forge.Person{}
	}
	return u.person()
}

type repository struct {
	ID                 int64
	Name               string
	FullName           string `json:"full_name"`
	HTMLURL            string `json:"html_url"`
	Owner              user
	Private            *bool
	Archived, Disabled bool
	DefaultBranch      string `json:"default_branch"`
	Permissions        struct{ Push bool }
}

type branchRef struct {
	Ref, SHA string
	Repo     *repository
}

// pullRequest is a pull request, or an entry of a list of issues.
type pullRequest struct {
	NodeID                string `json:"node_id"`
	Number                int
	Title, Body, State    string
	Draft, Locked, Merged bool
	User                  *user
	Base, Head            branchRef
	Labels                []struct{ Name string }
	RequestedReviewers    []*user   `json:"requested_reviewers"`
	UpdatedAt             time.Time `json:"updated_at"`
	MergedAt              time.Time `json:"merged_at"`
	ChangedFiles          int       `json:"changed_files"`
	// PullRequest is set in a list of issues, unless it is an issue.
	PullRequest *struct {
		MergedAt time.Time `json:"merged_at"`
	} `json:"pull_request"`
}

// comment is a comment on a pull request or an issue, or on lines.
type comment struct {
	ID          int64
	User        *user
	Body        string
	HTMLURL     string    `json:"html_url"`
	IssueURL    string    `json:"issue_url"`
	PullURL     string    `json:"pull_request_url"`
	CreatedAt   time.Time `json:"created_at"`
	UpdatedAt   time.Time `json:"updated_at"`
	Association string    `json:"author_association"`

	Path              string
	Side              string
	StartSide         string `json:"start_side"`
	Line              *int   // of the present head; null once the code has changed
	StartLine         *int   `json:"start_line"`
	Commit            string `json:"commit_id"`
	OriginalLine      int    `json:"original_line"`
	OriginalStartLine *int   `json:"original_start_line"`
	OriginalCommit    string `json:"original_commit_id"`
	SubjectType       string `json:"subject_type"`
	DiffHunk          string `json:"diff_hunk"`
	InReplyTo         int64  `json:"in_reply_to_id"`
	Review            int64  `json:"pull_request_review_id"`
	Reactions         *struct {
		PlusOne  int `json:"+1"`
		MinusOne int `json:"-1"`
	}
}

type review struct {
	ID          int64
	NodeID      string `json:"node_id"`
	User        *user
	State, Body string
	HTMLURL     string    `json:"html_url"`
	SubmittedAt time.Time `json:"submitted_at"` // zero of one that is pending
	Association string    `json:"author_association"`
}

// isMember reports whether an association is that of a member of the team. GitHub does not
// say of a member what they may do.
func isMember(association string) bool {
	return association == "OWNER" || association == "MEMBER" || association == "COLLABORATOR"
}
