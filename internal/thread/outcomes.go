package thread

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
)

// OutcomeInput is the state of a pull request from which Outcomes decides.
type OutcomeInput struct {
	State  forge.State
	Author forge.Person // who opened the pull request, and so decides to fix; the zero value if unknown
	Trees  Trees        // those that the threads were relocated with
	Votes  map[string][]Vote
	// Answers are those of the last review of the head; empty if there is none.
	Answers []precedent.ThreadAnswer
	Now     time.Time
}

// Outcomes returns the outcome of each thread's finding, in the order of the threads, which
// must have been through Assemble and Relocate. The first line that applies counts:
//
//	suggestion_committed  the suggested lines replaced the flagged ones
//	fixed                 the flagged lines changed or are gone, and a review found it fixed or,
//	                      if no review answered, its place is no longer in the file
//	declined              a person with write permission or the author of the pull request dismissed
//	                      it in words that chat.Dismissal recognizes, or a person with write permission
//	                      reacted with 👎 or wrote a sentence that an engine read as a dismissal
//	resolved_unchanged    a person closed the conversation or deleted the comment, and it is not fixed
//	accepted              a person with write permission reacted with 👍, and the code is unchanged
//	ignored               merged or closed, the code is unchanged, and no review found it fixed
//	unknown               none of these: it says nothing about the finding
//
// What happened to the code comes first because it counts more than what people wrote. A
// finding that nobody dismissed does not count as accepted for that.
func Outcomes(ts []precedent.Thread, in OutcomeInput) []precedent.Outcome {
	answers := map[string]precedent.ThreadAnswer{}
	for _, a := range in.Answers {
		answers[a.Thread] = a
	}
	judge := outcomeJudge{in: in, relocator: newRelocator(in.Trees)}
	outcomes := make([]precedent.Outcome, 0, len(ts))
	for _, t := range ts {
		o := precedent.Outcome{
			Thread: t.ID, Finding: t.Finding, Fingerprint: t.Fingerprint, PullRequest: t.PullRequest, Title: t.Title,
			Category: t.Category, Severity: t.Severity, Confidence: t.Confidence, Refit: t.Refit, Finder: t.Finder,
			Commit: in.Trees.Head, URL: t.URL, At: in.Now,
		}
		judge.outcome(&o, t, answers[t.ID])
		outcomes = append(outcomes, o)
	}
	return outcomes
}

type outcomeJudge struct {
	in        OutcomeInput
	relocator *relocator
}

// outcome sets the outcome, its proof and who decided.
func (j *outcomeJudge) outcome(o *precedent.Outcome, t precedent.Thread, answer precedent.ThreadAnswer) {
	set := func(kind precedent.OutcomeKind, format string, args ...any) {
		o.Kind, o.Proof = kind, fmt.Sprintf(format, args...)
	}
	if j.suggestionTaken(t) {
		set(precedent.SuggestionTaken, "the suggested lines replaced the flagged ones at %s", short(o.Commit))
	} else if why := j.fixedProof(t, answer); why != "" {
		set(precedent.Fixed, "%s", why)
	}
	if o.Kind != "" {
		if !j.in.Author.Bot {
			o.Who = j.in.Author.Login
		}
		return
	}
	if j.setDeclined(o, t, answer) {
		return
	}
	same := j.unchangedProof(t, answer)
	up, agreed := lastVote(j.in.Votes[t.ID], "+1")
	switch {
	case same == "":
		set(precedent.OutcomeUnknown, "it is unknown whether the flagged code changed at %s", short(o.Commit))
	case t.Deleted:
		set(precedent.ResolvedUnchanged, "the comment was deleted, and %s", same)
	case t.State.Final(): // the author ends a thread as dismissed
		o.Who = Closer(t)
		set(precedent.ResolvedUnchanged, "%s closed the conversation, and %s", cmp.Or(o.Who, "someone"), same)
	case agreed:
		o.Who, o.MayWrite = up.Who.Login, true
		set(precedent.Accepted, "%s reacted with 👍, and %s", up.Who.Login, same)
	case t.State == precedent.ThreadAddressed || answer.State == precedent.Addressed || answer.State == precedent.NoLonger:
		set(precedent.OutcomeUnknown, "a review found it fixed, but %s", same)
	case j.in.State == forge.Merged:
		set(precedent.IgnoredAtMerge, "merged with the thread open, and %s", same)
	case j.in.State == forge.Closed:
		set(precedent.IgnoredAtMerge, "closed without merging, with the thread open, and %s", same)
	default:
		o.Back = true
		set(precedent.OutcomeUnknown, "the pull request is open, and %s", same)
	}
}

// suggestionTaken tells whether the suggested lines are now between the neighbours of the
// flagged lines, and were not at the thread's commit. White space counts, except at the ends
// of lines, because a suggestion may be about nothing else.
func (j *outcomeJudge) suggestionTaken(t precedent.Thread) bool {
	if strings.TrimSpace(t.Suggestion) == "" || t.Start <= 0 || t.Side == precedent.Left || t.Commit == j.in.Trees.Head {
		return false
	}
	r := j.relocator.route(t.Commit, t.Path, j.in.Trees.Head, j.relocator.path(&t))
	lines := r.lines(t)
	if !r.from.exists || !r.to.exists || lines.end == 0 {
		return false
	}
	want := trimmed(strings.Split(strings.TrimRight(t.Suggestion, "\r\n"), "\n"))
	if slices.Equal(want, trimmed(r.from.lines[lines.start:lines.end])) {
		return false
	}
	from, to := 0, len(r.to.lines)
	for i := lines.start - 1; i >= 0; i-- {
		if r.toLine[i] >= 0 {
			from = r.toLine[i] + 1
			break
		}
	}
	for i := lines.end; i < len(r.toLine); i++ {
		if r.toLine[i] >= 0 {
			to = r.toLine[i]
			break
		}
	}
	if from > to {
		return false
	}
	region := trimmed(r.to.lines[from:to])
	for i := 0; i+len(want) <= len(region); i++ {
		if slices.Equal(region[i:i+len(want)], want) {
			return true
		}
	}
	return false
}

func trimmed(lines []string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = strings.TrimRight(line, " \t\r")
	}
	return out
}

// fixedProof returns the proof that the finding is fixed; empty if there is none.
func (j *outcomeJudge) fixedProof(t precedent.Thread, answer precedent.ThreadAnswer) string {
	if !t.ProvenChange() || answer.State == precedent.StillThere || answer.State == precedent.DeclinedHere {
		return ""
	}
	head := short(j.in.Trees.Head)
	change := "changed"
	if t.Current.Start == 0 && t.Start > 0 {
		change = "are gone"
	}
	switch answer.State {
	case precedent.Addressed:
		return fmt.Sprintf("the flagged lines %s, and the review of %s found it fixed", change, head)
	case precedent.NoLonger:
		return fmt.Sprintf("the flagged lines %s, and the review of %s found that it no longer applies", change, head)
	}
	if t.Side == precedent.Left {
		if t.Current != (precedent.Span{}) {
			return fmt.Sprintf("%s restores the deleted lines", head)
		}
		return ""
	}
	path := j.relocator.path(&t)
	f := j.relocator.file(j.in.Trees.Head, path)
	switch {
	case f.known && !f.exists:
		return fmt.Sprintf("the file no longer exists at %s", head)
	case !f.exists || t.Place == "" || t.Start == 0 && t.Quote == "":
		return ""
	}
	for i := range f.lines {
		if f.place(t.Path, i) == t.Place {
			return ""
		}
	}
	return fmt.Sprintf("the flagged lines %s, and no such place is left in the file at %s", change, head)
}

// setDeclined sets the outcome if a person dismissed the finding: the last one who did, those
// with write permission before the author.
func (j *outcomeJudge) setDeclined(o *precedent.Outcome, t precedent.Thread, answer precedent.ThreadAnswer) bool {
	by, words, ok := dismissedIn(t, fromTeam)
	if !ok {
		if down, ok := lastVote(j.in.Votes[t.ID], "-1"); ok {
			o.Kind, o.Who, o.MayWrite = precedent.Declined, down.Who.Login, true
			o.Proof = down.Who.Login + " reacted with 👎"
			return true
		}
		by, words, ok = dismissedByAnswer(t, answer)
	}
	if !ok && t.DismissedWords != "" {
		by, words, ok = dismissedByAnswer(t, precedent.ThreadAnswer{
			State: precedent.DeclinedHere, Who: t.DismissedBy,
			Words: t.DismissedWords,
		})
	}
	if !ok {
		by, words, ok = dismissedIn(t, func(m precedent.Message) bool { return j.in.Author.ID != "" && m.WhoID == j.in.Author.ID })
	}
	if ok {
		o.Kind, o.Who, o.Words, o.MayWrite = precedent.Declined, by.Who, words, by.MayWrite
		o.Proof = fmt.Sprintf("%s said: “%s”", by.Who, words)
	}
	return ok
}

// dismissedByAnswer returns the message that dismisses the finding according to the review of
// the head. Its author must have write permission now, too.
func dismissedByAnswer(t precedent.Thread, answer precedent.ThreadAnswer) (by precedent.Message, words string,
	ok bool,
) {
	if answer.State != precedent.DeclinedHere || answer.Words == "" {
		return by, "", false
	}
	for _, m := range slices.Backward(t.Messages) {
		if fromPerson(m) && m.MayWrite && m.Who == answer.Who {
			return m, answer.Words, true
		}
	}
	return by, "", false
}

// unchangedProof returns the proof that the code is unchanged; empty if there is none.
func (j *outcomeJudge) unchangedProof(t precedent.Thread, answer precedent.ThreadAnswer) string {
	head := short(j.in.Trees.Head)
	switch {
	case answer.State == precedent.StillThere:
		return "the review of " + head + " still found it"
	case t.Current == (precedent.Span{}):
		return ""
	case !t.Changed:
		return "the flagged code is unchanged"
	}
	f := j.relocator.file(j.in.Trees.Head, t.Current.Path)
	for i := range f.lines {
		if t.Side != precedent.Left && f.place(t.Path, i) == t.Place {
			return "the flagged line and its neighbours are unchanged"
		}
	}
	return ""
}

// Closer returns who closed the conversation of a thread; empty if nobody did, or if we did on request.
func Closer(t precedent.Thread) string {
	if slices.ContainsFunc(t.Messages, func(m precedent.Message) bool { return m.Own && m.Who == t.ClosedBy }) {
		return ""
	}
	return t.ClosedBy
}

// short abbreviates the id of a commit.
func short(commit string) string { return commit[:min(len(commit), 10)] }
