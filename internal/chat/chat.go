// Package chat reads commands in the comments of people. The grammar is fixed: which
// sentences count, and what they mean, is decided without a model, so that nobody can
// talk a model into storing something. docs/comments.md describes it for users.
//
// A command is a sentence that begins with a mention of us, such as "@precedent remember this: ...". In our
// own threads, commands about that thread need no mention. Only the author's own prose counts: no quotations,
// code, HTML comments, folded details, link texts, or sentences of ours that a reply repeats. Everything else
// that addresses us is [FreeText].
//
// The package is pure. It takes linear time, and reads at most 64 KiB of a comment. It does not
// know who wrote a comment: callers check permissions.
package chat

import "github.com/precedent-dev/precedent"

// Kind is what a command asks for.
type Kind string

// The kinds. [Command.Content] says what it holds for each.
const (
	Remember            Kind = "remember"
	RememberReferential Kind = "remember_referential" // "remember this": what it refers to is elsewhere
	Dismiss             Kind = "dismiss"              // do not flag this in the repository
	Exception           Kind = "exception"            // intended in this pull request, for a reason
	WontFix             Kind = "wont_fix"
	NotApplicable       Kind = "not_applicable"

	Stricter  Kind = "stricter"
	Lenient   Kind = "lenient"
	FocusMore Kind = "focus_more"
	FocusLess Kind = "focus_less"

	UpdatePreference Kind = "update_preference"
	Forget           Kind = "forget"
	ForgetRule       Kind = "forget_rule" // the rule is quoted
	ForgetAll        Kind = "forget_all"  // callers ask once
	ResetThresholds  Kind = "reset_thresholds"
	ResetPreferences Kind = "reset_preferences" // of a directory

	AskRemember        Kind = "ask_remember" // what do you remember about this repository?
	ListPreferences    Kind = "list_preferences"
	PreferencesForFile Kind = "preferences_for_file"
	ExplainFlag        Kind = "explain_flag"

	Review      Kind = "review"
	ReviewAgain Kind = "review_again"
	Resolve     Kind = "resolve"
	Fix         Kind = "fix"
	Pause       Kind = "pause"
	Resume      Kind = "resume"
	Help        Kind = "help"
	Approve     Kind = "approve" // a pending learning
	Confirm     Kind = "confirm" // what we asked once
	Undo        Kind = "undo"

	FreeText Kind = "free_text" // addressed to us, and not a command
)

// Scope is what a command applies to.
type Scope string

// The scopes.
const (
	InRepository  Scope = "repository"
	InPullRequest Scope = "pull_request"
	InThread      Scope = "thread"
)

// Place is a place that a command names relative to the thread that it is in.
type Place string

// The places. ThisDirectory is the directory of the thread's file.
const (
	ThisFile      Place = "file"
	ThisDirectory Place = "directory"
)

// Options says how a comment is read.
type Options struct {
	// Names are the accounts that we answer to, with or without "@" and "[bot]". Empty means
	// "precedent". Case does not matter.
	Names []string
	// InThread tells that the comment is in a thread that one of our comments opened.
	InThread bool
	// Own are the bodies of our comments in the same conversation. A sentence of the comment
	// that also occurs there, outside of code, is ignored.
	Own []precedent.Untrusted
}

// Command is one command of a comment.
type Command struct {
	Kind Kind
	// Scope is empty for commands that store nothing, other than for a pull request or a thread.
	Scope Scope
	// Content is what the person wants remembered, dismissed, adjusted or forgotten; the reason of an
	// exception; the name of a quoted rule; the directory to reset; the id for Undo and Approve; all of the
	// prose of FreeText. It is verbatim except that it went through text.Clean, and has at most 20,000
	// characters. Statements such as "we use tabs in this repo" are whole sentences. It is empty if the kind
	// has none, and may be empty for WontFix, NotApplicable, PreferencesForFile, Undo and Approve.
	Content string
	// Glob is the files that the sentence names by a path or a pattern, relative to the root of
	// the repository, with slashes; empty if it names none. A directory ends with "/**".
	Glob string
	// Place is set if the sentence says "in this file" or the like. It is set only in threads.
	Place Place
	// Sentence is what the person wrote, with the mention if it has one, cleaned.
	Sentence string
}

// Reason is why a command was refused.
type Reason string

// The reasons.
const (
	Empty    Reason = "empty"     // nothing to remember, dismiss, or forget
	TooLong  Reason = "too_long"  // more than 20,000 characters
	TooBroad Reason = "too_broad" // "ignore all issues"
	Unclear  Reason = "unclear"   // "don't flag this", "in this file" outside of a thread
	Unclosed Reason = "unclosed"  // a quote that does not end
	BadPath  Reason = "bad_path"  // a path that leaves the repository, or too many paths
	NoThread Reason = "no_thread" // a command about a thread, outside of one
	TooMany  Reason = "too_many"  // more than 10 commands: none is carried out
	// NoCommand is that of a sentence that begins with a mention beside commands.
	NoCommand Reason = "no_command"
)

// Bounds of a comment.
const (
	maxLength = precedent.MaxLearningField // characters of a content
	maxActs   = 10                         // commands
)

// Refusal is a sentence that begins like a command but cannot be one.
type Refusal struct {
	Kind     Kind // the command that it began like; empty for TooMany and NoCommand
	Reason   Reason
	Why      string // for the person: what is wrong, one sentence
	Example  string // a command that works, without the mention; for a code span
	Sentence string // what the person wrote, cleaned, at most 300 characters
}
