// Package forge is the interface to the hosts of pull requests. All text that people
// wrote on a forge is untrusted.
//
// What a forge cannot do is returned as an Unsupported, and the parts that it refuses as Rejected; neither is
// an error. A request that makes a change is sent once. If its result is unknown, Error.Unsure is set, and
// the caller checks before it tries again.
package forge

import (
	"context"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/precedent-dev/precedent"
)

// Forge reads pull requests and posts to them. Implementations are safe for
// concurrent use. Errors are of type *Error.
type Forge interface {
	// Host is the forge's host as repository identities contain it, such as github.com.
	Host() string
	// Pages returns the layout of the forge's web pages.
	Pages() Pages
	// ReadEvent parses a webhook payload; name is the forge's name of the event. An unknown event is a NoEvent.
	// A payload that is malformed or about another forge is an error, as is one that is larger than MaxEvent,
	// nested deeper than 64, or has a key twice. It does not check who sent it: VerifyHook does.
	ReadEvent(name string, payload []byte) (Event, error)
	// VerifyHook checks that a request of a webhook is signed with one of the secrets, by HMAC-SHA256 over the
	// body as it was received, before it parses any of it. Several secrets are for the time in which one
	// replaces another; empty ones match nothing. The comparison takes the same time for every signature.
	// Errors wrap ErrUnsigned, ErrSignature or ErrNoHookEvent.
	VerifyHook(h http.Header, body []byte, secrets []string) (HookHeader, error)
	// Me returns the account that posts.
	Me(ctx context.Context) (Person, error)
	// PullRequest reads one pull request. Its base has the present name of a repository
	// that was renamed or moved; other methods need not accept the former one.
	PullRequest(ctx context.Context, repo precedent.Repo, number int) (PullRequest, error)
	// Open lists the open pull requests, the most recently updated first. Their Files is 0 and their Body empty: the list
	// is kept for the next poll. An unchanged list is one conditional request, also if it has several pages, where the
	// forge supports that. An error returns no list: no pull request of an incomplete list may count as closed.
	Open(ctx context.Context, repo precedent.Repo) ([]PullRequest, error)
	// Comments reads all comments on a pull request, oldest first. If there are more
	// than it can read, it returns the oldest and a KindTooLarge error.
	Comments(ctx context.Context, repo precedent.Repo, number int) ([]Comment, error)
	// ReadComment reads one comment on a pull request as it is now. One that does not exist on
	// this pull request is a KindNotFound error.
	ReadComment(ctx context.Context, repo precedent.Repo, number int, c CommentRef) (Comment, error)
	// Streams are the lists that together have all comments on the pull requests of a repository.
	Streams() []HistoryStream
	// History reads one page of a list, one of Streams or StreamWhole: what was written or edited since a time. It skips nothing, also if
	// people write, edit and delete between two pages, but the same may come again. The span and commit of an
	// inline comment are those that it was written for, as those of its hunk are. An error reads nothing, and
	// moves nothing: the pages before stay valid, and the same cursor reads on.
	History(ctx context.Context, repo precedent.Repo, q HistoryQuery) (HistoryPage, error)
	// Threads reads the conversations on lines, in the order of their first comments.
	Threads(ctx context.Context, repo precedent.Repo, number int) ([]Thread, error)
	// Reactions reads the reactions to a comment that is not the text of a review.
	Reactions(ctx context.Context, repo precedent.Repo, number int, to CommentRef) ([]Reaction, error)
	// Permission asks the forge what a person may do in the repository now. It never trusts what a comment says
	// about its author. If the forge does not tell it to the account of the token, the error has the kind
	// KindAuth. A forge may say Write for Admin, and None for Read.
	Permission(ctx context.Context, repo precedent.Repo, p Person) (Permission, error)
	// KnowsPermissions tells whether Permission has an answer for everybody who may write, else why not.
	KnowsPermissions(ctx context.Context, repo precedent.Repo) (Unsupported, error)
	// Patch returns the diff as the forge computes it, for use when git cannot fetch.
	// Files whose diff the forge does not return are listed with the reason.
	Patch(ctx context.Context, repo precedent.Repo, number int) ([]byte, []precedent.SkippedFile, error)
	// Checks lists the check runs and the statuses of a commit, newest of each name and maker,
	// sorted by name; none if nothing reports on it. If there are more than it can read, it returns
	// some and a KindTooLarge error.
	Checks(ctx context.Context, repo precedent.Repo, commit string) ([]CommitCheck, error)
	// Repositories lists the repositories of an owner that are not archived and that the token may write to,
	// sorted; of all that the installation of a GitHub App, else the account, may write to if owner is empty.
	// If there are more than MaxRepositories, it returns that many and a KindTooLarge error. Where the forge
	// supports conditional requests, an unchanged list is cheap.
	Repositories(ctx context.Context, owner string) ([]precedent.Repo, error)
	// Pushable tells why the token may not push to a branch of the repository: it is the default
	// branch or a protected one, the repository is archived, or the token has no write access. It
	// is empty if the token may push. A branch that does not exist is a KindNotFound error. The
	// answer is a look ahead: the forge decides at the push.
	Pushable(ctx context.Context, repo precedent.Repo, branch string) (Unsupported, error)
	// Quota returns the rate limit as of the last response.
	Quota() Quota

	// Post posts a review. Everything but Posted.Rejected appears in one visible review.
	Post(ctx context.Context, repo precedent.Repo, number int, d Draft) (Posted, error)
	// Dismiss takes back the request for changes of a review by Me, and says why. Later reviews that only
	// comment leave it standing. If the review requests nothing any more, or does not exist, it succeeds.
	Dismiss(ctx context.Context, repo precedent.Repo, number int, review precedent.ForgeID, why string) (Unsupported,
		error)
	// Comment comments on the pull request as a whole.
	Comment(ctx context.Context, repo precedent.Repo, number int, body string) (Comment, error)
	// Reply replies in the conversation that starts with the inline comment. A forge
	// that has no replies returns a KindUnsupported error.
	Reply(ctx context.Context, repo precedent.Repo, number int, to precedent.ForgeID, body string) (Comment, error)
	// Edit replaces the text of a comment by Me. Forges may refuse to edit that of a review.
	Edit(ctx context.Context, repo precedent.Repo, number int, c CommentRef, body string) error
	// Delete deletes a comment by Me, or minimizes it if the forge keeps everything, as GitHub keeps the text
	// of reviews. Deleting a comment that does not exist succeeds.
	Delete(ctx context.Context, repo precedent.Repo, number int, c CommentRef) (Unsupported, error)
	// Resolve resolves a conversation, or reopens it if closed is false.
	Resolve(ctx context.Context, repo precedent.Repo, number int, t Thread, closed bool) (Unsupported, error)
	// MakeLabels creates the labels that the repository does not have, so that people can choose them.
	MakeLabels(ctx context.Context, repo precedent.Repo, labels []string) (Unsupported, error)
	// AddLabel adds a label to a pull request, and creates it in the repository if
	// needed. Adding a label twice succeeds.
	AddLabel(ctx context.Context, repo precedent.Repo, number int, label string) (Unsupported, error)
	// RemoveLabel removes a label from a pull request. Removing a label that is not set succeeds.
	RemoveLabel(ctx context.Context, repo precedent.Repo, number int, label string) (Unsupported, error)
	// Check reports the result of a review on a commit. A later check replaces an
	// earlier one of the same name and commit.
	Check(ctx context.Context, repo precedent.Repo, c Check) (Unsupported, error)
}

// Unsupported is the reason, for the user, why the forge or the token cannot do
// something. It is empty if it was done.
type Unsupported string

// Limits on what is posted. They are those of GitHub; other forges allow at least as much.
const (
	// MaxPost bounds the body of a comment or review, in characters.
	MaxPost = 65_536
	// MaxRemarks bounds the inline comments of one Draft.
	MaxRemarks = 30
)

// CommentRef identifies a comment: ids are unique only within a kind.
type CommentRef struct {
	Kind CommentKind
	ID   precedent.ForgeID
}

// Thread is a conversation on lines, as the forge groups it.
type Thread struct {
	ID       precedent.ForgeID   // empty if the forge does not name conversations
	Comments []precedent.ForgeID // its inline comments, oldest first
	Closed   bool                // resolved
	ClosedBy Person              // zero if it is open, or unknown
}

// Reaction is an emoji reaction to a comment.
type Reaction struct {
	Who     Person
	Content string // "+1" and "-1"; other reactions by the forge's names
}

// ReviewEvent is the state that a review sets. There is deliberately none that approves.
type ReviewEvent string

// The events.
const (
	Remarks        ReviewEvent = "comment"
	RequestChanges ReviewEvent = "request_changes"
)

// Draft is a review to post.
type Draft struct {
	Commit  string // the commit that the lines of Remarks refer to; a forge may refuse it if it is not the head
	Event   ReviewEvent
	Body    string   // at most MaxPost characters; not empty
	Remarks []Remark // at most MaxRemarks
}

// Remark is an inline comment of a draft.
type Remark struct {
	// Span lies within one hunk of the diff. Start is 0 for a remark on the whole file.
	precedent.Span
	Body string // at most MaxPost characters
}

// Posted is the result of posting a Draft.
type Posted struct {
	// Review is the id of the review. It is empty if every remark was rejected and nothing was posted.
	Review precedent.ForgeID
	// Remarks has an id for each remark of the draft. It is empty for a remark that
	// was rejected, or whose id could not be read.
	Remarks     []precedent.ForgeID
	Rejected    []Rejected
	Unsupported []Unsupported // parts of the event that the forge did not accept
}

// Rejected is a remark that the forge refused.
type Rejected struct {
	Remark int // index in Draft.Remarks
	Why    string
}

// Check is the result of a review, for the list of checks of a commit.
type Check struct {
	Name   string      `json:"name"` // "precedent"
	Commit string      `json:"commit"`
	Review string      `json:"review"` // id of the review; sending a check again for the same review does not add one
	Result CheckResult `json:"result"`
	Title  string      `json:"title"`          // one line
	Body   string      `json:"body,omitempty"` // Markdown, at most MaxPost characters
	URL    string      `json:"url,omitempty"`  // of the summary
}

// CheckResult is the conclusion of a check. Success means a complete review. A forge may let a required check
// pass that is neutral, as GitHub does; to block merging, use the exit status of the job.
type CheckResult string

// The results.
const (
	Success CheckResult = "success"
	Failure CheckResult = "failure"
	// Neutral says that nothing was found, but no model read the change or there was nothing to
	// read. A forge shows it as no failure.
	Neutral CheckResult = "neutral"
	// Incomplete says that part of the change was not read. It never counts as a success.
	Incomplete CheckResult = "incomplete"
)

// MaxBody bounds the text of a pull request or a comment, in bytes: GitHub's limit of
// 65,536 characters at 4 bytes each.
const MaxBody = 4 * 65_536

// Person is an account.
type Person struct {
	ID    precedent.ForgeID // does not change with the login; empty if the account was deleted
	Login string            // "ghost" if the account was deleted
	Bot   bool
}

// GitHubActions is the login of the account that GitHub's runners give to all workflows of a repository.
const GitHubActions = "github-actions[bot]"

// SharedByWorkflows reports whether the account is the one that a forge's own runners give to all workflows of a
// repository: GitHub's github-actions[bot] and the user -2 of Gitea and Forgejo. Names with [bot] and these of Gitea
// and Forgejo are reserved.
func (p Person) SharedByWorkflows() bool {
	return slices.Contains([]string{GitHubActions, "gitea-actions", "forgejo-actions"}, strings.ToLower(p.Login))
}

// Permission is what a person may do in a repository.
type Permission string

// The permissions, from least to most.
const (
	None  Permission = "none"
	Read  Permission = "read"
	Write Permission = "write"
	Admin Permission = "admin"
)

// PermissionOf maps the access mode that a forge names. On GitHub it is the access that a role is based on: that of
// maintain is write, that of triage is read, and a custom role has one, too ("Get repository permissions for a user").
func PermissionOf(mode string) Permission {
	switch p := Permission(mode); p {
	case Read, Write, Admin:
		return p
	case "owner": // of Gitea
		return Admin
	}
	return None
}

// MayWrite reports whether the person is treated as a member of the team.
func (p Permission) MayWrite() bool { return p == Write || p == Admin }

// MaxHunk bounds Comment.Hunk, in bytes.
const MaxHunk = 8 << 10

// CutHunk returns the end of a diff hunk, at most MaxHunk bytes of whole lines.
func CutHunk(hunk string) precedent.Untrusted {
	hunk = strings.TrimRight(hunk, "\n")
	if len(hunk) > MaxHunk {
		hunk = hunk[len(hunk)-MaxHunk:]
		_, hunk, _ = strings.Cut(hunk, "\n")
	}
	return precedent.Untrusted(hunk)
}

// PullRequest is a pull request in its current state.
type PullRequest struct {
	Number      int
	Title, Body precedent.Untrusted // at most MaxBody bytes each
	Author      Person
	State       State
	Draft       bool
	Base, Head  Branch
	// Ref is the ref in the base repository that points to the head, also for forks:
	// refs/pull/7/head on GitHub.
	Ref    string
	Labels []string
	// Requested are the accounts that are asked for a review, without teams. In lists of pull requests
	// it may also have those who have reviewed already.
	Requested []Person
	Updated   time.Time
	Locked    bool // comments are disabled
	// MergedAt is when it was merged. It is zero if it is not merged, or the forge does not tell.
	MergedAt time.Time
}

// State of a pull request.
type State string

// The states.
const (
	Open   State = "open"
	Closed State = "closed" // without being merged
	Merged State = "merged"
)

// Branch is the base or the head of a pull request.
type Branch struct {
	Repo precedent.Repo // zero if the repository was deleted
	// RepoID is the forge's number of Repo, which stays when it is renamed or moved;
	// empty if the forge has none.
	RepoID precedent.ForgeID
	// Visibility says who can read Repo; empty if the forge does not tell.
	Visibility Visibility
	Name       string
	SHA        string
	// CloneURL is the URL to fetch from. It contains no credential.
	CloneURL string
}

// Visibility says who can read a repository.
type Visibility string

// Public repositories can be read by everybody, private ones by some.
const (
	Public  Visibility = "public"
	Private Visibility = "private"
)

// Comment is a comment on a pull request, or the text of a review.
type Comment struct {
	ID       precedent.ForgeID
	Kind     CommentKind
	Author   Person
	Body     precedent.Untrusted // at most MaxBody bytes
	Cut      bool                // Body was truncated
	At       time.Time
	Edited   time.Time // equal to At if it was never edited, or the forge does not tell
	URL      string
	ReplyTo  precedent.ForgeID // the comment it replies to; empty for none
	Review   precedent.ForgeID // the review of an inline comment; empty if the forge does not tell
	Span     precedent.Span    // zero unless the comment is inline
	Commit   string            // the commit that Span refers to; empty without a Span
	Outdated bool              // the commented code has changed
	Blocks   bool              // a review that requests changes, which nobody has taken back
	// Hunk is the end of the diff hunk above an inline comment, the commented line last, at most
	// MaxHunk bytes. Only History sets it, if the forge includes it.
	Hunk precedent.Untrusted
	// Member tells that the forge lists the author among the members of the repository or its
	// owner. It proves no permission. Only History sets it.
	Member bool
	// Votes is the number of 👍 and 👎 reactions to an inline comment, or -1 if the
	// forge does not include it, so that only Reactions can tell.
	Votes int
}

// NumberedComment is a comment and the number of its pull request.
type NumberedComment struct {
	Number int
	Comment
}

// HistoryStream names a list of comments, or of pull requests with comments. The names are stored.
type HistoryStream string

// StreamWhole has the comments on pull requests as a whole; others may be among them.
const StreamWhole HistoryStream = "issue"

// HistoryQuery asks for a page of a list.
type HistoryQuery struct {
	Stream HistoryStream
	Since  time.Time
	// Cursor is HistoryPage.Next of the page before; empty for the first page.
	Cursor string
}

// HistoryPage is a page of a list.
type HistoryPage struct {
	// Pulls are pull requests that were updated, also those without comments. They have only
	// Number, Title, Body, Author, State, URL, Updated and MergedAt. A list of comments has none.
	Pulls    []PullRequest
	Comments []NumberedComment
	// Cut are the pull requests of which not all comments were read, because there are too many.
	Cut []int
	// Next is the cursor of the next page; empty after the last one.
	Next string
	// Through is a time such that everything that was edited before it, and since
	// HistoryQuery.Since, was on this page or on one before. It is zero if that is not known.
	Through time.Time
}

// LastNumber returns the number that ends the address of a pull request or an issue; 0 if none does.
func LastNumber(address string) int {
	n, _ := strconv.Atoi(path.Base(address))
	return max(n, 0)
}

// CommentKind is what a comment is attached to.
type CommentKind string

// The kinds.
const (
	OnThread CommentKind = "issue"  // the pull request as a whole
	OnReview CommentKind = "review" // the text of a review
	OnLine   CommentKind = "inline" // lines of the diff
)

// Quota is a rate limit, and the forge's own clock.
type Quota struct {
	Limit, Left int
	Reset       time.Time
	// At is the time that the last response was made, by the forge's clock; zero if it did not say.
	At time.Time
}

// ErrorKind classifies the errors of a forge.
type ErrorKind string

// The kinds.
const (
	KindAuth     ErrorKind = "auth"      // the token is invalid or is missing a permission
	KindNotFound ErrorKind = "not-found" // it does not exist, or the token cannot access it
	KindRate     ErrorKind = "rate"      // the rate limit is exceeded until Error.Retry
	KindServer   ErrorKind = "server"    // 5xx
	KindNetwork  ErrorKind = "network"
	KindAnswer   ErrorKind = "answer"    // the response is malformed or unexpected
	KindTooLarge ErrorKind = "too-large" // more than the forge returns, or than we read
	KindRefused  ErrorKind = "refused"   // not sent: the address or a name in it is not valid on this forge
	KindInvalid  ErrorKind = "invalid"   // the forge rejected the request, and nothing changed
	KindClosed   ErrorKind = "closed"    // comments are no longer possible: locked, archived, deleted
	KindFenced   ErrorKind = "fenced"    // not sent: the check of WithFence refused it, see Error.Err
	// KindUnsupported means that the forge has no way to do this, and that nothing was sent.
	KindUnsupported ErrorKind = "unsupported"
)

// Error is a failed request. Its text never contains a token.
type Error struct {
	Kind   ErrorKind
	Status int       // HTTP status; 0 without one
	Retry  time.Time // when the request may be repeated; zero if unknown
	Owner  string    // in lower case, if only requests about the repositories of an owner count against the rate limit
	Msg    string
	Said   string // the forge's own message, on one line; may be empty
	Hint   string // what the user can do
	// Unsure is set if the request makes a change and may have been carried out.
	Unsure bool
	// Unreached is set if no connection was made, now or before.
	Unreached bool
	// Err is the context's error if the caller stopped waiting, or that of the check of WithFence; else nil.
	Err error
}

// NoComment is the error of ReadComment for a comment that does not exist on the pull request.
func NoComment(doing string) error {
	return &Error{Kind: KindNotFound, Msg: doing + ": it does not exist on this pull request"}
}

// CheckNumbers refuses ids that are not positive numbers, for forges that number
// comments: such an id would be sent as number 0.
func CheckNumbers(ids ...precedent.ForgeID) error {
	for _, id := range ids {
		if id.Number() <= 0 {
			return &Error{Kind: KindRefused, Msg: fmt.Sprintf("invalid comment id %q: want a positive number", id)}
		}
	}
	return nil
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// Error returns the message.
func (e *Error) Error() string { return e.Msg }

type fenceKey struct{}

// WithFence returns a context in which check is called right before everything that changes something on a
// forge. If check returns an error, nothing is sent, and the error is an *Error of KindFenced that wraps it.
//
// It is for jobs that may lose their lease: a request that waits, for the rate limit or for the
// time between two changes, is checked after it waited, and each request of a change that takes
// several is checked. What was sent before stays.
func WithFence(ctx context.Context, check func(context.Context) error) context.Context {
	return context.WithValue(ctx, fenceKey{}, check)
}

// PassFence calls the check of WithFence, if there is one. Implementations of Forge
// call it right before each request that makes a change; the error is of KindFenced.
func PassFence(ctx context.Context) error {
	check, ok := ctx.Value(fenceKey{}).(func(context.Context) error)
	if !ok {
		return nil
	}
	if err := check(ctx); err != nil {
		return &Error{Kind: KindFenced, Msg: "not sent: " + err.Error(), Err: err}
	}
	return nil
}
