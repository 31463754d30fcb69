// Package progress shows the progress of a review: a live block of lines on a terminal; elsewhere one plain
// line for each prompted finder and each later stage that ends. Analyzers end too soon to be worth a line.
package progress

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/precedent-dev/precedent/internal/review"
)

// Options are what progress is shown with.
type Options struct {
	Out   io.Writer // nil shows nothing
	Now   func() time.Time
	Color bool
	// Size tells the size of the terminal; nil if there is none that can be drawn on.
	Size func() (columns, rows int)
}

// Progress shows the progress of one review.
type Progress struct {
	Options
	mu      sync.Mutex
	display display
	canvas  canvas
	stopped bool
	done    chan struct{}
	ticking sync.WaitGroup
}

// A block that is narrower than this would be columns of single words.
const minColumns = 40

// drawInterval is how often the block is drawn if it has changed: rarely enough not to
// flicker, and often enough for the clock to show every second.
const drawInterval = 100 * time.Millisecond

// Start begins to show progress. It runs until it is stopped.
func Start(o Options) *Progress {
	p := &Progress{Options: o, display: newDisplay(o.Now()), done: make(chan struct{})}
	if p.Size != nil {
		if columns, _ := p.Size(); columns < minColumns {
			p.Size = nil
		}
	}
	if p.Out == nil || p.Size == nil {
		return p
	}
	p.ticking.Go(func() {
		beats := time.NewTicker(drawInterval)
		defer beats.Stop()
		for {
			select {
			case <-p.done:
				return
			case <-beats.C:
				p.draw()
			}
		}
	})
	return p
}

// Handle handles an event, from any goroutine.
func (p *Progress) Handle(e review.Event) {
	if p.Out == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	work, ended := p.display.apply(e, p.Now())
	if p.Size == nil && !p.stopped && ended && work.prompted() {
		fmt.Fprintln(p.Out, work.line())
	}
}

// draw shows the board as it is now.
func (p *Progress) draw() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped {
		return
	}
	columns, rows := p.Size()
	var lines []string
	if columns >= minColumns {
		lines = p.display.lines(p.Now(), columns, rows, p.Color)
	}
	p.canvas.draw(p.Out, lines)
}

// Above calls write, which may print whole lines, and shows the block below them.
func (p *Progress) Above(write func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.Out != nil && p.Size != nil && !p.stopped {
		p.canvas.draw(p.Out, nil)
	}
	write()
}

// Stop removes the block. Nothing is written afterwards.
func (p *Progress) Stop() {
	p.mu.Lock()
	if p.stopped {
		p.mu.Unlock()
		return
	}
	if p.Out != nil && p.Size != nil {
		p.canvas.draw(p.Out, nil)
	}
	p.stopped = true
	close(p.done)
	p.mu.Unlock()
	p.ticking.Wait()
}

// canvas is the place on a terminal that is drawn over and over. Its control sequences are two that every
// terminal since the VT100 has: the cursor's way up and the erasing of all that follows it.
type canvas struct{ shown []string }

// draw replaces the lines that are shown, in one write. The cursor rests at the end of the last one.
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
