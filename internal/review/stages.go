package review

import (
	"context"
	"slices"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/match"
	"github.com/precedent-dev/precedent/internal/memory"
)

// stage is a step after the finders. It looks once at all findings, new ones and those that are kept from the
// last review.
type stage struct {
	name string
	run  func(*reader, context.Context)
}

// stages are the stages in order. Secrets are redacted as soon as no stage needs the text of a line: before
// anything is sent to an engine again, and before findings are compared with memory, which stores no secrets.
var stages = []stage{
	{"place", (*reader).place},
	{"redact", (*reader).redact},
	{"merge", (*reader).merge},
	{"recall", (*reader).recall},
	{"threads", (*reader).matchWithThreads},
	{"suppress", (*reader).suppress},
	{"verify", (*reader).verify},
	{"cite", (*reader).cite},
	{"score", (*reader).score},
	{"refit", (*reader).refit},
	{"weigh", (*reader).weigh},
	{"answer", (*reader).answerThreads},
	{"precedents", (*reader).citePrecedents},
	{"select", (*reader).choose},
}

// place finds the lines of findings by their quotes, checks their suggestions, and names them.
func (x *reader) place(context.Context) {
	fs := x.r.Findings
	x.placer = NewPlacer(x.in.Change)
	named := place(fs, x.placer, x.src)
	checkSuggestions(fs, named, x.placer, x.in.Read)
	identify(fs, x.src, x.in.Repo, x.in.Recall)
}

func (x *reader) redact(context.Context) {
	x.secrets = newRedactor(x.r.Findings, x.src)
	x.secrets.redactFindings(x.r.Findings)
}

// merge drops duplicates.
func (x *reader) merge(ctx context.Context) {
	merge(x.r.Findings, identities{x.in.Repo, x.in.Recall.Known}, func(doubts []match.Doubt) map[int]bool {
		return x.judge(ctx, doubts, "pairs of findings, so place and words decided", func(a, b *precedent.Finding) bool {
			if moreSpecific(b, a) {
				a, b = b, a
			}
			return provesSame(a, b) && (a.Category.Protected() || isSevere(a.Severity) || !b.Category.Protected())
		})
	})
}

// recall recognizes findings of earlier reviews.
func (x *reader) recall(context.Context) {
	x.in.Recall.Stands = x.stands
	x.r.Findings = x.in.Recall.Match(x.r.Findings)
	x.past = memory.NewDismissals(x.in.Recall.Dismissals, x.r.At)
	x.past.Heed(x.in.Recall.Learnings)
}

// matchWithThreads matches findings with existing threads, marks what is new in code that was read before, and adds
// what is kept from the last review.
func (x *reader) matchWithThreads(ctx context.Context) {
	x.recognize(ctx, x.r.Findings)
	x.markOrigins(x.r.Findings)
	x.r.Findings = append(x.r.Findings, x.keep(x.r.Findings)...)
}

// suppress drops what memory and policy hide, before a verifier reads it.
func (x *reader) suppress(ctx context.Context) {
	beginBasis(x.r.Findings)
	suppress(x.r.Findings, x.in.Policy, x.past, x.dismissals(ctx))
}

// cite adds the insights, the rules of the guide and the learnings that findings name.
func (x *reader) cite(context.Context) {
	x.r.Memory.Insights = citeInsights(x.r.Findings, x.in.Recall.Insights)
	cite(x.r.Findings, x.in.Guide.Rules, x.in.Recall.Learnings)
	mark(x.r.Findings, beforeScore)
}

func (x *reader) score(context.Context) {
	score(x.r.Findings, ShippedOdds(), x.in.severeThreshold())
}

func (x *reader) refit(context.Context) { x.in.refit(x.r.Findings) }

func (x *reader) weigh(context.Context) {
	weigh(x.r.Findings, x.in.Policy, x.past, x.in.severeThreshold())
	mark(x.r.Findings, afterWeighing)
}

// answerThreads answers each open thread: whether its finding is still there.
func (x *reader) answerThreads(ctx context.Context) {
	x.r.Threads = x.answer(ctx)
	x.dropFixed()
	x.r.TakenAway = x.takenAway()
}

// choose decides what is shown where, and completes the review.
func (x *reader) choose(context.Context) {
	r, in := x.r, x.in
	mark(r.Findings, beforeSelection)
	r.Basis = x.basis()
	choose(r.Findings, in, in.commentable)
	x.tally(r)
	r.Memory.Precedents = citedPrecedents(r.Findings)
	r.Memory.PrecedentUse.Cited = len(r.Memory.Precedents)
	r.Memory.Suppressed, r.Memory.LearningsUsed = in.Recall.Suppressed(r.Findings), in.Recall.LearningsUsed(r.Findings)
	r.Memory.LearningsPending = append([]precedent.LearningUse{}, in.Recall.Pending...)
	r.Failures = slices.Concat(r.Failures, x.failures)
	r.Usage.Add(x.usage)
	r.CostUSD += x.costUSD
	x.secrets.redactReview(r)
}
