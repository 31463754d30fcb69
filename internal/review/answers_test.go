package review

import (
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/needs"
)

// conversation is the input of a review after a push, with one open thread, of a category, about the loop.
func conversation(t *testing.T, c precedent.Category, head files) Input {
	t.Helper()
	in := input(t, shopBase, shopHead.with(files{"cart/aws.go": ""}))
	in.Engine = answering(inCart(loop, "off by one", object{"category": string(c)}))
	f := byTitle(t, run(t, in), "off by one")
	in = pushed(t, shopBase, shopHead.with(files{"cart/aws.go": ""}), head)
	in.Threads = []precedent.Thread{carriedTo(opened("t-1", f, "aaaa"), head)}
	in.Author = "7"
	return in
}

// TestWords: an engine's word on a thread holds as far as code or people bear it out.
func TestWords(t *testing.T) {
	same := shopHead.with(files{"cart/aws.go": "", "cart/guard.go": "package cart\n\n// fixed: the loop is right\n" +
		"func guard(items []Item) []Item { return items[:len(items):len(items)] }\n"})
	replaced := func(old, by string) files {
		return same.with(files{"cart/cart.go": strings.Replace(same["cart/cart.go"], old, by, 1)})
	}
	edited, commented := replaced(loop, "\tfor n := range items {"), replaced(body, body+" // fixed")
	inLine := replaced(loop, loop+" // fixed")
	guarded := same.with(files{"cart/more.go": "package cart\n\nfunc more(items []Item) {\n\tsafe := " +
		"Total(append(items, items...))\n\tuse(safe)\n}\n\nvar note = \"Total items sum\"\n"})
	const proof = "func guard(items []Item) []Item { return items[:len(items):len(items)] }"
	const no = "This is how it has to be, we keep it."
	wrote := func(body string, m precedent.Message) []precedent.Message {
		return []precedent.Message{written(body, m)}
	}
	maintainer, author, guest := precedent.Message{MayWrite: true}, precedent.Message{WhoID: "7"},
		precedent.Message{WhoID: "8"}
	ours, robot := precedent.Message{Own: true, MayWrite: true}, precedent.Message{Bot: true, MayWrite: true}
	addressed := func(quote string) object { return object{"state": "addressed", "quote": quote} }
	declined := func(quote string) object { return object{"state": "declined", "quote": quote} }
	const bugs, types, security = precedent.Bugs, precedent.Types, precedent.Security
	const open, byEngine, byPerson = "still_there by place", "addressed by engine", "declined by person"
	for _, test := range []struct {
		name     string
		category precedent.Category
		head     files
		messages []precedent.Message
		word     object
		want     string
		why      string
	}{
		{"still there", bugs, same, nil, object{"state": "still_there"}, "still_there by engine", "compared"},
		{
			"a liar: addressed", bugs, same, nil,
			object{"state": "addressed", "reply": "Fixed!"},
			open, "no added line shows it",
		},
		{
			"a liar: gone", bugs, same, nil,
			object{"state": "not_applicable", "quote": "the code is gone"},
			open, "still there",
		},
		{"a liar: made-up proof", bugs, same, nil, addressed("func guard(items []Item) error {"), open, ""},
		{"a liar: a comment for proof", bugs, same, nil, addressed("// fixed: the loop is right"), open, ""},
		{"a liar: an old line for proof", bugs, same, nil, addressed(loop), open, ""},
		{"a liar: declined by nobody", bugs, same, nil, declined(no), open, "nobody who may dismiss"},
		{"addressed by other lines", types, same, nil, addressed(proof), byEngine, "the push added"},
		{"a bug is not closed by other code", bugs, same, nil, addressed(proof), open, "no added line shows it"},
		{
			"a bug is closed by its own code", bugs, guarded, nil,
			addressed("safe := Total(append(items, items...))"), byEngine, "the push added",
		},
		{"a bug is not closed by a string", bugs, guarded, nil, addressed("var note = \"Total items sum\""), open, ""},
		{"a bug is not closed by a line that got a comment", bugs, commented, nil, addressed(body + " // fixed"), open, ""},
		{"a comment in the flagged line", bugs, inLine, nil, object{"state": "addressed"}, open, "only in comments"},
		{"gone, but for a comment", bugs, inLine, nil, object{"state": "not_applicable"}, open, "only in comments"},
		{"a hole is not closed by other lines", security, same, nil, addressed(proof), open, ""},
		{"addressed by its own lines", security, edited, nil, object{"state": "addressed"}, byEngine, "lines changed"},
		{"gone", bugs, edited, nil, object{"state": "not_applicable"}, "not_applicable by engine", "are gone"},
		{"declined by who may merge", security, same, wrote(no, maintainer), declined(no), byPerson, "dana wrote"},
		{"declined by the author", bugs, same, wrote("Hm.\n"+no, author), declined("we keep it"), open, ""},
		{
			"declined by the author, in part", bugs, same, wrote("Hm.\n"+no, author),
			declined("how it has to be, we keep it"), open, "nobody who may dismiss",
		},
		{"an author does not decline a hole", security, same, wrote(no, author), declined(no), open, ""},
		{"a guest declines nothing", bugs, same, wrote(no, guest), declined(no), open, ""},
		{"we decline nothing", bugs, same, wrote(no, ours), declined(no), open, ""},
		{"a program declines nothing", bugs, same, wrote(no, robot), declined(no), open, ""},
		{"a quote declines nothing", bugs, same, wrote("> "+no+"\n\nReally?", maintainer), declined(no), open, ""},
		{"a short no", bugs, same, wrote("Nope.\n", maintainer), declined("Nope"), byPerson, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			in := conversation(t, test.category, test.head)
			if test.category == types { // a mild one
				in.Threads[0].Severity = precedent.Medium
			}
			if strings.Contains(test.head["cart/cart.go"], loop+" // fixed") {
				in.Threads[0].CodeChanged = false // as thread.Relocate finds it
			}
			in.Threads[0].Messages = test.messages
			in.Engine = &cast{finder: finds(), threads: saying(map[string]object{"off by one": test.word})}
			r := run(t, in)
			if len(r.Threads) != 1 || len(r.Failures) > 0 {
				t.Fatalf("answers %v, failures %v", answers(r), r.Failures)
			}
			a := r.Threads[0]
			if got := fmt.Sprintf("%s by %s", a.State, a.By); got != test.want || !strings.Contains(a.Why, test.why) {
				t.Errorf("%s: %s", got, a.Why)
			}
			there := a.State == precedent.StillThere
			verdict := map[bool]precedent.Verdict{true: precedent.Findings, false: precedent.Clean}[there]
			if (a.Reply == "") != there || r.Verdict != verdict {
				t.Errorf("verdict %s, reply %q", r.Verdict, a.Reply)
			}
		})
	}
}

// TestWordsOnUncommittedLines: of lines whose commit is gone, as those of uncommitted files, a severe finding is closed
// if their code is nowhere in the file any more, and only then.
func TestWordsOnUncommittedLines(t *testing.T) {
	cart := shopHead["cart/cart.go"]
	for name, test := range map[string]struct{ by, after, want string }{
		"replaced":         {"\tfor n := range items {", "", "addressed by engine"},
		"deleted":          {"", "", "addressed by engine"},
		"with a comment":   {loop + " // fixed", "", "still_there by place"},
		"commented inside": {strings.Replace(loop, ":=", "/* fixed */ :=", 1), "", "still_there by place"},
		"wrapped":          {strings.Replace(loop, "; ", ";\n\t\t", 1), "", "still_there by place"},
		"equal to another": {loop, "\nfunc more() {\n" + loop + "\n}\n", "still_there by place"},
	} {
		head := shopHead.with(files{"cart/aws.go": "", "cart/cart.go": strings.Replace(cart, loop, test.by, 1) + test.after})
		in := conversation(t, precedent.Security, head)
		th := &in.Threads[0]
		th.Current, th.Changed, th.CodeChanged = precedent.Span{}, false, false
		in.Engine = &cast{finder: finds(), threads: saying(map[string]object{"off by one": {"state": "addressed"}})}
		a := run(t, in).Threads[0]
		if got := fmt.Sprintf("%s by %s", a.State, a.By); got != test.want ||
			test.by == loop != strings.Contains(a.Why, "lines are still there") {
			t.Errorf("%s: %s: %s", name, got, a.Why)
		}
	}
}

// TestDeclinedFinding: a finding that a person declines in its thread is not live, though a finder found it again.
func TestDeclinedFinding(t *testing.T) {
	head := shopHead.with(files{"cart/aws.go": "", "cart/cart.go": strings.Replace(shopHead["cart/cart.go"], "sum := 0",
		"sum := 1", 1)})
	in := conversation(t, precedent.Bugs, head)
	in.Threads[0].State = precedent.ThreadPending
	in.Threads[0].Messages = []precedent.Message{written("That is on purpose: "+key, precedent.Message{MayWrite: true})}
	c := &cast{
		finder: finds(inCart(loop, "off by one again")),
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

// TestThreadsEngineFails: the place decides about a thread of which the engine says nothing, and a finder about what it
// found. What neither can tell is open, and leaves the review incomplete.
func TestThreadsEngineFails(t *testing.T) {
	same := shopHead.with(files{"cart/aws.go": "", "cart/new.go": "package cart\n\nvar x = 1\n"})
	edited := same.with(files{"cart/cart.go": strings.Replace(same["cart/cart.go"], loop, "\tfor n := range items {", 1)})
	again := finds(inCart(loop, "off by one again"))
	gone := saying(map[string]object{"off by one": {"state": "not_applicable"}})
	const there, unanswered, noLonger = precedent.StillThere, precedent.Unanswered, precedent.NoLonger
	for _, test := range []struct {
		name            string
		head            files
		finder, threads func(engine.Task) engine.Reply
		state           precedent.AnswerState
		verdict         precedent.Verdict
		waiting         bool // a person waits for an answer, which is said if a finder found it again
	}{
		{"unchanged", same, finds(), nil, there, precedent.Findings, false},
		{"changed", edited, finds(), nil, unanswered, precedent.Partial, false},
		{"its file was deleted", same.with(files{"cart/cart.go": ""}), finds(), nil, noLonger, precedent.Clean, false},
		{"left out", same, finds(), saying(nil), unanswered, precedent.Partial, false},
		{"left out, and found again", same, again, saying(nil), there, precedent.Findings, true},
		{"nothing is left of the change", shopBase, nil, gone, noLonger, precedent.Skipped, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			in := conversation(t, precedent.Bugs, test.head)
			if test.waiting {
				in.Threads[0].State = precedent.ThreadPending
			}
			in.Engine = &cast{finder: test.finder, threads: test.threads}
			r := run(t, in)
			a := r.Threads[0]
			failed := slices.ContainsFunc(r.Failures, func(f precedent.Failure) bool { return f.Step == "threads" })
			if a.State != test.state || r.Verdict != test.verdict || failed == (test.state == noLonger) ||
				test.waiting != (a.Reply == "This is still there, at cart/cart.go:5.") {
				t.Errorf("verdict %s, answers %+v, failures %v", r.Verdict, r.Threads, r.Failures)
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
		name      string
		head      files
		key, loop string
		verdict   precedent.Verdict
	}{
		{"unchanged", shopHead, "still_there %s by finder", "still_there %s by place", precedent.Findings},
		{"changed", edited, "addressed %s by place", "unanswered %s by place", precedent.Findings},
		{
			"gone",
			files{"go.sum": "a\n", "x": "y\n"},
			"not_applicable %s by place", "not_applicable %s by place",
			precedent.NoFindings,
		},
		{"nothing is left of the change", shopBase, "not_applicable %s by place", "unanswered %s by place", precedent.Findings},
	} {
		t.Run(test.name, func(t *testing.T) {
			in := pushed(t, shopBase, shopHead, test.head)
			in.Threads = threads(test.head)
			r := run(t, in)
			checkAnswers(t, test.name, r, map[string]string{
				theKey.Title: fmt.Sprintf(test.key, "at cart/aws.go:3"), "off by one": fmt.Sprintf(test.loop, "at cart/cart.go:5"),
			})
			needs.Equal(t, test.verdict, r.Verdict)
		})
	}
}

// TestManyThreads: no request holds more than forty, and every thread is answered.
func TestManyThreads(t *testing.T) {
	head := shopHead.with(files{"cart/aws.go": "", "many.txt": strings.Repeat("x\n", 45)})
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
	c := &cast{finder: finds(), threads: saying(words)}
	in.Engine = c
	r := run(t, in)
	asked := map[int]int{}
	for _, task := range c.read {
		asked[len(askedAbout(task))]++
	}
	if len(r.Threads) != 45 || len(r.Failures) > 0 || !maps.Equal(asked, map[int]int{40: 1, 5: 1}) ||
		r.Usage.Requests != 3 || r.CostUSD != 1.01 {
		t.Errorf("%d answers, failures %v, threads by request %v, usage %+v, $%.2f", len(r.Threads), r.Failures, asked,
			r.Usage, r.CostUSD)
	}
}

// TestFilesOutOfReach: where no file can be read, nobody claims that the lines of a thread are as they were, or gone.
func TestFilesOutOfReach(t *testing.T) {
	in := conversation(t, precedent.Bugs, shopHead.with(files{"cart/aws.go": ""}))
	in.Since, in.Threads[0].Current = nil, precedent.Span{}
	in.Read = func(precedent.Side, string) ([]byte, error) { return nil, fs.ErrPermission }
	checkAnswers(t, "no engine", run(t, in), map[string]string{"off by one": "unanswered at cart/cart.go:5 by place"})
}

// TestNotChecked: an analyzer that could not read a file says nothing of what it found there.
func TestNotChecked(t *testing.T) {
	f := said("f", "govet", 5, 5, precedent.Bugs, leak)
	f.Analyzer = true
	for unread, want := range map[bool]precedent.AnswerState{true: precedent.StillThere, false: precedent.Addressed} {
		x := &reader{
			in:      &Input{Last: &precedent.Review{}},
			threads: []*openThread{{Thread: opened("f", f, "aaaa"), remark: f}},
			unread:  map[fileOf]bool{{"govet", f.Path}: unread},
			r:       &precedent.Review{Finders: []precedent.FinderRun{{Name: "govet", Status: precedent.StatusOK}}},
			secrets: newRedactor(nil, newSources(&diff.Change{}, nil)),
		}
		needs.Equal(t, want, x.answer(t.Context())[0].State)
	}
}
