// Package forge is the seam to whatever hosts pull requests. A forge is read and
// written here; what it says of the world is a value, and everything that people
// wrote on it is untrusted.
//
// What a forge cannot do is an Unsupported in the answer, and what it refuses of
// several things is a Rejected: neither is an error. A request that changes
// something is sent once. If it may have been carried out and the answer is not
// known, Error.Unsure says so; the caller looks before it asks again.
package forge

import (
	"context"
	"fmt"
	"time"

	"github.com/precedent-dev/precedent"
)

// Forge reads pull requests and posts to them. Implementations are safe for
// concurrent use. Errors are *Error.
type Forge interface {
	// Host is the forge's host, as identities name it: github.com.
	Host() string
	// PullRequestURL is the page of a pull request.
	PullRequestURL(repo precedent.Repo, number int) string
	// ReadPullRequestURL finds out which pull request a page is about. Errors are of
	// the kind KindRefused for a page of another forge, and KindInvalid for one of no
	// pull request.
	ReadPullRequestURL(page string) (precedent.Repo, int, error)
	// LineURL is the page of lines of a file at a commit, of the file if Start is 0;
	// empty if the forge shows no files.
	LineURL(repo precedent.Repo, commit string, s precedent.Span) string
	// ReadEvent reads an event by the name that the forge gives it. One that is not
	// known is a NoEvent; what cannot be understood, or is about another forge, is
	// an error.
	ReadEvent(name string, payload []byte) (Event, error)
	// Me is the account that posts.
	Me(ctx context.Context) (Person, error)
	// PullRequest reads one pull request of the repository.
	PullRequest(ctx context.Context, repo precedent.Repo, number int) (PullRequest, error)
	// Open lists the open pull requests of the repository, the one that changed
	// last first. Files is 0 in them. To ask again while nothing has changed is
	// cheap where the forge has conditional requests.
	Open(ctx context.Context, repo precedent.Repo) ([]PullRequest, error)
	// Comments reads everything that was said on a pull request, oldest first. Of
	// more than can be read it returns the oldest, with a KindTooLarge error.
	Comments(ctx context.Context, repo precedent.Repo, number int) ([]Comment, error)
	// Threads reads the conversations on lines, in the order of their first comments.
	Threads(ctx context.Context, repo precedent.Repo, number int) ([]Thread, error)
	// Reactions reads who reacted to a comment.
	Reactions(ctx context.Context, repo precedent.Repo, number int, to CommentRef) ([]Reaction, error)
	// Permission is what a person may do in the repository now, asked live. It is
	// never guessed from what a comment says of its author.
	Permission(ctx context.Context, repo precedent.Repo, p Person) (Permission, error)
	// Patch is the diff as the forge computes it: the fallback where git cannot
	// fetch. Files that it knows of and whose diff it does not give are returned
	// with the reason.
	Patch(ctx context.Context, repo precedent.Repo, number int) ([]byte, []precedent.SkippedFile, error)
	// Quota is what is left of the forge's rate limit, as it said last.
	Quota() Quota

	// Post posts a review: all that is not in Posted.Rejected, in one visible review.
	Post(ctx context.Context, repo precedent.Repo, number int, d Draft) (Posted, error)
	// Comment says something on the pull request as a whole.
	Comment(ctx context.Context, repo precedent.Repo, number int, body string) (Comment, error)
	// Reply answers in the conversation that begins with the inline comment.
	Reply(ctx context.Context, repo precedent.Repo, number int, to precedent.ForgeID, body string) (Comment, error)
	// Edit replaces the words of a comment of Me's.
	Edit(ctx context.Context, repo precedent.Repo, number int, c CommentRef, body string) error
	// Delete removes a comment of Me's, or folds it up where the forge keeps all:
	// the words of a review. One that is not there any more is no error.
	Delete(ctx context.Context, repo precedent.Repo, number int, c CommentRef) (Unsupported, error)
	// Resolve closes a conversation, or opens it again.
	Resolve(ctx context.Context, repo precedent.Repo, number int, t Thread, closed bool) (Unsupported, error)
	// AddLabel puts a label on a pull request, and makes the label if the repository
	// has none of that name. One that is there already is no error.
	AddLabel(ctx context.Context, repo precedent.Repo, number int, label string) (Unsupported, error)
	// RemoveLabel takes a label from a pull request. One that is not there is no error.
	RemoveLabel(ctx context.Context, repo precedent.Repo, number int, label string) (Unsupported, error)
	// Check says on a commit how the review of it ended: one check a name and
	// commit, which later ones replace.
	Check(ctx context.Context, repo precedent.Repo, c Check) (Unsupported, error)
}

// Unsupported says why a forge, or the token, cannot do something, for a person;
// it is empty if it was done.
type Unsupported string

// Bounds of what is sent, GitHub's, which no other forge undercuts.
const (
	// MaxPost bounds the body of a comment or review, in characters.
	MaxPost = 65_536
	// MaxRemarks bounds the inline comments of one Draft.
	MaxRemarks = 30
)

// CommentRef names a comment: its id is one of its kind only.
type CommentRef struct {
	Kind CommentKind
	ID   precedent.ForgeID
}

// Thread is a conversation on lines, as the forge groups it.
type Thread struct {
	ID       precedent.ForgeID   // empty if the forge has no name for it
	Comments []precedent.ForgeID // its inline comments, oldest first
	Closed   bool                // it is shown as resolved
	ClosedBy Person              // the zero Person if it is open, or the forge does not tell
	Outdated bool
}

// Reaction is a person's sign on a comment.
type Reaction struct {
	Who     Person
	Content string // "+1" or "-1"; others as the forge names them
	At      time.Time
}

// ReviewEvent is what a review does beside saying something. None approves.
type ReviewEvent string

// The events.
const (
	Remarks        ReviewEvent = "comment"
	RequestChanges ReviewEvent = "request_changes"
)

// Draft is a review that is to be posted.
type Draft struct {
	Commit  string // whose lines the remarks count; a forge that has another head may refuse it
	Event   ReviewEvent
	Body    string   // at most MaxPost characters; not empty
	Remarks []Remark // at most MaxRemarks
}

// Remark is an inline comment of a draft.
type Remark struct {
	// Span is inside one hunk of the diff. Start is 0 for a remark on the file.
	precedent.Span
	Body string // at most MaxPost characters
}

// Posted is what became of a draft.
type Posted struct {
	// Review is the forge's id of the review; empty if there is none, because all of
	// it was rejected.
	Review precedent.ForgeID
	// Remarks holds the id of each of the draft's remarks; empty for one that was
	// rejected, or whose id could not be read.
	Remarks     []precedent.ForgeID
	Rejected    []Rejected
	Unsupported []Unsupported // what of the event the forge did not take
}

// Rejected is a remark that the forge does not take.
type Rejected struct {
	Remark int // index in the draft
	Why    string
}

// Check is the end of a review, for the list of checks of a commit.
type Check struct {
	Name   string // "precedent"
	Commit string
	Review string // id of the review: to send it again makes no second check
	Result CheckResult
	Title  string // one line
	Body   string // Markdown, at most MaxPost characters
	URL    string // of the summary; may be empty
}

// CheckResult is what a check says. Success is said of a complete review alone. A
// forge may let a required check pass that is neutral, as GitHub does: whoever
// wants a gate takes the exit status of the job.
type CheckResult string

// The results.
const (
	Success CheckResult = "success"
	Failure CheckResult = "failure"
	Neutral CheckResult = "neutral" // nobody can tell: something was not read
)

// MaxBody bounds the words of a pull request or a comment, in bytes: 65,536
// characters, which is as long as GitHub lets them be, of 4 bytes each.
const MaxBody = 4 * 65_536

// Person is an account.
type Person struct {
	ID    precedent.ForgeID // stays when the login changes; empty if the account is deleted
	Login string            // "ghost" if the account is deleted
	Bot   bool
}

// Permission is what a person may do.
type Permission string

// The permissions, least first.
const (
	None  Permission = "none"
	Read  Permission = "read"
	Write Permission = "write"
	Admin Permission = "admin"
)

// MayWrite tells whether the person's word counts as the team's.
func (p Permission) MayWrite() bool { return p == Write || p == Admin }

// PullRequest is a pull request as it is now.
type PullRequest struct {
	Number      int
	Title, Body precedent.Untrusted // at most MaxBody bytes each
	Author      Person
	State       State
	Draft       bool
	URL         string // of its page
	Base, Head  Branch
	// Ref is the ref of the base repository that holds the head, forks included:
	// refs/pull/7/head on GitHub.
	Ref     string
	Labels  []string
	Updated time.Time
	Files   int  // changed ones, as the forge counts them
	Locked  bool // nobody may comment
}

// State of a pull request.
type State string

// The states.
const (
	Open   State = "open"
	Closed State = "closed" // without being merged
	Merged State = "merged"
)

// Branch is one end of a pull request.
type Branch struct {
	Repo precedent.Repo // the zero Repo if it is deleted
	Name string
	SHA  string
	// CloneURL is where git fetches it, without any credential.
	CloneURL string
}

// Comment is something that somebody said on a pull request.
type Comment struct {
	ID       precedent.ForgeID
	Kind     CommentKind
	Author   Person
	Body     precedent.Untrusted // at most MaxBody bytes
	Cut      bool                // Body is the beginning of a longer one
	At       time.Time
	Edited   time.Time // equal to At if it never was, or the forge does not tell
	URL      string
	ReplyTo  precedent.ForgeID // the comment that it answers; empty for none
	Review   precedent.ForgeID // that an inline comment came with; empty if the forge does not tell
	Span     precedent.Span    // of an inline comment; the zero Span else
	Commit   string            // whose lines Span counts; empty without a Span
	Outdated bool              // the code that it is about has changed
	// Votes are the thumbs up and down on an inline comment; -1 if the forge does not
	// tell how many, so that only Reactions can.
	Votes int
}

// CommentKind says what a comment stands on.
type CommentKind string

// The kinds.
const (
	OnThread CommentKind = "issue"  // on the pull request as a whole
	OnReview CommentKind = "review" // the words of a review
	OnLine   CommentKind = "inline" // on lines of the diff
)

// Quota is a rate limit.
type Quota struct {
	Limit, Left int
	Reset       time.Time
}

// ErrorKind sorts the errors of a forge.
type ErrorKind string

// The kinds.
const (
	KindAuth     ErrorKind = "auth"      // the token is wrong, or lacks a permission
	KindNotFound ErrorKind = "not-found" // there is no such thing, or the token may not see it
	KindRate     ErrorKind = "rate"      // the rate limit is used up until Error.Retry
	KindServer   ErrorKind = "server"    // 5xx
	KindNetwork  ErrorKind = "network"
	KindAnswer   ErrorKind = "answer"    // it cannot be understood
	KindTooLarge ErrorKind = "too-large" // more than the forge gives, or than is read
	KindRefused  ErrorKind = "refused"   // not sent: it would go elsewhere, or names nothing that a forge can hold
	KindInvalid  ErrorKind = "invalid"   // the forge does not take what it was sent, and was not changed
	KindClosed   ErrorKind = "closed"    // nothing can be said here any more: locked, archived, deleted
)

// Error is a request that failed. Its text never holds a token.
type Error struct {
	Kind   ErrorKind
	Status int       // HTTP status; 0 without one
	Retry  time.Time // when it may be asked again; zero if it does not say
	Msg    string
	Hint   string // what a person can do
	// Unsure tells that the request would change something, and may have been
	// carried out.
	Unsure bool
	// Err is why nobody waited for the answer: the context's error; nil else.
	Err error
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

// Error says what happened.
func (e *Error) Error() string { return e.Msg }
