// Package comment writes everything that is said on a forge, and reads it back.
//
// What a comment says comes from models and from the change, so all of it is
// written as Markdown that does nothing, and passes one gate on its way out. What
// the program has to know again stands in a footer that people can read and in a
// marker that is not shown, one HTML comment, the last line of all. Text from
// outside cannot forge one: it holds no HTML comments when it is written, and
// only the last line counts when it is read.
package comment

import (
	"errors"
	"fmt"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/markdown"
	"github.com/precedent-dev/precedent/internal/secret"
)

// PullRequest is the pull request that a marker holds for.
type PullRequest struct {
	Repo   precedent.Repo
	Number int
}

// Kind says what a comment is.
type Kind string

// The kinds.
const (
	Finding Kind = "finding" // opens a thread on a line or a file
	Summary Kind = "summary" // the one comment that tells how the review ended
	Review  Kind = "review"  // the words of a review that carries inline comments
	Reply   Kind = "reply"   // in a thread
)

// Marker is what a comment says of itself, for the next review to know it again.
type Marker struct {
	Kind   Kind
	Thread string // UUID; every comment of any kind has one
	Review string // UUID of the review that wrote it
	Head   string // the commit that was reviewed

	// The rest is a finding's, of a comment that opens a thread.
	Fingerprint string
	Finding     string
	Category    precedent.Category
	Severity    precedent.Severity
	Confidence  int    // percent
	Title       string // text from outside, at most 400 bytes
}

// Key signs markers. The zero Key does not: they are then worth no more than the
// account that wrote them. A function holds the secret, because whatever prints a
// Writer cannot look into a function.
type Key struct{ value func() string }

// IsZero tells whether it signs nothing.
func (k Key) IsZero() bool { return k.value == nil }

func (k Key) secret() string {
	if k.value == nil {
		return ""
	}
	return k.value()
}

// MinKey is the least length of a key, in bytes: half of what the hash could use.
const MinKey = 16

// NewKey takes a key as it is configured. An empty one gives the zero Key.
func NewKey(s string) (Key, error) {
	s = strings.TrimSpace(s)
	if s != "" && len(s) < MinKey {
		return Key{}, fmt.Errorf("read the key of markers: %w: it has %d bytes, and needs %d: openssl rand -hex 32 makes one", errShort, len(s), MinKey)
	}
	if s == "" {
		return Key{}, nil
	}
	return Key{func() string { return s }}, nil
}

var errShort = errors.New("too short")

// Writer writes the comments of one pull request and reads them back.
type Writer struct {
	PullRequest PullRequest
	Key         Key
	Links       []string // the hosts that a link may lead to
	Own         []string // secrets of this process, which are never shown; the key is one without being named
	// Version is this program's, for the receipts; may be empty.
	Version string
	// Finder is the program's name in the footer; empty means "precedent".
	Finder string
}

// own searches for what may never be shown.
func (w Writer) own() secret.Own {
	return secret.NewOwn(append([]string{w.Key.secret()}, w.Own...)...)
}

// Reply writes an answer in a thread: at most 2,000 bytes of the words.
func (w Writer) Reply(words string, m Marker) string {
	m.Kind = Reply
	own := w.own()
	return w.seal(strings.Join(markdown.Body(sanitize(words, own), w.Links), "\n"), m, own)
}

// Review writes the words of a review that carries so many new inline comments.
func (w Writer) Review(posted int, r *precedent.Review, m Marker) string {
	m.Kind = Review
	noun := "findings"
	if posted == 1 {
		noun = "finding"
	}
	said := fmt.Sprintf("**%d new %s**", posted, noun)
	if m.Head != "" {
		said += " at " + markdown.Code(short(m.Head))
	}
	said += "."
	switch {
	case r.Verdict == precedent.Partial || r.Verdict == precedent.Failed:
		said += "\n\n**This review is not complete: what it does not mention may not have been read.**"
	case r.Scope == precedent.AnalyzersScope:
		said += "\n\n**No model read this change: only the analyzers did.**"
	}
	said += "\n\nThe summary, a comment on this pull request, says what was read and what else was found."
	return w.seal(said, m, w.own())
}

// short is a commit as people write it.
func short(commit string) string { return commit[:min(len(commit), 10)] }
