package web

import (
	"fmt"
	"time"

	"github.com/precedent-dev/precedent/internal/needs"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/store"
)

// tell gives a repository a pull request as teams have them, for the pictures of docs, and returns the path
// of its page.
func (w *world) tell(repo precedent.Repo) string {
	w.t.Helper()
	ctx := w.t.Context()
	_, rows := w.remember(repo)
	refund := foundIn(repo, "internal/pay/refund.go", 84, "A refund is booked twice if the request is retried",
		"if err := s.book(ctx, r); err != nil {", "The key is made after the booking, so a retry books again.")
	closing := foundIn(repo, "internal/export/csv.go", 31, "The error of Close is ignored after writing",
		"defer f.Close()", "A full disk shows when the file is closed.")
	closing.Severity, closing.Confidence = precedent.Medium, 81
	quiet := foundIn(repo, "internal/migrate/007.go", 12, "The query does not take the context",
		"rows, err := db.Query(q)", "It cannot be cancelled.")
	quiet.Drop("suppress", precedent.ByLearning, "",
		"wanda said: don't ask for context parameters in internal/migrate")
	name := foundIn(repo, "internal/pay/refund.go", 20, "The name r says little",
		"func (s *Service) Refund(ctx context.Context, r R) error {", "")
	name.Drop("select", precedent.BelowThreshold, "", "confidence 41 is below the threshold of 75")
	quiet.Severity, quiet.Placement, name.Severity, name.Placement = precedent.Medium, precedent.Hidden, precedent.Low,
		precedent.Hidden
	const pull, fixed = 482, "e41d90c2ab"
	for i, findings := range [][]precedent.Finding{{refund, closing, quiet, name}, {closing, quiet, name}} {
		r := reviewOf(repo, fmt.Sprintf("01990000-0000-7000-8000-00000000048%d", i), pull,
			start.Add(time.Duration(i-2)*3*time.Hour), findings...)
		if i > 0 {
			r.Head = fixed
		}
		needs.NoError(w.t, rows.SaveReview(ctx, r))
	}
	needs.NoError(w.t, rows.SaveThreads(ctx, []precedent.Thread{{
		ID: "t1", PullRequest: pull, Finding: refund.ID, Fingerprint: refund.Fingerprint, Title: refund.Title,
		State:    precedent.ThreadAddressed,
		OpenedAt: start, URL: "https://git.example.org/team/billing/pulls/482#issuecomment-9",
		Messages: []precedent.Message{{Who: "dora", Body: "Good catch, the key comes first now.", At: start}},
	}}))
	needs.NoError(w.t, rows.SaveOutcomes(ctx, []precedent.Outcome{{
		Thread: "t1", Finding: refund.ID, Fingerprint: refund.Fingerprint, PullRequest: pull, Kind: precedent.Fixed,
		Proof: fixed + " changed the lines, and the defect is gone", At: start,
	}}))
	needs.NoError(w.t, rows.SaveWatched(ctx, []store.WatchedPull{{
		Pull: pull, Head: fixed, Done: fixed, Title: "Make refunds safe to retry", Labels: []string{"bot-changes-needed"},
		Updated: start,
	}}, nil))
	return pullPath(repo, pull)
}
