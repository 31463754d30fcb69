// Package forge is the seam to whatever hosts pull requests. A forge is read
// here; what it says of the world is a value, and everything that people wrote
// on it is untrusted.
package forge

import (
	"context"
	"time"

	"github.com/precedent-dev/precedent"
)

// Forge reads pull requests. Implementations are safe for concurrent use. Errors
// are *Error.
type Forge interface {
	// Host is the forge's host, as identities name it: github.com.
	Host() string
	// PullRequest reads one pull request of the repository.
	PullRequest(ctx context.Context, repo precedent.Repo, number int) (PullRequest, error)
	// Open lists the open pull requests of the repository, the one that changed
	// last first. Files is 0 in them. To ask again while nothing has changed is
	// cheap where the forge has conditional requests.
	Open(ctx context.Context, repo precedent.Repo) ([]PullRequest, error)
	// Comments reads everything that was said on a pull request, oldest first. Of
	// more than can be read it returns the oldest, with a KindTooLarge error.
	Comments(ctx context.Context, repo precedent.Repo, number int) ([]Comment, error)
	// Permission is what a person may do in the repository now, asked live. It is
	// never guessed from what a comment says of its author.
	Permission(ctx context.Context, repo precedent.Repo, p Person) (Permission, error)
	// Patch is the diff as the forge computes it: the fallback where git cannot
	// fetch.
	Patch(ctx context.Context, repo precedent.Repo, number int) ([]byte, error)
	// Quota is what is left of the forge's rate limit, as it said last.
	Quota() Quota
}

// MaxBody bounds the words of a pull request or a comment, in bytes: 65,536
// characters, which is as long as GitHub lets them be, of 4 bytes each.
const MaxBody = 4 * 65_536

// Person is an account.
type Person struct {
	ID    int64  // the forge's number, which stays when the login changes; 0 if the account is deleted
	Login string // "ghost" if the account is deleted
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
	Files   int // changed ones, as the forge counts them
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
	ID       int64
	Kind     CommentKind
	Author   Person
	Body     precedent.Untrusted // at most MaxBody bytes
	Cut      bool                // Body is the beginning of a longer one
	At       time.Time
	Edited   time.Time // equal to At if it never was, or the forge does not tell
	URL      string
	ReplyTo  int64          // id of the comment that it answers; 0 for none
	Span     precedent.Span // of an inline comment; the zero Span else
	Commit   string         // whose lines Span counts; empty without a Span
	Outdated bool           // the code that it is about has changed
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

// Kind sorts the trouble that a forge can make.
type Kind string

// The kinds.
const (
	KindAuth     Kind = "auth"      // the token is wrong, or lacks a permission
	KindNotFound Kind = "not-found" // there is no such thing, or the token may not see it
	KindRate     Kind = "rate"      // the rate limit is used up until Error.Retry
	KindServer   Kind = "server"    // 5xx
	KindNetwork  Kind = "network"
	KindAnswer   Kind = "answer"    // it cannot be understood
	KindTooLarge Kind = "too-large" // more than the forge gives, or than is read
	KindRefused  Kind = "refused"   // not sent: it would go elsewhere, or names nothing that a forge can hold
)

// Error is a request that failed. Its text never holds a token.
type Error struct {
	Kind   Kind
	Status int       // HTTP status; 0 without one
	Retry  time.Time // when it may be asked again; zero if it does not say
	Msg    string
	Hint   string // what a person can do
	// Err is why nobody waited for the answer: the context's error; nil else.
	Err error
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// Error says what happened.
func (e *Error) Error() string { return e.Msg }
