package fix

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/fixround"
	"github.com/precedent-dev/precedent/internal/gate"
	"github.com/precedent-dev/precedent/internal/guide"
	"github.com/precedent-dev/precedent/internal/label"
	"github.com/precedent-dev/precedent/internal/prompt"
	"github.com/precedent-dev/precedent/internal/pull"
	"github.com/precedent-dev/precedent/internal/run"
	"github.com/precedent-dev/precedent/internal/secret"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// refused turns a refusal into a result, and returns other errors.
func refused(status Status, err error) (Result, error) {
	if no, ok := errors.AsType[*fixround.RefusalError](err); ok {
		return ended(status, "%s", no.Error()), nil
	}
	return Result{}, err
}

// withEngine gives an engine to a function, within the budget of the pull request and the day.
func (f *fixing) withEngine(ctx context.Context, use func() error) error {
	set := f.job.Settings
	budget := workspace.BookedBudget(set, f.Rows, f.Pull.Number, f.Pull.PostedSpending(set))
	e, end := f.job.Engine.New(workspace.EngineOptions{Budget: budget, Window: set.Context.Value})
	f.engine = e
	err := use()
	f.engine = nil
	_ = end()               // what is left is a temporary folder
	_ = budget.Release(ctx) // a failure is counted too high
	if err != nil && ctx.Err() == nil {
		err = &workspace.Error{Err: err, Hint: workspace.HintOf(err), Status: precedent.ExitIncomplete}
	}
	return err
}

// mergeBase merges the base into the head, without a checkout. Conflicts are resolved by a task of their own.
func (f *fixing) mergeBase(ctx context.Context) (Result, bool, error) {
	repo, head, base := f.state.Repo, f.state.Range.Head, f.state.Range.BaseCommit
	if f.fork {
		return Result{}, false, nil // what is suggested is about the head
	}
	has, err := repo.Contains(ctx, head, base)
	if err != nil || has {
		return Result{}, err != nil, err
	}
	if f.state.Range.Unrelated {
		return ended(Conflict, "the branch and its base have no common commit"), true, nil
	}
	if f.merged, err = repo.MergeCommits(ctx, head, base); err != nil {
		return Result{}, true, err
	}
	if f.conflict = len(f.merged.Conflicts) > 0; !f.conflict {
		f.resolved = f.merged.Tree
		return Result{}, false, nil
	}
	paths, err := fixround.Conflicts(f.merged, f.limits)
	if err != nil {
		result, err := refused(Conflict, err)
		return result, true, err
	}
	copied, err := fixround.Open(ctx, repo, f.merged.Tree, f.Pull.Env.Git.TempDir)
	if err != nil {
		return Result{}, true, err
	}
	defer func() { _ = copied.Close() }() // it is a temporary folder
	var answer fixround.Answer
	if err := f.withEngine(ctx, func() error {
		answer, err = fixround.Resolve(ctx, f.engine, copied, head, base, paths, f.job.Settings.Timeout.Value)
		return err
	}); err != nil {
		return Result{}, true, err
	}
	if answer.Malformed != "" {
		return ended(Malformed, "%s", answer.Malformed), true, nil
	}
	if answer.Refused != "" {
		return ended(Conflict, "%s", answer.Refused), true, nil
	}
	if f.resolved, err = copied.Resolved(ctx, paths, head, base, f.limits); err == nil {
		return Result{}, false, nil
	}
	result, err := refused(Conflict, err)
	if err == nil && answer.Summary != "" {
		result.Why += ". The model said: " + answer.Summary
	}
	return result, true, err
}

// edit has the engine address the open threads in a copy of the merged tree, and checks what it changed.
func (f *fixing) edit(ctx context.Context) (Result, bool, error) {
	open, err := f.openThreads(ctx)
	if err != nil {
		return Result{}, true, err
	}
	f.threads = open[:min(len(open), prompt.MostFixed)]
	if len(f.threads) == 0 && len(f.o.Problems) == 0 {
		if f.conflict {
			f.change.Tree = f.resolved
			return Result{}, false, nil
		}
		status, err := f.nothingOpen(ctx)
		return ended(status, "nothing is open"), true, err
	}
	tree := cmp.Or(f.resolved, f.state.Range.Head)
	copied, err := fixround.Open(ctx, f.state.Repo, tree, f.Pull.Env.Git.TempDir)
	if err != nil {
		return Result{}, true, err
	}
	defer func() { _ = copied.Close() }() // it is a temporary folder
	in, err := f.brief(ctx)
	if err != nil {
		return Result{}, true, err
	}
	if err := f.withEngine(ctx, func() error {
		f.answer, err = fixround.Fix(ctx, f.engine, copied, in, f.job.Settings.Timeout.Value)
		return err
	}); err != nil {
		return Result{}, true, err
	}
	if f.answer.Malformed != "" {
		return ended(Malformed, "%s", f.answer.Malformed), true, nil
	}
	if f.answer.Refused != "" {
		return ended(NoChange, "%s", f.answer.Refused), true, nil
	}
	f.change, err = copied.Changes(ctx, f.limits)
	switch {
	case err != nil:
		result, err := refused(Refused, err)
		return result, true, err
	case f.change.Empty() && !f.conflict:
		return ended(NoChange, "the model changed no file: %s", f.answer.Summary), true, nil
	case f.change.Empty():
		f.answer.Addressed = nil
	}
	return Result{}, false, nil
}

// nothingOpen is how a round without open threads ends. It counts as a failed attempt if the review of
// the head has findings all the same: they are in no thread, so that no fix can settle them.
func (f *fixing) nothingOpen(ctx context.Context) (Status, error) {
	last, found, err := f.Rows.LastReview(ctx, f.Pull.Number)
	if found && last.Head == f.state.Range.Head && pull.ReviewEvent(last, f.job.Settings.FailOn.Value,
		0).Kind == label.Findings {
		return NoChange, err
	}
	return Nothing, err
}

// brief is what the engine is told. It has no learnings.
func (f *fixing) brief(ctx context.Context) (prompt.FixInput, error) {
	s := f.state
	in := prompt.FixInput{Language: s.Language, Files: f.limits.Files, Lines: f.limits.Lines}
	var paths []string
	for i, t := range f.threads {
		one := prompt.Conversation{ID: "t" + strconv.Itoa(i+1), Remark: pull.RemarkOf(t), Then: t.Span, Code: s.CodeAround(t)}
		one.Remark.Suggestion = secret.RedactText(t.Suggestion)
		messages := t.Messages
		if strings.HasPrefix(t.ID, pull.PersonsID) {
			asked := f.Pull.Reply(messages[0])
			one.Asked, messages = &asked, messages[1:]
		}
		for _, m := range messages {
			one.Replies = append(one.Replies, f.Pull.Reply(m))
		}
		in.Threads = append(in.Threads, one)
		paths = append(paths, t.Path)
	}
	candidates := guide.Candidates(paths)
	at, err := run.OpenBase(ctx, s.Repo, s.Blobs, s.Range.BaseCommit, candidates...)
	if err != nil {
		return in, err
	}
	g, _ := guide.Load(func(path string) ([]byte, error) { return at.Read(path, run.MaxFile) }, candidates)
	for _, d := range g.Docs {
		d.Text = secret.RedactText(d.Text)
		in.Docs = append(in.Docs, d)
	}
	for _, p := range f.o.Problems {
		in.Problems = append(in.Problems, precedent.Untrusted(secret.RedactText(string(p))))
	}
	return in, nil
}

// thread is the thread with an id of the prompt.
func (f *fixing) thread(id string) *precedent.Thread {
	n, _ := strconv.Atoi(id[1:]) // the ids are those of brief
	return f.threads[n-1]
}

// gatePassed is what a gate says whose commands have all passed.
const gatePassed = "the gate passed"

// build runs the gate on the changed tree. What was not built and tested is pushed only if the
// operator or the policy allows that.
func (f *fixing) build(ctx context.Context) (Result, bool, error) {
	result := gate.Result{Status: gate.Skipped, Why: "there is no gate"}
	if f.o.Gate != nil {
		var err error
		if result, err = f.Pull.RunGate(ctx, f.o.Gate, f.state.Subject, f.change.Tree, f.policy.Gate); err != nil {
			return Result{}, true, err
		}
	}
	switch result.Status {
	case gate.Passed:
		f.gated = gatePassed
		if result.Why != "" { // other commands were skipped
			f.gated += " in part: " + result.Why
		}
		return Result{}, false, nil
	case gate.Flaky:
		if !result.Blocks {
			f.gated = "the gate is flaky"
			return Result{}, false, nil
		}
	case gate.Skipped:
		f.gated = "the gate was skipped: " + result.Why
		if f.o.Ungated || f.policy.Fix.Ungated {
			return Result{}, false, nil
		}
		return ended(Refused, "%s, and neither the operator nor the policy allows to push what was not built and tested",
			f.gated), true, nil
	}
	failed := ended(BuildFailed, "the gate after the change: %s", result.Status)
	if result.Why != "" {
		failed.Why += ": " + result.Why
	}
	if tail := result.Tail(); tail != "" {
		failed.log = tail
	}
	return failed, true, nil
}

// changed counts what was changed, for people.
func (f *fixing) changed() string {
	return fmt.Sprintf("%s and %s", workspace.Count(len(f.change.Paths), "file", "files"),
		workspace.Count(f.change.Lines, "line", "lines"))
}
