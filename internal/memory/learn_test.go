package memory

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/needs"
)

// posted is the thread of a finding on pull request 7.
func posted(f precedent.Finding, id string) precedent.Thread {
	return precedent.Thread{
		ID: id, PullRequest: 7, Finding: f.ID, Fingerprint: f.Fingerprint, Place: f.Place, Category: f.Category, Severity: f.Severity,
		Title: f.Title, Quote: f.Quote, Span: f.Span, Commit: "one", Comment: "41", State: precedent.ThreadWontFix, OpenedAt: start,
	}
}

func became(t precedent.Thread, kind precedent.OutcomeKind, who, words string, mayWrite bool) precedent.Outcome {
	return precedent.Outcome{
		Thread: t.ID, Finding: t.Finding, Fingerprint: t.Fingerprint, PullRequest: t.PullRequest, Title: t.Title, Kind: kind,
		Who: who, Words: words, MayWrite: mayWrite, Proof: who + " said so", At: start,
	}
}

// TestLearn: only the "no" of a person with write permission rejects, once. An earlier dismissal stays as it is. That the
// next review hides it is in the story outcomes.
func TestLearn(t *testing.T) {
	ctx := t.Context()
	m, now := remember(t)
	find := func(line, title string) precedent.Finding {
		f := find("a.go", line, precedent.Bugs, precedent.Medium, title)
		f.Symbol = "Check"
		return f
	}
	no, author, fixed := find("no", "Error of Close is ignored"), find("author", "Slice index may be negative"), find("fixed", "Token compared in variable time")
	thumb, forgotten := find("thumb", "Goroutine never ends"), find("forgotten", "Regular expression compiled per call")
	dismissed := find("dismissed", "Map is iterated while it is written")
	record(t, m, "r1", "one", no, author, fixed, thumb, dismissed)
	first := needs.Value(m.Dismiss(ctx, dismissed.ID, Dismissal{Reason: "we know", Who: "dana"}))(t)
	threads := []precedent.Thread{
		posted(no, "t1"), posted(author, "t2"), posted(fixed, "t3"), posted(thumb, "t4"), posted(forgotten, "t5"), posted(dismissed, "t6"),
	}
	outcomes := []precedent.Outcome{
		became(threads[0], precedent.Declined, "kim", "This is intentional.", true),
		became(threads[1], precedent.Declined, "stranger", "Won't fix.", false),
		became(threads[2], precedent.Fixed, "", "", false),
		became(threads[3], precedent.Declined, "dana", "", true),
		became(threads[4], precedent.Declined, "kim", "never in this repo, not a bug", true),
		became(threads[5], precedent.Declined, "kim", "Won't fix.", true),
		became(precedent.Thread{ID: "t9", Fingerprint: "elsewhere", PullRequest: 7}, precedent.Declined, "kim", "no", true),
	}
	learned := needs.Value(m.Learn(ctx, 7, threads, outcomes))(t)
	var got []string
	for _, j := range learned {
		got = append(got, j.Fingerprint+" "+j.Symbol+" "+j.Who+" "+j.Reason+" "+j.Path+" "+j.Claim)
	}
	want := []string{
		no.Fingerprint + " Check kim This is intentional. a.go " + no.Title,
		thumb.Fingerprint + " Check dana  a.go " + thumb.Title,
		forgotten.Fingerprint + "  kim never in this repo, not a bug a.go " + forgotten.Title,
	}
	needs.Equal(t, want, got)
	needs.Len(t, "Outcomes", len(outcomes))(m.Rows.Outcomes(ctx, 7))

	// Once is enough: what a person took back is not learned again.
	needs.Value(m.Undismiss(ctx, no.ID))(t)
	*now = now.Add(time.Hour)
	needs.Len(t, "learned again", 0)(m.Learn(ctx, 7, threads, outcomes))
	left := needs.Value(m.Dismissals(t.Context()))(t)
	if len(left) != 3 || !slices.ContainsFunc(left, func(j precedent.Dismissal) bool { return cmp.Equal(j, first) }) {
		t.Errorf("%+v", left)
	}

	// An author whose "no" did not count gets write permission: now it does.
	outcomes[1].MayWrite = true
	needs.Len(t, "learned later", 1)(m.Learn(ctx, 7, threads, outcomes))
}
