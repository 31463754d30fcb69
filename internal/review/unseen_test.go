package review

import (
	"strings"
	"sync"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/needs"
)

// reading is an engine that finds the loop in the cart, by one finder, and keeps which hunks it was shown.
type reading struct {
	finder string
	mu     sync.Mutex
	shown  map[string]bool // by finder: the cart was among what it was shown
}

func (r *reading) engine() *cast {
	r.shown = map[string]bool{}
	return &cast{
		finder: func(t engine.Task) engine.Reply {
			r.mu.Lock()
			defer r.mu.Unlock()
			if strings.Contains(t.User(), loop) {
				r.shown[t.Name] = true
			}
			if t.Name != r.finder {
				return reply1()
			}
			return reply1(finding("cart/cart.go", 1, loop, "off by one", object{"severity": "medium"}))
		},
	}
}

// TestAFinderThatJoins: what it has never read it reads now, and what it finds
// there is news. The others were heard already.
func TestAFinderThatJoins(t *testing.T) {
	head := shopHead.with(files{"cart/tax.go": "package cart\n"})
	for _, test := range []struct {
		name    string
		ran     []string
		finder  string
		shown   bool
		dropped precedent.Dropped
	}{
		{"all had their say", []string{"bugs", "security"}, "security", false, precedent.UnchangedCode},
		{"it is new", []string{"bugs"}, "security", true, ""},
		{"another one is new", []string{"bugs"}, "bugs", true, precedent.UnchangedCode},
		{"nobody knows", nil, "security", false, precedent.UnchangedCode},
	} {
		t.Run(test.name, func(t *testing.T) {
			in := pushed(t, shopBase, shopHead, head)
			in.Policy.Finders = only("bugs", "security")
			in.Since.Finders = test.ran
			r := reading{finder: test.finder}
			in.Engine = r.engine()
			got := run(t, in)
			needs.Equal(t, test.shown, r.shown["security"])
			if f := byTitle(t, got, "off by one"); f.Dropped != test.dropped {
				t.Errorf("dropped %q: %s", f.Dropped, says(f))
			}
			if (got.Coverage.HunksBefore > 0) == test.shown {
				t.Errorf("coverage %+v", got.Coverage)
			}
		})
	}
}

// TestAFileThatWasLeftOut: what the earlier review skipped nobody has read, though no push touched it.
func TestAFileThatWasLeftOut(t *testing.T) {
	head := shopHead.with(files{"cart/tax.go": "package cart\n"})
	in := pushed(t, shopBase, shopHead, head)
	in.Since.Skipped = []string{"cart/cart.go"}
	r := reading{finder: "bugs"}
	in.Engine = r.engine()
	got := run(t, in)
	if f := byTitle(t, got, "off by one"); !r.shown["bugs"] || f.Dropped != "" || f.Origin != "" {
		t.Errorf("shown %v, dropped %q, origin %q: %s", r.shown, f.Dropped, f.Origin, says(f))
	}
}

// TestFoundInWhatAnotherBaseShows: the branch goes to another base, from which it
// differs in more. What is found there is news, though the head is as it was.
func TestFoundInWhatAnotherBaseShows(t *testing.T) {
	head := files{"a.txt": long(60, map[int]string{10: "ten\n"})}
	base := files{"a.txt": long(60, nil)}
	other := files{"a.txt": long(60, map[int]string{50: "fifty\n"})}
	later := head.with(files{"a.txt": "the first\n" + head["a.txt"]})
	for _, test := range []struct {
		line    string
		dropped precedent.Dropped
	}{
		{"ten", precedent.UnchangedCode},
		{"line " + strings.Repeat("i", 50), ""},
	} {
		in := pushed(t, other, head, later)
		in.Since.Before = between(t, base, head)
		in.Engine = answering(finding("a.txt", 1, test.line, "a defect", object{"severity": "medium"}))
		r := run(t, in)
		if f := byTitle(t, r, "a defect"); f.Dropped != test.dropped || r.Coverage.HunksBefore != 1 {
			t.Errorf("%s: dropped %q, %d hunks read before: %s", test.line, f.Dropped, r.Coverage.HunksBefore, says(f))
		}
	}
}

// TestNoModelReadThePush: a policy that turns the prompted finders off leaves what was pushed to the analyzers.
func TestNoModelReadThePush(t *testing.T) {
	head := shopHead.with(files{"cart/tax.go": "package cart\n"})
	in := pushed(t, shopBase, shopHead, head)
	in.Policy.Finders = only()
	in.Engine = &cast{}
	if r := run(t, in); r.Scope != precedent.AnalyzersScope {
		t.Errorf("scope %s", r.Scope)
	}
}

// TestDeclinedTwice: a "no" that is read again, because nobody noted the first time that it ends the conversation, is
// answered the first time alone. The author's "no" is answered, and settles nothing.
func TestDeclinedTwice(t *testing.T) {
	const no = "This is how it has to be, we keep it."
	heard := func(m precedent.Message) Input {
		in := conversation(t, precedent.Bugs, shopHead.with(files{"cart/aws.go": "", "cart/tax.go": "package cart\n"}))
		in.Threads[0].Messages = []precedent.Message{written(no, m)}
		declined := object{"state": "declined", "quote": no, "reply": "Understood."}
		in.Engine = &cast{finder: finds(), threads: saying(map[string]object{"off by one": declined})}
		return in
	}
	in := heard(precedent.Message{WhoID: "8", MayWrite: true})
	for _, want := range []string{"Understood.", ""} {
		a := run(t, in).Threads[0]
		if a.State != precedent.DeclinedHere || a.Reply != want {
			t.Errorf("%s, reply %q, want %q", a.State, a.Reply, want)
		}
		said := precedent.Message{ID: "10", Own: true, Body: precedent.Untrusted(a.Reply)}
		in.Threads[0].Messages = append(in.Threads[0].Messages, said)
	}
	in = heard(precedent.Message{WhoID: "7"})
	for _, step := range []struct {
		state precedent.ThreadState
		reply string
	}{{precedent.ThreadPending, mayNotDismiss}, {precedent.ThreadOpen, ""}} {
		in.Threads[0].State = step.state
		r := run(t, in)
		if a := r.Threads[0]; a.State != precedent.StillThere || a.Reply != step.reply || r.Verdict != precedent.Findings {
			t.Errorf("%s: %s, reply %q, verdict %s", step.state, a.State, a.Reply, r.Verdict)
		}
	}
}
