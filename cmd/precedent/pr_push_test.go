package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// flaw is a defect that the parrot knows.
type flaw struct {
	name  string   // a word that all of its remarks have
	lines []string // each of which has it
	says  [][2]string
}

var flaws = []flaw{
	{
		"refund",
		[]string{"  ledger.total -= amount", "  ledger.total -= Math.round(amount)"},
		[][2]string{
			{"A refund can exceed what was paid", "Nothing compares the amount of the refund with the payment, so a refund of more than was paid makes the total negative."},
			{"The refund is not bounded by the payment", "The code takes the requested refund from the total without a look at the payment; asking for more than was paid succeeds."},
			{"Missing check of the refund's amount", "An attacker asks for a refund above the payment and gets it: no line checks the amount against it."},
		},
	},
	{
		"average",
		[]string{"  return sum / items.length"},
		[][2]string{
			{"The average of an empty list is NaN", "With no items the length is 0, and the average becomes NaN, which every later sum inherits."},
			{"Division by zero in the average", "When the list of items is empty this divides by zero; the average that callers show is NaN."},
			{"Empty input breaks the average", "items may be empty after filtering. Then the average is NaN and spreads through the report."},
		},
	},
	{
		"listener",
		[]string{"  bus.on('paid', () => render(till))"},
		[][2]string{
			{"The listener is never removed", "Each call adds a listener to the bus and none takes it off, so that memory grows and render runs many times."},
			{"Leak: one more listener a call", "Nobody calls bus.off, so every opened till leaves a listener behind, and each payment renders all of them."},
			{"Unbounded growth of listener callbacks", "The listener outlives the till. After a day there are thousands, and each of them renders."},
		},
	},
}

// parrot is an engine that finds the flaws which its prompt shows, in other
// words every time.
type parrot struct {
	mu    sync.Mutex
	asked int
	path  string // of the file
	text  string // as it is at the head
}

func (p *parrot) Info() engine.Info {
	return engine.Info{Name: "parrot", Line: "parrot, on this machine", Who: "parrot"}
}

var (
	pairID   = regexp.MustCompile(`(?m)^id: (p\d+)$`)
	threadID = regexp.MustCompile(`(?m)^## Thread (\S+)$`)
)

func (p *parrot) Run(_ context.Context, t engine.Task) (engine.Answer, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	find := func() []map[string]any {
		found := p.find(t.User())
		p.asked++
		return found
	}
	return play(t, "parrot", find, sameFlaw, p.look)
}

// play answers a task of each role: what is found, whether the two remarks of a pair
// are the same, and the state of a thread with a reply. No verifier has a say.
func play(t engine.Task, model string, find func() []map[string]any, same func(pair string) bool, look func(thread string) (state, reply string)) (engine.Answer, error) {
	var answer any
	switch t.Role {
	case engine.Finder:
		found := []map[string]any{}
		if t.Name == "general" {
			found = find()
		}
		answer = map[string]any{"findings": found, "summary": "Read it."}
	case engine.Verifier:
		answer = map[string]any{"verdicts": []any{}}
	case engine.Judge:
		pairs := []map[string]any{}
		for id, text := range blocks(t.User(), pairID) {
			pairs = append(pairs, map[string]any{"pair": id, "same": same(text)})
		}
		answer = map[string]any{"pairs": pairs}
	case engine.Threads:
		threads := []map[string]any{}
		for id, text := range blocks(t.User(), threadID) {
			state, reply := look(text)
			threads = append(threads, map[string]any{"thread_id": id, "state": state, "reply": reply})
		}
		answer = map[string]any{"threads": threads}
	}
	data, err := json.Marshal(answer)
	return engine.Answer{Status: precedent.StatusOK, JSON: data, Model: model, Usage: precedent.Usage{Requests: 1, InputTokens: 100, OutputTokens: 10}}, err
}

// has returns the line of the head that has the flaw; empty for none.
func (p *parrot) has(f flaw) string {
	for _, line := range f.lines {
		if strings.Contains(p.text, line+"\n") {
			return line
		}
	}
	return ""
}

func (p *parrot) find(prompt string) []map[string]any {
	found := []map[string]any{}
	for i, f := range flaws {
		line := p.has(f)
		if line == "" || !strings.Contains(prompt, line) {
			continue
		}
		says := f.says[(p.asked+i)%len(f.says)]
		found = append(found, map[string]any{
			"path": p.path, "quote": line, "severity": "medium", "confidence": 88, "title": says[0], "body": says[1],
			"category": []string{"bugs", "crash"}[(p.asked+i)%2],
		})
	}
	return found
}

// blocks cuts a prompt at the ids in it.
func blocks(prompt string, id *regexp.Regexp) map[string]string {
	all := map[string]string{}
	at := id.FindAllStringSubmatchIndex(prompt, -1)
	for i, m := range at {
		end := len(prompt)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		all[prompt[m[2]:m[3]]] = prompt[m[1]:end]
	}
	return all
}

// sameFlaw tells whether the two remarks of a pair are about one flaw.
func sameFlaw(pair string) bool {
	first, second, _ := strings.Cut(strings.ToLower(pair), "the second remark")
	return slices.ContainsFunc(flaws, func(f flaw) bool { return strings.Contains(first, f.name) && strings.Contains(second, f.name) })
}

// flawIn names the flaw that a text is about; empty for none.
func flawIn(text string) string {
	for _, f := range flaws {
		if strings.Contains(strings.ToLower(text), f.name) {
			return f.name
		}
	}
	return ""
}

// look tells whether the flaw of a thread is still there.
func (p *parrot) look(thread string) (state, reply string) {
	state = "addressed"
	remark, _, _ := strings.Cut(thread, "The lines ")
	for _, f := range flaws {
		if strings.Contains(strings.ToLower(remark), f.name) && p.has(f) != "" {
			state = "still_there"
		}
	}
	if strings.Contains(thread, "A person waits for an answer.") {
		reply = "I read it again: " + state + "."
	}
	return state, reply
}

// shopPull is a pull request that adds a file with the flaws.
type shopPull struct {
	*prStage
	parrot *parrot
}

// guarded is the average without its flaw.
const guarded = "  return items.length > 0 ? sum / items.length : 0\n"

var guardedTill = strings.Replace(tillFile, "  return sum / items.length\n", guarded, 1)

const tillFile = `// The till.
function refund(ledger, amount) {
  log('refund', amount)
  ledger.total -= amount
  return ledger
}

function average(items) {
  let sum = 0
  for (const i of items) sum += i.price
  return sum / items.length
}

function open(till, bus) {
  till.state = 'open'
  bus.on('paid', () => render(till))
}
`

func newShopPull(t *testing.T) *shopPull {
	t.Helper()
	s := &shopPull{prStage: newPRStage(t), parrot: &parrot{}}
	s.app.fixedEngine = s.parrot
	s.git(s.work, "checkout", "-q", "-B", "feature", "main")
	s.push("Add a till", map[string]string{"src/till.js": tillFile})
	return s
}

// push commits files, and moves the pull request.
func (s *shopPull) push(message string, files map[string]string) {
	s.t.Helper()
	for name, text := range files {
		writeFile(s.t, filepath.Join(s.work, name), text, 0o644)
		s.parrot.path, s.parrot.text = name, text
	}
	s.git(s.work, "add", "-A")
	s.git(s.work, "commit", "-q", "-m", message)
	s.moved()
}

// moved tells the forge of the branch's head.
func (s *shopPull) moved() {
	s.t.Helper()
	if s.real != nil {
		s.git(s.work, "push", "-q", "-f", s.origin, "feature")
		s.real.Push()
		s.sync()
		return
	}
	s.git(s.work, "push", "-q", "-f", s.origin, "feature", "main")
	s.git(s.origin, "update-ref", "refs/pull/7/head", "refs/heads/feature")
	s.door.stage.World.Change(func() { s.pull.Base.SHA = s.id("main") })
	s.door.stage.World.Push(s.pull, s.id("feature"), s.git(s.origin, "diff", "main...feature")+"\n")
}

// threads describes our conversations: the place of each where it is now, and
// whether it is closed, by the name of its flaw.
func (s *shopPull) threads() map[string]string {
	s.t.Helper()
	all := map[string]string{}
	for _, c := range s.shown(forge.OnLine) {
		if c.ReplyTo != "" {
			continue
		}
		name := flawIn(string(c.Body))
		if _, twice := all[name]; twice {
			s.t.Errorf("two threads about %s", name)
		}
		all[name] = "open"
		for _, t := range s.door.stage.World.Threads(s.pull) {
			if t.Comments[0] == c.ID && t.Closed {
				all[name] = "closed"
			}
		}
	}
	return all
}

func (s *shopPull) summary() string {
	s.t.Helper()
	all := s.shown(forge.OnThread)
	if len(all) != 1 {
		s.t.Fatalf("%d summaries", len(all))
	}
	return string(all[0].Body)
}

// step reviews and compares what stands there then.
func (s *shopPull) step(name string, want map[string]string, reviews int, summary ...string) {
	s.t.Helper()
	status, said := s.post("--fail-on", "medium")
	open := 0
	for _, state := range want {
		if state == "open" {
			open++
		}
	}
	wantStatus := precedent.ExitClean
	if open > 0 {
		wantStatus = precedent.ExitFindings
	}
	if status != wantStatus {
		s.t.Errorf("%s: status %d, want %d\n%s\n%s", name, status, wantStatus, said, s.out.String())
	}
	if got := s.threads(); fmt.Sprint(got) != fmt.Sprint(want) {
		s.t.Errorf("%s: threads %v, want %v", name, got, want)
	}
	if got := len(s.shown(forge.OnReview)); got != reviews {
		s.t.Errorf("%s: %d reviews, want %d", name, got, reviews)
	}
	if s.t.Failed() {
		s.t.FailNow()
	}
	s.has(name, s.summary(), summary...)
}

// TestFivePushes: an engine that repeats itself in other words says nothing
// twice, whatever happens to the lines; what is fixed is closed, what is fixed
// in half is not; and the summary is true at each step.
func TestFivePushes(t *testing.T) {
	t.Parallel()
	s := newShopPull(t)
	all := map[string]string{"refund": "open", "average": "open", "listener": "open"}
	s.step("first", all, 1, "3 findings")

	shifted := strings.Replace(tillFile, "// The till.\n", "// The till.\n"+strings.Repeat("// A line of the licence.\n", 12), 1)
	s.push("shift the lines", map[string]string{"src/till.js": shifted})
	s.step("line shift", all, 1, "3 findings", "**Earlier findings**: 3 still there.", "`src/till.js:16`", "3 posted before")

	fixed := strings.Replace(shifted, "  return sum / items.length\n", guarded, 1)
	s.push("guard the average", map[string]string{"src/till.js": fixed})
	all["average"] = "closed"
	s.step("fix", all, 1, "2 findings", "**Earlier findings**: 2 still there · 1 addressed.", "**Closed**: 1 fixed.", "**fixed** in `"+workspace.ShortID(s.id("feature"))+"`: the flagged lines changed")

	half := strings.Replace(fixed, "  ledger.total -= amount\n", "  ledger.total -= Math.round(amount)\n", 1)
	s.push("round the amount", map[string]string{"src/till.js": half})
	s.step("partial fix", all, 1, "2 findings", "**Earlier findings**: 2 still there.", "`src/till.js:16`")

	s.git(s.work, "mv", "src/till.js", "src/register.js")
	s.parrot.path = "src/register.js"
	s.git(s.work, "commit", "-q", "-m", "rename")
	s.moved()
	s.step("rename", all, 1, "2 findings", "**Earlier findings**: 2 still there.", "`src/register.js:16`", "`src/register.js:28`")

	s.git(s.work, "checkout", "-q", "main")
	writeFile(t, filepath.Join(s.work, "a.txt"), "zero\none\ntwo\nthree\n", 0o600)
	s.git(s.work, "commit", "-q", "-a", "-m", "meanwhile on main")
	s.git(s.work, "checkout", "-q", "feature")
	s.git(s.work, "reset", "-q", "--soft", "main~1")
	s.git(s.work, "commit", "-q", "-m", "Add a register")
	s.git(s.work, "rebase", "-q", "main")
	s.moved()
	s.step("rebased by force", all, 1, "2 earlier findings still open", "**Earlier findings**: 2 still there.")

	done := strings.Replace(half, "  ledger.total -= Math.round(amount)\n", "  ledger.total -= Math.min(amount, ledger.paid)\n", 1)
	done = strings.Replace(done, "  bus.on('paid', () => render(till))\n", "  bus.once('paid', () => render(till))\n", 1)
	s.push("fix the rest", map[string]string{"src/register.js": done})
	s.step("all fixed", map[string]string{"refund": "closed", "average": "closed", "listener": "closed"}, 1, "clean, no findings", "**Earlier findings**: 2 addressed.")
}
