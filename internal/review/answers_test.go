package review

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/engine"
)

// conversation is the input of a review after a push, with one open thread, of a
// category, about the loop.
func conversation(t *testing.T, c precedent.Category, head files) Input {
	t.Helper()
	in := input(t, shopBase, shopHead.with(files{"cart/aws.go": ""}))
	in.Engine = answering(finding("cart/cart.go", 5, loop, "off by one", map[string]any{"category": string(c)}))
	f := byTitle(t, run(t, in), "off by one")
	in = pushed(t, shopBase, shopHead.with(files{"cart/aws.go": ""}), head)
	in.Threads = []precedent.Thread{carriedTo(opened("t-1", f, "aaaa"), head)}
	in.Author = "7"
	return in
}

// TestWords: an engine's word on a thread holds as far as code or people bear it
// out.
func TestWords(t *testing.T) {
	same := shopHead.with(files{
		"cart/aws.go": "",
		"cart/guard.go": "package cart\n\n// fixed: the loop is right\nfunc guard(items []Item) []Item { return " +
			"items[:len(items):len(items)] }\n",
	})
	edited := same.with(files{"cart/cart.go": strings.Replace(same["cart/cart.go"], loop, "\tfor n := range items {", 1)})
	guarded := same.with(files{"cart/more.go": "package cart\n\nfunc more(items []Item) {\n\tsafe := " +
		"Total(append(items, items...))\n\tuse(safe)\n}\n\nvar note = \"Total items sum\"\n"})
	commented := same.with(files{"cart/cart.go": strings.Replace(same["cart/cart.go"], body, body+" // fixed", 1)})
	inLine := same.with(files{"cart/cart.go": strings.Replace(same["cart/cart.go"], loop, loop+" // fixed", 1)})
	const proof = "func guard(items []Item) []Item { return items[:len(items):len(items)] }"
	maintainer, author, guest := precedent.Message{MayWrite: true}, precedent.Message{WhoID: "7"},
		precedent.Message{WhoID: "8"}
	ours, robot := precedent.Message{Own: true, MayWrite: true}, precedent.Message{Bot: true, MayWrite: true}
	const no = "This is how it has to be, we keep it."
	for _, test := range []struct {
		name     string
		category precedent.Category
		head     files
		messages []precedent.Message
		word     object
		want     string
		why      string
	}{
		{"still there", precedent.Bugs, same, nil, object{"state": "still_there"}, "still_there by engine", "compared"},
		{
			"a liar: addressed, though nothing changed", precedent.Bugs, same, nil,
			object{"state": "addressed", "reply": "Fixed!"},
			"still_there by place", "no added line shows it",
		},
		{
			"a liar: gone, though it is there", precedent.Bugs, same, nil,
			object{"state": "not_applicable", "quote": "the code is gone"},
			"still_there by place", "still there",
		},
		{"a liar: made-up proof", precedent.Bugs, same, nil, object{
			"state": "addressed",
			"quote": "func guard(items []Item) error {",
		}, "still_there by place", ""},
		{
			"a liar: a comment for proof", precedent.Bugs, same, nil,
			object{"state": "addressed", "quote": "// fixed: the loop is right"},
			"still_there by place", "",
		},
		{
			"a liar: an old line for proof", precedent.Bugs, same, nil,
			object{"state": "addressed", "quote": loop},
			"still_there by place", "",
		},
		{
			"a liar: declined by nobody", precedent.Bugs, same, nil,
			object{"state": "declined", "quote": no},
			"still_there by place", "nobody who may dismiss",
		},
		{
			"addressed by other lines", precedent.Types, same, nil,
			object{"state": "addressed", "quote": proof},
			"addressed by engine", "the push added",
		},
		{
			"a bug is not closed by lines about other code", precedent.Bugs, same, nil,
			object{"state": "addressed", "quote": proof},
			"still_there by place", "no added line shows it",
		},
		{
			"a bug is closed by a line about its own code", precedent.Bugs, guarded, nil,
			object{"state": "addressed", "quote": "safe := Total(append(items, items...))"},
			"addressed by engine",
			"the push added",
		},
		{
			"a bug is not closed by a name in a string", precedent.Bugs, guarded, nil,
			object{"state": "addressed", "quote": "var note = \"Total items sum\""},
			"still_there by place", "",
		},
		{
			"a bug is not closed by a line that got a comment", precedent.Bugs, commented, nil,
			object{"state": "addressed", "quote": body + " // fixed"},
			"still_there by place", "",
		},
		{
			"a comment in the flagged line", precedent.Bugs, inLine, nil,
			object{"state": "addressed"},
			"still_there by place",
			"only in comments",
		},
		{
			"gone, but for a comment", precedent.Bugs, inLine, nil,
			object{"state": "not_applicable"},
			"still_there by place",
			"only in comments",
		},
		{
			"a hole is not closed by other lines", precedent.Security, same, nil,
			object{"state": "addressed", "quote": proof},
			"still_there by place", "",
		},
		{
			"addressed by its own lines", precedent.Security, edited, nil,
			object{"state": "addressed"},
			"addressed by engine",
			"lines changed",
		},
		{"gone", precedent.Bugs, edited, nil, object{"state": "not_applicable"}, "not_applicable by engine", "are gone"},
		{
			"declined by who may merge", precedent.Security, same,
			[]precedent.Message{written(no, maintainer)},
			object{"state": "declined", "quote": no},
			"declined by person", "dana wrote",
		},
		{
			"declined by the author", precedent.Bugs, same,
			[]precedent.Message{written("Hm.\n"+no, author)},
			object{"state": "declined", "quote": "we keep it"},
			"still_there by place", "",
		},
		{
			"declined by the author, in whole words", precedent.Bugs, same,
			[]precedent.Message{written("Hm.\n"+no, author)},
			object{"state": "declined", "quote": "how it has to be, we keep it"},
			"still_there by place",
			"nobody who may dismiss",
		},
		{
			"an author does not decline a hole", precedent.Security, same,
			[]precedent.Message{written(no, author)},
			object{"state": "declined", "quote": no},
			"still_there by place", "",
		},
		{
			"a guest declines nothing", precedent.Bugs, same,
			[]precedent.Message{written(no, guest)},
			object{"state": "declined", "quote": no},
			"still_there by place", "",
		},
		{
			"we decline nothing", precedent.Bugs, same,
			[]precedent.Message{written(no, ours)},
			object{"state": "declined", "quote": no},
			"still_there by place", "",
		},
		{
			"a program declines nothing", precedent.Bugs, same,
			[]precedent.Message{written(no, robot)},
			object{"state": "declined", "quote": no},
			"still_there by place", "",
		},
		{
			"a quoted guest declines nothing", precedent.Bugs, same,
			[]precedent.Message{written("> "+no+"\n\nReally?", maintainer)},
			object{"state": "declined", "quote": no},
			"still_there by place", "",
		},
		{
			"a short no", precedent.Bugs, same,
			[]precedent.Message{written("Nope.\n", maintainer)},
			object{"state": "declined", "quote": "Nope"},
			"declined by person", "",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			in := conversation(t, test.category, test.head)
			if test.category == precedent.Types { // a mild one
				in.Threads[0].Severity = precedent.Medium
			}
			if strings.Contains(test.head["cart/cart.go"], loop+" // fixed") {
				in.Threads[0].CodeChanged = false // as thread.Relocate finds it
			}
			in.Threads[0].Messages = test.messages
			in.Engine = &cast{
				finder:  func(engine.Task) engine.Reply { return reply1() },
				threads: saying(map[string]object{"off by one": test.word}),
			}
			r := run(t, in)
			if len(r.Threads) != 1 || len(r.Failures) > 0 {
				t.Fatalf("answers %v, failures %v", answers(r), r.Failures)
			}
			a := r.Threads[0]
			if got := fmt.Sprintf("%s by %s", a.State, a.By); got != test.want || !strings.Contains(a.Why, test.why) {
				t.Errorf("%s: %s", got, a.Why)
			}
			if a.State == precedent.StillThere && (a.Reply != "" || r.Verdict != precedent.Findings) {
				t.Errorf("verdict %s, reply %q", r.Verdict, a.Reply)
			}
			if a.State != precedent.StillThere && (a.Reply == "" || r.Verdict != precedent.Clean) {
				t.Errorf("verdict %s, reply %q", r.Verdict, a.Reply)
			}
		})
	}
}

// TestDeclinedFinding: a finding that a person declines in its thread is not live,
// though a finder found it again.
func TestDeclinedFinding(t *testing.T) {
	head := shopHead.with(files{"cart/aws.go": "", "cart/cart.go": strings.Replace(shopHead["cart/cart.go"], "sum := 0",
		"sum := 1", 1)})
	in := conversation(t, precedent.Bugs, head)
	in.Threads[0].State = precedent.ThreadPending
	in.Threads[0].Messages = []precedent.Message{written("That is on purpose: "+key, precedent.Message{MayWrite: true})}
	c := &cast{
		finder: func(engine.Task) engine.Reply {
			return reply1(finding("cart/cart.go", 5, loop, "off by one again", nil))
		},
		verifier: ruled(nil),
		threads: saying(map[string]object{"off by one": {
			"state": "declined", "quote": "That is on purpose", "reply": strings.Repeat("Understood. ", 200) + key,
		}}),
	}
	in.Engine = c
	r := run(t, in)
	if f := byTitle(t, r, "off by one again"); f.Dropped != precedent.Dismissed || f.DroppedBy != "t-1" ||
		r.Verdict != precedent.Clean {
		t.Errorf("verdict %s, dropped %q by %q: %s", r.Verdict, f.Dropped, f.DroppedBy, says(f))
	}
	if a := r.Threads[0]; a.State != precedent.DeclinedHere || len([]rune(a.Reply)) > maxReply ||
		!strings.HasPrefix(a.Reply, "Understood.") {
		t.Errorf("answer %+v", a)
	}
	for _, task := range c.read {
		if strings.Contains(task.User(), key) {
			t.Errorf("a secret in a reply is sent to the %s", task.Role)
		}
	}
}

// TestMissingThread: a thread that the answer leaves out leaves the review
// incomplete; one of which a finder knows is known without it.
func TestMissingThread(t *testing.T) {
	head := shopHead.with(files{"cart/aws.go": "", "cart/new.go": "package cart\n\nvar x = 1\n"})
	in := conversation(t, precedent.Bugs, head)
	in.Engine = &cast{finder: func(engine.Task) engine.Reply { return reply1() }, threads: saying(nil)}
	r := run(t, in)
	if r.Verdict != precedent.Partial || r.Threads[0].State != precedent.Unanswered || len(r.Failures) != 1 ||
		r.Failures[0].Step != "threads" {
		t.Errorf("verdict %s, answers %v, failures %v", r.Verdict, answers(r), r.Failures)
	}
	in.Threads[0].State = precedent.ThreadPending
	in.Engine = &cast{finder: func(engine.Task) engine.Reply {
		return reply1(finding("cart/cart.go", 5, loop, "off by one again", nil))
	}, threads: saying(nil)}
	r = run(t, in)
	if r.Verdict != precedent.Findings || r.Threads[0].State != precedent.StillThere ||
		r.Threads[0].Reply != "This is still there, at cart/cart.go:5." {
		t.Errorf("verdict %s, answers %+v", r.Verdict, r.Threads)
	}
}

// TestThreadsEngineFails: then the place decides, and what it cannot tell is open.
func TestThreadsEngineFails(t *testing.T) {
	same := shopHead.with(files{"cart/aws.go": "", "cart/new.go": "package cart\n\nvar x = 1\n"})
	edited := same.with(files{"cart/cart.go": strings.Replace(same["cart/cart.go"], loop, "\tfor n := range items {", 1)})
	for _, test := range []struct {
		name    string
		head    files
		state   precedent.AnswerState
		verdict precedent.Verdict
	}{
		{"unchanged", same, precedent.StillThere, precedent.Findings},
		{"changed", edited, precedent.Unanswered, precedent.Partial},
		{"its file was deleted", same.with(files{"cart/cart.go": ""}), precedent.NoLonger, precedent.Clean},
	} {
		t.Run(test.name, func(t *testing.T) {
			in := conversation(t, precedent.Bugs, test.head)
			in.Engine = &cast{finder: func(engine.Task) engine.Reply { return reply1() }}
			r := run(t, in)
			if r.Threads[0].State != test.state || r.Verdict != test.verdict ||
				len(r.Failures) != map[bool]int{true: 0, false: 1}[test.state == precedent.NoLonger] {
				t.Errorf("verdict %s, answers %v, failures %v", r.Verdict, answers(r), r.Failures)
			}
		})
	}
}

// TestThreadsWithoutEngine: the place decides, and an analyzer that ran well.
func TestThreadsWithoutEngine(t *testing.T) {
	in := input(t, shopBase, shopHead)
	theKey := run(t, in).Live()[0]
	guess := precedent.Finding{
		ID: "guess", Fingerprint: "guess", Finder: "bugs", Category: precedent.Bugs, Severity: precedent.Low,
		Title: "off by one",
		Span:  precedent.Span{Path: "cart/cart.go", Side: precedent.Right, Start: 5, End: 5}, Quote: loop,
	}
	threads := func(head files) []precedent.Thread {
		secret := opened("t-key", theKey, "aaaa")
		secret.Quote = strings.Split(shopHead["cart/aws.go"], "\n")[2] // what it was before it was redacted
		return []precedent.Thread{carriedTo(secret, head), carriedTo(opened("t-loop", guess, "aaaa"), head)}
	}
	edited := shopHead.with(files{
		"cart/aws.go":  "package cart\n\nvar accessKey = os.Getenv(\"KEY\")\n",
		"cart/cart.go": strings.Replace(shopHead["cart/cart.go"], loop, "\tfor n := range items {", 1),
	})
	for _, test := range []struct {
		name    string
		head    files
		want    map[string]string
		verdict precedent.Verdict
	}{
		{"unchanged", shopHead, map[string]string{
			theKey.Title: "still_there at cart/aws.go:3 by finder",
			"off by one": "still_there at cart/cart.go:5 by place",
		}, precedent.Findings},
		{"changed", edited, map[string]string{
			theKey.Title: "addressed at cart/aws.go:3 by place",
			"off by one": "unanswered at cart/cart.go:5 by place",
		}, precedent.Findings},
		{
			"gone",
			files{"go.sum": "a\n", "x": "y\n"},
			map[string]string{
				theKey.Title: "not_applicable at cart/aws.go:3 by place",
				"off by one": "not_applicable at cart/cart.go:5 by place",
			},
			precedent.NoFindings,
		},
		{
			"nothing is left of the change", shopBase,
			map[string]string{
				theKey.Title: "not_applicable at cart/aws.go:3 by place",
				"off by one": "unanswered at cart/cart.go:5 by place",
			},
			precedent.Findings,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			in := pushed(t, shopBase, shopHead, test.head)
			in.Threads = threads(test.head)
			r := run(t, in)
			if diff := cmp.Diff(test.want, answers(r)); diff != "" || r.Verdict != test.verdict {
				t.Errorf("verdict %s, answers (-want +got):\n%s", r.Verdict, diff)
			}
			if got := news(r); len(got) > 0 {
				t.Errorf("said twice: %v", got)
			}
		})
	}
}

// TestManyThreads: no request holds more than forty, and every thread is answered.
func TestManyThreads(t *testing.T) {
	head := shopHead.with(files{
		"cart/aws.go": "", "many.txt": strings.Repeat("x\n", 45),
		"cart/new.go": "package cart\n\nvar x = 1\n",
	})
	in := conversation(t, precedent.Bugs, head)
	words := map[string]object{}
	first := in.Threads[0]
	in.Threads = nil
	for n := range 45 {
		one := first
		one.ID, one.Title, one.Fingerprint = fmt.Sprintf("t-%02d", n), fmt.Sprintf("remark %d", n), fmt.Sprint(n)
		one.Current = precedent.Span{Path: "many.txt", Side: precedent.Right, Start: n + 1, End: n + 1}
		in.Threads = append(in.Threads, one)
		words[one.Title] = object{"state": "still_there"}
	}
	c := &cast{finder: func(engine.Task) engine.Reply { return reply1() }, threads: saying(words)}
	in.Engine = c
	var mu sync.Mutex
	steps := 0
	in.Progress = func(e Event) {
		mu.Lock()
		defer mu.Unlock()
		if e.Step == "threads" {
			steps++
		}
	}
	r := run(t, in)
	asked := map[int]int{}
	for _, task := range c.read {
		asked[len(askedAbout(task))]++
	}
	if len(r.Threads) != 45 || len(r.Failures) > 0 || !maps.Equal(asked, map[int]int{40: 1, 5: 1}) || steps != 3 {
		t.Errorf("%d answers, failures %v, threads by request %v, %d steps", len(r.Threads), r.Failures, asked, steps)
	}
	if r.Usage.Requests != 3 || r.CostUSD != 1.01 {
		t.Errorf("usage %+v, $%.2f", r.Usage, r.CostUSD)
	}
}

// TestFilesOutOfReach: where no file can be read, threads are known by what they
// say, and nobody claims that their lines are as they were, or gone.
func TestFilesOutOfReach(t *testing.T) {
	in := conversation(t, precedent.Bugs, shopHead.with(files{"cart/aws.go": ""}))
	in.Since = nil
	in.Threads[0].Current = precedent.Span{}
	in.Read = func(precedent.Side, string) ([]byte, error) { return nil, errors.New("not fetched") }
	r := run(t, in)
	if diff := cmp.Diff(map[string]string{"off by one": "unanswered at cart/cart.go:5 by place"}, answers(r)); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
	in.Engine = answering(finding("cart/cart.go", 5, loop, "it is off by one", nil))
	r = run(t, in)
	if diff := cmp.Diff(map[string]string{"off by one": "still_there at cart/cart.go:5 by finder"},
		answers(r)); diff != "" || len(news(r)) > 0 {
		t.Errorf("news %v, answers (-want +got):\n%s", news(r), diff)
	}
}

// TestNothingLeft: the branch took everything back, and its threads are answered
// all the same.
func TestNothingLeft(t *testing.T) {
	in := conversation(t, precedent.Bugs, shopBase)
	in.Engine = &cast{threads: saying(map[string]object{"off by one": {"state": "not_applicable"}})}
	r := run(t, in)
	if diff := cmp.Diff(map[string]string{"off by one": "not_applicable at cart/cart.go:5 by engine"},
		answers(r)); diff != "" || r.Verdict != precedent.Skipped {
		t.Errorf("verdict %s, answers (-want +got):\n%s", r.Verdict, diff)
	}
}
