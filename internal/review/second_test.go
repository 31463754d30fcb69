package review

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/needs"
)

// cast is an engine with a model for each role. Without one, a role is refused, but verifiers give no answer. It
// records the prompts of second readers.
type cast struct {
	finder, verifier, judge, threads func(engine.Task) engine.Reply

	mu   sync.Mutex
	read []engine.Task
}

func (*cast) Info() engine.Info { return engine.Info{Name: "cast"} }

func (c *cast) Run(ctx context.Context, t engine.Task) (engine.Answer, error) {
	if c.verifier == nil {
		c.verifier = ruled(nil)
	}
	play := map[engine.Role]func(engine.Task) engine.Reply{
		engine.Finder: c.finder, engine.Verifier: c.verifier,
		engine.Judge: c.judge, engine.Threads: c.threads,
	}[t.Role]
	if t.Role != engine.Finder {
		c.mu.Lock()
		c.read = append(c.read, t)
		c.mu.Unlock()
	}
	return engine.Ask(ctx, t, func(_ context.Context, t engine.Task) (engine.Reply, error) {
		if play == nil {
			return engine.Reply{Status: precedent.StatusRefused, Message: "not mine"}, nil
		}
		return play(t), nil
	})
}

// finds is a finder that always has the same remarks.
func finds(remarks ...object) func(engine.Task) engine.Reply {
	return func(engine.Task) engine.Reply { return reply1(remarks...) }
}

func answered(v any) engine.Reply {
	out, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return engine.Reply{Status: precedent.StatusOK, Output: out, Usage: precedent.Usage{InputTokens: 5}, CostUSD: 0.5}
}

// ids are the ids of the claims in a verifier's prompt, by their titles.
func ids(t engine.Task) map[string]string { return listed(t, "id: ", "claim: ") }

// listed are the ids of what a prompt lists, by the titles that follow them.
func listed(t engine.Task, ofID, ofTitle string) map[string]string {
	found := map[string]string{}
	id := ""
	for l := range strings.Lines(t.Prompt) {
		if s, ok := strings.CutPrefix(l, ofID); ok {
			id = strings.TrimSpace(s)
		}
		if s, ok := strings.CutPrefix(l, ofTitle); ok {
			found[strings.TrimSpace(s)] = id
		}
	}
	return found
}

// ruled is a verifier that rules on claims by their titles, and leaves out the others.
func ruled(rulings map[string]object) func(engine.Task) engine.Reply {
	return speaking("verdicts", "finding", ids, rulings)
}

// speaking is an engine that has a word for some of what it is asked about, by their titles.
func speaking(list, id string, asked func(engine.Task) map[string]string, words map[string]object,
) func(engine.Task) engine.Reply {
	return func(t engine.Task) engine.Reply {
		said := []any{}
		for title, its := range asked(t) {
			if w, ok := words[title]; ok {
				w = maps.Clone(w)
				w[id] = its
				said = append(said, w)
			}
		}
		return answered(object{list: said})
	}
}

const (
	loop = "\tfor n := 0; n <= len(items); n++ {"
	mean = "\treturn Total(items) / len(items)"
	neg  = "\tif sum < 0 {"
	body = "\t\tsum += items[n].Price * items[n].Count"
)

// line is evidence: a line of the cart, by a number that is wrong.
func line(quote string) []object {
	return []object{{"path": "cart/cart.go", "line": 1, "quote": quote}}
}

// rules is what a verifier says of a claim, with a line of the cart as evidence, if any.
func rules(verdict, reason string, quotes ...string) object {
	r := object{"verdict": verdict, "reason": reason}
	for _, quote := range quotes {
		r["evidence"] = line(quote)
	}
	return r
}

func TestVerify(t *testing.T) {
	const refuted, comment = precedent.Refuted, "\t// audited: never past the end"
	const confirmed, uncertain, denied = precedent.Confirmed, precedent.Uncertain, precedent.Denied
	const stated, lowered, kept, below = 80, 80 + uncertainDelta, DefaultThreshold, precedent.BelowThreshold
	sure, _ := ShippedOdds().Of(&precedent.Finding{Confidence: stated, Verifier: confirmed})
	unsure, _ := ShippedOdds().Of(&precedent.Finding{Confidence: stated, Verifier: uncertain})
	wanted, _ := ShippedOdds().Of(&precedent.Finding{Confidence: stated, Verifier: confirmed, Now: true})
	hidden := map[bool]precedent.Dropped{true: below}[unsure < DefaultThreshold]
	byWords, doubts := rules("refuted", "No caller does."), rules("refuted", "Hm.", neg)
	byWords["evidence"], doubts["confidence"] = []any{}, 30
	now := rules("confirmed", "Past.", loop)
	now["now"] = true
	for _, test := range []struct {
		name     string
		category string // of medium severity after a "-"
		ruling   object // nil for none
		check    precedent.Check
		dropped  precedent.Dropped
		score    int
		says     string
	}{
		{"confirmed", "bugs", rules("confirmed", "Past.", loop), confirmed, "", sure, "confirmed: Past. (cart/cart.go:6)"},
		{"confirmed, and wanted now", "bugs", now, confirmed, "", wanted, "confirmed, wanted now"},
		{"uncertain", "-bugs", rules("uncertain", "Who knows."), uncertain, hidden, unsure, "uncertain: Who knows."},
		{"refuted", "bugs", rules("refuted", "There is a guard.", "\tsum := 0"), denied, refuted, stated, "There is a guard."},
		{"refuted by words", "-bugs", byWords, denied, refuted, stated, "No caller does."},
		{
			"refuted by nothing that is there", "-bugs", rules("refuted", "Guarded.", "if items == nil { return }"),
			uncertain, hidden, unsure, "evidence is not in the files",
		},
		{"a crash refuted by words", "-crash", rules("refuted", "Audited."), uncertain, "", stated, "without evidence"},
		{
			"a crash refuted by a lie", "-crash", rules("refuted", "Audited.", "never there"), uncertain, "", stated,
			"not in the files",
		},
		{
			"a crash refuted by a comment", "-crash", rules("refuted", "So it says.", comment), uncertain, "", stated,
			"only comments",
		},
		{"a crash refuted by a line", "crash", rules("refuted", "Guarded.", "\tsum := 0"), denied, refuted, stated, "Guarded."},
		{
			"confirmed by a lie", "-bugs", rules("confirmed", "Yes.", "never there"), uncertain, hidden, unsure,
			"not in the files",
		},
		{
			"an uncertain crash", "-crash", rules("uncertain", "Hm."), uncertain, below, lowered,
			": the finder's 80 -15, uncertain",
		},
		{
			"a confirmed test", "tests", rules("confirmed", "True.", loop), confirmed, "", sure,
			": the finder's 80, confirmed",
		},
		{"refuted, but unsure", "-bugs", doubts, uncertain, hidden, unsure, "only 30 % sure"},
		{"severe, uncertain", "bugs", rules("uncertain", "Who knows."), uncertain, "", kept, ": the finder's 80 -15"},
		{"severe, refuted by words", "bugs", rules("refuted", "Audited."), uncertain, "", kept, "without evidence"},
		{
			"severe, refuted by a line that names nothing", "bugs", rules("refuted", "Audited.", "\t\treturn 0"),
			uncertain, "", kept, "does not prove it",
		},
		{"severe, confirmed by words", "bugs", rules("confirmed", "Yes."), uncertain, "", kept, "without evidence"},
		{"left out", "bugs", nil, precedent.Unchecked, "", stated, "gave no answer"},
	} {
		t.Run(test.name, func(t *testing.T) {
			head := maps.Clone(shopHead)
			head["cart/cart.go"] = strings.Replace(head["cart/cart.go"], loop, comment+"\n"+loop, 1)
			in := input(t, shopBase, head)
			rulings := map[string]object{}
			if test.ruling != nil {
				rulings["off by one"] = test.ruling
			}
			category, medium := strings.CutPrefix(test.category, "-")
			severity := map[bool]string{false: "high", true: "medium"}[medium]
			remark := object{"category": category, "severity": severity, "confidence": stated}
			c := &cast{finder: finds(inCart(loop, "off by one", remark)), verifier: ruled(rulings)}
			in.Engine = c
			r := run(t, in)
			f := byTitle(t, r, "off by one")
			if f.Verifier != test.check || f.Dropped != test.dropped || f.Confidence != test.score ||
				!strings.Contains(says(f), test.says) {
				t.Errorf("verifier %s, dropped %q, confidence %d, trail: %s", f.Verifier, f.Dropped, f.Confidence, says(f))
			}
			if f.Verifier == precedent.Uncertain && f.Severity == precedent.High &&
				test.ruling["verdict"] == "refuted" != strings.Contains(f.Body, "Disputed: the verifier disagrees") {
				t.Errorf("body %q", f.Body)
			}
			if took := len(r.TakenAway); took != map[bool]int{true: 1}[f.Dropped == precedent.Refuted &&
				f.Severity == precedent.High] {
				t.Errorf("taken away: %+v", r.TakenAway)
			}
			needs.Equal(t, test.ruling == nil, len(r.Failures) > 0)
			if r.Usage.Requests != 2 || r.Usage.InputTokens != 15 || r.CostUSD != 0.51 {
				t.Errorf("usage %+v, $%.2f", r.Usage, r.CostUSD)
			}
			if len(c.read) != 1 || !strings.Contains(c.read[0].Prefix, loop) || strings.Contains(c.read[0].Prefix, "aws.go") {
				t.Errorf("the verifier does not see what the finder saw of the file, and nothing else: %q", c.read[0].Prefix)
			}
		})
	}
}

// TestWhatIsVerified: neither what analyzers computed nor what cannot reach the
// threshold, and every file's claims by themselves, at most eight at a time.
func TestWhatIsVerified(t *testing.T) {
	head := files{"other.go": "package p\n\nvar x = first()\n"}
	var b strings.Builder
	var remarks []object
	b.WriteString("package p\n\n")
	for i := range 10 {
		fmt.Fprintf(&b, "var value%d = compute%d(%d)\n", i, i, i)
		remarks = append(remarks, finding("many.go", i+3, fmt.Sprintf("var value%d = compute%d(%d)", i, i, i),
			fmt.Sprintf("claim %d about compute%d", i, i), object{"category": "types"}))
	}
	head["many.go"] = b.String()
	head["aws.go"] = shopHead["cart/aws.go"]
	remarks = append(remarks,
		finding("other.go", 3, "var x = first()", "weak", object{"category": "style", "severity": "nit"}),
		finding("other.go", 3, "var x = first()", "strong", object{"category": "race"}))
	in := input(t, files{}, head)
	in.Policy.Minor = precedent.MinorOff
	c := &cast{finder: finds(remarks...)}
	in.Engine = c
	run(t, in)
	got := map[string]int{}
	for _, task := range c.asked(engine.Verifier) {
		got[strings.Fields(task.Prefix[strings.Index(task.Prefix, "=== "):])[1]+fmt.Sprint(len(ids(task)))]++
		if _, asked := ids(task)["weak"]; asked {
			t.Error("a finding is verified that cannot be shown")
		}
	}
	needs.Equal(t, map[string]int{"many.go8": 1, "many.go2": 1, "other.go1": 1}, got)
}

// TestOutside: what models claim of other software from memory is worth less, unless a verifier found it confirmed.
func TestOutside(t *testing.T) {
	for title, want := range map[string]int{
		"parser 2.1 is affected by CVE-2024-12345": 65,
		"this option was removed in v3.2":          65,
		"the check for an empty cart was removed":  80,
	} {
		in := input(t, shopBase, shopHead)
		in.Engine = answering(inCart(loop, title, object{"confidence": 80}))
		if f := byTitle(t, run(t, in), title); f.Confidence != want {
			t.Errorf("%q: confidence %d, want %d: %s", title, f.Confidence, want, says(f))
		}
	}
}

// TestPositive: the one that leads is asked for praise, and no other; a policy may do without.
func TestPositive(t *testing.T) {
	for none, want := range map[bool]string{false: "Mean is short.", true: ""} {
		in := input(t, shopBase, shopHead)
		in.Policy = precedent.Policy{NoPraise: none}
		in.Engine = &cast{finder: func(task engine.Task) engine.Reply {
			positive := ""
			if strings.Contains(task.Prompt, "`positive` as well") {
				needs.Equal(t, "general", task.Name)
				positive = "Mean is\nshort."
			}
			return answered(object{"findings": []any{}, "positive": positive})
		}}
		needs.Equal(t, want, run(t, in).Positive)
	}
}

// TestDeclined: whether what people declined covers a finding is for a judge to say, in their words.
func TestDeclined(t *testing.T) {
	for _, test := range []struct {
		name    string
		judge   func(engine.Task) engine.Reply
		dropped precedent.Dropped
	}{
		{"covered", judged(true, "never flag loops in this repository"), precedent.Rejected},
		{"not covered", judged(false, ""), ""},
		{"without proof", judged(true, ""), ""},
		{"made-up proof", judged(true, "the code says it is fine"), ""},
		{"proof from the finding", judged(true, "one past the end of the items"), ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			in := input(t, shopBase, shopHead)
			about := precedent.Finding{
				Span: precedent.Span{Path: "other/x.go"}, Fingerprint: "another", Title: "The loop runs one past the end",
				Category: precedent.Bugs, Severity: precedent.Medium,
			}
			reason := "never flag loops in this repository: " + key
			in.Recall.Dismissals = []precedent.Dismissal{dismissed("j1", about, reason)}
			c := &cast{
				finder: finds(inCart(loop, "The loop goes one past the end of the items",
					object{"severity": "medium"})),
				judge: test.judge,
			}
			in.Engine = c
			r := run(t, in)
			if f := byTitle(t, r, "The loop goes one past the end of the items"); f.Dropped != test.dropped {
				t.Errorf("dropped %q: %s", f.Dropped, says(f))
			}
			for _, task := range c.read {
				if strings.Contains(task.User(), key) {
					t.Errorf("the secret in a reason is sent to the %s", task.Role)
				}
			}
		})
	}
}
