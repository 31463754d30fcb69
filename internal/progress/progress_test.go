package progress

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/review"
)

// vt is a terminal that knows what progress may use, and complains about
// anything else: about a line that runs over its edge, too.
type vt struct {
	mu          sync.Mutex
	columns     int
	height      int // beyond which it scrolls
	screen      []string
	row, column int
	raw         bytes.Buffer
	complaints  []string
}

func newVT(columns, rows int) *vt {
	return &vt{columns: columns, height: rows, screen: []string{""}}
}

var sequence = regexp.MustCompile(`^\x1b\[([0-9;]*)([A-Za-z])`)

func (v *vt) Write(p []byte) (int, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.raw.Write(p)
	for rest := string(p); rest != ""; {
		if m := sequence.FindStringSubmatch(rest); m != nil {
			v.control(m[1], m[2])
			rest = rest[len(m[0]):]
			continue
		}
		r := []rune(rest)[0]
		v.put(r)
		rest = rest[len(string(r)):]
	}
	return len(p), nil
}

func (v *vt) control(arg, final string) {
	switch final {
	case "m":
	case "A":
		n := 0
		if _, err := fmt.Sscan(arg, &n); err != nil || n < 1 || n > v.row {
			v.complaints = append(v.complaints, fmt.Sprintf("up by %q from row %d", arg, v.row))
		}
		v.row = max(v.row-n, 0)
	case "J":
		v.screen = v.screen[:v.row+1]
		v.screen[v.row] = string([]rune(v.screen[v.row])[:v.column])
	default:
		v.complaints = append(v.complaints, fmt.Sprintf("control sequence %q%q", arg, final))
	}
}

func (v *vt) put(r rune) {
	switch {
	case r == '\r':
		v.column = 0
	case r == '\n':
		if v.row++; v.row == len(v.screen) {
			v.screen = append(v.screen, "")
		}
		if len(v.screen) > v.height {
			v.screen, v.row = v.screen[1:], v.row-1
		}
		v.column = min(v.column, len([]rune(v.screen[v.row])))
	case r < ' ' || r >= 0x7f && r < 0xa0:
		v.complaints = append(v.complaints, fmt.Sprintf("control character %q", r))
	default:
		line := []rune(v.screen[v.row])
		if v.column == v.columns {
			v.complaints = append(v.complaints, fmt.Sprintf("row %d runs over the edge: %q", v.row, string(line)))
			return
		}
		v.screen[v.row] = string(append(line[:v.column], r)) // nothing is written over what stands to the right
		v.column++
	}
}

func (v *vt) size() (columns, rows int) { return v.columns, v.height }

// shows is the screen without the empty lines at its end.
func (v *vt) shows(t interface{ Errorf(string, ...any) }) string {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, c := range v.complaints {
		t.Errorf("the terminal got a %s", c)
	}
	v.complaints = nil
	return strings.TrimRight(strings.Join(v.screen, "\n"), "\n")
}

func usage(input, cached, output int) precedent.Usage {
	return precedent.Usage{Requests: 1, InputTokens: input, CachedTokens: cached, OutputTokens: output}
}

func ended(name, engine string, status precedent.Status, found int) review.Event {
	run := &precedent.FinderRun{Name: name, Engine: engine, Status: status, Found: found, TookMS: 12_345}
	if engine != precedent.AnalyzerEngine && status != precedent.StatusOff {
		run.Usage, run.CostUSD = precedent.Usage{Requests: 3, InputTokens: 40_000, CachedTokens: 20_000, OutputTokens: 1_000},
			0.12
	}
	return review.Event{Finder: name, Run: run}
}

func TestBlockOnATerminal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVT(60, 5)
		above := "$ precedent review"
		fmt.Fprint(v, above+"\r\n")
		m := Start(Options{Out: v, Now: time.Now, Size: v.size})
		see := func(step, want string) {
			t.Helper()
			<-time.After(drawInterval)
			synctest.Wait()
			if diff := cmp.Diff(above+want, v.shows(t)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", step, diff)
			}
		}
		for _, name := range []string{"unicode", "tests", "bugs", "security", "secrets", "guidelines"} {
			m.Handle(review.Event{Finder: name})
		}
		see("all began", `
reviewing 0:00
bugs waiting   security waiting   tests waiting
guidelines waiting   secrets running   unicode running`)

		<-time.After(65 * time.Second)
		m.Handle(ended("unicode", precedent.AnalyzerEngine, precedent.StatusOK, 2))
		m.Handle(ended("secrets", precedent.AnalyzerEngine, precedent.StatusEmpty, 0))
		m.Handle(ended("guidelines", "", precedent.StatusOff, 0))
		m.Handle(review.Event{Finder: "bugs", Requests: 3})
		m.Handle(review.Event{Finder: "bugs", Done: 2, Requests: 3, Usage: usage(10_000, 5_000, 400), CostUSD: 0.03})
		// overtaken
		m.Handle(review.Event{Finder: "bugs", Done: 1, Requests: 3, Usage: usage(10_000, 2_000, 100), CostUSD: 0.05})
		see("answers", `
reviewing 1:05 · $0.08 · 21k tokens, 35 % cached
bugs reading 2/3   security waiting   tests waiting
2 analyzers 2 findings`)

		m.Handle(ended("bugs", "api", precedent.StatusOK, 1))
		m.Handle(ended("security", "api", precedent.StatusTimeout, 0))
		m.Handle(ended("tests", "api", precedent.StatusEmpty, 0))
		m.Handle(review.Event{Step: "judge", Requests: 1})
		m.Handle(review.Event{Step: "judge", Done: 1, Requests: 1, Usage: usage(2_000, 0, 0), CostUSD: 0.01})
		m.Handle(review.Event{Step: "nothing"})
		m.Handle(review.Event{Step: "verify", Requests: 2})
		m.Handle(review.Event{Step: "verify", Done: 1, Requests: 2})
		m.Handle(review.Event{Step: "judge", Requests: 4})
		above = "printed meanwhile"
		m.Above(func() { fmt.Fprint(v, above+"\r\n") })
		see("stages after them, where the terminal scrolls", `
reviewing 1:05 · $0.37 · 125k tokens, 49 % cached
bugs 1 finding   security timed out   tests none
2 analyzers 2 findings
judge done   verify 1/2   judge 0/4`)

		m.Stop()
		m.Stop()
		see("stopped", "")
		m.Handle(review.Event{Finder: "types"})
		<-time.After(time.Minute)
		see("after the end", "")
		if regexp.MustCompile(`\x1b\[[0-9;]*m`).MatchString(v.raw.String()) {
			t.Error("colours were not asked for")
		}
	})
}

// Without a terminal, or on one that is too narrow, there are plain lines.
func TestPlainLines(t *testing.T) {
	for name, size := range map[string]func() (int, int){
		"no terminal": nil,
		"narrow":      func() (int, int) { return 39, 24 },
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			now := time.Unix(0, 0)
			m := Start(Options{Out: &out, Now: func() time.Time { return now }, Size: size, Color: true})
			m.Handle(review.Event{Finder: "bugs"})
			m.Handle(review.Event{Finder: "bugs", Done: 1, Requests: 3, Usage: usage(1, 1, 1)})
			m.Handle(ended("bugs", "api", precedent.StatusOK, 2))
			m.Handle(ended("secrets", precedent.AnalyzerEngine, precedent.StatusOK, 4))
			m.Handle(ended("types", "", precedent.StatusOff, 0))
			m.Handle(review.Event{Finder: "te\x1b[2Jsts", Run: &precedent.FinderRun{
				Status: precedent.StatusTimeout, TookMS: 60_000, Usage: precedent.Usage{Requests: 1},
			}})
			m.Handle(review.Event{Step: "verify", Requests: 2})
			now = now.Add(4200 * time.Millisecond)
			m.Handle(review.Event{Step: "verify", Done: 1, Requests: 2, Usage: usage(500, 0, 100)})
			m.Handle(review.Event{Step: "verify", Done: 2, Requests: 2, Usage: usage(500, 0, 100), CostUSD: 0.014})
			m.Handle(review.Event{Step: "verify", Done: 2, Requests: 2})
			m.Handle(review.Event{Step: "judge", Done: 1, Requests: 1, Usage: usage(1, 0, 0), Failed: true})
			m.Stop()
			m.Handle(ended("security", "api", precedent.StatusOK, 2))
			want := `precedent: bugs 2 findings, 3 requests, $0.12, 41k tokens, 50 % cached, 12.3s
precedent: te<U+001B>[2Jsts timed out, 1 request, 1m0s
precedent: verify done, 2 requests, $0.01, 1k tokens, 4.2s
precedent: judge failed, 1 request, 1 token, 0s
`
			if diff := cmp.Diff(want, out.String()); diff != "" {
				t.Errorf("lines (-want +got):\n%s", diff)
			}
		})
	}
}

// TestTellAndStopAtOnce is for the race detector, and for the promise that
// nothing is written after stop: other output is on the terminal then.
func TestTellAndStopAtOnce(t *testing.T) {
	for range 50 {
		v := newVT(80, 24)
		m := Start(Options{Out: v, Now: time.Now, Size: v.size})
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				name := fmt.Sprint("finder-", i)
				m.Handle(review.Event{Finder: name})
				for done := range 10 {
					m.Handle(review.Event{Finder: name, Done: done, Requests: 10, Usage: usage(1000, 0, 0)})
				}
				m.draw()
				m.Handle(ended(name, "api", precedent.StatusOK, i))
			})
		}
		m.Stop()
		if got := v.shows(t); got != "" {
			t.Fatalf("left behind:\n%s", got)
		}
		wg.Wait()
		if got := v.shows(t); got != "" {
			t.Fatalf("written after the end:\n%s", got)
		}
	}
}

// TestBlockStaysInItsPlace feeds any events to terminals of any size: no line runs over the edge, no more
// rows than there are, and whatever was above the block stays.
func TestBlockStaysInItsPlace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		columns, rows := rapid.IntRange(minColumns, 200).Draw(t, "columns"), rapid.IntRange(1, 12).Draw(t, "rows")
		v := newVT(columns, 100)
		fmt.Fprint(v, "above\r\n")
		m := &Progress{display: newDisplay(time.Now()), Options: Options{
			Out: v, Now: time.Now,
			Size: func() (int, int) { return columns, rows }, Color: rapid.Bool().Draw(t, "color"),
		}}
		names := rapid.SampledFrom(append(review.Names(), "a\x1b[Anew", strings.Repeat("long-", 30), "é\u202e"))
		statuses := rapid.SampledFrom([]precedent.Status{
			precedent.StatusOK, precedent.StatusEmpty, precedent.StatusOverBudget, precedent.StatusSkipped, "…",
		})
		for range rapid.IntRange(1, 60).Draw(t, "events") {
			e := review.Event{
				Finder: names.Draw(t, "finder"), Done: rapid.IntRange(0, 1e9).Draw(t, "done"),
				Requests: rapid.IntRange(0, 1e9).Draw(t, "requests"),
			}
			e.Usage.InputTokens, e.CostUSD = rapid.IntRange(0, 1e12).Draw(t, "tokens"),
				rapid.Float64Range(0, 1e9).Draw(t, "cost")
			switch rapid.IntRange(0, 3).Draw(t, "kind") {
			case 0:
				e.Finder, e.Step = "", rapid.SampledFrom([]string{"verify", "judge"}).Draw(t, "step")
			case 1:
				engine := rapid.SampledFrom([]string{precedent.AnalyzerEngine, "api"}).Draw(t, "engine")
				e.Run = ended(e.Finder, engine, statuses.Draw(t, "status"), rapid.IntRange(0, 1e9).Draw(t, "found")).Run
			}
			m.Handle(e)
			m.draw()
			if n := len(m.canvas.shown); n > rows {
				t.Fatalf("%d lines in %d rows", n, rows)
			}
			if got := v.shows(t); !strings.HasPrefix(got, "above\nreviewing ") {
				t.Fatalf("the terminal shows\n%s", got)
			}
		}
		m.canvas.draw(v, nil)
		if got := v.shows(t); got != "above" {
			t.Fatalf("in the end the terminal shows\n%s", got)
		}
	})
}
