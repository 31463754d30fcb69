package wire

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/git"
)

// The parts of the objects of GitHub and of Gitea that we read, of REST and of webhooks. Most are the same; the others have
// the names of only one of them. Fields that null may stand for keep their zero.

// User is an account.
type User struct {
	ID          int64
	Login, Type string
}

// Accounts that Gitea has no row for. A workflow's own token acts as the second.
const (
	ghostID   = -1
	actionsID = -2
)

// Person converts an account. GitHub shows a deleted one as ghost. Gitea marks no accounts as bots; only that of its
// workflows is known.
func (u *User) Person() forge.Person {
	if u == nil || u.ID == ghostID || u.ID == 0 {
		return forge.Person{Login: "ghost"}
	}
	return forge.Person{ID: precedent.NumberID(u.ID), Login: u.Login, Bot: u.Type == "Bot" || u.ID == actionsID}
}

// Repository is a repository.
type Repository struct {
	ID                 int64
	Name               string
	FullName           string `json:"full_name"`
	HTMLURL            string `json:"html_url"`
	Owner              User
	Private            *bool
	Archived, Disabled bool
	DefaultBranch      string `json:"default_branch"`
	Permissions        struct{ Push bool }
}

func (r *Repository) repo(s *Site) precedent.Repo {
	return precedent.Repo{Host: s.Host(), Owner: r.Owner.Login, Name: r.Name}
}

// BranchRef is the base or the head of a pull request. On Gitea, the label is the branch's name even if the branch was
// deleted.
type BranchRef struct {
	Label, Ref, SHA string
	Repo            *Repository
}

// Pull is a pull request, or an entry of a list of issues.
type Pull struct {
	NodeID                string `json:"node_id"` // of GitHub
	Number                int
	Title, Body, State    string
	Draft, Locked, Merged bool
	IsLocked              bool `json:"is_locked"` // Locked on Gitea
	User                  *User
	Base, Head            BranchRef
	Labels                []*Label
	RequestedReviewers    []*User   `json:"requested_reviewers"`
	CreatedAt             time.Time `json:"created_at"`
	UpdatedAt             time.Time `json:"updated_at"`
	MergedAt              time.Time `json:"merged_at"`
	MergeBase             string    `json:"merge_base"`    // of Gitea
	ChangedFiles          int       `json:"changed_files"` // of GitHub
	// PullRequest is set in a list of issues, unless it is an issue.
	PullRequest *struct {
		MergedAt time.Time `json:"merged_at"`
	} `json:"pull_request"`
}

// Label is a label of a repository or a pull request.
type Label struct {
	ID   int64
	Name string
}

// Comment is a comment on a pull request or an issue, or on lines.
type Comment struct {
	ID          int64
	User        *User
	Body        string
	HTMLURL     string    `json:"html_url"`
	IssueURL    string    `json:"issue_url"`
	PullURL     string    `json:"pull_request_url"`
	CreatedAt   time.Time `json:"created_at"`
	UpdatedAt   time.Time `json:"updated_at"`
	Association string    `json:"author_association"` // of GitHub

	Path     string
	Commit   string `json:"commit_id"`
	DiffHunk string `json:"diff_hunk"`
	Review   int64  `json:"pull_request_review_id"`

	// Of GitHub.

	Side              string
	StartSide         string `json:"start_side"`
	Line              *int   // of the present head; null once the code has changed
	StartLine         *int   `json:"start_line"`
	OriginalLine      int    `json:"original_line"`
	OriginalStartLine *int   `json:"original_start_line"`
	OriginalCommit    string `json:"original_commit_id"`
	SubjectType       string `json:"subject_type"`
	InReplyTo         int64  `json:"in_reply_to_id"`
	Reactions         *struct {
		PlusOne  int `json:"+1"`
		MinusOne int `json:"-1"`
	}

	// Of Gitea.

	Resolver *User
	NewLine  uint64 `json:"position"`
	OldLine  uint64 `json:"original_position"`
}

// Number returns the number of the pull request or issue that a comment is on; 0 if it does not tell.
func (m *Comment) Number() int {
	if m.PullURL != "" {
		return forge.LastNumber(m.PullURL)
	}
	return forge.LastNumber(m.IssueURL)
}

// Review is a review of a pull request.
type Review struct {
	ID          int64
	NodeID      string `json:"node_id"` // of GitHub
	User        *User
	State, Body string
	HTMLURL     string    `json:"html_url"`
	SubmittedAt time.Time `json:"submitted_at"`       // zero on GitHub if it is pending
	Association string    `json:"author_association"` // of GitHub

	// Of Gitea. Stale says that the diff has changed since the review.

	CommitID         string `json:"commit_id"`
	Stale, Dismissed bool
	Comments         int `json:"comments_count"` // on lines
}

// The states of a review that blocks merging. On GitHub it stays until the review is dismissed or its author approves
// (PullRequestReviewState of the GraphQL schema).
const (
	BlocksOnGitHub = "CHANGES_REQUESTED"
	BlocksOnGitea  = "REQUEST_CHANGES"
)

// Blocks reports whether a review requests changes, and nobody has dismissed it.
func (r *Review) Blocks() bool {
	return r.State == BlocksOnGitHub || r.State == BlocksOnGitea && !r.Dismissed
}

// OnThread converts a comment on a pull request as a whole.
func (s *Site) OnThread(m *Comment) forge.Comment {
	out := forge.Comment{
		ID: precedent.NumberID(m.ID), Kind: forge.OnThread, Author: m.User.Person(), URL: s.pages.Own(m.HTMLURL),
		At: m.CreatedAt.UTC(), Edited: m.UpdatedAt.UTC(),
	}
	out.Body, out.Cut = forge.CutBody(m.Body)
	return out
}

// OnReview converts the text of a review.
func (s *Site) OnReview(r *Review) forge.Comment {
	at := r.SubmittedAt.UTC()
	out := forge.Comment{
		ID: precedent.NumberID(r.ID), Kind: forge.OnReview, Author: r.User.Person(), URL: s.pages.Own(r.HTMLURL),
		At: at, Edited: at, Blocks: r.Blocks(),
	}
	out.Body, out.Cut = forge.CutBody(r.Body)
	return out
}

// Past converts what a list of issues or a webhook has of a pull request.
func (p *Pull) Past() forge.PullRequest {
	out := forge.PullRequest{
		Number: p.Number, Author: p.User.Person(), State: forge.State(p.State), Updated: p.UpdatedAt.UTC(),
	}
	merged := p.MergedAt
	if p.PullRequest != nil {
		merged = p.PullRequest.MergedAt
	}
	if !merged.IsZero() {
		out.State, out.MergedAt = forge.Merged, merged.UTC()
	}
	out.Title, _ = forge.CutBody(p.Title)
	out.Body, _ = forge.CutBody(p.Body)
	return out
}

// Pull converts a pull request. URLs and refs are built here instead of taken from the response, so that none leads
// elsewhere.
func (s *Site) Pull(do Call, p *Pull) (forge.PullRequest, error) {
	base, err := s.branch(do, p.Base)
	if err != nil {
		return forge.PullRequest{}, err
	}
	head, err := s.branch(do, p.Head)
	if err != nil {
		return forge.PullRequest{}, err
	}
	if p.Number <= 0 || base.Repo.IsZero() || p.UpdatedAt.IsZero() {
		return forge.PullRequest{}, do.Unexpected("it names no pull request")
	}
	out := p.Past()
	if p.Merged {
		out.State = forge.Merged
	}
	if !slices.Contains([]forge.State{forge.Open, forge.Closed, forge.Merged}, out.State) {
		return forge.PullRequest{}, do.Unexpected("the state of the pull request is unknown")
	}
	out.Draft, out.Base, out.Head, out.Locked = p.Draft, base, head, p.Locked || p.IsLocked
	out.Ref = fmt.Sprintf("refs/pull/%d/head", p.Number)
	for _, l := range p.Labels {
		if l != nil {
			out.Labels = append(out.Labels, l.Name)
		}
	}
	for _, u := range p.RequestedReviewers {
		out.Requested = append(out.Requested, u.Person())
	}
	return out, nil
}

// branch converts the base or head of a pull request.
func (s *Site) branch(do Call, b BranchRef) (forge.Branch, error) {
	out := forge.Branch{Name: b.Ref, SHA: b.SHA}
	if !git.IsObjectID(out.SHA) {
		return out, do.Unexpected("it names no commit")
	}
	if b.Repo == nil {
		return out, nil // the fork was deleted; the base repository still has the head
	}
	out.RepoID, out.Repo = precedent.NumberID(b.Repo.ID), b.Repo.repo(s)
	if s.CheckRepo(out.Repo) != nil {
		return out, do.Unexpected("it names no repository")
	}
	if private := b.Repo.Private; private != nil {
		out.Visibility = map[bool]forge.Visibility{true: forge.Private, false: forge.Public}[*private]
	}
	out.CloneURL = s.pages.Clone(out.Repo)
	return out, nil
}

// Statuses lists the statuses of a commit as reports; own are those that an account made under the name of our check. Of
// too many it returns the first ones and the error.
func Statuses(do Call, commit string, me forge.Person) ([]forge.Report, error) {
	type status struct {
		ID        int64
		Context   string
		State     string // on GitHub
		Status    string // on Gitea
		TargetURL string `json:"target_url"`
		Creator   *User
		CreatedAt time.Time `json:"created_at"`
	}
	listed, err := List[status](do, "commits/%s/statuses", commit)
	var all []forge.Report
	for _, s := range listed {
		all = append(all, forge.Report{Number: s.ID, Maker: "status", CommitCheck: forge.CommitCheck{
			Name: s.Context, State: stateOf(s.State + s.Status), URL: s.TargetURL, Started: s.CreatedAt.UTC(),
			Own: s.Context == forge.CheckName && s.Creator.Person().ID == me.ID,
		}})
	}
	return all, err
}

// stateOf is the state of a commit status. With a warning, which Gitea has, a pull request can be merged.
func stateOf(state string) forge.CheckState {
	switch state {
	case "success", "warning":
		return forge.CheckPassed
	case "failure", "error":
		return forge.CheckFailed
	case "skipped": // Gitea since 1.24
		return forge.CheckSkipped
	}
	return forge.CheckPending
}

// CheckDraft refuses a draft that exceeds the limits.
func (c Call) CheckDraft(d forge.Draft) error {
	switch {
	case c.err != nil:
		return c.Err()
	case d.Event != forge.Remarks && d.Event != forge.RequestChanges:
		return c.Refuse(forge.KindRefused, "%q is not a review event", d.Event)
	case len(d.Remarks) > forge.MaxRemarks:
		return c.Refuse(forge.KindInvalid, "too many comments: %d of at most %d", len(d.Remarks), forge.MaxRemarks)
	}
	for _, r := range d.Remarks {
		if err := c.CheckBody(r.Body); err != nil {
			return err
		}
	}
	return c.CheckBody(d.Body)
}

// CheckBody refuses a text that exceeds the limit of GitHub. Gitea has none but that of its database.
func (c Call) CheckBody(body string) error {
	if utf8.RuneCountInString(body) > forge.MaxPost {
		return c.Refuse(forge.KindInvalid, "the text has more than %d characters", forge.MaxPost)
	}
	return c.Err()
}

// Comment comments on the pull request as a whole.
func (s *Site) Comment(ctx context.Context, repo precedent.Repo, number int, body string) (forge.Comment, error) {
	do := s.Begin(ctx, repo, fmt.Sprintf("comment on %s#%d", repo, number))
	if err := do.CheckBody(body); err != nil {
		return forge.Comment{}, err
	}
	var m Comment
	err := do.Send(http.MethodPost, map[string]string{"body": body}, &m, "issues/%d/comments", number)
	return do.Created(s.OnThread(&m), err)
}

// Found sets the ids of the remarks that were not rejected and are among the comments of a posted review.
func Found(posted *forge.Posted, remarks []forge.Remark, there []forge.Comment) {
	for i, r := range remarks {
		if slices.ContainsFunc(posted.Rejected, func(no forge.Rejected) bool { return no.Remark == i }) {
			continue
		}
		at := slices.IndexFunc(there, func(m forge.Comment) bool {
			return m.ID != "" && m.Span.Path == r.Path && forge.SameText(string(m.Body), r.Body)
		})
		if at >= 0 {
			posted.Remarks[i] = there[at].ID
			there = slices.Delete(there, at, at+1)
		}
	}
}

// Dismiss takes back the request for changes of a review by a method of HTTP. If the forge refuses that, and the review
// still stands, instead says what people can do.
func (c Call) Dismiss(method string, number int, review precedent.ForgeID, why, instead string) (forge.Unsupported,
	error,
) {
	err := c.Send(method, map[string]string{"message": why}, nil, "pulls/%d/reviews/%d/dismissals", number, review.Number())
	switch Status(err) {
	case http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusUnprocessableEntity:
	default:
		return "", err
	}
	if forge.KindOf(err) == forge.KindRate {
		return "", err
	}
	var now Review
	wrong := c.Get(&now, "pulls/%d/reviews/%d", number, review.Number())
	switch {
	case Gone(wrong), wrong == nil && !now.Blocks():
		return "", nil
	case wrong != nil:
		return "", wrong
	}
	return forge.Unsupported(err.Error() + ": " + instead), nil
}

// Reactions converts the reactions that a list has.
func Reactions(listed []*Reaction) []forge.Reaction {
	var all []forge.Reaction
	for _, r := range listed {
		all = append(all, forge.Reaction{Who: r.User.Person(), Content: r.Content})
	}
	return all
}

// Reaction is a reaction to a comment.
type Reaction struct {
	User    *User
	Content string
}
