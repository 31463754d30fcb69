// Package comment writes all comments on a forge, and reads them back.
//
// The text of a comment comes from models and from the change. It is written as
// inert Markdown, and the finished page is checked before it is returned. What the
// program needs to recognize a comment is in a footer that people can read and in a
// hidden marker: an HTML comment on the last line. Text from outside cannot forge a
// marker: it is written without HTML comments, and only the last line counts.
package comment

import (
	"errors"
	"fmt"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/markdown"
	"github.com/precedent-dev/precedent/internal/secret"
)

// PullRequest is the pull request that a marker is valid for.
type PullRequest struct {
	Repo   precedent.Repo
	RepoID precedent.ForgeID // the forge's number of Repo; empty if it has none
	Number int
}

// Kind is the kind of a comment.
type Kind string

// The kinds.
const (
	Finding Kind = "finding" // opens a thread on a line or a file
	Summary Kind = "summary" // the one comment with the result of the review
	Review  Kind = "review"  // the body of a review with inline comments
	Reply   Kind = "reply"   // in a thread
	Answer  Kind = "answer"  // to a comment of a person
)

// Marker identifies a comment, so that the next review recognizes it.
type Marker struct {
	Kind   Kind   `json:"kind,omitempty"`
	Thread string `json:"thread,omitempty"` // UUID; every comment of any kind has one
	Review string `json:"review,omitempty"` // UUID of the review that wrote it
	Head   string `json:"head,omitempty"`   // the commit that was reviewed
	// Run is the id of the run that is posting; only in a summary, and only until that run has
	// ended.
	Run string `json:"run,omitempty"`
	// Spent is what the reviews of the pull request have cost on a day; only in a summary.
	Spent Spending `json:"spent,omitzero"`
	// Answers identifies what an answer answers: the comment, and what it asked. Of a note, it
	// identifies what the note says. It is the same in every run. A comment may collect answers: see
	// Collect.
	Answers string `json:"answers,omitempty"`
	// Tries is the number of incomplete reviews in a row, up to this one, in a summary: 0 for a
	// complete review. In a note about a failed fix it is how often that happened, 0 for once.
	Tries int `json:"tries,omitempty"`

	// The rest is set in a comment that opens a thread, and describes its finding.
	Fingerprint string             `json:"fp,omitempty"`
	Finding     string             `json:"finding,omitempty"`
	Category    precedent.Category `json:"category,omitempty"`
	Severity    precedent.Severity `json:"severity,omitempty"`
	Confidence  int                `json:"confidence,omitempty"` // percent
	Title       string             `json:"title,omitempty"`      // text from outside, at most 400 bytes
	Start       int                `json:"start,omitempty"`      // its lines at Head; 0 if it has none
	End         int                `json:"end,omitempty"`
}

// Spending is what the reviews of a pull request have cost on one day.
type Spending struct {
	Day          string `json:"day"` // UTC, as 2006-01-02; empty for none
	Microdollars int64  `json:"microdollars"`
}

// maxSpent limits a spending: a billion dollars.
const maxSpent = 1e15

// Key signs markers. The zero Key does not: markers are then as trustworthy as the account
// that wrote them. The secret is in a function so that printing a Writer cannot reveal it.
type Key struct{ value func() string }

// IsZero tells whether the key signs nothing.
func (k Key) IsZero() bool { return k.value == nil }

func (k Key) secret() string {
	if k.value == nil {
		return ""
	}
	return k.value()
}

// MinKey is the minimum length of a key in bytes: half of what the hash can use.
const MinKey = 16

// NewKey returns the configured key; the zero Key if it is empty.
func NewKey(s string) (Key, error) {
	s = strings.TrimSpace(s)
	switch {
	case s == "":
		return Key{}, nil
	case len(s) < MinKey:
		return Key{}, fmt.Errorf("read signing key of comments: %w: it has %d bytes and needs %d; openssl rand -hex 32 "+
			"makes one", errShort, len(s), MinKey)
	}
	return Key{func() string { return s }}, nil
}

var errShort = errors.New("too short")

// Writer writes the comments of one pull request and reads them back.
type Writer struct {
	PullRequest PullRequest
	Key         Key
	Links       []string // the hosts that links may lead to
	Own         []string // secrets of this process, which are never shown; the key need not be listed
	// Version is the version of this program, for the details; may be empty.
	Version string
	// LineURL returns the address of lines on the forge, empty if they have none. It may be
	// nil.
	LineURL func(precedent.Span) string
	// FixedLines is that of the forge's pages: comments name and quote their lines.
	FixedLines bool
	Answers    Answers
	// Precedents says how findings cite the comments of people.
	Precedents precedent.CitationDisplay
}

// Answers tells whose answers to a finding count, so that no comment invites others.
type Answers struct {
	// Unknown means that the forge does not tell who has write permission. Resolving a
	// conversation counts even then: the forge checks it.
	Unknown bool
	// Maintainers means that the policy lists people who count even then.
	Maintainers bool
}

// own returns a search for the secrets of this process.
func (w Writer) own() secret.Own {
	return secret.NewOwn(append([]string{w.Key.secret()}, w.Own...)...)
}

// Reply writes a reply in a thread: at most 2,000 bytes of the words.
func (w Writer) Reply(words string, m Marker) string {
	m.Kind = Reply
	own := w.own()
	return w.seal(strings.Join(markdown.Body(sanitize(words, own), w.Links), "\n"), m, own)
}

// Answered is an answer to a comment of a person: of each part, at most 2,000 bytes. To is the
// address of the comment, if the answer is not in its thread.
type Answered struct {
	Parts []string
	To    string
}

// Answer writes a comment with answers, one after the other.
func (w Writer) Answer(m Marker, all ...Answered) string {
	m.Kind = Answer
	own := w.own()
	var blocks []string
	for i, a := range all {
		if i > 0 {
			blocks = append(blocks, "---")
		}
		if a.To != "" {
			blocks = append(blocks, w.InReplyTo(a.To))
		}
		for _, p := range a.Parts {
			blocks = append(blocks, strings.Join(markdown.Answer(sanitize(p, own), w.Links), "\n"))
		}
	}
	return w.seal(strings.Join(blocks, "\n\n"), m, own)
}

// InReplyTo begins an answer that is not in the conversation of the comment at the address.
func (w Writer) InReplyTo(address string) string {
	return "In reply to " + markdown.Link("this comment", address, w.Links) + ":"
}

// MaxAnswers limits Marker.Answers, in bytes.
const MaxAnswers = 1024

// Collect is the Marker.Answers of a comment that has several answers.
func Collect(answers []string) string { return strings.Join(answers, "_") }

// AllAnswers returns what the comment answers: the parts of Collect.
func (m Marker) AllAnswers() []string {
	if m.Answers == "" {
		return nil
	}
	return strings.Split(m.Answers, "_")
}

// Review writes the body of a review with the number of new inline comments.
func (w Writer) Review(posted int, r *precedent.Review, m Marker) string {
	m.Kind = Review
	noun := "findings"
	if posted == 1 {
		noun = "finding"
	}
	body := fmt.Sprintf("**%d new %s**", posted, noun)
	if m.Head != "" {
		body += " at " + markdown.Code(short(m.Head))
	}
	body += "."
	switch {
	case r.Verdict == precedent.Partial || r.Verdict == precedent.Failed:
		body += "\n\n**This review is incomplete: code that it does not mention may not have been read.**"
	case r.Scope == precedent.AnalyzersScope:
		body += "\n\n**No model read this change: only the analyzers did.**"
	}
	body += "\n\nSee the summary comment on this pull request for what was read and for other findings."
	return w.seal(body, m, w.own())
}

// short abbreviates the id of a commit.
func short(commit string) string { return commit[:min(len(commit), 10)] }
