package progress

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/prompt"
	"github.com/precedent-dev/precedent/internal/report"
	"github.com/precedent-dev/precedent/internal/review"
	"github.com/precedent-dev/precedent/internal/text"
)

// activity is one finder, or one stage after the finders that asks the engine.
type activity struct {
	name, step       string // one of them
	started, updated time.Time
	done, requests   int
	usage            precedent.Usage // so far, as costUSD
	costUSD          float64
	run              *precedent.FinderRun // of a finder that has ended
	ended, failed    bool
}

func (w *activity) outcome() (said string, ink report.Ink) {
	if w.failed {
		return "failed", report.Red
	}
	return "done", report.Green
}

// prompted tells whether a model was asked, or should have been.
func (w *activity) prompted() bool {
	if w.run == nil {
		return w.step != "" || slices.ContainsFunc(prompt.Finders(), func(f prompt.Spec) bool { return f.Name == w.name })
	}
	return w.run.Engine != precedent.AnalyzerEngine && (w.run.Status.Good() || w.run.Status.Bad())
}

// line says how the work ended, for those who read a log.
func (w *activity) line() string {
	said, _ := w.outcome()
	parts := []string{w.step + " " + said, report.Plural(w.usage.Requests, "request")}
	took := w.updated.Sub(w.started)
	if w.run != nil {
		parts = []string{w.name + " " + statusText(w.run), report.Plural(w.run.Requests, "request")}
		took = time.Duration(w.run.TookMS) * time.Millisecond
	}
	parts = append(parts, report.Spent(w.usage, w.costUSD)...)
	parts = append(parts, took.Round(100*time.Millisecond).String())
	return "precedent: " + text.VisibleLine(strings.Join(parts, ", "))
}

// display is the state of a review for display.
type display struct {
	started    time.Time
	order      []string    // the finders' names, in the review's order
	activities []*activity // finders in that order, then steps in theirs
}

func newDisplay(began time.Time) display { return display{started: began, order: review.Names()} }

// apply takes an event in and returns the work that it is about, and whether
// that ended just now. Events of one work may overtake each other.
func (b *display) apply(e review.Event, now time.Time) (*activity, bool) {
	w := b.activity(e, now)
	if w.run == nil {
		w.usage.Add(e.Usage)
		w.costUSD += e.CostUSD
	}
	if w.ended {
		return w, false
	}
	w.done, w.requests = max(w.done, e.Done), max(w.requests, e.Requests)
	if e.Run != nil {
		w.run, w.usage, w.costUSD = e.Run, e.Run.Usage, e.Run.CostUSD
	}
	w.ended = e.Run != nil || w.step != "" && w.requests > 0 && w.done >= w.requests
	w.failed = w.failed || e.Failed
	w.updated = now
	return w, w.ended
}

// activity finds the work that an event is about. A step that begins once more is another work.
func (b *display) activity(e review.Event, now time.Time) *activity {
	for _, w := range slices.Backward(b.activities) {
		if w.name == e.Finder && w.step == e.Step && (!w.ended || e.Step == "" || e.Done > 0) {
			return w
		}
	}
	w := &activity{name: e.Finder, step: e.Step, started: now}
	b.activities = append(b.activities, w)
	slices.SortStableFunc(b.activities, func(x, y *activity) int { return b.rank(x) - b.rank(y) })
	return w
}

func (b *display) rank(w *activity) int {
	if i := slices.Index(b.order, w.name); i >= 0 && w.step == "" {
		return i
	}
	return len(b.order)
}

// lines lays the board out: a header with time, tokens and dollars, then the finders, as many a line as fit,
// then the stages after them. There are at most so many rows; no line is wider than the columns, nor as wide
// where there is room, because some terminals go on to the next line then.
func (b *display) lines(now time.Time, columns, rows int, color bool) []string {
	var out strings.Builder
	width := max(columns-1, minColumns)
	page := report.NewPage(&out, width, color)
	elapsed := now.Sub(b.started)
	header := []string{fmt.Sprintf("reviewing %d:%02d", int(elapsed.Minutes()), int(elapsed.Seconds())%60)}
	var total activity
	var finders, steps []string
	for _, w := range b.activities {
		total.usage.Add(w.usage)
		total.costUSD += w.costUSD
		item := w.item(page, width)
		switch {
		case item == "":
		case w.step != "":
			steps = append(steps, item)
		default:
			finders = append(finders, item)
		}
	}
	if item := b.analyzersItem(page); item != "" {
		finders = append(finders, item)
	}
	header = append(header, report.Spent(total.usage, total.costUSD)...)
	for utf8.RuneCountInString(strings.Join(header, " · ")) > width {
		header = header[:len(header)-1]
	}
	page.Line(page.Ink(report.Bold, header[0]) + page.Ink(report.Plain, strings.Join(append([]string{""}, header[1:]...),
		" · ")))
	page.Flow("", finders)
	page.Flow("", steps)
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if more := len(lines) - max(rows, 1); more > 0 { // what runs now is at the end
		lines = slices.Delete(lines, 1, 1+more)
	}
	return lines
}

// item is one work on the board, "" for those that say nothing there: finders that are off, analyzers that
// ended well, which are counted together, and steps with nothing to ask.
func (w *activity) item(page *report.Page, width int) string {
	name, said, ink := w.name, "waiting", report.Faint
	if w.step != "" {
		name = w.step
	}
	switch {
	case w.run != nil:
		status := w.run.Status
		if !status.Bad() && !status.Good() || status.Good() && w.run.Engine == precedent.AnalyzerEngine {
			return ""
		}
		said, ink = statusText(w.run), statusInk(status)
	case w.ended:
		said, ink = w.outcome()
	case w.step != "" && w.requests == 0:
		return ""
	case w.step != "":
		said, ink = fmt.Sprintf("%d/%d", w.done, w.requests), report.Cyan
	case w.requests > 0:
		said, ink = fmt.Sprintf("reading %d/%d", w.done, w.requests), report.Cyan
	case !w.prompted():
		said, ink = "running", report.Cyan
	}
	// Names are the program's own: a column a character.
	name = text.VisibleLine(name)
	if room := width - utf8.RuneCountInString(said) - 1; utf8.RuneCountInString(name) > room {
		name = string([]rune(name)[:room-1]) + "…"
	}
	return page.Ink(report.Plain, name) + " " + page.Ink(ink, said)
}

// analyzersItem counts those that ended well, "" if there are none.
func (b *display) analyzersItem(page *report.Page) string {
	ended, found := 0, 0
	for _, w := range b.activities {
		if w.run != nil && w.run.Engine == precedent.AnalyzerEngine && w.run.Status.Good() {
			ended++
			found += w.run.Found
		}
	}
	if ended == 0 {
		return ""
	}
	return page.Ink(report.Plain, report.Plural(ended, "analyzer")) + " " +
		page.Ink(report.Green, report.Ended(precedent.StatusOK, found))
}

// statusText describes how a finder ended, and what it found before it was stopped.
func statusText(run *precedent.FinderRun) string {
	said := report.Ended(run.Status, run.Found)
	if !run.Status.Good() && run.Found > 0 {
		said += " · " + report.Plural(run.Found, "finding")
	}
	return said
}

// statusInk colours how a finder ended: well, bounded on purpose, or badly.
func statusInk(s precedent.Status) report.Ink {
	switch {
	case s.Good():
		return report.Green
	case s == precedent.StatusTruncated || s == precedent.StatusOverBudget:
		return report.Yellow
	}
	return report.Red
}
