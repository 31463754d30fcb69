package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/report"
	"github.com/precedent-dev/precedent/internal/review"
)

// meter shows what a review is doing: a live block of lines on a terminal;
// elsewhere a plain line for each prompted finder and each later stage that
// ends, because analyzers are done before anybody reads about them.
type meter struct {
	w     io.Writer // nil shows nothing
	now   func() time.Time
	color bool
	size  func() (columns, rows int) // of the terminal; nil if there is none that can be drawn on

	mu      sync.Mutex
	board   board
	canvas  canvas
	stopped bool
	done    chan struct{}
	ticking sync.WaitGroup
}

// A block that is narrower than this would be columns of single words.
const minBlock = 40

// beat is how often the block is drawn, unless nothing has changed: seldom
// enough not to flicker when dozens of finders begin, and not to hold one up;
// often enough for a clock that skips no second.
const beat = 100 * time.Millisecond

// newMeter returns a meter on standard error, a silent one with --quiet. It
// runs until it is stopped.
func (a *app) newMeter() *meter {
	m := &meter{now: a.now}
	if a.quiet {
		return m.start()
	}
	m.w = a.err
	if f, ok := a.err.(*os.File); ok && term.IsTerminal(int(f.Fd())) && a.env["TERM"] != "dumb" {
		m.size = func() (int, int) { return screen(f) }
		m.color = a.env["NO_COLOR"] == ""
	}
	return m.start()
}

// screen is the size of a terminal, of the classic one if it does not tell.
func screen(f *os.File) (columns, rows int) {
	if columns, rows, err := term.GetSize(int(f.Fd())); err == nil && columns > 0 && rows > 0 {
		return min(columns, maxColumns), rows
	}
	return report.DefaultWidth, 24
}

func (m *meter) start() *meter {
	m.board = newBoard(m.now())
	m.done = make(chan struct{})
	if m.size != nil {
		if columns, _ := m.size(); columns < minBlock {
			m.size = nil
		}
	}
	if m.w == nil || m.size == nil {
		return m
	}
	m.ticking.Go(func() {
		beats := time.NewTicker(beat)
		defer beats.Stop()
		for {
			select {
			case <-m.done:
				return
			case <-beats.C:
				m.draw()
			}
		}
	})
	return m
}

// tell is told what happens, from any goroutine.
func (m *meter) tell(e review.Event) {
	if m.w == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	work, ended := m.board.take(e, m.now())
	if m.size == nil && !m.stopped && ended && work.prompted() {
		fmt.Fprintln(m.w, work.line())
	}
}

// draw shows the board as it is now.
func (m *meter) draw() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stopped {
		return
	}
	columns, rows := m.size()
	var lines []string
	if columns >= minBlock {
		lines = m.board.lines(m.now(), columns, rows, m.color)
	}
	m.canvas.draw(m.w, lines)
}

// stop takes the block away. Nothing is written afterwards.
func (m *meter) stop() {
	m.mu.Lock()
	if m.stopped {
		m.mu.Unlock()
		return
	}
	if m.w != nil && m.size != nil {
		m.canvas.draw(m.w, nil)
	}
	m.stopped = true
	close(m.done)
	m.mu.Unlock()
	m.ticking.Wait()
}

// canvas is the place on a terminal that is drawn over and over. Its control
// sequences are two that every terminal since the VT100 has: the cursor's way up
// and the erasing of all that follows it.
type canvas struct{ shown []string }

// draw replaces the lines that are shown, in one write. The cursor rests at the
// end of the last one.
func (c *canvas) draw(w io.Writer, lines []string) {
	if slices.Equal(lines, c.shown) {
		return
	}
	var b strings.Builder
	b.WriteString("\r")
	if up := len(c.shown) - 1; up > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", up)
	}
	b.WriteString("\x1b[J" + strings.Join(lines, "\r\n"))
	c.shown = lines
	_, _ = io.WriteString(w, b.String()) // a terminal that is gone has nobody to tell
}

// spent sums up what was asked of models, and what it cost.
type spent struct {
	usage   precedent.Usage
	costUSD float64
}

func (s *spent) add(o spent) {
	s.usage.Add(o.usage)
	s.costUSD += o.costUSD
}

// said says it in parts: tokens, with the share that came from the cache if
// cached is asked for, and dollars, each if there are any.
func (s spent) said(cached bool) []string {
	var parts []string
	if n := s.usage.InputTokens + s.usage.OutputTokens; n > 0 {
		part := tokensSaid(n)
		if cached && s.usage.CachedTokens > 0 && s.usage.InputTokens > 0 {
			part += fmt.Sprintf(", %d %% cached", 100*s.usage.CachedTokens/s.usage.InputTokens)
		}
		parts = append(parts, part)
	}
	if s.costUSD > 0 {
		parts = append(parts, fmt.Sprintf("$%.2f", s.costUSD))
	}
	return parts
}

func tokensSaid(n int) string {
	if n < 1000 {
		return counted(n, "token")
	}
	return fmt.Sprintf("%dk tokens", (n+500)/1000)
}

func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
