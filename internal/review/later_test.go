package review

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/report"
)

// opened is the thread of a finding that was posted at a head.
func opened(id string, f precedent.Finding, commit string) precedent.Thread {
	return precedent.Thread{
		ID: id, Finding: f.ID, Fingerprint: f.Fingerprint, Place: f.Place, Finder: f.Finder, Category: f.Category,
		Severity:   f.Severity,
		Confidence: f.Confidence, Title: f.Title, Body: f.Body, Quote: f.Quote, Span: f.Span, Commit: commit, Comment: "1",
		State: precedent.ThreadOpen,
	}
}

// carriedTo is a thread at a later head: at the one line that says what was flagged, or gone.
func carriedTo(t precedent.Thread, head files) precedent.Thread {
	flagged, _, _ := strings.Cut(t.Quote, "\n")
	t.Current, t.Changed, t.CodeChanged = precedent.Span{}, true, true
	for i, l := range strings.Split(head[t.Path], "\n") {
		if l == flagged {
			t.Current, t.Changed = precedent.Span{Path: t.Path, Side: t.Side, Start: i + 1, End: i + 1 + t.End - t.Start}, false
			t.CodeChanged = false
		}
	}
	return t
}

// written is a message of somebody in a thread.
func written(body string, m precedent.Message) precedent.Message {
	m.ID, m.Body = "9", precedent.Untrusted(body)
	if m.Who == "" {
		m.Who = "dana"
	}
	return m
}

// askedAbout are the threads in a prompt, by their titles.
func askedAbout(t engine.Task) map[string]string { return listed(t, "## Thread ", "remark: ") }

// saying is an engine that says of threads, by their titles, what it is given; it leaves out the others.
func saying(words map[string]object) func(engine.Task) engine.Reply {
	return speaking("threads", "thread_id", askedAbout, words)
}

// answers are a review's answers by title, as state, place and who decided.
func answers(r *precedent.Review) map[string]string {
	got := map[string]string{}
	for _, a := range r.Threads {
		got[a.Title] = fmt.Sprintf("%s at %s by %s", a.State, a.Span, a.By)
	}
	return got
}

// news are the live findings that stand in no thread yet.
func news(r *precedent.Review) []string {
	var titles []string
	for _, f := range r.Live() {
		if f.Thread == "" {
			titles = append(titles, f.Title)
		}
	}
	return titles
}

// checkAnswers compares a review's answers with those wanted. Nothing may be said twice.
func checkAnswers(t *testing.T, step string, r *precedent.Review, want map[string]string) {
	t.Helper()
	if diff := cmp.Diff(want, answers(r)); diff != "" || len(news(r)) > 0 {
		t.Errorf("%s: news %v, answers (-want +got):\n%s", step, news(r), diff)
	}
}

// TestPushes: after a push, a finding that has a thread is known again, whatever words a model finds and wherever its
// lines went. It is not said twice, and finders are sent what is new alone.
func TestPushes(t *testing.T) {
	head := shopHead.with(files{"cart/aws.go": ""})
	cart := func(old, by string) files {
		return head.with(files{"cart/cart.go": strings.Replace(head["cart/cart.go"], old, by, 1)})
	}
	tax := head.with(files{"cart/tax.go": "package cart\n\nfunc Tax(sum int) int { return sum / 5 }\n"})
	const partly = "\tfor n := range len(items) + 1 {"
	const open, ended = precedent.ThreadOpen, precedent.ThreadAddressed
	other := finding("cart/cart.go", 7, loop, "n goes one too far: items has no such index", nil)
	for _, test := range []struct {
		name        string
		head        files
		state       precedent.ThreadState
		finds, word object // nil for nothing
		want, reply string
	}{
		{
			"moved, other words", cart("package cart\n", "package cart\n\n// Shop.\n"), open, other, nil,
			"still_there at cart/cart.go:7 by finder", "",
		},
		{
			"another line, and as wrong", cart(loop, partly), open, finding("cart/cart.go", 5, partly, "It is off by one", nil),
			object{"state": "still_there", "reply": "Nobody asked."},
			"still_there at cart/cart.go:5 by finder", "",
		},
		{
			"fixed", cart(loop, partly), open, nil,
			object{"state": "addressed"},
			"addressed at cart/cart.go:5 by engine", "Addressed by ccccccc.",
		},
		{
			"back", tax, ended, inCart(loop, "off by one again"), nil, "still_there at cart/cart.go:5 by finder",
			"This is back, at cart/cart.go:5.",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			in := conversation(t, precedent.Bugs, test.head)
			in.Threads[0].State = test.state
			finder := finds()
			if test.finds != nil {
				finder = finds(test.finds)
			}
			in.Engine = &cast{finder: func(task engine.Task) engine.Reply {
				if sent := strings.Contains(task.User(), body); sent != (test.head["cart/tax.go"] == "") {
					t.Errorf("finders are sent\n%s", task.User())
				}
				return finder(task)
			}, threads: saying(map[string]object{"off by one": test.word})}
			r := run(t, in)
			checkAnswers(t, test.name, r, map[string]string{"off by one": test.want})
			needs.Equal(t, test.reply, r.Threads[0].Reply)
			needs.Equal(t, r.Threads[0].State == precedent.StillThere, r.Verdict == precedent.Findings)
		})
	}
	// A rebase: the base has moved, and the branch says what it said.
	readme := files{"README": "shop\n"}
	in := pushed(t, shopBase.with(readme), head, head.with(readme))
	in.Threads = conversation(t, precedent.Bugs, head).Threads
	in.Engine = &cast{threads: saying(map[string]object{"off by one": {"state": "still_there"}})}
	r := run(t, in)
	checkAnswers(t, "rebased", r, map[string]string{"off by one": "still_there at cart/cart.go:5 by engine"})
	if bugs := finderRun(t, r, "bugs"); bugs.Status != precedent.StatusSkipped || r.Scope != precedent.FullScope ||
		r.ExitStatus(precedent.High) != precedent.ExitFindings {
		t.Errorf("rebased: finder %+v, scope %s, verdict %s", bugs, r.Scope, r.Verdict)
	}
}

// settledBy are the ways in which people end a thread.
var settledBy = map[string]func(*precedent.Thread){
	"resolved":           func(t *precedent.Thread) { t.State = precedent.ThreadResolved },
	"won't fix":          func(t *precedent.Thread) { t.State = precedent.ThreadWontFix },
	"deleted":            func(t *precedent.Thread) { t.Deleted = true },
	"declined, rejected": func(t *precedent.Thread) { t.State, t.Closed = precedent.ThreadWontFix, true },
}

// TestSettledThreadsSilence: what people ended is not said again, in no words and
// wherever its lines go, and other defects of the line are.
func TestSettledThreadsSilence(t *testing.T) {
	head := shopHead.with(files{"cart/aws.go": ""})
	in := input(t, shopBase, head)
	in.Engine = answering(inCart(loop, "The loop runs past the last item"))
	first := byTitle(t, run(t, in), "The loop runs past the last item")
	moved := head.with(files{"cart/cart.go": strings.Replace(head["cart/cart.go"], "package cart\n",
		"package cart\n\n// Shop.\n", 1)})
	const other = "\tfor n := 0; n < len(items)+1; n++ {"
	edited := head.with(files{"cart/cart.go": strings.Replace(head["cart/cart.go"], loop, other, 1)})
	style := object{"category": "style", "body": "Callers cancel."}
	for how, settle := range settledBy {
		for _, test := range []struct {
			name    string
			head    files
			title   string
			quote   string
			more    object
			judge   *bool // what a judge says
			silence bool
		}{
			{"same words", head, first.Title, loop, nil, nil, true},
			{"moved", moved, first.Title, loop, nil, nil, true},
			{"other words", moved, "Index beyond the end of the items in this loop", loop, nil, nil, true},
			{"other words, and a judge", moved, "n gets too large", loop, nil, new(true), true},
			{"edited", edited, "The loop still runs past the last item", other, nil, nil, true},
			{"another defect of the line", moved, "Total wants a context", loop, style, nil, false},
			{
				"another defect of the kind", moved, "n shadows the package's counter", loop,
				object{"body": "Rename."},
				new(false), false,
			},
		} {
			t.Run(how+"/"+test.name, func(t *testing.T) {
				in := input(t, shopBase, test.head)
				thread := carriedTo(opened("t-1", first, "aaaa"), test.head)
				settle(&thread)
				in.Threads = []precedent.Thread{thread}
				c := &cast{finder: finds(finding("cart/cart.go", 5, test.quote, test.title, test.more))}
				if test.judge != nil {
					c.judge = judged(*test.judge, test.title)
				}
				in.Engine = c
				r := run(t, in)
				f := byTitle(t, r, test.title)
				if silent := f.Dropped == precedent.Dismissed && f.DroppedBy == "t-1"; silent != test.silence ||
					f.Live() == test.silence {
					t.Errorf("dropped %q by %q: %s", f.Dropped, f.DroppedBy, says(f))
				}
				needs.Equal(t, 0, len(r.Threads))
			})
		}
	}
}

// TestClosedByTheAuthor: "Authorisation = live permission API, fail closed". The
// author of a pull request can close any conversation in it. Until somebody who may write
// does, the finding stays in the summary and in the check, of whatever category.
func TestClosedByTheAuthor(t *testing.T) {
	head := shopHead.with(files{"cart/aws.go": ""})
	for _, category := range []precedent.Category{precedent.Bugs, precedent.Security} {
		for _, found := range []bool{true, false} {
			in := conversation(t, category, head)
			in.Since, in.Threads[0].Closed, in.Threads[0].ClosedBy = nil, true, "ann"
			if in.Engine = answering(); found {
				in.Engine = answering(inCart(loop, "off by one", object{"category": string(category)}))
			}
			r := run(t, in)
			if result, title := report.Check(r, precedent.High, false); result != "failure" {
				t.Errorf("%s, found again: %t: %s, %s", category, found, result, title)
			}
			if len(r.Threads) != 1 || r.Threads[0].State != precedent.StillThere || r.Threads[0].Reply != "" {
				t.Errorf("%s, found again: %t: %v", category, found, answers(r))
			}
		}
	}
}

// TestDismissedByTheAuthor: the author of a pull request dismisses a mild finding, and no severe one that a later push
// makes of it. Somebody who may write dismisses both.
func TestDismissedByTheAuthor(t *testing.T) {
	for _, test := range []struct {
		severity string
		by       precedent.Message
		want     precedent.Dropped
	}{
		{"medium", precedent.Message{WhoID: "7"}, precedent.Dismissed},
		{"critical", precedent.Message{WhoID: "7"}, ""},
		{"critical", precedent.Message{WhoID: "8", MayWrite: true}, precedent.Dismissed},
	} {
		in := conversation(t, precedent.Bugs, shopHead.with(files{"cart/aws.go": ""}))
		thread := &in.Threads[0]
		in.Since, thread.Severity, thread.State = nil, precedent.Medium, precedent.ThreadWontFix
		thread.Messages = []precedent.Message{written("Won't fix.", test.by)}
		in.Engine = answering(inCart(loop, "off by one", object{"severity": test.severity}))
		r := run(t, in)
		f := byTitle(t, r, "off by one")
		if next, _ := Followed(r, nil, in.Threads, false); f.Dropped != test.want || next != nil {
			t.Errorf("%s, dismissed by %s: dropped as %q: %s; then %v", test.severity, test.by.WhoID, f.Dropped, says(f), next)
		}
	}
}

// TestWholeFileOfTheLast: a dismissed finding about a file as a whole is kept from one local review to the next, so that it
// is shown again when the dismissal is taken back.
func TestWholeFileOfTheLast(t *testing.T) {
	in := input(t, shopBase, shopHead.with(files{"cart/aws.go": ""}))
	about := finding("cart/cart.go", 0, "", "The file has two purposes", object{"evidence": line(loop)})
	in.Engine = answering(about)
	in.Reading = &precedent.Reading{Hunks: Hunks(in.Change)}
	in.Last = run(t, in)
	first := byTitle(t, in.Last, "The file has two purposes")
	same := Unchanged(in.Change, in.Reading.Hunks, in.Reading)
	in.Since = &Since{Head: "head", Changed: Unread(in.Change, same), Unchanged: same}
	in.Engine = answering()
	for _, dismissed := range []bool{true, false} {
		in.Recall.Dismissals = nil
		if dismissed {
			in.Recall.Dismissals = []precedent.Dismissal{
				{ID: "j", Fingerprint: first.Fingerprint, Claim: first.Title, At: in.Now(), ExpiresAt: in.Now().Add(time.Hour)},
			}
		}
		in.Last = run(t, in)
		if f := byTitle(t, in.Last, first.Title); f.Live() == dismissed || f.Start != 0 || f.ID != first.ID {
			t.Errorf("dismissed %t: %+v", dismissed, f)
		}
	}
}

// TestSummaryThreads: what stood in the summary alone is known again as well, and of two findings one thread takes one.
func TestSummaryThreads(t *testing.T) {
	in := conversation(t, precedent.Bugs, shopHead.with(files{"cart/aws.go": ""}))
	thread := &in.Threads[0]
	in.Since, thread.Start, thread.End, thread.Current, thread.Comment = nil, 0, 0, precedent.Span{}, ""
	const title = "This loop goes on, off by one"
	in.Engine = &cast{
		finder: finds(inCart(loop, title, object{"category": "crash"}), inCart(mean, "An empty cart divides by zero")),
	}
	r := run(t, in)
	if got := news(r); !slices.Equal(got, []string{"An empty cart divides by zero"}) {
		t.Errorf("news: %v", got)
	}
	if got := byTitle(t, r, title); got.Thread != "t-1" || got.ID != thread.Finding ||
		got.Fingerprint != thread.Fingerprint {
		t.Errorf("thread %q, id %s: %s", got.Thread, got.ID, says(got))
	}
}

// TestRecognizeHolds: whatever threads and findings there are, their order does not matter, no thread takes two, ids
// stay apart, and nothing that people ended is live.
func TestRecognizeHolds(t *testing.T) {
	texts := []string{leak, leakToo, panics, "Total wants a context"}
	rapid.Check(t, func(t *rapid.T) {
		place := func(label string) precedent.Finding {
			start := rapid.IntRange(0, 12).Draw(t, label+" start")
			f := said("", rapid.SampledFrom([]string{"bugs", "secrets"}).Draw(t, label+" finder"), start, start,
				rapid.SampledFrom([]precedent.Category{precedent.Bugs, precedent.Style}).Draw(t, label+" category"),
				rapid.SampledFrom(texts).Draw(t, label+" title"))
			f.Analyzer = f.Finder == "secrets"
			f.Place = precedent.Place(f.Path, fmt.Sprint(start%5), "", "")
			f.Fingerprint = precedent.Fingerprint(f.Place, f.Category, 0)
			f.ID = precedent.FindingID(theRepo, f.Fingerprint)
			return f
		}
		var fs []precedent.Finding
		for i := range rapid.IntRange(0, 8).Draw(t, "findings") {
			fs = append(fs, place(fmt.Sprint("finding ", i)))
		}
		in := Input{Repo: theRepo, Change: &diff.Change{}, Head: "head", Read: func(precedent.Side, string) ([]byte,
			error,
		) {
			return []byte("text\n"), nil
		}}
		for i := range rapid.IntRange(0, 6).Draw(t, "threads") {
			f := place(fmt.Sprint("thread ", i))
			f.Quote = "text"
			th := opened(fmt.Sprint("t-", i), f, "aaaa")
			th.State = rapid.SampledFrom([]precedent.ThreadState{
				precedent.ThreadOpen, precedent.ThreadAddressed,
				precedent.ThreadWontFix,
			}).Draw(t, "state")
			if rapid.Bool().Draw(t, "carried") {
				th.Current = f.Span
			}
			in.Threads = append(in.Threads, th)
		}
		order := func(f precedent.Finding) string {
			return fmt.Sprint(f.Finder, f.Span, f.Category, f.Title, f.Thread, f.ID, f.Dropped, f.DroppedBy)
		}
		recognized := func(in Input, fs []precedent.Finding) []string {
			merge(fs, identities{}, nobody)
			x := &reader{in: &in, src: newSources(in.Change, in.Read)}
			x.threads = in.openThreads(x.src)
			x.recognize(context.Background(), fs)
			takers, names := map[string]int{}, map[string]string{}
			var all []string
			for _, f := range fs {
				own := precedent.Fingerprint(f.Place, f.Category, 0)
				if had, ok := names[f.ID]; f.Live() && ok && had != own {
					t.Fatalf("two findings go by %s", f.ID)
				} else if f.Live() {
					names[f.ID] = own
				}
				if th := x.threadOf(&f); th != nil && f.Live() {
					if takers[th.ID]++; takers[th.ID] > 1 || th.final() {
						t.Fatalf("%s is live in the thread %s (%s), taken %d times", f.Title, th.ID, th.State, takers[th.ID])
					}
				}
				all = append(all, order(f))
			}
			slices.Sort(all)
			return all
		}
		want := recognized(in, slices.Clone(fs))
		in.Threads = rapid.Permutation(in.Threads).Draw(t, "order of threads")
		got := recognized(in, rapid.Permutation(fs).Draw(t, "order of findings"))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("another order, another outcome (-want +got):\n%s", diff)
		}
	})
}

// TestOneLineIsLeft: of findings on lines with the same text, those whose line is gone are not taken for the one whose
// line is left; two findings on the same line both stay.
func TestOneLineIsLeft(t *testing.T) {
	at := func(id string, was, now int) *openThread {
		f := said(id, "bugs", now, now, precedent.Bugs, leak)
		then := f
		then.Start, then.End = was, was
		return &openThread{Thread: opened(id, then, "aaaa"), remark: f}
	}
	kept := at("kept", 20, 18)
	x := &reader{in: &Input{Last: &precedent.Review{}}, threads: []*openThread{
		at("left", 12, 10), at("gone", 3, 10), at("also left", 12, 10), at("gone for a kept one", 5, 18),
	}}
	x.part(map[flaggedLine]int{lineFlaggedBy(&kept.remark): 20})
	var gone []string
	for _, o := range x.threads {
		if o.deletedComment && o.provenChange() && o.remark.Start == 0 {
			gone = append(gone, o.ID)
		}
	}
	needs.Equal(t, []string{"gone", "gone for a kept one"}, gone)
}
