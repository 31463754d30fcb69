package pull

import (
	"bytes"
	"context"
	"log/slog"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/comment"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/pulltest"
	"github.com/precedent-dev/precedent/internal/settings"
)

// forks is a repository whose runs each restore the same cached memory, and save nothing.
type forks struct{ *stage }

// newForks opens pull requests 7, 8 and 9, which differ in nothing else.
func newForks(t *testing.T) *forks {
	t.Helper()
	s := newStage(t)
	s.World.Change(func() {
		for _, n := range []int{8, 9} {
			p := *s.Pull
			p.Number = n
			s.World.Repo("acme", "shop").Pulls[n] = &p
		}
	})
	return &forks{stage: s}
}

const usd = 0.25 // of each answer

// run reviews a pull request with a limit of the day, and returns how many answers it paid for.
func (f *forks) run(number int, day float64, by settings.By) (asked int, said string) {
	f.T.Helper()
	e := &pulltest.Engine{Arrive: pulltest.Meeting(1), USD: usd}
	said = needs.Value(f.runOn(number, day, by, e))(f.T)
	return e.Asked, said
}

func (f *forks) runOn(number int, day float64, by settings.By, e *pulltest.Engine) (said string, err error) {
	var log bytes.Buffer
	s, r := *f.stage, *f.env
	s.env = &r
	r.DataDir, r.Log = f.T.TempDir(), slog.New(slog.NewTextHandler(&log, nil))
	job := newJob(e)
	job.Settings.MaxCostPerDay = settings.Value[float64]{Value: day, Source: settings.Source{By: by}}
	job.Settings.MaxCostPull.Value, job.Settings.Concurrency.Value = math.Inf(1), 1
	status, stood, err := s.reviewPull(number, job)
	if stood || err == nil && status != precedent.ExitFindings && status != precedent.ExitIncomplete {
		f.T.Errorf("status %d, stood %t", status, stood)
	}
	return log.String(), err
}

// spent is what the summaries say.
func (f *forks) spent() float64 {
	f.T.Helper()
	total := 0.0
	needs.NoError(f.T, f.read(7, func(pull *Pull) (err error) {
		total, err = pull.spentToday(f.T.Context(), newJob(nil).Settings)
		return err
	}))
	return total
}

// TestDayHoldsForForks: the budget of the day holds when runs restore the same cached memory.
// safety.md, G9: "budget per PR/day enforced across restarts".
func TestDayHoldsForForks(t *testing.T) {
	f := newForks(t)
	first, _ := f.run(7, 1000, settings.File)
	if first < 2 || f.spent() != float64(first)*usd {
		t.Fatalf("%d answers, and $%.2f in the summary", first, f.spent())
	}
	limit := float64(first)*usd + 1.5*usd
	if second, _ := f.run(8, limit, settings.File); second != 1 {
		t.Errorf("the second run paid for %d answers, with room for one", second)
	}
	if total := f.spent(); total != float64(first+1)*usd {
		t.Errorf("$%.2f in the summaries of %d answers", total, first+1)
	}
	// The same commit again, by a run that does not know of the first.
	if again, _ := f.run(7, 1000, settings.File); f.spent() != float64(first+again+1)*usd {
		t.Errorf("again: $%.2f in the summaries of %d answers", f.spent(), first+again+1)
	}
	f.Clock.Pass(24 * time.Hour)
	if total := f.spent(); total != 0 {
		t.Errorf("$%.2f on the next day", total)
	}
	if third, _ := f.run(9, limit, settings.File); third < 2 {
		t.Errorf("on the next day a run paid for %d answers", third)
	}
}

// TestSupersededReviewsCount: a push during a review costs its author nothing, but the budget.
func TestSupersededReviewsCount(t *testing.T) {
	f := newForks(t)
	first, _ := f.run(7, 1000, settings.File)
	f.Clock.Pass(time.Hour)
	e := &pulltest.Engine{USD: usd, Arrive: func(context.Context) error {
		f.World.Change(func() { f.Pull.Head.SHA = strings.Repeat("e", 40) })
		return nil
	}}
	if said, err := f.runOn(7, 1000, settings.File, e); err == nil || !strings.Contains(err.Error(), "has new commits") {
		t.Errorf("%v: %s", err, said)
	}
	if total := f.spent(); total != float64(first+e.Asked)*usd || e.Asked == 0 {
		t.Errorf("$%.2f in the summary of %d and %d answers", total, first, e.Asked)
	}
}

// TestOnlyOurSummariesCount: what others write, or what our account repeats, changes no sum.
func TestOnlyOurSummariesCount(t *testing.T) {
	f := newForks(t)
	f.run(7, 1000, settings.File)
	before := f.spent()
	var body string
	for _, c := range f.World.By(f.Pull, forgetest.Bot) {
		if c.Kind == forge.OnThread {
			body = string(c.Body)
		}
	}
	forged, ok := (comment.Writer{}).WithSpending(body, comment.Spending{Day: "2026-03-04", Microdollars: 1e9})
	if !ok {
		t.Fatal("the summary is not read")
	}
	pulls := f.World.Repo("acme", "shop").Pulls
	f.World.Say(pulls[7], forgetest.Bot, "", body)
	f.World.Say(pulls[8], forgetest.Bot, "", body)
	f.World.Say(pulls[9], forgetest.Ann, "", body)
	f.World.Say(pulls[7], forgetest.Bot, "", forged)
	if total := f.spent(); total != before || before == 0 {
		t.Errorf("$%.2f became $%.2f", before, total)
	}
	f.connection.Key = comment.Key{} // nothing can be proven: each memory counts for itself
	if asked, _ := f.run(8, before, settings.File); asked < 2 {
		t.Errorf("without a key, a run paid for %d answers", asked)
	}
}

// TestSpendingThatCannotBeRead: a limit that the operator has set is kept; the default one is
// not, and a notice says so.
func TestSpendingThatCannotBeRead(t *testing.T) {
	for by, want := range map[settings.By]bool{settings.Default: true, settings.File: false} {
		f := newForks(t)
		f.Script.Plan(forgetest.Fault{On: "/issues/comments?", Times: 9, Status: 403})
		asked, said := f.run(7, 1000, by)
		if (asked > 1) != want || strings.Contains(said, "what other runs have spent today is not counted") != want {
			t.Errorf("source %d: %d answers, said %s", by, asked, said)
		}
	}
	f := newForks(t)
	f.connection.Forge = endless{f.connection.Forge}
	if asked, _ := f.run(7, 1000, settings.File); asked > 1 {
		t.Errorf("of more comments than are read: %d answers", asked)
	}
}

// endless is a forge with more comments than are read.
type endless struct{ forge.Forge }

func (endless) History(context.Context, precedent.Repo, forge.HistoryQuery) (forge.HistoryPage, error) {
	return forge.HistoryPage{Next: "more"}, nil
}
