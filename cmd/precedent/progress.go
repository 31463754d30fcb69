package main

import (
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/precedent-dev/precedent/internal/report"
	"github.com/precedent-dev/precedent/internal/review"
)

// meter shows which finders are at work: one line that is written anew on a
// terminal; elsewhere a plain line for each prompted finder that ends, because
// analyzers are done before anybody reads about them.
type meter struct {
	mu      sync.Mutex
	w       io.Writer
	page    *report.Page
	width   int // of the terminal; 0 if there is none
	running []review.Event
	shown   int // columns of the line that is on the terminal
}

// newMeter returns a meter on standard error, a silent one with --quiet.
func (a *app) newMeter() *meter {
	m := &meter{page: report.NewPage(io.Discard, 0, false)}
	if !a.quiet {
		m.w = a.err
		m.width, _ = terminal(a.err)
	}
	return m
}

// tell is told what happens.
func (m *meter) tell(e review.Event) {
	if m.w == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	kept := m.running[:0]
	for _, r := range m.running {
		if r.Finder != e.Finder {
			kept = append(kept, r)
		}
	}
	m.running = kept
	if e.Run == nil {
		m.running = append(m.running, e)
	} else if m.width == 0 && e.Run.Requests > 0 {
		fmt.Fprintln(m.w, m.page.Inkf(report.Plain, "precedent: %s %s, %d findings in %d requests", e.Finder, e.Run.Status, e.Run.Found, e.Run.Requests))
	}
	if m.width > 0 {
		m.draw()
	}
}

// draw writes the line over the one that is there.
func (m *meter) draw() {
	var parts []string
	for _, r := range m.running {
		part := r.Finder
		if r.Requests > 0 {
			part += fmt.Sprintf(" %d/%d", r.Done, r.Requests)
		}
		parts = append(parts, part)
	}
	line := ""
	if len(parts) > 0 {
		line = "reading: " + m.page.Ink(report.Plain, strings.Join(parts, ", "))
	}
	if most := m.width - 1; len(line) > most {
		line = line[:most] // names of finders are ASCII
	}
	fmt.Fprintf(m.w, "\r%-*s\r%s", m.shown, "", line)
	m.shown = len(line)
}

// stop takes the line away.
func (m *meter) stop() {
	if m.w != nil && m.shown > 0 {
		fmt.Fprintf(m.w, "\r%-*s\r", m.shown, "")
		m.shown = 0
	}
}
