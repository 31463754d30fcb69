package review

import (
	"maps"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/needs"
)

// TestObedientJudge: "severity>=high … can never be hidden without a named human approval". What a judge says is the
// same ends a severe finding only if code sees one line, or one text, and another finding as severe.
func TestObedientJudge(t *testing.T) {
	words := object{"body": "The sum of the prices is wrong when the cart is empty, and the total is negative."}
	claim := func(line int, quote, title, severity, category string) object {
		f := finding("cart/cart.go", line, quote, title, words)
		f["severity"], f["category"] = severity, category
		return f
	}
	mild := []object{
		claim(5, loop, "The total is wrong", "medium", "bugs"), claim(8, neg, "The total is odd", "medium", "types"),
	}
	for _, test := range []struct {
		name    string
		remarks []object
		live    string // titles
	}{
		{"another line", []object{
			claim(5, loop, "The total is wrong", "critical", "bugs"),
			claim(8, neg, "The total is odd", "critical", "style"),
		}, "The total is wrong, The total is odd"},
		{"a milder one of the same line", []object{
			claim(5, loop, "The total is wrong", "critical", "bugs"),
			claim(5, loop, "The total is odd", "low", "style"),
		}, "The total is wrong"},
		{"a milder category on the same line", []object{
			claim(5, loop, "The total is wrong", "medium", "security"),
			claim(5, loop, "The total is odd", "medium", "style"),
		}, "The total is wrong"},
		{"mild ones", mild, "The total is wrong"},
		{"mild ones, by words of neither", mild, "The total is wrong, The total is odd"},
	} {
		t.Run(test.name, func(t *testing.T) {
			in := input(t, shopBase, shopHead)
			if strings.Contains(test.name, "milder") {
				test.remarks[1]["suggestion"] = "\tfor n := range items {"
			}
			quote := ""
			if strings.Contains(test.name, "neither") {
				quote = "as the maintainers decided"
			}
			in.Engine = &cast{finder: finds(test.remarks...), judge: agrees(quote)}
			r := run(t, in)
			var live []string
			for _, f := range r.Live() {
				if !f.Analyzer {
					live = append(live, f.Title)
				}
			}
			needs.Equal(t, test.live, strings.Join(live, ", "))
		})
	}
}

// TestDismissedByAJudge: a dismissed mild remark does not hide a severe finding of its
// line because a judge finds them the same.
func TestDismissedByAJudge(t *testing.T) {
	for severity, want := range map[precedent.Severity]precedent.Dropped{
		precedent.Low:      "",
		precedent.Critical: precedent.Dismissed,
	} {
		in := conversation(t, precedent.Style, shopHead.with(files{
			"cart/aws.go": "",
			"cart/new.go": "package cart\n\nvar x = 1\n",
		}))
		in.Threads[0].State, in.Threads[0].Severity, in.Threads[0].Title = precedent.ThreadWontFix, severity,
			"The loop is written by hand"
		in.Engine = &cast{finder: finds(inCart(loop, "An index beyond the end is read",
			object{"category": "crash", "severity": "critical"})), judge: agrees(""), threads: saying(nil)}
		r := run(t, in)
		f := byTitle(t, r, "An index beyond the end is read")
		if f.Dropped != want || len(r.TakenAway) != map[bool]int{true: 1}[want != ""] {
			t.Errorf("beside a dismissed %s one it is dropped as %q: %s; taken away: %v", severity, f.Dropped, says(f),
				r.TakenAway)
		}
	}
}

// TestAmendedAway: a verifier that confirms a severe finding cannot replace its words.
func TestAmendedAway(t *testing.T) {
	for severity, want := range map[string]string{"critical": "off by one", "low": "All is well here"} {
		in := input(t, shopBase, shopHead)
		in.Engine = &cast{
			finder: finds(inCart(loop, "off by one", object{"severity": severity})),
			verifier: ruled(map[string]object{"off by one": {
				"verdict": "confirmed", "reason": "Yes.", "evidence": line(loop), "title": "All is well here",
				"body": "Nothing is wrong with it.",
			}}),
		}
		f := byTitle(t, run(t, in), want)
		if severity == "critical" && (!strings.HasPrefix(f.Body, "It fails at night.") ||
			!strings.Contains(f.Body, "The verifier adds: Nothing is wrong with it.")) {
			t.Errorf("%s: body %q", severity, f.Body)
		}
	}
}

// TestRefutedByAMention: a severe finding ends by code that the change does not touch: of the function, or
// a guard near a call of it. A line that only names it, or that the change adds, proves nothing.
func TestRefutedByAMention(t *testing.T) {
	base := files{
		"pay/refund.go": "package pay\n\nfunc Refund(paid, amount int) int {\n\tlimit := paid\n\treturn limit\n}\n",
		"pay/desk.go": "package pay\n\nfunc desk(paid, amount int) int {\n\tif amount > paid {\n\t\treturn " +
			"0\n\t}\n\treturn Refund(paid, amount)\n}\n",
		"pay/log.go":   "package pay\n\nvar refunds = []any{Refund}\n\nfunc note(amount int) {\n\tprintln(amount)\n}\n",
		"SECURITY.txt": "Refund checks the amount if paid is known.\n",
	}
	const flagged, title = "\treturn limit - amount", "A refund can exceed what was paid"
	head := maps.Clone(base)
	head["pay/refund.go"] = "package pay\n\nfunc Refund(paid, amount int) int {\n\tlimit := paid\n\tif amount == 0 { " +
		"// Refund\n\t\treturn limit\n\t}\n" + flagged + "\n}\n"
	head["pay/new.go"] = "package pay\n\nfunc safely(paid, amount int) int {\n\tif amount > paid {\n\t\treturn " +
		"1\n\t}\n\treturn Refund(paid, amount)\n}\n"
	head["NEW.txt"] = "If the amount is checked, Refund is safe.\n"
	for name, c := range map[string]struct {
		path, quote string
		ends        bool
	}{
		"its declaration":                    {"pay/refund.go", "func Refund(paid, amount int) int {", false},
		"the flagged line":                   {"pay/refund.go", flagged, false},
		"a line that the change adds":        {"pay/refund.go", "\tif amount == 0 { // Refund", false},
		"the package":                        {"pay/refund.go", "package pay", false},
		"a guard in a caller that is new":    {"pay/new.go", "\tif amount > paid {", false},
		"a new text":                         {"NEW.txt", "If the amount is checked, Refund is safe.", false},
		"an old text":                        {"SECURITY.txt", "Refund checks the amount if paid is known.", false},
		"a mention":                          {"pay/log.go", "var refunds = []any{Refund}", false},
		"code elsewhere with the same names": {"pay/log.go", "\tprintln(amount)", false},
		"older code of the function":         {"pay/refund.go", "\tlimit := paid", true},
		"a guard in an older caller":         {"pay/desk.go", "\tif amount > paid {", true},
	} {
		t.Run(name, func(t *testing.T) {
			in := input(t, base, head)
			refuted := rules("refuted", "It is checked.")
			refuted["evidence"] = []any{object{"path": c.path, "at": "head", "line": 1, "quote": c.quote}}
			in.Engine = &cast{
				finder:   finds(finding("pay/refund.go", 8, flagged, title, object{"severity": "critical"})),
				verifier: ruled(map[string]object{title: refuted}),
			}
			f := byTitle(t, run(t, in), title)
			if ended := f.Dropped == precedent.Refuted; ended != c.ends || !ended &&
				(!f.Live() || !strings.Contains(f.Body, "Disputed: ")) {
				t.Errorf("dropped %q: %s\n%s", f.Dropped, f.Body, says(f))
			}
		})
	}
}
