package review

import (
	"strings"
	"sync/atomic"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/engine"
)

// TestAFinderThatJoins: what a finder has never read it reads now, and what it finds there is news. The others were
// heard already. What the earlier review skipped nobody has read, though no push touched it.
func TestAFinderThatJoins(t *testing.T) {
	head := shopHead.with(files{"cart/tax.go": "package cart\n"})
	for _, test := range []struct {
		name    string
		ran     []string
		skipped []string
		finder  string
		shown   bool // the security finder is shown the cart
		dropped precedent.Dropped
	}{
		{"all had their say", []string{"bugs", "security"}, nil, "security", false, precedent.UnchangedCode},
		{"it is new", []string{"bugs"}, nil, "security", true, ""},
		{"another one is new", []string{"bugs"}, nil, "bugs", true, precedent.UnchangedCode},
		{"nobody knows", nil, nil, "security", false, precedent.UnchangedCode},
		{"the file was left out", nil, []string{"cart/cart.go"}, "security", true, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			in := pushed(t, shopBase, shopHead, head)
			in.Policy.Finders = only("bugs", "security")
			in.Since.Finders, in.Since.Skipped = test.ran, test.skipped
			var shown atomic.Bool
			in.Engine = &cast{finder: func(task engine.Task) engine.Reply {
				if task.Name == "security" && strings.Contains(task.User(), loop) {
					shown.Store(true)
				}
				if task.Name != test.finder {
					return reply1()
				}
				return reply1(finding("cart/cart.go", 1, loop, "off by one", object{"severity": "medium"}))
			}}
			r := run(t, in)
			f := byTitle(t, r, "off by one")
			if shown.Load() != test.shown || f.Dropped != test.dropped || f.Origin != "" ||
				test.skipped == nil && (r.Coverage.HunksBefore == 0) != test.shown {
				t.Errorf("shown %v, dropped %q, origin %q, %+v: %s", shown.Load(), f.Dropped, f.Origin, r.Coverage, says(f))
			}
		})
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
