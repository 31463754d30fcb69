package memory

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/text"
)

// Learn stores the outcomes of a pull request's threads, and makes a dismissal of each
// dismissal by a person with write permission, in that person's name and words. It returns the
// new dismissals.
//
// A dismissal counts once, when it is first learned, until Unlearn: after Undismiss it is not learned again,
// and a finding that is already dismissed stays so. Dismissals by others, the author included,
// reject nothing. Fixed and accepted findings weaken the dismissals of similar ones from then on (see
// precedent.Dismissal), and one that was shown as an audit ends the dismissal that hid it.
func (m *Memory) Learn(
	ctx context.Context, pull int, threads []precedent.Thread, outcomes []precedent.Outcome,
) ([]precedent.Dismissal, error) {
	before, err := m.Rows.Outcomes(ctx, pull)
	if err != nil {
		return nil, err
	}
	learned := map[string]bool{}
	for _, o := range before {
		learned[o.Fingerprint] = o.Kind == precedent.Declined && o.MayWrite
	}
	about := map[string]precedent.Thread{}
	for _, t := range threads {
		about[t.ID] = t
	}
	var dismissals []precedent.Dismissal
	for _, o := range outcomes {
		t, known := about[o.Thread]
		if o.Kind != precedent.Declined || !o.MayWrite || !known || learned[o.Fingerprint] {
			continue
		}
		// Reject before saving outcomes: a process that is killed in between learns it
		// again, which changes nothing.
		j, added, err := m.reject(ctx, o, t)
		if err != nil {
			return dismissals, err
		}
		if added {
			dismissals = append(dismissals, j)
		}
	}
	return dismissals, m.Rows.SaveOutcomes(ctx, outcomes)
}

// Unlearn ends an outcome, and the dismissal that was learned from it, because nobody ends the thread any more, and tells
// whether there was a dismissal. The outcome is unknown then, and a later dismissal is learned again.
func (m *Memory) Unlearn(ctx context.Context, o precedent.Outcome) (bool, error) {
	j, err := m.Rows.Dismissal(ctx, o.Fingerprint, m.Now())
	if err != nil {
		return false, err
	}
	who, reason := learnedFrom(o)
	declined := o.Kind == precedent.Declined
	o.Kind, o.Words, o.At, o.Back = precedent.OutcomeUnknown, "", m.Now(), !declined
	o.Proof = "what " + cmp.Or(o.Who, "somebody") + " decided was taken back"
	ended := false
	if declined && j != nil && j.Who == who && j.Reason == reason {
		if ended, err = m.Rows.Retire(ctx, j.ID, fmt.Sprintf("#%d: %s", o.PullRequest, o.Proof), o.At); err != nil {
			return false, err
		}
	}
	return ended, m.Rows.SaveOutcomes(ctx, []precedent.Outcome{o})
}

// learnedFrom returns whose dismissal an outcome is, and the reason, as a dismissal stores them.
func learnedFrom(o precedent.Outcome) (who, reason string) {
	return text.Cut(strings.TrimSpace(o.Who), maxWho), text.Cut(withoutSecrets(o.Words), maxReason)
}

// reject makes a dismissal of a dismissed thread, with the data of the finding if it is still
// stored, else of the thread.
func (m *Memory) reject(ctx context.Context, o precedent.Outcome,
	t precedent.Thread,
) (precedent.Dismissal, bool, error) {
	j := precedent.Dismissal{
		Finding: precedent.FindingID(m.Repo, t.Fingerprint), Fingerprint: t.Fingerprint, Place: t.Place, Claim: t.Title,
		Path:     t.Path,
		Category: t.Category, Severity: t.Severity, At: m.Now(),
	}
	j.Who, j.Reason = learnedFrom(o)
	found, err := m.Rows.FindingsByID(ctx, j.Finding, maxCandidates)
	if err != nil {
		return precedent.Dismissal{}, false, err
	}
	for _, f := range found {
		if f.Fingerprint == t.Fingerprint {
			j.Finding, j.Place, j.Claim, j.Path, j.Symbol, j.Category, j.Severity = f.ID, f.Place, f.Title, f.Path, f.Symbol, f.Category, f.Severity
		}
	}
	return m.Rows.Reject(ctx, j)
}
