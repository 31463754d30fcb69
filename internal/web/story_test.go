package web

import (
	"fmt"
	"time"

	"github.com/precedent-dev/precedent/internal/needs"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/memory"
	"github.com/precedent-dev/precedent/internal/store"
)

// tell gives a repository a pull request as teams have them, for the pictures of docs, and returns the path
// of its page.
func (w *world) tell(repo precedent.Repo) string {
	w.t.Helper()
	ctx := w.t.Context()
	space, rows := w.remember(repo)
	taught, err := space.Memory.Propose(ctx, memory.Proposal{
		Kind: precedent.LearnDontFlag, Directive: "Don't ask for context parameters in internal/migrate",
		Glob: "internal/migrate",
		From: precedent.LearningSource{
			By: precedent.FromComment, Who: "wanda", MayWrite: true, Words: "migrations run to the end",
		},
	})
	needs.NoError(w.t, err)
	found := func(path string, line int, s precedent.Severity, c precedent.Category, title, quote,
		body string,
	) precedent.Finding {
		f := precedent.Finding{
			Finder: "general", Category: c, Severity: s, Confidence: 88, Title: title, Body: body, Quote: quote,
			Placement: precedent.Inline, Votes: 2, Verifier: precedent.Confirmed,
			Evidence: []precedent.Evidence{{Path: path, Line: line, Quote: quote}},
			Trail: []precedent.Decision{
				{Step: "find", Text: "found by general and security"},
				{Step: "verify", Text: "confirmed: the caller ignores the result", Delta: 9},
			},
		}
		f.Path, f.Side, f.Start, f.End = path, precedent.Right, line, line
		f.Fingerprint = precedent.Fingerprint(title, c, 0)
		f.ID = precedent.FindingID(repo, f.Fingerprint)
		return f
	}
	refund := found("internal/pay/refund.go", 84, precedent.High, precedent.DataLoss,
		"A refund is booked twice if the request is retried",
		"if err := s.book(ctx, r); err != nil {", "The key is made after the booking, so a retry books again.")
	closing := found("internal/export/csv.go", 31, precedent.Medium, precedent.Bugs,
		"The error of Close is ignored after writing", "defer f.Close()", "A full disk shows when the file is closed.")
	closing.Confidence = 81
	quiet := found("internal/migrate/007.go", 12, precedent.Medium, precedent.Bugs,
		"The query does not take the context", "rows, err := db.Query(q)", "It cannot be cancelled.")
	quiet.Drop("suppress",
		precedent.ByLearning, taught.ID, "wanda said: don't ask for context parameters in internal/migrate")
	quiet.Placement = precedent.Hidden
	name := found("internal/pay/refund.go", 20, precedent.Low, precedent.Style, "The name r says little",
		"func (s *Service) Refund(ctx context.Context, r R) error {", "")
	name.Confidence = 41
	name.Drop("select", precedent.BelowThreshold, "", "confidence 41 is below the threshold of 75")
	name.Placement = precedent.Hidden
	pull := 482
	for i, findings := range [][]precedent.Finding{{refund, closing, quiet, name}, {closing, quiet, name}} {
		needs.NoError(w.t, rows.SaveReview(ctx, &precedent.Review{
			Schema: precedent.ResultSchema, ID: fmt.Sprintf("01990000-0000-7000-8000-00000000048%d", i), Repo: repo,
			PullRequest: &pull,
			Base:        "5d1f0a77c2", Head: []string{"9c3b7a1e55", "e41d90c2ab"}[i], Scope: precedent.FullScope,
			Verdict:   precedent.Findings,
			Threshold: 75, ThresholdFrom: "the policy", Findings: findings,
			At:       start.Add(time.Duration(i-2) * 3 * time.Hour),
			Coverage: precedent.Coverage{Files: 6, Hunks: 14, HunksRead: 14}, CostUSD: 0.31, TookMS: 41_300,
			Finders: []precedent.FinderRun{{
				Name: "general", Model: "claude-sonnet-5-5", Status: precedent.StatusOK, Found: 4, CostUSD: 0.22,
				TookMS: 24_100, Usage: precedent.Usage{InputTokens: 38_420, OutputTokens: 2_310},
			}},
		}))
	}
	needs.NoError(w.t, rows.SaveThreads(ctx, []precedent.Thread{{
		ID: "t1", PullRequest: pull, Finding: refund.ID, Fingerprint: refund.Fingerprint, Title: refund.Title,
		State:    precedent.ThreadAddressed,
		OpenedAt: start, URL: "https://git.example.org/team/billing/pulls/482#issuecomment-9",
		Messages: []precedent.Message{{Who: "dora", Body: "Good catch, the key comes first now.", At: start}},
	}}))
	needs.NoError(w.t, rows.SaveOutcomes(ctx, []precedent.Outcome{{
		Thread: "t1", Finding: refund.ID, Fingerprint: refund.Fingerprint, PullRequest: pull, Kind: precedent.Fixed,
		Proof: "e41d90c2ab changed the lines, and the defect is gone", At: start,
	}}))
	needs.NoError(w.t, rows.SaveWatched(ctx, []store.WatchedPull{{
		Pull: pull, Head: "e41d90c2ab", Done: "e41d90c2ab",
		Title: "Make refunds safe to retry", Labels: []string{"bot-changes-needed"}, Updated: start,
	}}, nil))
	return pullPath(repo, pull)
}
