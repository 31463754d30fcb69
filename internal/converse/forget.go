package converse

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/chat"
	"github.com/precedent-dev/precedent/internal/guide"
	"github.com/precedent-dev/precedent/internal/memory"
	"github.com/precedent-dev/precedent/internal/text"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// confirmWithin is how long a person can confirm what was asked once.
const confirmWithin = 24 * time.Hour

// forget forgets learnings: one that is named by its id or its words, those of a directory, or
// all of them, after asking once. People without write permission can take back what they
// proposed themselves, as long as it is pending.
func (c *conversation) forget(ctx context.Context, h *request, cmd chat.Command) (string, error) {
	switch {
	case cmd.Kind == chat.ForgetAll && h.mayWrite:
		h.record.AsksAll = true
		return "This forgets all preferences of this repository, and cannot be undone. To go on, reply within 24 hours: " +
			say("confirm"), nil
	case cmd.Kind == chat.Confirm && h.mayWrite && !c.askedAll(h):
		return "There is nothing to confirm: a confirmation counts for 24 hours, and for the person who asked.", nil
	case !h.mayWrite && (cmd.Kind == chat.ForgetAll || cmd.Kind == chat.Confirm || cmd.Kind == chat.ResetPreferences):
		return "Forgetting preferences of the repository needs write permission.", nil
	}
	if len(h.record.Targets[h.nth]) == 0 {
		answer, err := c.findTargets(ctx, h, cmd)
		if answer != "" || err != nil {
			return answer, err
		}
		if err := c.saveActing(ctx, h); err != nil {
			return "", err
		}
	}
	var said []string
	for _, id := range h.record.Targets[h.nth] {
		l, err := c.Pull.Workspace.Memory.ForgetLearning(ctx, id, h.Author.Login)
		if err != nil {
			return "", err
		}
		said = append(said, fmt.Sprintf("\n- %s: %s", workspace.Quoted(l.ID), quote(text.Cut(l.Directive, 100))))
	}
	h.record.Confirmed, c.did.Ended = cmd.Kind == chat.Confirm, true
	if more := len(said) - maxListed; more > 0 {
		said = append(said[:maxListed], fmt.Sprintf("\n- and %d more", more))
	}
	return "Forgotten:\n" + strings.Join(said, ""), nil
}

// askedAll tells whether the person was asked within the last day whether to forget everything,
// and has not confirmed it since.
func (c *conversation) askedAll(h *request) bool {
	var asked, confirmed time.Time
	for _, before := range c.handled {
		r := readRecord(before)
		switch {
		case r.Who != h.Author.ID:
		case r.AsksAll && before.At.After(asked):
			asked = before.At
		case r.Confirmed && before.At.After(confirmed):
			confirmed = before.At
		}
	}
	return asked.After(confirmed) && c.Pull.Env.Now().Sub(asked) < confirmWithin
}

// findTargets finds what a command forgets, or returns what to answer instead.
func (c *conversation) findTargets(ctx context.Context, h *request, cmd chat.Command) (string, error) {
	m := c.Pull.Workspace.Memory
	switch cmd.Kind {
	case chat.Confirm, chat.ResetPreferences:
		folder := strings.Trim(strings.TrimSuffix(cmd.Content, "/**"), "/")
		all, err := m.Learnings(ctx, precedent.LearningActive, precedent.LearningPending)
		for _, l := range all {
			if cmd.Kind == chat.Confirm || l.Glob != "" && folder != "" && guide.AtOrBelow(folder, l.Glob) {
				h.target(l.ID)
			}
		}
		if len(h.record.Targets[h.nth]) == 0 && err == nil {
			return "There is nothing to forget.", nil
		}
		return "", err
	}
	which := cmd.Content
	if which == "" { // undo, without an id: what was said last here
		latest, err := c.latest(ctx, h)
		if err != nil || latest == "" {
			return "There is nothing to undo here.", err
		}
		which = latest
	}
	before, _, _ := strings.Cut(which, " - ") // forget: the old rule - we have another one now
	l, err := m.FindLearning(ctx, trimRule(before))
	if errors.Is(err, memory.ErrUnknownID) && before != which {
		l, err = m.FindLearning(ctx, which)
	}
	if e, ok := errors.AsType[*memory.Error](err); ok && len(e.Learnings) > 0 {
		return "Several rules fit. Which one? " + several(e.Learnings, "undo"), nil
	}
	if answer, ok := misnamed(err); ok {
		return answer, nil
	}
	own := l.State == precedent.LearningPending && l.From.WhoID == h.Author.ID && h.Author.ID != ""
	if err == nil && !h.mayWrite && !own {
		return "Forgetting what others taught needs write permission.", nil
	}
	h.target(l.ID)
	return "", err
}

// trimRule removes the words around the name of a rule: "the 2-space rule".
func trimRule(s string) string {
	s = strings.TrimSpace(s)
	for _, begin := range []string{"the ", "that ", "our "} {
		if len(s) > len(begin) && strings.EqualFold(s[:len(begin)], begin) {
			s = s[len(begin):]
		}
	}
	for _, end := range []string{" rule", " preference", " convention"} {
		if n := len(s) - len(end); n > 0 && strings.EqualFold(s[n:], end) {
			s = s[:n]
		}
	}
	return strings.TrimSpace(s)
}

// latest returns the learning that was proposed last in the conversation, by the person if that
// may not write.
func (c *conversation) latest(ctx context.Context, h *request) (string, error) {
	all, err := c.Pull.Workspace.Memory.Learnings(ctx, precedent.LearningActive, precedent.LearningPending)
	var last precedent.Learning
	for _, l := range all {
		here := l.From.PullRequest == c.Pull.Number && (h.thread == nil || l.From.Thread == h.thread.ID)
		if here && (h.mayWrite || l.From.WhoID == h.Author.ID) && l.CreatedAt.After(last.CreatedAt) {
			last = l
		}
	}
	return last.ID, err
}

// list answers what is remembered.
func (c *conversation) list(ctx context.Context, h *request, cmd chat.Command) (string, error) {
	m := c.Pull.Workspace.Memory
	all, err := m.Learnings(ctx, precedent.LearningActive, precedent.LearningPending)
	if err != nil {
		return "", err
	}
	path := cmd.Content
	if cmd.Kind == chat.PreferencesForFile {
		if path = cmp.Or(cmd.Glob, path); path == "" && h.thread != nil {
			path = h.thread.Path
		}
		if path == "" {
			return "Which file? For example: " + say("what preferences apply to src/main.go?"), nil
		}
	}
	var lists [2]strings.Builder // those that are active, and those that are pending
	var counts [2]int
	for _, l := range all {
		applies := cmd.Kind != chat.PreferencesForFile || memory.InFiles(l.Glob, path)
		mine := cmd.Kind != chat.ListPreferences || !strings.Contains(strings.ToLower(cmd.Sentence), " my ") ||
			l.From.WhoID == h.Author.ID
		if !applies || !mine || l.PullRequest != 0 && l.PullRequest != c.Pull.Number {
			continue
		}
		i, note := 0, ""
		if l.State == precedent.LearningPending {
			i, note = 1, ", pending: "+say("approve "+l.ID)
		}
		if counts[i]++; counts[i] <= maxListed {
			files := ""
			if l.Glob != "" {
				files = " in " + workspace.Quoted(guide.Readable(l.Glob))
			}
			fmt.Fprintf(&lists[i], "\n- %s, %s%s: %s (%s)%s", workspace.Quoted(l.ID), kindWords[l.Kind], files,
				quote(text.Cut(l.Directive, 120)), text.VisibleLine(l.From.Who), note)
		}
	}
	for i := range lists {
		if more := counts[i] - maxListed; more > 0 {
			fmt.Fprintf(&lists[i], "\n- and %d more", more)
		}
	}
	said := fmt.Sprintf("%s, %d pending.", workspace.Count(counts[0], "preference is active", "preferences are active"),
		counts[1])
	if cmd.Kind == chat.AskRemember {
		dismissals, err := m.Dismissals(ctx)
		if err != nil {
			return "", err
		}
		said += fmt.Sprintf(" %s dismissed.", workspace.Count(len(dismissals), "finding is", "findings are"))
	}
	return said + "\n" + lists[0].String() + lists[1].String(), nil
}

// explain tells why a finding was reported, from the trail of its decisions.
func (c *conversation) explain(ctx context.Context, h *request) (string, error) {
	t := h.thread
	if t == nil {
		return "Ask that in the conversation about a finding.", nil
	}
	e, err := c.Pull.Workspace.Memory.Explain(ctx, t.Finding)
	if _, ok := misnamed(err); ok {
		return fmt.Sprintf("%s reported it with %d %% confidence. What else was decided about it is not remembered.",
			cmp.Or(t.Finder, "A finder"), t.Confidence), nil
	}
	if err != nil {
		return "", err
	}
	said := fmt.Sprintf("%s reported it with %d %% confidence, and findings from %d %% on are shown.", e.Finding.Finder,
		e.Finding.Confidence, e.Review.Threshold)
	for _, d := range e.Trail {
		if reason, ok := strings.CutPrefix(text.Collapse(d.Text), string(precedent.Confirmed)+": "); ok &&
			d.Step == "verify" {
			said += " A second look at the code confirmed it: " + strings.TrimRight(text.Cut(reason, 200), ".") + "."
			break
		}
	}
	return said, nil
}

// resetThresholds makes threshold and confidences start anew.
func (c *conversation) resetThresholds(ctx context.Context, h *request) (string, error) {
	if !h.mayWrite {
		return "Resetting the thresholds needs write permission.", nil
	}
	m := c.Pull.Workspace.Memory
	labels, err := m.Labels(ctx)
	if err != nil {
		return "", err
	}
	if len(labels) == 0 {
		return "No outcome of a finding counts for threshold and confidences yet.", nil
	}
	if err := m.Rows.ResetThreshold(ctx, m.Now()); err != nil {
		return "", err
	}
	return fmt.Sprintf("Threshold and confidences start anew: %d outcomes of earlier findings no longer count for "+
		"them. This cannot be undone.", len(labels)), nil
}
